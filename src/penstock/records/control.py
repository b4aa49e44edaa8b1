"""Control batches: the markers that end a transaction.

One record. Its key is (version int16, type int16: 0 abort, 1 commit), its value (version int16, coordinator
epoch int32). Control batches are never compressed.
"""

from struct import Struct
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.records.batch import Batch
from penstock.records.varint import read_varint, read_varlong

ABORT = 0
COMMIT = 1

_KEY = Struct(">hh")
_VALUE = Struct(">hi")


class EndTransactionMarker(NamedTuple):
    is_commit: bool
    coordinator_epoch: int


def read_end_transaction_marker(batch: Batch) -> EndTransactionMarker | None:
    """The marker in a control batch; None if the batch is empty (compacted away) or holds another kind."""
    if batch.record_count <= 0:
        return None
    data = batch.records_view
    _, position = read_varint(data, 0)
    _, position = read_varlong(data, position + 1)
    _, position = read_varint(data, position)
    key, position = _read_field(data, position, _KEY)
    value, position = _read_field(data, position, _VALUE)
    if key[1] not in (ABORT, COMMIT):
        return None
    return EndTransactionMarker(key[1] == COMMIT, value[1])


def _read_field(data: memoryview, position: int, layout: Struct) -> tuple[tuple[int, ...], int]:
    length, position = read_varint(data, position)
    if length < layout.size or position + length > len(data):
        raise ApiError(ErrorCode.INVALID_RECORD, "A control record is cut short")
    return layout.unpack_from(data, position), position + length


def encode_marker_key(*, is_commit: bool) -> bytes:
    return _KEY.pack(0, COMMIT if is_commit else ABORT)


def encode_marker_value(coordinator_epoch: int) -> bytes:
    return _VALUE.pack(0, coordinator_epoch)
