"""The single message transforms that come with Kafka, by the names that configurations have for them."""

from __future__ import annotations

from typing import Final

_PACKAGE: Final = "org.apache.kafka.connect.transforms"
OF_KEY_OR_VALUE: Final = {
    "Cast": "cast",
    "ExtractField": "extract_field",
    "Flatten": "flatten",
    "HeaderFrom": "header_from",
    "HoistField": "hoist_field",
    "InsertField": "insert_field",
    "MaskField": "mask_field",
    "ReplaceField": "replace_field",
    "SetSchemaMetadata": "set_schema_metadata",
    "TimestampConverter": "timestamp_converter",
}
"""Class and module of those that are two: `Cast$Key` and `Cast$Value`."""
OF_RECORD: Final = {
    "DropHeaders": "drop_headers",
    "Filter": "filter",
    "InsertHeader": "insert_header",
    "RegexRouter": "regex_router",
    "TimestampRouter": "timestamp_router",
    "ValueToKey": "value_to_key",
}

JAVA_NAMES: Final[dict[str, str]] = {
    **{
        f"{_PACKAGE}.{name}${part}": f"{__name__}.{module}:{name}{part}"
        for name, module in OF_KEY_OR_VALUE.items()
        for part in ("Key", "Value")
    },
    **{f"{_PACKAGE}.{name}": f"{__name__}.{module}:{name}" for name, module in OF_RECORD.items()},
}
