"""The names of the files in a partition's directory, and of the directories themselves."""

import re

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
PRODUCER_SNAPSHOT = ".snapshot"
DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"
TEMPORARY = ".tmp"

SEGMENT_SUFFIXES = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"

DELETED_DIRECTORY = re.compile(r"^(\S+)-(\S+)\.(\S+)-delete$")
FUTURE_DIRECTORY = re.compile(r"^(\S+)-(\S+)\.(\S+)-future$")
STRAY_DIRECTORY = re.compile(r"^(\S+)-(\S+)\.(\S+)-stray$")

_OFFSET_DIGITS = 20


def file_name(base_offset: int, suffix: str) -> str:
    return f"{base_offset:0{_OFFSET_DIGITS}d}{suffix}"


def offset_of(name: str) -> int | None:
    """The offset that a file's name starts with, if it does."""
    digits = name[:_OFFSET_DIGITS]
    return int(digits) if len(digits) == _OFFSET_DIGITS and digits.isdigit() else None
