"""A record batch of format v2, seen through its 61-byte header.

Fetch never looks at records, produce only walks over them (`records.layout`). A producer's batch is checked (CRC over
all that follows it), gets its base offset and leader epoch written in place (both lie before the CRC'd part), and goes
to disk as is.

     0  base offset            int64     23  last offset delta   int32
     8  batch length           int32     27  base timestamp      int64
    12  partition leader epoch int32     35  max timestamp       int64
    16  magic                  int8      43  producer id         int64
    17  crc (of 21..end)       uint32    51  producer epoch      int16
    21  attributes             int16     53  base sequence       int32
                                         57  record count        int32
                                         61  records

The attributes: bits 0-2 codec, 3 log append time, 4 transactional, 5 control, 6 base timestamp is a delete
horizon.
"""

from struct import Struct

from crc32c import crc32c

from penstock.errors import ApiError, ErrorCode

HEADER = Struct(">qiibIhiqqqhii")
HEADER_SIZE = HEADER.size
PREFIX_SIZE = 12  # base offset and batch length; the length counts what follows
CRC_START = 21  # the first byte that the CRC covers
MAGIC_V2 = 2

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1
NO_LEADER_EPOCH = -1
MAX_SEQUENCE = 2**31 - 1

CODEC_MASK = 0x07
LOG_APPEND_TIME_FLAG = 0x08
TRANSACTIONAL_FLAG = 0x10
CONTROL_FLAG = 0x20
DELETE_HORIZON_FLAG = 0x40

ZSTD_CODEC = 4
LAST_CODEC = ZSTD_CODEC
FIRST_PRODUCE_VERSION_WITH_ZSTD = 7
LATEST_PRODUCE_VERSION = 13

MIN_MESSAGE_SIZE = 14  # what the oldest format needs after the prefix; less than that is no batch at all
SIZE_UP_TO_MAGIC = 17

_OFFSET_AND_LENGTH = Struct(">qi")
_OFFSET_LENGTH_EPOCH = Struct(">qii")
_CRC = Struct(">I")
_ATTRIBUTES = Struct(">h")
_MAX_TIMESTAMP = Struct(">q")

_unpack_header = HEADER.unpack_from
_unpack_prefix = _OFFSET_AND_LENGTH.unpack_from
_pack_prefix_and_epoch = _OFFSET_LENGTH_EPOCH.pack_into


