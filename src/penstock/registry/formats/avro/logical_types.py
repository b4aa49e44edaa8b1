"""Which logical types fit which types; one that does not fit is ignored."""

from penstock.registry.formats.avro.types import AvroType, Fixed

_KIND_OF = {
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
    "big-decimal": ("bytes",),
}
_UUID_BYTES = 16
_DURATION_BYTES = 12


def is_logical(schema: AvroType) -> bool:
    logical = schema.props.get("logicalType")
    if logical == "decimal":
        return _is_decimal(schema)
    if logical == "uuid":
        return schema.kind == "string" or (isinstance(schema, Fixed) and schema.size == _UUID_BYTES)
    if logical == "duration":
        return isinstance(schema, Fixed) and schema.size == _DURATION_BYTES
    return isinstance(logical, str) and schema.kind in _KIND_OF.get(logical, ())


def _is_decimal(schema: AvroType) -> bool:
    precision, scale = schema.props.get("precision"), schema.props.get("scale", 0)
    if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision:
        return False
    if precision <= 0:
        return False
    if isinstance(schema, Fixed):
        return precision <= _most_digits(schema.size)
    return schema.kind == "bytes"


def _most_digits(size: int) -> int:
    """Of decimals that fit into two's complement of so many bytes."""
    return len(str(2 ** (8 * size - 1) - 1)) - 1 if size else 0
