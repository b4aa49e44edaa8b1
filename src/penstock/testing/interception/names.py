"""What a test may write for an API or an error: Kafka's name in any spelling, or the number."""

from difflib import get_close_matches
from enum import IntEnum
from typing import TypeVar

from penstock.errors import ErrorCode
from penstock.wire.api_keys import ApiKey

EnumT = TypeVar("EnumT", bound=IntEnum)


def api_named(name: str | int) -> ApiKey:
    """`"OffsetCommit"`, `"offset_commit"`, `"OFFSET_COMMIT"`, 8."""
    return _find(ApiKey, name, "an API of Kafka, such as Produce or OffsetCommit")


def error_named(name: str | int) -> ErrorCode:
    """`"NOT_LEADER_OR_FOLLOWER"`, 6."""
    return _find(ErrorCode, name, "one of Kafka's errors, such as NOT_LEADER_OR_FOLLOWER")


def _find(names: type[EnumT], name: str | int, takes: str) -> EnumT:
    if isinstance(name, int):
        if name in set(names):
            return names(name)
        raise ValueError(f"got {name}; takes {takes}")
    spellings = {_bare(member.name): member for member in names}
    found = spellings.get(_bare(name))
    if found is not None:
        return found
    near = get_close_matches(_bare(name), spellings, 1)
    hint = f"; is {spellings[near[0]].name} meant?" if near else ""
    raise ValueError(f"got {name!r}; takes {takes}{hint}")


def _bare(name: str) -> str:
    return name.replace("_", "").lower()
