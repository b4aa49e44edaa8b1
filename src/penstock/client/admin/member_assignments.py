"""What the leader of a classic group assigned to a member, in the consumers' own format.

Every version of `ConsumerProtocolAssignment` begins with its number and the partitions; only these are read here.
"""

from __future__ import annotations

import struct

from penstock.types import TopicPartition

_SHORT = struct.Struct(">h")
_INT = struct.Struct(">i")


def decode_assignment(assignment: bytes) -> frozenset[TopicPartition]:
    """None for a member that has been assigned nothing yet."""
    if not assignment:
        return frozenset()
    try:
        return frozenset(_read(assignment))
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(
            f"an assignment of {len(assignment)} bytes that is not a consumer's: {error}"
        ) from error


def _read(assignment: bytes) -> list[TopicPartition]:
    found = []
    position = _SHORT.size  # the version
    (topics,) = _INT.unpack_from(assignment, position)
    position += _INT.size
    for _ in range(topics):
        (length,) = _SHORT.unpack_from(assignment, position)
        position += _SHORT.size
        topic = str(assignment[position : position + length], "utf-8")
        position += length
        (count,) = _INT.unpack_from(assignment, position)
        position += _INT.size
        partitions = struct.unpack_from(f">{count}i", assignment, position)
        position += count * _INT.size
        found += [TopicPartition(topic, partition) for partition in partitions]
    return found
