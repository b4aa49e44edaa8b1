"""Confluent's JSON, and whom the registries choose."""

from __future__ import annotations

import json

import pytest

from penstock.registry.election_protocol import (
    DUPLICATE_URLS,
    NO_ERROR,
    Assignment,
    Identity,
    choose_leader,
    decode_assignment,
    decode_identity,
    encode_assignment,
    encode_identity,
)

A = Identity("a", 8081)
B = Identity("b", 8081)


def test_an_identity_is_confluents_json() -> None:
    assert json.loads(encode_identity(A)) == {
        "version": 1,
        "host": "a",
        "port": 8081,
        "master_eligibility": True,
        "scheme": "http",
        "leader": False,
    }
    assert decode_identity(encode_identity(B)) == B


def test_an_identity_of_an_older_registry_has_fewer_members() -> None:
    said = b'{"version":1,"host":"old","port":8081,"master_eligibility":false,"unknown":1}'
    assert decode_identity(said) == Identity("old", 8081, may_lead=False)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"host":"a"}', b'{"host":"a","port":null}', b"5"]
)
def test_what_is_no_identity_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_identity(data)


def test_an_assignment_is_confluents_json() -> None:
    assignment = Assignment(NO_ERROR, "member-1", A)
    said = json.loads(encode_assignment(assignment))
    assert (said["version"], said["error"], said["master"]) == (1, 0, "member-1")
    assert said["master_identity"]["host"] == "a"
    assert decode_assignment(encode_assignment(assignment)) == assignment
    nobody = Assignment(NO_ERROR, None, None)
    assert decode_assignment(encode_assignment(nobody)) == nobody


@pytest.mark.parametrize(
    ("members", "sticky", "leader"),
    [
        ({"1": B, "2": A}, False, "2"),
        ({"1": Identity("a", 8081, may_lead=False), "2": B}, False, "2"),
        ({"1": Identity("a", 8081, may_lead=False)}, False, None),
        ({"1": A, "2": Identity("b", 8081, leads=True)}, False, "1"),
        ({"1": A, "2": Identity("b", 8081, leads=True)}, True, "2"),
        ({"1": A, "2": Identity("b", 8081, may_lead=False, leads=True)}, True, "1"),
        ({"1": Identity("b", 1, leads=True), "2": Identity("a", 1, leads=True)}, True, "2"),
    ],
)
def test_the_smallest_address_leads_unless_elections_are_sticky(
    members: dict[str, Identity], sticky: bool, leader: str | None
) -> None:
    chosen = choose_leader(members, sticky=sticky)
    assert (chosen.error, chosen.member_id) == (NO_ERROR, leader)
    assert chosen.leader == (None if leader is None else members[leader])


def test_two_members_with_one_address_are_an_error() -> None:
    assert choose_leader({"1": A, "2": A}, sticky=False).error == DUPLICATE_URLS
