"""Exactly once: a chunk of a partition's records becomes files all at once, whatever ends in the middle.

The files of a chunk are written beside the data first, where no reader looks. Then one small file, the manifest, says
where reading goes on behind the chunk, and where its files belong: from that moment on the chunk is there. Then they
are moved. Who comes after a crash reads the last manifest, moves what was not moved yet, and goes on behind it. A
staged file that is not there any more was moved; if somebody has taken it away since, that is not our business.

Manifests are numbered, and a number can be taken only once. Who takes over a partition takes the next number before it
removes what others have staged: a task that was cut off and still writes finds its number taken, and none of its files
is ever moved.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.pipeline.connect.connectors.lake.file_systems import Files
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

HOME = "_penstock"


@dataclass(frozen=True, slots=True)
class DataFile:
    name: str
    """Where it belongs."""
    content: bytes


class PartitionCommits:
    """What one connector has committed of one partition of a topic."""

    def __init__(self, files: Files, connector: str, topic: str, partition: int) -> None:
        self._files = files
        self._home = f"{HOME}/{connector}/{topic}-{partition}"
        self._number = 0
        self.next_offset: int | None = None
        """The first offset that is in no file; None before the first chunk."""

    def recover(self) -> None:
        """Ends what was begun and takes over: at the beginning, and when a commit did not get through."""
        manifests = [name for name in self._files.sizes(self._home) if name.endswith(".manifest")]
        if manifests:
            self._number = int(manifests[-1].rpartition("/")[2].partition(".")[0])
            said = json.loads(self._files.read(manifests[-1]))
            self._move(said["moves"])
            self.next_offset = said["next_offset"]
        if not self._take_next_number(self.next_offset, {}):
            raise RetriableConnectError(f"{self._home}: another task is taking over")
        for name in self._files.sizes(self._home):
            if name != self._manifest(self._number):
                self._files.delete(name)

    def commit(self, start: int, end: int, files: Sequence[DataFile]) -> None:
        """The records from `start` up to `end`, which is not in it. After a failure, `recover` finds what is true."""
        if self.next_offset is not None and start < self.next_offset:
            raise ConnectError(f"{self._home}: offset {start} is in a file already, up to {self.next_offset}")
        moves = {
            f"{self._home}/{self._number + 1:012}.{number}.staged": each.name
            for number, each in enumerate(files)
        }
        for staged, each in zip(moves, files, strict=True):
            self._files.write(staged, each.content)
        if not self._take_next_number(end, moves):
            raise ConnectError(f"{self._home}: another task has taken over")
        self._move(moves)
        self.next_offset = end
        self._files.delete(self._manifest(self._number - 1))

    def go_on_at(self, offset: int | None) -> None:
        """Whatever was committed."""
        self.recover()
        if not self._take_next_number(offset, {}):
            raise RetriableConnectError(f"{self._home}: another task is taking over")
        self.next_offset = offset

    def _take_next_number(self, next_offset: int | None, moves: Mapping[str, str]) -> bool:
        said = json.dumps({"next_offset": next_offset, "moves": moves})
        if not self._files.create(self._manifest(self._number + 1), said.encode()):
            return False
        self._number += 1
        return True

    def _move(self, moves: Mapping[str, str]) -> None:
        for staged, target in moves.items():
            self._files.move(staged, target)

    def _manifest(self, number: int) -> str:
        return f"{self._home}/{number:012}.manifest"
