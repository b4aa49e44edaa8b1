"""The logical types: a named schema over a plain type, whose values are Python's own.

What is stored (in Connect's JSON, say) is the plain type: a Decimal's unscaled bytes, days, milliseconds.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from penstock.pipeline.connect.data.schema import Schema, SchemaBuilder, Type
from penstock.pipeline.connect.errors import DataError

DECIMAL_NAME = "org.apache.kafka.connect.data.Decimal"
DATE_NAME = "org.apache.kafka.connect.data.Date"
TIME_NAME = "org.apache.kafka.connect.data.Time"
TIMESTAMP_NAME = "org.apache.kafka.connect.data.Timestamp"
SCALE = "scale"

DATE = SchemaBuilder(Type.INT32).name(DATE_NAME).version(1).build()
TIME = SchemaBuilder(Type.INT32).name(TIME_NAME).version(1).build()
TIMESTAMP = SchemaBuilder(Type.INT64).name(TIMESTAMP_NAME).version(1).build()

VALUE_TYPES: dict[str, type] = {
    DECIMAL_NAME: Decimal,
    DATE_NAME: date,
    TIME_NAME: time,
    TIMESTAMP_NAME: datetime,
}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1)
_MILLISECOND = timedelta(milliseconds=1)


def decimal_schema(scale: int) -> Schema:
    return SchemaBuilder(Type.BYTES).name(DECIMAL_NAME).version(1).parameter(SCALE, str(scale)).build()


def scale_of(schema: Schema) -> int:
    text = schema.parameters.get(SCALE)
    if text is None:
        raise DataError("Invalid Decimal schema: scale parameter not found.")
    try:
        return int(text)
    except ValueError:
        raise DataError(f"Invalid scale parameter found in Decimal schema: {text}") from None


def decimal_to_bytes(value: Decimal, scale: int) -> bytes:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or -exponent != scale:
        raise DataError(
            "Decimal value has mismatching scale for given Decimal schema. "
            f"Schema has scale {scale}, value has scale {-int(exponent)}."
        )
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    length = (unscaled.bit_length() if unscaled >= 0 else (unscaled + 1).bit_length()) // 8 + 1
    return unscaled.to_bytes(length, "big", signed=True)


def decimal_from_bytes(data: bytes, scale: int) -> Decimal:
    """With all its digits, however many: arithmetic on Decimals would round."""
    unscaled = int.from_bytes(data, "big", signed=True)
    return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -scale))


def date_to_days(value: date) -> int:
    return (value - _EPOCH_DAY).days


def date_from_days(days: int) -> date:
    return _EPOCH_DAY + timedelta(days=days)


def time_to_millis(value: time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def time_from_millis(millis: int) -> time:
    return (datetime.min + timedelta(milliseconds=millis)).time()


def timestamp_to_millis(value: datetime) -> int:
    moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


def timestamp_from_millis(millis: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=millis)
