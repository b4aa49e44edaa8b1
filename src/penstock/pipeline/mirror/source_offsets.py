"""Whether offsets that a user wants to set are such as the tasks store; the words are MirrorMaker 2's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from penstock.pipeline.connect.errors import ConnectError

TEXT, NUMBER = "text", "number"
NATURAL: Final = "natural"
ZERO: Final = "zero"
"""What a connector stores that remembers nothing."""
MAX_PARTITION: Final = 2**31 - 1


def check_offsets(
    offsets: list[Any], partition_keys: Mapping[str, str], takes: Literal["natural", "zero"]
) -> None:
    """ConnectError for the first pair of partition and offset that cannot be. Any partition may be forgotten."""
    for partition, offset in offsets:
        if offset is None:
            continue
        if partition is None:
            raise ConnectError("Source partitions may not be null")
        for key, kind in partition_keys.items():
            _check_partition(partition, key, kind)
        _check_offset(partition, offset, takes)


def _check_partition(partition: Mapping[str, Any], key: str, kind: str) -> None:
    if key not in partition:
        raise ConnectError(f"Source partition {partition} is missing the '{key}' key, which is required")
    value = partition[key]
    wrong = f"Source partition {partition} has an invalid value {value} for the '{key}' key, which"
    if kind == TEXT:
        if not isinstance(value, str):
            raise ConnectError(f"{wrong} must be a string")
        return
    if not _is_integer(value) or value > MAX_PARTITION:
        raise ConnectError(f"{wrong} must be an integer")
    if value < 0:
        raise ConnectError(f"{wrong} cannot be negative")


def _check_offset(partition: Mapping[str, Any], offset: Mapping[str, Any], takes: str) -> None:
    where = f"Source offset {offset} for source partition {partition}"
    if "offset" not in offset:
        raise ConnectError(f"{where} is missing the 'offset' key, which is required")
    value = offset["offset"]
    wrong = f"{where} has an invalid value {value} for the 'offset' key"
    if not _is_integer(value):
        raise ConnectError(f"{wrong}, which must be an integer")
    if takes == ZERO and value != 0:
        raise ConnectError(f"{wrong}; the only accepted value is 0")
    if value < 0:
        raise ConnectError(f"{wrong}, which cannot be negative")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
