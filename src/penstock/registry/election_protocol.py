"""What registries tell each other through Kafka's group protocol, in Confluent's JSON, and whom they choose.

The protocol type is `sr`, the protocol `v0`. A member's metadata says where it is reached and whether it may lead. The
group's leader (a member that Kafka picks, to do the assigning) gives every member the same assignment: who leads the
registries, which is the one with the smallest address of those that may.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PROTOCOL_TYPE = "sr"
PROTOCOL_NAME = "v0"
VERSION = 1
NO_ERROR = 0
DUPLICATE_URLS = 1


@dataclass(frozen=True, slots=True)
class Identity:
    host: str
    port: int
    may_lead: bool = True
    scheme: str = "http"
    leads: bool = False
    """Whether it leads now; matters if elections are sticky."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def members(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "host": self.host,
            "port": self.port,
            "master_eligibility": self.may_lead,
            "scheme": self.scheme,
            "leader": self.leads,
        }


@dataclass(frozen=True, slots=True)
class Assignment:
    error: int
    member_id: str | None
    leader: Identity | None


def encode_identity(identity: Identity) -> bytes:
    return json.dumps(identity.members(), separators=(",", ":")).encode()


def decode_identity(data: bytes) -> Identity:
    """ValueError if it makes no sense."""
    return _identity(json.loads(data))


def _identity(members: Any) -> Identity:
    try:
        return Identity(
            host=str(members["host"]),
            port=int(members["port"]),
            may_lead=bool(members["master_eligibility"]),
            scheme=members.get("scheme") or "http",
            leads=bool(members.get("leader")),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not the identity of a registry: {members!r}") from error


def encode_assignment(assignment: Assignment) -> bytes:
    members: dict[str, Any] = {"version": VERSION, "error": assignment.error}
    if assignment.leader is not None:
        members |= {"master": assignment.member_id, "master_identity": assignment.leader.members()}
    return json.dumps(members, separators=(",", ":")).encode()


def decode_assignment(data: bytes) -> Assignment:
    """ValueError if it makes no sense."""
    members = json.loads(data)
    if not isinstance(members, dict):
        raise ValueError(f"not an assignment: {data!r}")
    leader = members.get("master_identity")
    return Assignment(
        int(members.get("error") or NO_ERROR),
        members.get("master"),
        None if leader is None else _identity(leader),
    )


def choose_leader(members: Mapping[str, Identity], *, sticky: bool) -> Assignment:
    """By member id. Two members with one address are an error, since nobody could forward to either."""
    eligible = {member_id: each for member_id, each in members.items() if each.may_lead}
    leading = [member_id for member_id, each in eligible.items() if each.leads]
    error = DUPLICATE_URLS if len({each.url for each in members.values()}) < len(members) else NO_ERROR
    if sticky and len(leading) == 1:
        chosen = leading[0]
    elif eligible:
        chosen = min(eligible, key=lambda member_id: eligible[member_id].url)
    else:
        return Assignment(error, None, None)
    return Assignment(error, chosen, eligible[chosen])
