"""Objects one after the other come out whole, wherever the chunks are cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.rest.json_stream import JsonStream, objects_in
from penstock.web.errors import HttpError
from tests.support.examples import examples

LEAVES = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    LEAVES, lambda each: st.lists(each) | st.dictionaries(st.text('ab{}[]\\" '), each), max_leaves=8
)
OBJECTS = st.dictionaries(st.text('xy"\\{}'), VALUES, max_size=3)


def feed_all(chunks: list[bytes], found: list[Any], max_bytes: int = 10_000) -> list[Any]:
    stream = JsonStream(max_bytes)
    for chunk in chunks:
        found.extend(stream.feed(chunk))
    stream.end()
    return found


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(OBJECTS, max_size=5), st.booleans(), st.lists(st.integers(0, 400), max_size=12))
def test_the_cuts_do_not_matter(objects: list[Any], is_ascii: bool, cuts: list[int]) -> None:
    body = b" \n".join(json.dumps(each, ensure_ascii=is_ascii).encode() for each in objects)
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    chunks = [body[start:end] for start, end in pairwise(places)]
    assert feed_all(chunks, []) == objects
    assert feed_all([body[at : at + 1] for at in range(len(body))], []) == objects
    assert list(objects_in(body)) == objects


@pytest.mark.parametrize(
    ("chunks", "before", "why"),
    [
        ([b"{}", b"1"], 1, "takes JSON objects"),
        ([b"{}{]", b"}"], 1, "Expecting property name"),
        ([b'{"a": ', b"NaN}"], 0, "NaN is not JSON"),
        ([b"{}\xff"], 0, "not UTF-8"),
        ([b'{}{"a": "', b"b"], 1, "not complete"),
        ([b"{}\xc3"], 1, "not UTF-8"),
        ([b'{"a":', b"[" * 9000 + b"]" * 900], 0, "not complete"),
    ],
)
def test_what_is_no_json_ends_the_stream(chunks: list[bytes], before: int, why: str) -> None:
    found: list[Any] = []
    with pytest.raises(HttpError, match=why) as raised:
        feed_all(chunks, found)
    assert raised.value.status == 400
    assert len(found) == before


def test_an_object_has_a_limit() -> None:
    with pytest.raises(HttpError, match="takes at most 100 bytes"):
        feed_all([b'{"a": "xxxxxxxx'] * 20, [], 100)
