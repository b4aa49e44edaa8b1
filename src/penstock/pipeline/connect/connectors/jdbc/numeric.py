"""What an exact number of a database becomes: `numeric.mapping` of the source."""

from __future__ import annotations

from penstock.pipeline.connect.data import Schema
from penstock.pipeline.connect.data.logical import decimal_schema
from penstock.pipeline.connect.data.schema import FLOAT64, INT8, INT16, INT32, INT64

NONE, PRECISION_ONLY, BEST_FIT, BEST_FIT_EAGER_DOUBLE = (
    "none",
    "precision_only",
    "best_fit",
    "best_fit_eager_double",
)
MAPPINGS = (NONE, PRECISION_ONLY, BEST_FIT, BEST_FIT_EAGER_DOUBLE)

_INTEGERS = ((2, INT8), (4, INT16), (9, INT32), (18, INT64))
MOST_DIGITS_OF_A_DOUBLE = 18


def exact_number(precision: int | None, scale: int | None, mapping: str) -> Schema:
    """Of `NUMERIC(precision, scale)`, either of which may not have been said."""
    digits, places = precision or 0, scale or 0
    if mapping != NONE and digits and places == 0:
        whole = next((schema for most, schema in _INTEGERS if digits <= most), None)
        if whole is not None:
            return whole
    if mapping == BEST_FIT and digits and places > 0 and digits <= MOST_DIGITS_OF_A_DOUBLE:
        return FLOAT64
    if mapping == BEST_FIT_EAGER_DOUBLE and places > 0:
        return FLOAT64
    return decimal_schema(places)
