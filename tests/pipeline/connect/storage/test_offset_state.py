"""The fold of the offset topic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.connect.storage.offset_state import OffsetState, encode_key

Record = tuple[bytes, bytes | None]


def replayed(*records: Record) -> OffsetState:
    state = OffsetState()
    for key, value in records:
        assert state.replay(key, value) is None
    return state


def offsets_of(state: OffsetState, name: str) -> list[tuple[dict[str, object], dict[str, object] | None]]:
    return [(each.partition, each.offset) for each in state.connectors.get(name, {}).values()]


def test_records_as_kafka_connect_writes_them() -> None:
    """Taken from an offset topic of Kafka Connect 4.3."""
    state = replayed((b'["lines",{"filename":"/var/log/a.txt"}]', b'{"position":42}'))
    assert offsets_of(state, "lines") == [({"filename": "/var/log/a.txt"}, {"position": 42})]
    assert encode_key("lines", {"filename": "/var/log/a.txt"}) == b'["lines",{"filename":"/var/log/a.txt"}]'


def test_one_partition_in_two_spellings_is_one_and_the_last_word_counts() -> None:
    state = replayed((b'["c",{"a":1,"b":2}]', b'{"at":1}'), (b'["c", {"b":2, "a":1}]', b'{"at":2}'))
    assert offsets_of(state, "c") == [({"a": 1, "b": 2}, {"at": 2})]
    assert {key for key, _ in state.changes_to("c", {"a": 1, "b": 2}, None)} == {
        b'["c",{"a":1,"b":2}]',
        b'["c", {"b":2, "a":1}]',
    }


def test_a_new_offset_takes_the_key_that_is_there() -> None:
    state = replayed((b'["c", {"b":2, "a":1}]', b'{"at":2}'))
    assert [*state.changes_to("c", {"a": 1, "b": 2}, {"at": 9})] == [(b'["c", {"b":2, "a":1}]', b'{"at":9}')]
    assert [*state.changes_to("d", {"a": 1}, {"at": 9})] == [(b'["d",{"a":1}]', b'{"at":9}')]
    assert [*state.changes_to("d", {"a": 1}, None)] == []


PARTITIONS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2) | st.text(max_size=2), max_size=2)


@given(
    st.lists(st.tuples(st.sampled_from(["c", "d"]), PARTITIONS, st.none() | st.integers(0, 9)), max_size=20)
)
def test_what_was_changed_is_what_is_known(changes: list[tuple[str, dict[str, object], int | None]]) -> None:
    state = OffsetState()
    expected: dict[str, list[tuple[dict[str, object], int]]] = {"c": [], "d": []}
    for name, partition, at in changes:
        for key, value in state.changes_to(name, partition, None if at is None else {"at": at}):
            assert state.replay(key, value) is None
        expected[name] = [pair for pair in expected[name] if pair[0] != partition]
        if at is not None:
            expected[name].append((partition, at))
    for name, pairs in expected.items():
        found = offsets_of(state, name)
        assert len(found) == len(pairs)
        assert all((partition, {"at": at}) in found for partition, at in pairs)


@given(
    st.binary(max_size=20) | st.sampled_from([b'["c"]', b'["c",1]', b"[1,{}]", b"{}"]),
    st.none() | st.binary(),
)
def test_no_record_breaks_the_fold(key: bytes, value: bytes | None) -> None:
    assert isinstance(OffsetState().replay(key, value), str)
