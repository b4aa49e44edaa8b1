"""Below a topic's folder: the folder that a record's file lies in. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, TypeVar
from urllib.parse import quote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from penstock.errors import ConfigError
from penstock.pipeline.connect.data import SinkRecord, Struct
from penstock.pipeline.connect.errors import ConnectError

Folder = Callable[[SinkRecord], str]
T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LETTERS = {
    "YYYY": "%Y",
    "yyyy": "%Y",
    "YY": "%y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "DDD": "%j",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
}
_TOKENS = re.compile(r"'([^']*)'|(([A-Za-z])\3*)|([^A-Za-z']+)|(.)")


def named(table: Mapping[str, T], name: str) -> T | None:
    """By the last part of a class's name, whatever its package."""
    return table.get(str(name).rpartition(".")[2].rpartition("$")[2])


def folder_of(settings: Mapping[str, Any]) -> Folder:
    make = named(PARTITIONERS, settings["partitioner.class"])
    assert make is not None
    return make(settings)


def _by_partition(settings: Mapping[str, Any]) -> Folder:
    return lambda record: f"partition={record.original_partition}"


def _by_field(settings: Mapping[str, Any]) -> Folder:
    names = settings["partition.field.name"]
    if not names:
        raise ConfigError("partition.field.name: is empty; the FieldPartitioner needs it")
    return lambda record: "/".join(f"{name}={_safe(_field(record, name))}" for name in names)


def _by_time(settings: Mapping[str, Any], path_format: str | None = None) -> Folder:
    pattern = strftime_of(path_format or settings["path.format"])
    zone = _zone(settings["timezone"])
    make = named(EXTRACTORS, settings["timestamp.extractor"])
    assert make is not None
    moment_of = make(settings)
    return lambda record: moment_of(record).astimezone(zone).strftime(pattern)


def _daily(settings: Mapping[str, Any]) -> Folder:
    return _by_time(settings, "'year'=YYYY/'month'=MM/'day'=dd")


def _hourly(settings: Mapping[str, Any]) -> Folder:
    return _by_time(settings, "'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH")


PARTITIONERS: dict[str, Callable[[Mapping[str, Any]], Folder]] = {
    "DefaultPartitioner": _by_partition,
    "FieldPartitioner": _by_field,
    "TimeBasedPartitioner": _by_time,
    "DailyPartitioner": _daily,
    "HourlyPartitioner": _hourly,
}


def delta_columns(settings: Mapping[str, Any]) -> list[str]:
    """What a Delta table is partitioned by: columns that it has, whatever Kafka's partition is."""
    make, names = named(PARTITIONERS, settings["partitioner.class"]), settings["partition.field.name"]
    if make not in (_by_partition, _by_field):
        raise ConfigError(
            f"partitioner.class: got {settings['partitioner.class']!r}; with format.class=delta it takes "
            "DefaultPartitioner or FieldPartitioner"
        )
    inner = next((name for name in names if "." in name), None)
    if make is _by_field and inner is not None:
        raise ConfigError(
            f"partition.field.name: got {inner!r}; with format.class=delta it takes fields of the value itself"
        )
    return list(names) if make is _by_field else []


def strftime_of(path_format: str) -> str:
    """Joda's letters in strftime's: `'year'=YYYY/'month'=MM`."""
    return "".join(_strftime_of_token(match, path_format) for match in _TOKENS.finditer(path_format))


def _strftime_of_token(match: re.Match[str], path_format: str) -> str:
    quoted, letters, _, other, stray = match.groups()
    if letters is None and stray is None:
        return (quoted if quoted is not None else other).replace("%", "%%")
    if letters not in _LETTERS:
        raise ConfigError(
            f"path.format: got {letters or stray!r} in {path_format!r}; takes {', '.join(_LETTERS)}, "
            "and other letters between single quotes"
        )
    return _LETTERS[letters]


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigError(f"timezone: got {name!r}; takes a name such as Europe/Berlin") from None


def _record_time(settings: Mapping[str, Any]) -> Callable[[SinkRecord], datetime]:
    def moment(record: SinkRecord) -> datetime:
        if record.timestamp is None:
            raise ConnectError(f"{_where(record)}: the record has no timestamp")
        return _EPOCH + timedelta(milliseconds=record.timestamp)

    return moment


def _wallclock(settings: Mapping[str, Any]) -> Callable[[SinkRecord], datetime]:
    return lambda record: datetime.now(UTC)


def _field_time(settings: Mapping[str, Any]) -> Callable[[SinkRecord], datetime]:
    name = settings["timestamp.field"]

    def moment(record: SinkRecord) -> datetime:
        value = _field(record, name)
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, date):
            return datetime.combine(value, time(), UTC)
        try:
            if isinstance(value, int):
                return _EPOCH + timedelta(milliseconds=value)
            found = datetime.fromisoformat(value)
        except (TypeError, ValueError, OverflowError):
            raise ConnectError(f"{_where(record)}: field {name!r}: got {value!r}; takes a time") from None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    return moment


EXTRACTORS: dict[str, Callable[[Mapping[str, Any]], Callable[[SinkRecord], datetime]]] = {
    "Record": _record_time,
    "Wallclock": _wallclock,
    "RecordField": _field_time,
}


def _field(record: SinkRecord, name: str) -> Any:
    value: Any = record.value
    for part in name.split("."):
        if isinstance(value, Struct) and part in value.schema.field_of:
            value = value.get(part)
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            raise ConnectError(f"{_where(record)}: the value has no field {name!r}")
    return value


def _safe(value: Any) -> str:
    """As Hive writes it: no slash leaves the folder."""
    return "__HIVE_DEFAULT_PARTITION__" if value in (None, "") else quote(str(value), safe=" -_.:+@,()")


def _where(record: SinkRecord) -> str:
    return f"{record.original_topic}-{record.original_partition} at offset {record.original_offset}"
