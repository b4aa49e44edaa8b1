"""Who runs what: evenly, with as few moves as can be, and nothing twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.connect.worker.assignment import (
    Assignment,
    Member,
    assign,
    decode_assignment,
    decode_member,
    encode_assignment,
    encode_member,
)

NAMES = [f"c{number}" for number in range(12)]


def settled(members: dict[str, Member], connectors: list[str]) -> tuple[Assignment, int]:
    """As workers do it: each lets go of what it is not given and joins again, until nothing changes."""
    rounds = 0
    while True:
        given_ = assign(members, connectors, min(members))
        for url, names in given_.connectors.items():
            holders = {each.url for each in members.values() for name in names if name in each.connectors}
            assert holders <= {url}, "given away while another has it"
        after = {key: Member(each.url, 0, given_.connectors[each.url]) for key, each in members.items()}
        rounds += 1
        if after == members:
            return given_, rounds
        members = after


@given(
    st.lists(st.sampled_from(NAMES), unique=True),
    st.lists(st.lists(st.sampled_from(NAMES), unique=True), min_size=1, max_size=5),
)
def test_all_are_given_evenly_within_three_rounds(connectors: list[str], held: list[list[str]]) -> None:
    taken: set[str] = set()
    members = {}
    for number, names in enumerate(held):
        own = tuple(name for name in names if name not in taken)
        taken |= set(own)
        members[f"m{number}"] = Member(f"http://w{number}", 0, own)
    found, rounds = settled(members, connectors)
    assert sorted(name for names in found.connectors.values() for name in names) == sorted(connectors)
    sizes = [len(names) for names in found.connectors.values()]
    assert max(sizes) - min(sizes) <= 1
    assert rounds <= 3


def test_what_is_even_stays() -> None:
    members = {"a": Member("http://a", 0, ("c0", "c1")), "b": Member("http://b", 0, ("c2",))}
    found = assign(members, ["c0", "c1", "c2"], "a")
    assert found.connectors == {"http://a": ("c0", "c1"), "http://b": ("c2",)}


def test_a_deleted_one_is_known_as_long_as_somebody_holds_it() -> None:
    members = {"a": Member("http://a", 0, ("c0", "c1")), "b": Member("http://b", 0, ("c2",))}
    assert assign(members, ["c1"], "a").ending == ("c0", "c2")


def test_what_a_worker_of_an_earlier_version_says_is_understood() -> None:
    said = b'{"leader":"m","leader-url":"http://a","connectors":{"http://a":["c0"]},"error":""}'
    assert decode_assignment(said) == Assignment("m", "http://a", {"http://a": ("c0",)})


def test_one_address_twice_is_an_error() -> None:
    assert assign({"a": Member("http://a"), "b": Member("http://a")}, ["c"], "a").error


@given(st.text(), st.integers(0, 2**60), st.lists(st.text()))
def test_members_and_assignments_travel(url: str, offset: int, names: list[str]) -> None:
    member = Member(url, offset, tuple(names))
    assert decode_member(encode_member(member)) == member
    assignment = Assignment("m", url, {url: tuple(names)}, "", ("gone", *names))
    assert decode_assignment(encode_assignment(assignment)) == assignment
