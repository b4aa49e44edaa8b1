"""Messages of the formats v0 and v1, which Kafka wrote before version 0.11; damaged bytes may look like them, too.

     0  offset     int64     17  attributes  int8: bits 0-2 codec, 3 log append time (v1)
     8  size       int32     18  timestamp   int64, in v1 only
    12  crc        uint32        key length and key, value length and value; -1 is null
    16  magic      int8

A compressed message holds others in its value. Their offsets are absolute in v0; in v1 they count up to the last one,
whose offset is the outer message's.
"""

import struct
import zlib
from collections.abc import Iterator

from penstock.cli.tools.dump_log.errors import DumpError
from penstock.records.batch import MIN_MESSAGE_SIZE, NO_TIMESTAMP, PREFIX_SIZE
from penstock.records.compression import decompress
from penstock.records.reader import Record

NEWEST_MAGIC = 1
CODEC_MASK, LOG_APPEND_TIME_FLAG = 0x07, 0x08
LAST_CODEC = 3
_INT32, _INT64, _UINT32 = struct.Struct(">i"), struct.Struct(">q"), struct.Struct(">I")
_ATTRIBUTES, _TIMESTAMP = 5, 6
_KEY_SIZE = {0: 6, 1: 14}


class LegacyMessage:
    """One message, from its CRC on; `position` is that of its offset, in the file."""

    def __init__(self, data: memoryview, magic: int, offset: int, position: int = 0) -> None:
        self._data = data
        self.magic = magic
        self.last_offset = offset
        self.position = position
        self.size = PREFIX_SIZE + len(data)
        self.append_time: int | None = None
        """The outer message's timestamp, where the broker stamped that."""

    def check_magic(self) -> None:
        if not 0 <= self.magic <= NEWEST_MAGIC:
            raise DumpError(f"Invalid magic used in LegacyRecord: {self.magic}")

    @property
    def codec(self) -> int:
        return self._data[_ATTRIBUTES] & CODEC_MASK

    @property
    def timestamp_type(self) -> str:
        if self.magic == 0:
            return "NoTimestampType"
        return "LogAppendTime" if self._data[_ATTRIBUTES] & LOG_APPEND_TIME_FLAG else "CreateTime"

    @property
    def timestamp(self) -> int:
        if self.magic == 0:
            return NO_TIMESTAMP
        return self._number(_INT64, _TIMESTAMP) if self.append_time is None else self.append_time

    @property
    def crc(self) -> int:
        return self._number(_UINT32, 0)

    def is_valid(self) -> bool:
        return len(self._data) >= MIN_MESSAGE_SIZE and self.crc == zlib.crc32(self._data[4:])

    @property
    def key_size(self) -> int:
        return self._number(_INT32, _KEY_SIZE[self.magic])

    @property
    def value_size(self) -> int:
        return self._number(_INT32, self._value_size_position)

    @property
    def _value_size_position(self) -> int:
        return _KEY_SIZE[self.magic] + _INT32.size + max(self.key_size, 0)

    def _number(self, layout: struct.Struct, position: int) -> int:
        try:
            return int(layout.unpack_from(self._data, position)[0])
        except struct.error:
            raise self._cut_short() from None

    def _bytes(self, start: int, size: int) -> bytes | None:
        if size < 0:
            return None
        if start + size > len(self._data):
            raise self._cut_short()
        return bytes(self._data[start : start + size])

    def _cut_short(self) -> DumpError:
        return DumpError(f"The message of format v{self.magic} at offset {self.last_offset} is cut short")

    def as_record(self) -> Record:
        key = self._bytes(_KEY_SIZE[self.magic] + _INT32.size, self.key_size)
        value = self._bytes(self._value_size_position + _INT32.size, self.value_size)
        return Record(self.last_offset, self.timestamp, key, value)

    # --- messages within

    def messages(self) -> Iterator["LegacyMessage"]:
        """The message itself, or those that it holds."""
        if self.codec == 0:
            yield self
            return
        inner = self._inner_messages()
        base = 0 if self.magic == 0 or self.last_offset == 0 else self.last_offset - inner[-1].last_offset
        if base < 0:
            raise DumpError(
                f"Found invalid wrapper offset in compressed v1 message set, wrapper offset '{self.last_offset}' "
                f"is less than the last inner message offset '{inner[-1].last_offset}' and it is not zero."
            )
        for message in inner:
            if message.codec:
                raise DumpError("Inner message must not be compressed")
            message.last_offset += base
            yield message

    def _inner_messages(self) -> list["LegacyMessage"]:
        value = self.as_record().value
        if value is None:
            raise DumpError(f"Found invalid compressed record set with null value (magic = {self.magic})")
        if self.codec > LAST_CODEC:
            raise DumpError(
                f"Invalid wrapper compressionType found in legacy deep record iterator {self.magic}"
            )
        inner = list(_split(memoryview(decompress(self.codec, value))))
        if not inner:
            raise DumpError("Found invalid compressed record set with no inner records")
        if self.timestamp_type == "LogAppendTime":
            for message in inner:
                message.append_time = self.timestamp
        return inner


def _split(data: memoryview) -> Iterator[LegacyMessage]:
    position = 0
    while len(data) - position >= PREFIX_SIZE:
        offset, size = struct.unpack_from(">qi", data, position)
        if size < MIN_MESSAGE_SIZE:
            raise DumpError(f"Record size is less than the minimum record overhead ({MIN_MESSAGE_SIZE})")
        end = position + PREFIX_SIZE + size
        if end > len(data):
            return
        message = data[position + PREFIX_SIZE : end]
        yield LegacyMessage(message, message[4], offset)
        position = end
