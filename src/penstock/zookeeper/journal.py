"""The journal: every transaction on disk before anybody hears of it.

A journal file is a header and then frames. A frame holds the transactions of one batch:

    magic (4) | length of the payload (4) | CRC-32C of length and payload (4) | payload: a vector of records

A frame is written only after the frame before it has been synced. So after a crash at most the last frame can be
incomplete, and nothing in it was ever answered: it is cut off. A bad frame with a good one after it is something
else, a damaged disk or a foreign hand, and cutting there would drop answered transactions: the server refuses to
start and says where. (A damaged last frame looks exactly like a torn one and is cut off.)

Files are named after the first zxid that they may hold. A new one begins when a snapshot is taken; once the snapshot
is safe, the files and snapshots before it are removed.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from struct import Struct

from crc32c import crc32c

from penstock.errors import ProtocolError, StorageError
from penstock.zookeeper.jute import JuteReader, encode_int32
from penstock.zookeeper.txn import TxnRecord, decode_record

JOURNAL_HEADER = b"PSTKZKJ1"
FRAME_MAGIC = b"\xf5ZKJ"
_FRAME_HEADER = Struct(">4sII")
_SMALLEST_RECORD = 24
_PREFIX = "journal."


def journal_name(first_zxid: int) -> str:
    return f"{_PREFIX}{first_zxid:016x}"


def journal_files(directory: Path) -> list[Path]:
    """The journals of a directory, oldest first."""
    return sorted(directory.glob(f"{_PREFIX}{'[0-9a-f]' * 16}"))


def sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def encode_batch(records: list[bytes]) -> bytes:
    payload = encode_int32(len(records)) + b"".join(records)
    return _FRAME_HEADER.pack(FRAME_MAGIC, len(payload), _checksum(payload)) + payload


def _checksum(payload: bytes) -> int:
    return crc32c(payload, crc32c(len(payload).to_bytes(4, "big")))


def _payload_at(content: bytes, position: int) -> bytes | None:
    """The payload of the frame at a position, if a whole and sound frame is there."""
    start = position + _FRAME_HEADER.size
    if len(content) < start:
        return None
    magic, length, checksum = _FRAME_HEADER.unpack_from(content, position)
    if magic != FRAME_MAGIC or len(content) - start < length:
        return None
    payload = content[start : start + length]
    return payload if _checksum(payload) == checksum else None


def _has_frame_after(content: bytes, position: int) -> bool:
    position = content.find(FRAME_MAGIC, position + 1)
    while position != -1:
        if _payload_at(content, position) is not None:
            return True
        position = content.find(FRAME_MAGIC, position + 1)
    return False


class JournalContent:
    """What a journal file holds: its records, and where its sound part ends."""

    def __init__(self, path: Path, content: bytes) -> None:
        self.records: list[TxnRecord] = []
        self.size = len(content)
        self.sound_size = len(JOURNAL_HEADER) if content.startswith(JOURNAL_HEADER) else 0
        if not self.sound_size:
            if not JOURNAL_HEADER.startswith(content):
                raise StorageError(f"{path} is not a journal of this server")
            return
        for end, payload in self._frames(content):
            self.records += self._decode(path, payload)
            self.sound_size = end
        if _has_frame_after(content, self.sound_size):
            raise StorageError(
                f"{path} is damaged at byte {self.sound_size}, with sound transactions after it"
            )

    @property
    def is_torn(self) -> bool:
        return self.sound_size < self.size or self.sound_size == 0

    def _frames(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        position = self.sound_size
        while (payload := _payload_at(content, position)) is not None:
            position += _FRAME_HEADER.size + len(payload)
            yield position, payload

    def _decode(self, path: Path, payload: bytes) -> list[TxnRecord]:
        try:
            return JuteReader(payload).vector(decode_record, _SMALLEST_RECORD)
        except ProtocolError as error:
            raise StorageError(
                f"{path}: the frame at byte {self.sound_size} makes no sense: {error}"
            ) from None


def read_journals(directory: Path, after_zxid: int) -> list[TxnRecord]:
    """All transactions after a zxid, without a gap. Only the newest file may end in a torn frame."""
    files = journal_files(directory)
    found: list[TxnRecord] = []
    for path in files:
        content = JournalContent(path, path.read_bytes())
        if content.is_torn and path != files[-1]:
            raise StorageError(
                f"{path} is damaged at byte {content.sound_size}, with newer journals after it"
            )
        found += [record for record in content.records if record.zxid > after_zxid]
    for expected, record in enumerate(found, start=after_zxid + 1):
        if record.zxid != expected:
            raise StorageError(f"{directory}: transaction {expected:#x} is missing, {record.zxid:#x} follows")
    return found


class Journal:
    """The journal that is being written."""

    def __init__(self, directory: Path, next_zxid: int, *, force_sync: bool) -> None:
        self._directory = directory
        self._force_sync = force_sync
        files = journal_files(directory)
        self.path = files[-1] if files else directory / journal_name(next_zxid)
        self._descriptor = self._open(self.path)

    def _open(self, path: Path) -> int:
        """Opens a file for appending, cut back to its sound part."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        content = JournalContent(path, path.read_bytes())
        if content.is_torn:
            os.ftruncate(descriptor, content.sound_size)
        os.lseek(descriptor, 0, os.SEEK_END)
        self.size = content.sound_size
        self._descriptor = descriptor
        if not content.sound_size:
            self._write(JOURNAL_HEADER)
        os.fsync(descriptor)
        sync_directory(path.parent)
        return descriptor

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]
        self.size += len(data)

    def append(self, records: list[bytes]) -> None:
        """Writes a batch; when this returns it survives a crash (of the process only, if syncing is off)."""
        try:
            self._write(encode_batch(records))
            if self._force_sync:
                os.fdatasync(self._descriptor)
        except OSError as error:
            raise StorageError(f"{self.path} can't be written: {error.strerror}") from error

    def roll(self, next_zxid: int) -> None:
        """Begins a new file, whose first transaction will be `next_zxid`."""
        try:
            os.close(self._descriptor)
            self.path = self._directory / journal_name(next_zxid)
            self._open(self.path)
        except OSError as error:
            raise StorageError(f"{self.path} can't be created: {error.strerror}") from error

    def remove_older(self) -> None:
        for path in journal_files(self._directory):
            if path.name < self.path.name:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        os.close(self._descriptor)
