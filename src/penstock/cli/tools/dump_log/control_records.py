"""Control records: the end of a transaction, mostly."""

from struct import Struct

from penstock.cli.tools.dump_log.errors import DumpError
from penstock.records.control import ABORT, COMMIT
from penstock.records.reader import Record

_KEY = Struct(">hh")
_MARKER = Struct(">hi")
MARKERS = {ABORT: "ABORT", COMMIT: "COMMIT"}


def control_text(record: Record) -> str:
    kind = _type_of(record)
    if kind in MARKERS:
        return f" endTxnMarker: {MARKERS[kind]} coordinatorEpoch: {_coordinator_epoch(record)}"
    from penstock.cli.tools.dump_log.kraft_records import KRAFT_TYPES, kraft_text

    if kind in KRAFT_TYPES:
        return kraft_text(KRAFT_TYPES[kind], record)
    return f" controlType: UNKNOWN({kind})"


def _type_of(record: Record) -> int:
    key = record.key or b""
    if len(key) < _KEY.size:
        raise DumpError(
            "Invalid value size found for control record key. "
            f"Must have at least {_KEY.size} bytes, but found only {len(key)}"
        )
    version, kind = _KEY.unpack_from(key)
    if version < 0:
        raise DumpError(f"Invalid version found for control record: {version}. May indicate data corruption")
    return int(kind)


def _coordinator_epoch(record: Record) -> int:
    value = record.value or b""
    if len(value) < _MARKER.size:
        raise DumpError(f"The marker at offset {record.offset} has {len(value)} bytes, not {_MARKER.size}")
    version, epoch = _MARKER.unpack_from(value)
    if version < 0:
        raise DumpError(
            f"Invalid version found for end transaction marker: {version}. May indicate data corruption"
        )
    return int(epoch)
