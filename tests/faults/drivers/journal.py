"""What a driver program leaves behind: lines that are with the kernel before the next step is taken, so that no kill of
the process takes them back."""

from __future__ import annotations

from collections.abc import Iterable

from tests.faults.drivers.settings import MemberSettings


def number_in(value: bytes | None) -> int:
    assert value is not None
    return int(value.split(b" ", 1)[0])


class Journal:
    def __init__(self, settings: MemberSettings) -> None:
        self._records = open(settings.records, "a")  # noqa: SIM115 (open as long as the process lives)
        self._events = open(settings.events, "a")  # noqa: SIM115

    def note_records(self, records: Iterable[tuple[int, int, int]]) -> None:
        """Partition, offset and number of each."""
        self._records.writelines(f"{partition} {offset} {number}\n" for partition, offset, number in records)
        self._records.flush()

    def note(self, kind: str, *details: object) -> None:
        self._events.write(" ".join([kind, *map(str, details)]).replace("\n", " ") + "\n")
        self._events.flush()

    def note_owned(self, generation: int, partitions: Iterable[int]) -> None:
        owned = sorted(partitions)
        self.note("owns", generation, *owned)
        print("owns", *owned, file=self._records, flush=True)
