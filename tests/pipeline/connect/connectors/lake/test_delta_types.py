"""What is fitted to a table's columns is what it was, or an error."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.connect.connectors.lake.arrow import inferred_table
from penstock.pipeline.connect.connectors.lake.delta_types import fitted
from penstock.pipeline.connect.errors import DataError

NOTHING = pa.schema([])


def fit(values: Any, known: Any, type: Any = None) -> Any:
    return fitted(pa.table({"x": pa.array(values, type)}), pa.schema([("x", known)])).column("x")


@pytest.mark.parametrize(
    ("values", "type", "known"),
    [
        ([1, None], pa.int8(), pa.int64()),
        ([127], pa.int64(), pa.int8()),
        ([1], pa.int64(), pa.float64()),
        ([2.0], pa.float64(), pa.int64()),
        ([0.1], pa.float32(), pa.float64()),
        ([Decimal("1.50")], pa.decimal128(38, 2), pa.decimal128(10, 1)),
        ([None], pa.null(), pa.struct([("a", pa.int8())])),
        ([[], None], pa.list_(pa.null()), pa.list_(pa.int32())),
        (["a"], pa.dictionary(pa.int8(), pa.string()), pa.string()),
        (["a"], pa.large_string(), pa.string()),
    ],
)
def test_what_fits(values: list[Any], type: Any, known: Any) -> None:
    found = fit(values, known, type)
    assert found.type == known
    assert found.to_pylist() == pa.array(values, type).to_pylist()


@pytest.mark.parametrize(
    ("values", "type", "known"),
    [
        ([128], pa.int64(), pa.int8()),
        ([1.5], pa.float64(), pa.int64()),
        ([2**60 + 1], pa.int64(), pa.float64()),
        ([0.1], pa.float64(), pa.float32()),
        ([True], pa.bool_(), pa.int64()),
        ([1], pa.int64(), pa.bool_()),
        (["1"], pa.string(), pa.int64()),
        ([1], pa.int64(), pa.string()),
        ([b"x"], pa.binary(), pa.string()),
        ([0], pa.date32(), pa.timestamp("us", "UTC")),
        ([Decimal("1.25")], pa.decimal128(38, 2), pa.decimal128(38, 1)),
        ([[1]], pa.list_(pa.int64()), pa.int64()),
        ([{"a": 1}], None, pa.list_(pa.int64())),
        ([{"a": "x"}], None, pa.struct([("a", pa.int64())])),
        ([[1.5]], None, pa.list_(pa.int64())),
        ([2**63], pa.uint64(), pa.int64()),
        ([1], pa.duration("s"), pa.int64()),
    ],
)
def test_what_does_not(values: list[Any], type: Any, known: Any) -> None:
    with pytest.raises(DataError, match="field 'x"):
        fit(values, known, type)


def test_the_field_is_named() -> None:
    with pytest.raises(DataError, match=r"field 'x\.a\[\]': got string, the table has int64"):
        fit([{"a": ["1"]}], pa.struct([("a", pa.list_(pa.int64()))]))


def test_decimals_have_room_for_later_ones() -> None:
    assert fitted(pa.table({"x": [Decimal("1.5")]}), NOTHING).schema.field("x").type == pa.decimal128(38, 1)


SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=5,
)
ROWS = st.lists(st.dictionaries(st.sampled_from("xyz"), VALUES), min_size=1, max_size=4)


@given(ROWS, ROWS)
def test_nothing_changes_on_the_way(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    """As pyarrow infers the columns; what was null and has no type is null still."""
    schema = NOTHING
    for rows in (first, second):
        given = inferred_table(rows)
        try:
            found = fitted(given, schema)
        except DataError:
            continue
        assert found.num_rows == given.num_rows
        assert [each.name for each in schema] == found.column_names[: len(schema)]
        assert _bare(found.to_pylist()) == _bare(given.to_pylist())
        schema = found.schema


def _bare(value: Any) -> Any:
    """Without what says nothing: nulls in structs, and lists and structs of nothing else."""
    if isinstance(value, dict):
        return {name: bare for name, each in value.items() if (bare := _bare(each)) is not None} or None
    if isinstance(value, list):
        bare = [_bare(each) for each in value]
        return None if all(each is None for each in bare) else bare
    return value
