"""The editions that the protobuf library knows, by the name that a text has for them."""

from google.protobuf import descriptor_pb2

EDITIONS: dict[str, int] = {
    name.removeprefix("EDITION_"): number
    for name, number in descriptor_pb2.Edition.items()
    if name.removeprefix("EDITION_").isdigit()
}
