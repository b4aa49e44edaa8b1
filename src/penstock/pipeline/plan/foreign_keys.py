"""What travels between the two sides of a join by a foreign key."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

HASH_SIZE = 16


class Instruction(IntEnum):
    """What a subscription asks for, in Kafka Streams' words and numbers."""

    DELETE_KEY_NO_PROPAGATE = 0
    DELETE_KEY_AND_PROPAGATE = 1
    PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE = 2
    PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE = 3


@dataclass(frozen=True, slots=True)
class Subscription:
    """Of a row, as it is while its hash is this one, to a foreign key."""

    row_hash: bytes | None
    instruction: Instruction
    key: Any
    partition: int


@dataclass(frozen=True, slots=True)
class Answer:
    row_hash: bytes | None
    foreign_row: Any
    partition: int | None = None
    """Where it is to be sent; not among its bytes."""
