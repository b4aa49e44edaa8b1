"""The folders of many records at once, as `partitioners` say them one by one, but each is made only once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from penstock.pipeline.connect.connectors.lake.formats import takes_tables
from penstock.pipeline.connect.connectors.lake.partitioners import EXTRACTORS, folder_of, named
from penstock.pipeline.connect.data import SinkColumns, SinkRecord

Folders = Callable[[SinkColumns], Sequence[str] | None]
"""None if one of the records has none."""
SECOND_MS: Final = 1000
FOLDERS_REMEMBERED: Final = 1000


def divided(columns: SinkColumns, folders: Sequence[str]) -> Iterator[tuple[str, Any, int, int]]:
    """Each folder, the rows that belong there, and the offsets of the first and the last of them."""
    if len(set(folders)) == 1:
        yield folders[0], columns.table, columns.offsets[0], columns.offsets[-1]
        return
    places: dict[str, list[int]] = {}
    for place, folder in enumerate(folders):
        places.setdefault(folder, []).append(place)
    for folder, rows in places.items():
        yield folder, columns.table.take(rows), columns.offsets[rows[0]], columns.offsets[rows[-1]]


def folders_of_columns(settings: Mapping[str, Any]) -> Folders | None:
    """None where only the records themselves say it, or files are not made of tables."""
    make = (
        named(_BY_COLUMNS, settings["partitioner.class"]) if takes_tables(settings["format.class"]) else None
    )
    return None if make is None else make(settings)


def _by_partition(settings: Mapping[str, Any]) -> Folders:
    return lambda columns: [f"partition={each}" for each in columns.partitions]


def _by_time(settings: Mapping[str, Any]) -> Folders | None:
    """No folder is finer than a second."""
    if named(EXTRACTORS, settings["timestamp.extractor"]) is not EXTRACTORS["Record"]:
        return None
    of_record = folder_of(settings)

    @lru_cache(FOLDERS_REMEMBERED)
    def of_second(number: int) -> str:
        return of_record(SinkRecord("", 0, 0, timestamp=number * SECOND_MS))

    def folders(columns: SinkColumns) -> Sequence[str] | None:
        timestamps = columns.timestamps()
        if None in timestamps:
            return None
        return [of_second(each // SECOND_MS) for each in cast("Sequence[int]", timestamps)]

    return folders


_BY_COLUMNS: dict[str, Callable[[Mapping[str, Any]], Folders | None]] = {
    "DefaultPartitioner": _by_partition,
    "TimeBasedPartitioner": _by_time,
    "DailyPartitioner": _by_time,
    "HourlyPartitioner": _by_time,
}