class Batch:
    """One batch inside `buffer`, at `position`; `size` counts the 12-byte prefix too."""

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "buffer",
        "crc",
        "last_offset_delta",
        "leader_epoch",
        "length",
        "magic",
        "max_timestamp",
        "position",
        "producer_epoch",
        "producer_id",
        "record_count",
        "size",
    )

    def __init__(self, buffer: memoryview, position: int = 0) -> None:
        self.buffer = buffer
        self.position = position
        self.base_offset: int
        self.length: int
        self.leader_epoch: int
        self.magic: int
        self.crc: int
        self.attributes: int
        self.last_offset_delta: int
        self.base_timestamp: int
        self.max_timestamp: int
        self.producer_id: int
        self.producer_epoch: int
        self.base_sequence: int
        self.record_count: int
        (
            self.base_offset,
            self.length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.record_count,
        ) = _unpack_header(buffer, position)
        self.size: int = self.length + PREFIX_SIZE

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def is_compressed(self) -> bool:
        return bool(self.attributes & CODEC_MASK)

    @property
    def uses_log_append_time(self) -> bool:
        return bool(self.attributes & LOG_APPEND_TIME_FLAG)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_FLAG)

    @property
    def has_delete_horizon(self) -> bool:
        return bool(self.attributes & DELETE_HORIZON_FLAG)

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def view(self) -> memoryview:
        """The whole batch, not copied."""
        return self.buffer[self.position : self.position + self.size]

    @property
    def records_view(self) -> memoryview:
        """What follows the header: the records, compressed if the codec says so. Not copied."""
        return self.buffer[self.position + HEADER_SIZE : self.position + self.size]

    def compute_crc(self) -> int:
        return crc32c(self.buffer[self.position + CRC_START : self.position + self.size])

    def is_valid(self) -> bool:
        return self.size >= HEADER_SIZE and self.crc == self.compute_crc()

    def assign(self, base_offset: int, leader_epoch: int) -> None:
        """Give the batch its place in the log, in the buffer itself; the CRC does not cover these fields."""
        self.base_offset = base_offset
        self.leader_epoch = leader_epoch
        _pack_prefix_and_epoch(self.buffer, self.position, base_offset, self.length, leader_epoch)

    def set_log_append_time(self, now_ms: int) -> None:
        """Stamp the batch with the time of the append; readers then ignore the records' own timestamps."""
        if self.uses_log_append_time and self.max_timestamp == now_ms:
            return
        self.max_timestamp = now_ms
        _MAX_TIMESTAMP.pack_into(self.buffer, self.position + 35, now_ms)
        self.set_attributes(self.attributes | LOG_APPEND_TIME_FLAG)

    def set_attributes(self, attributes: int) -> None:
        self.attributes = attributes
        _ATTRIBUTES.pack_into(self.buffer, self.position + 21, attributes)
        self.crc = self.compute_crc()
        _CRC.pack_into(self.buffer, self.position + 17, self.crc)

    def __repr__(self) -> str:
        return (
            f"Batch(offsets={self.base_offset}..{self.last_offset}, size={self.size}, "
            f"count={self.record_count}, attributes={self.attributes:#x}, "
            f"producer_id={self.producer_id}, base_sequence={self.base_sequence})"
        )


def increment_sequence(sequence: int, increment: int) -> int:
    """Sequences go from 0 to 2^31 - 1 and start over."""
    return (sequence + increment) % (MAX_SEQUENCE + 1)


def decrement_sequence(sequence: int, decrement: int) -> int:
    return (sequence - decrement) % (MAX_SEQUENCE + 1)


def split_batches(buffer: memoryview) -> list[Batch]:
    """All whole batches at the start of `buffer`; one that is cut off at the end is left out.

    CRCs are not checked here.
    """
    batches: list[Batch] = []
    position, end = 0, len(buffer)
    while (size := next_batch_size(buffer, position, end)) > 0:
        _require_v2(buffer, position, size)
        batches.append(Batch(buffer, position))
        position += size
    return batches


def next_batch_size(buffer: memoryview, position: int, end: int) -> int:
    """The size of the batch at `position`, or 0 if it is not there as a whole."""
    if end - position < PREFIX_SIZE:
        return 0
    length: int = _unpack_prefix(buffer, position)[1]
    if length < MIN_MESSAGE_SIZE:
        raise ApiError(
            ErrorCode.CORRUPT_MESSAGE,
            f"Record size {length} is less than the minimum record overhead ({MIN_MESSAGE_SIZE})",
        )
    if end - position < SIZE_UP_TO_MAGIC:
        return 0
    magic = buffer[position + 16]
    if magic > MAGIC_V2:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"Invalid magic found in record: {magic}")
    size = length + PREFIX_SIZE
    return size if size <= end - position else 0


def _require_v2(buffer: memoryview, position: int, size: int) -> None:
    magic = buffer[position + 16]
    if magic != MAGIC_V2:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"A batch with magic {magic}; only format v2 is stored")
    if size < HEADER_SIZE:
        raise _too_small(size)


