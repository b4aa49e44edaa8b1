import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ConfigError
from penstock.settings.properties import parse_properties, read_properties


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("a=b", {"a": "b"}),
        ("a = b ", {"a": "b "}),
        ("a:b\nc d\n\te\f=\tf", {"a": "b", "c": "d", "e": "f"}),
        ("a==b\nc= :d", {"a": "=b", "c": ":d"}),
        ("# no=1\n  ! no=2\n\na=1 # kept\n", {"a": "1 # kept"}),
        ("a=1\\\n   2\\\n\t3\nb=4", {"a": "123", "b": "4"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=1\\\n# not a comment", {"a": "1# not a comment"}),
        ("a\\=b\\:c\\ d=e", {"a=b:c d": "e"}),
        ("a=\\u00e9\\t\\n\\q", {"a": "é\t\nq"}),
        ("lonely\nempty=", {"lonely": "", "empty": ""}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\\", {"a": "1"}),
        ("=v", {"": "v"}),
        ("", {}),
    ],
)
def test_lines(text: str, properties: dict[str, str]) -> None:
    assert parse_properties(text) == properties


def test_a_bad_escape_names_its_line() -> None:
    with pytest.raises(ConfigError, match=r"^server\.properties, line 3: got '\\u12g'; takes four hex"):
        parse_properties("a=1\n\nb=\\\n\\u12g", "server.properties")


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read: No such file"):
        read_properties(tmp_path / "missing")
    (tmp_path / "binary").write_bytes(b"a=\xff")
    with pytest.raises(ConfigError, match="is not a text file in UTF-8"):
        read_properties(tmp_path / "binary")


def escape(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


@given(
    st.dictionaries(
        st.text(st.characters(max_codepoint=0xFFFF, blacklist_categories=["Cs"])),
        st.text(st.characters(max_codepoint=0xFFFF, blacklist_categories=["Cs"])),
    )
)
def test_whatever_is_escaped_reads_back(properties: dict[str, str]) -> None:
    text = "\n".join(f"{escape(key)}={escape(value)}" for key, value in properties.items())
    assert parse_properties(text) == properties


@given(st.text(st.sampled_from("ab=: \t\\\n\r#!u0")))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ConfigError):
        parse_properties(text)
