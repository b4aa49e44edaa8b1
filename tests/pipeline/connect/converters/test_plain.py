"""Texts and bytes as a table of Arrow: the same as reading them one by one, or no table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.connect.connectors.lake.arrow import table_of
from penstock.pipeline.connect.converters.plain import ByteArrayConverter, StringConverter


@pytest.mark.parametrize("kind", [StringConverter, ByteArrayConverter])
@given(
    data=st.lists(
        st.binary(max_size=4) | st.text(max_size=4).map(lambda text: text.encode("utf-8", "replace"))
    )
)
def test_a_table_has_what_the_values_have(
    kind: type[StringConverter | ByteArrayConverter], data: list[bytes]
) -> None:
    converter = kind()
    converter.configure({}, False)
    found = converter.to_table("t", data)
    values = [converter.to_connect("t", each).value for each in data]
    if found is None:
        assert any("\ufffd" in value for value in values)
        return
    schema, table = found
    assert schema == converter.to_connect("t", b"").schema
    assert table.equals(table_of(schema, values))


def test_a_tombstone_or_another_character_set_is_no_table() -> None:
    converter = StringConverter()
    converter.configure({}, False)
    assert converter.to_table("t", [b"a", None]) is None
    assert converter.to_table("t", [b"a", b"b"]) is not None
    converter.configure({"converter.encoding": "UTF-16"}, False)
    assert converter.to_table("t", [b"a", b"b"]) is None