def decode_batches(buffer: memoryview, *, produce_version: int = LATEST_PRODUCE_VERSION) -> list[Batch]:
    """The batches in the records field of one partition in a Produce request, checked as Kafka checks them.

    Since version 3 of the request that is exactly one batch; bytes after it that make no batch are ignored.
    """
    end = len(buffer)
    if end >= HEADER_SIZE and not buffer.readonly:
        batch = Batch(buffer)
        if _is_sound(batch, end):
            return [batch]
    size = next_batch_size(buffer, 0, end)
    if size == 0:
        raise _invalid(
            f"Produce requests with version {produce_version} must have at least one record batch "
            "per partition"
        )
    if buffer[16] != MAGIC_V2:
        raise _invalid(
            f"Produce requests with version {produce_version} are only allowed to contain record batches "
            f"with magic version {MAGIC_V2}"
        )
    if size < HEADER_SIZE:
        raise _too_small(size)
    if buffer.readonly:
        buffer = memoryview(bytearray(buffer))
    batch = Batch(buffer)
    if size != end:
        _refuse_second_batch(buffer, size, end, produce_version)
    _check_client_batch(batch, produce_version)
    return [batch]


def _is_sound(batch: Batch, size: int) -> bool:
    """All checks at once, for the batch that passes them; what fails is looked at again, to say why."""
    return (
        batch.size == size
        and batch.magic == MAGIC_V2
        and batch.crc == crc32c(batch.buffer[CRC_START:])
        and batch.base_offset == 0
        and batch.attributes & (CODEC_MASK | CONTROL_FLAG) < ZSTD_CODEC
        and 0 <= batch.last_offset_delta == batch.record_count - 1
        and (batch.base_sequence >= 0 or batch.producer_id <= NO_PRODUCER_ID)
    )


def _refuse_second_batch(buffer: memoryview, position: int, end: int, produce_version: int) -> None:
    if next_batch_size(buffer, position, end):
        raise _invalid(
            f"Produce requests with version {produce_version} are only allowed to contain exactly one record "
            "batch per partition"
        )


def _check_client_batch(batch: Batch, produce_version: int) -> None:
    codec = batch.attributes & CODEC_MASK
    if codec == ZSTD_CODEC and produce_version < FIRST_PRODUCE_VERSION_WITH_ZSTD:
        raise ApiError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"Produce requests with version {produce_version} are not allowed to use ZStandard compression",
        )
    if batch.base_offset != 0:
        raise _invalid(f"The baseOffset of the record batch should be 0, but it is {batch.base_offset}")
    computed = crc32c(batch.buffer[CRC_START : batch.size])
    if computed != batch.crc:
        raise ApiError(
            ErrorCode.CORRUPT_MESSAGE,
            f"Record is corrupt (stored crc = {batch.crc}, computed crc = {computed})",
        )
    if codec > LAST_CODEC:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, f"Unknown compression type id: {codec}")
    _check_client_header(batch)


def _check_client_header(batch: Batch) -> None:
    count = batch.record_count
    if batch.last_offset_delta < 0:
        raise _invalid(f"Batch has an invalid offset range: [{batch.base_offset}, {batch.last_offset}]")
    if count <= 0:
        raise _invalid(f"Invalid reported count for record batch: {count}")
    if batch.last_offset_delta + 1 != count:
        raise _invalid(
            f"Inconsistent batch offset range [{batch.base_offset}, {batch.last_offset}] and count of "
            f"records {count}"
        )
    if batch.attributes & CONTROL_FLAG:
        raise _invalid("Clients are not allowed to write control records")
    if batch.producer_id > NO_PRODUCER_ID and batch.base_sequence < 0:
        raise _invalid(
            f"Invalid sequence number {batch.base_sequence} in record batch with producerId "
            f"{batch.producer_id}"
        )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_RECORD, message)


def _too_small(size: int) -> ApiError:
    return ApiError(
        ErrorCode.CORRUPT_MESSAGE,
        f"Record batch is corrupt (the size {size} is smaller than the minimum allowed {HEADER_SIZE})",
    )


def contiguous_bytes(batches: "list[Batch]") -> bytes | memoryview:
    """The bytes of the batches: a view if they lie side by side in one buffer."""
    first = batches[0]
    buffer, start = first.buffer, first.position
    end = start
    for batch in batches:
        if batch.buffer is not buffer or batch.position != end:
            return b"".join([batch.view for batch in batches])
        end += batch.size
    return buffer[start:end]
