"""The journal: every transaction on disk before anybody hears of it.

A journal file is a header (a magic number and a salt) and then frames. A frame holds the transactions of one batch:

    magic (4) | length of the payload (4) | CRC-32C (4) of salt, length, payload | payload: a vector of records

A frame is written only after the frame before it has been synced. So after a crash at most the last frame can be
incomplete, and nothing in it was ever answered: it is cut off. A bad frame with a good one after it is something
else, a damaged disk or a foreign hand, and cutting there would drop answered transactions: the server refuses to
start and says where. (A damaged last frame looks exactly like a torn one and is cut off.) The salt keeps data that a
client stored from passing for a frame.

Files are named after the first zxid that they may hold. A new one begins when a snapshot is taken; once the snapshot
is safe, the files and snapshots before it are removed.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from crc32c import crc32c

from penstock.errors import ProtocolError, StorageError
from penstock.zookeeper.jute import JuteReader, encode_int32
from penstock.zookeeper.txn import TxnRecord, decode_record

JOURNAL_MAGIC = b"PSTKZKJ1"
SALT_BYTES = 8
HEADER_BYTES = len(JOURNAL_MAGIC) + SALT_BYTES
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


def _checksum(salt: bytes, payload: bytes) -> int:
    return crc32c(payload, crc32c(salt + len(payload).to_bytes(4, "big")))


def encode_batch(salt: bytes, records: list[bytes]) -> bytes:
    payload = encode_int32(len(records)) + b"".join(records)
    return _FRAME_HEADER.pack(FRAME_MAGIC, len(payload), _checksum(salt, payload)) + payload


class JournalContent:
    """What a journal file holds: its records, and where its sound part ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[TxnRecord] = []
        self.sound_size = 0
        self._content = path.read_bytes()
        self.salt = self._content[len(JOURNAL_MAGIC) : HEADER_BYTES]
        if self._has_header():
            self._read_frames()

    @property
    def is_torn(self) -> bool:
        return self.sound_size == 0 or self.sound_size < len(self._content)

    def _has_header(self) -> bool:
        magic = self._content[: len(JOURNAL_MAGIC)]
        if not JOURNAL_MAGIC.startswith(magic):
            raise StorageError(f"{self.path} is not a journal of this server")
        return len(self._content) >= HEADER_BYTES

    def _read_frames(self) -> None:
        self.sound_size = HEADER_BYTES
        for end, payload in self._frames():
            self.records += self._decode(payload)
            self.sound_size = end
        if self._has_frame_after(self.sound_size):
            raise StorageError(
                f"{self.path} is damaged at byte {self.sound_size}, with sound transactions after it"
            )

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        position = HEADER_BYTES
        while (payload := self._payload_at(position)) is not None:
            position += _FRAME_HEADER.size + len(payload)
            yield position, payload

    def _payload_at(self, position: int) -> bytes | None:
        """The payload of the frame at a position, if a whole and sound frame is there."""
        start = position + _FRAME_HEADER.size
        if len(self._content) < start:
            return None
        magic, length, checksum = _FRAME_HEADER.unpack_from(self._content, position)
        if magic != FRAME_MAGIC or len(self._content) - start < length:
            return None
        payload = self._content[start : start + length]
        return payload if _checksum(self.salt, payload) == checksum else None

    def _has_frame_after(self, position: int) -> bool:
        position = self._content.find(FRAME_MAGIC, position + 1)
        while position != -1:
            if self._payload_at(position) is not None:
                return True
            position = self._content.find(FRAME_MAGIC, position + 1)
        return False

    def _decode(self, payload: bytes) -> list[TxnRecord]:
        try:
            return JuteReader(payload).vector(decode_record, _SMALLEST_RECORD)
        except ProtocolError as error:
            raise StorageError(f"{self.path}: byte {self.sound_size} makes no sense: {error}") from None


@dataclass(frozen=True, slots=True)
class History:
    """What the journals of a directory say, and the newest of them."""

    records: list[TxnRecord]
    newest: JournalContent | None


def read_journals(directory: Path, after_zxid: int) -> History:
    """All transactions after a zxid, without a gap. Only the newest file may end in a torn frame."""
    files = journal_files(directory)
    records: list[TxnRecord] = []
    content = None
    for path in files:
        content = JournalContent(path)
        if content.is_torn and path != files[-1]:
            raise StorageError(
                f"{path} is damaged at byte {content.sound_size}, with newer journals after it"
            )
        records += [record for record in content.records if record.zxid > after_zxid]
    for expected, record in enumerate(records, start=after_zxid + 1):
        if record.zxid != expected:
            raise StorageError(f"{directory}: transaction {expected:#x} is missing, {record.zxid:#x} follows")
    return History(records, content)


class Journal:
    """The journal that is being written."""

    def __init__(self, directory: Path, newest: JournalContent | None, next_zxid: int, *, force_sync: bool):
        self._directory = directory
        self._force_sync = force_sync
        self._descriptor = -1
        if newest is None or newest.sound_size == 0:
            self._create(newest.path if newest else directory / journal_name(next_zxid))
        else:
            self._resume(newest)

    def _create(self, path: Path) -> None:
        self._open(path)
        os.ftruncate(self._descriptor, 0)
        self.size = 0
        self._salt = os.urandom(SALT_BYTES)
        self._write(JOURNAL_MAGIC + self._salt)
        if self._force_sync:
            os.fsync(self._descriptor)
            sync_directory(self._directory)

    def _resume(self, newest: JournalContent) -> None:
        """Goes on with a file, cut back to its sound part."""
        self._open(newest.path)
        self._salt = newest.salt
        self.size = newest.sound_size
        os.ftruncate(self._descriptor, self.size)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        if self._force_sync:
            os.fsync(self._descriptor)

    def _open(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]
        self.size += len(data)

    def append(self, records: list[bytes]) -> None:
        """Writes a batch; when this returns it survives a crash (of the process only, if syncing is off)."""
        try:
            self._write(encode_batch(self._salt, records))
            if self._force_sync:
                os.fdatasync(self._descriptor)
        except OSError as error:
            raise StorageError(f"{self.path} can't be written: {error.strerror}", error.errno) from error

    def roll(self, next_zxid: int) -> None:
        """Begins a new file, whose first transaction will be `next_zxid`."""
        try:
            self.close()
            self._create(self._directory / journal_name(next_zxid))
        except OSError as error:
            raise StorageError(f"{self.path} can't be created: {error.strerror}", error.errno) from error

    def remove_older(self) -> None:
        for path in journal_files(self._directory):
            if path.name < self.path.name:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
