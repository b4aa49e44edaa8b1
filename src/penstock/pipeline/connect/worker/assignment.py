"""Which worker runs which connector: evenly, and where it runs already unless that would be uneven.

A connector moves in two steps. First its worker is told to let go of it, and nobody gets it; when that worker has
stopped it and joins again without it, the next assignment gives it away. So no connector runs twice, except where a
worker is cut off from Kafka for longer than a session, and there transactional ids keep it from writing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Member:
    """What a worker says when it joins. `config_offset` makes Kafka have all of them join when connectors change."""

    url: str
    config_offset: int = 0
    connectors: tuple[str, ...] = ()
    """Those that it has not let go of."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The same for all members: who leads, and who runs what, by url."""

    leader_id: str
    leader_url: str
    connectors: Mapping[str, tuple[str, ...]]
    error: str = ""
    ending: tuple[str, ...] = ()
    """Deleted ones that a worker has not let go of yet."""

    def owner_url(self, name: str) -> str | None:
        return next((url for url, names in self.connectors.items() if name in names), None)


def assign(members: Mapping[str, Member], connectors: Iterable[str], leader_id: str) -> Assignment:
    """`members` by member id."""
    urls = [member.url for member in members.values()]
    leader_url = members[leader_id].url
    if len(set(urls)) < len(urls):
        return Assignment(leader_id, leader_url, {}, "two workers have one address")
    wanted = set(connectors)
    ending = {name for member in members.values() for name in member.connectors} - wanted
    held = {member.url: sorted(wanted.intersection(member.connectors)) for member in members.values()}
    claimed = {name for names in held.values() for name in names}
    shares = _shares(held, len(wanted))
    given = {url: names[: shares[url]] for url, names in held.items()}
    for name in sorted(wanted - claimed):
        poorest = min(given, key=lambda url: (len(given[url]) - shares[url], url))
        given[poorest].append(name)
    shared = {url: tuple(sorted(names)) for url, names in given.items()}
    return Assignment(leader_id, leader_url, shared, ending=tuple(sorted(ending)))


def _shares(held: Mapping[str, list[str]], count: int) -> dict[str, int]:
    """How many each may have; what is left over goes to those that have most, so that least moves."""
    share, more = divmod(count, len(held))
    ranked = sorted(held, key=lambda url: (-len(held[url]), url))
    return {url: share + (rank < more) for rank, url in enumerate(ranked)}


def encode_member(member: Member) -> bytes:
    return _encode(
        {"url": member.url, "config-offset": member.config_offset, "connectors": list(member.connectors)}
    )


def decode_member(data: bytes) -> Member:
    """ValueError if it makes no sense."""
    value = _decode(data)
    return Member(str(value["url"]), int(value["config-offset"]), tuple(map(str, value["connectors"])))


def encode_assignment(assignment: Assignment) -> bytes:
    return _encode(
        {
            "leader": assignment.leader_id,
            "leader-url": assignment.leader_url,
            "connectors": {url: list(names) for url, names in assignment.connectors.items()},
            "error": assignment.error,
            "ending": list(assignment.ending),
        }
    )


def decode_assignment(data: bytes) -> Assignment:
    """ValueError if it makes no sense."""
    value = _decode(data)
    connectors = {str(url): tuple(map(str, names)) for url, names in value["connectors"].items()}
    ending = tuple(map(str, value.get("ending", ())))
    return Assignment(str(value["leader"]), str(value["leader-url"]), connectors, str(value["error"]), ending)


class _Members(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        raise ValueError(f"{key!r} is missing in what a worker says")


def _encode(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _decode(data: bytes) -> _Members:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError(f"not what a worker says: {data!r}")
    return _Members(value)
