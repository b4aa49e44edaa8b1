"""What requests and answers come in: a media type says which format keys and values of records are in."""

from penstock.web.media_types import MediaTypes

V2_JSON = "application/vnd.kafka.v2+json"
ANSWERS = (V2_JSON, "application/vnd.kafka+json", "application/json")
METADATA = MediaTypes(produces=ANSWERS, consumes=ANSWERS)
FORMAT_OF_MEDIA_TYPE = {
    f"application/vnd.kafka.{name}.v2+json": name
    for name in ("binary", "json", "avro", "jsonschema", "protobuf")
}
PRODUCE = MediaTypes(produces=ANSWERS, consumes=tuple(FORMAT_OF_MEDIA_TYPE))
"""A body without a type is in the first of them: binary."""
