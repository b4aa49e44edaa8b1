"""Whether the bytes of a batch are as many records as its header says.

A reader stops for good at a batch whose records do not end where they should, so none may come into the log. A
parser in Python would take 2 us for each record, more than all else that is done to the batch; so only the lengths
are walked, from record to record, and the walk must land on the last byte after just the promised number. What lies
between the lengths is parsed for the first record only: an encoder that is wrong is wrong there too.

Most producers send records of like sizes. Where the next records begin with the same length, their lengths stand in
columns: a slice with a stride has the first bytes of the next few hundred, and `lstrip` counts in C how many are
the same. It says as much as walking them: each length that is confirmed leads to where the next one is looked for.
Where sizes differ, the columns are tried less and less often.
"""

from penstock.errors import ApiError, ErrorCode
from penstock.records.reader import read_headers
from penstock.records.varint import read_varint, read_varlong

MIN_BODY_BYTES = 6  # attributes, timestamp delta, offset delta, key length, value length, number of headers
MIN_RECORD_BYTES = 1 + MIN_BODY_BYTES
NULL = 1  # the length of what is not there, -1
FEW_RECORDS = 16
SHORTEST_REPEAT = 32
LONGEST_REPEAT = 512
LONGEST_STRETCH = 512


def check_layout(data: memoryview, count: int) -> None:
    """Refuses what is not just `count` records; `data` is decompressed."""
    size = len(data)
    if count * MIN_RECORD_BYTES > size:
        raise _invalid(f"The batch has {size} bytes, which can't be {count} records")
    try:
        end = _check_first(data, size)
        if count > 1:
            end = _walk(data, 0, count) if count <= FEW_RECORDS else _walk_many(data, count)
    except IndexError:
        raise _invalid(f"The batch ends before its {count} records do") from None
    if end < size:
        raise _invalid("Incorrect declared batch size, records still remaining in file")
    if end > size:
        raise _invalid(f"The batch ends before its {count} records do")


def _check_first(data: memoryview, available: int) -> int:
    """Parses the record that the batch begins with, and nothing more than that; returns where it ends.

    Each number is read as the unsigned one that it is on the wire: 2n for n, 2n - 1 for -n. Nearly all of them take a
    byte or two, for which nothing is called: a request of one record costs little more than this.
    """
    size, position = data[0], 1
    if size > 0x7F:
        size, position = _read_long(data, 0)
    end = position + (size >> 1)
    if size & 1 or end > available:
        raise _invalid(f"Invalid record size: {size >> 1} bytes where {available - position} are left")
    if data[position + 1] or data[position + 2]:
        position = _behind_deltas(data, position + 1)
    else:  # no time and no offset after the batch's own, as in the first record of most batches
        position += 3
    size = data[position]
    position += 1
    if size != NULL:
        if size > 0x7F:
            size, position = _read_long(data, position - 1)
        position += 0 if size & 1 else size >> 1
    if position >= end:
        raise _invalid("Invalid record: a key ends beyond it")
    size = data[position]
    position += 1
    if size > 0x7F:
        size, position = _read_long(data, position - 1)
    position += 0 if size & 1 else size >> 1
    if position + 1 != end or data[position]:
        read_headers(data[:end], position)
    return end


def _behind_deltas(data: memoryview, position: int) -> int:
    return read_varint(data, read_varlong(data, position)[1])[1]


def _read_long(data: memoryview, position: int) -> tuple[int, int]:
    """A number of more than one byte."""
    more = data[position + 1]
    if more < 0x80:
        return data[position] + (more << 7) - 0x80, position + 2
    number, position = read_varint(data, position)
    return number << 1 if number >= 0 else -(number << 1) - 1, position


def _walk_many(data: memoryview, count: int) -> int:
    position, stretch = 0, FEW_RECORDS
    while count:
        repeats, size = _count_repeats(data, position, min(count, LONGEST_REPEAT))
        if repeats > SHORTEST_REPEAT:
            position += repeats * size
            stretch = FEW_RECORDS
        else:
            repeats = min(count, stretch)
            position = _walk(data, position, repeats)
            stretch = min(2 * stretch, LONGEST_STRETCH)
        count -= repeats
    return position


def _walk(data: memoryview, position: int, count: int) -> int:
    """Where the record after `count` others starts."""
    for _ in range(count):
        zigzag = data[position]
        position += 1
        if zigzag > 0x7F:
            more = data[position]
            if more > 0x7F:
                length, position = read_varint(data, position - 1)
                zigzag = 2 * length
            else:
                zigzag += (more << 7) - 0x80
                position += 1
        if zigzag & 1 or zigzag < 2 * MIN_BODY_BYTES:
            raise _invalid("Invalid record size: less than what the shortest record has, or negative")
        position += zigzag >> 1
    return position


def _count_repeats(data: memoryview, position: int, most: int) -> tuple[int, int]:
    """How many records from here on, one after the other, have the same length; and their size."""
    length, body = read_varint(data, position)
    if length < MIN_BODY_BYTES:
        return 0, 0
    size, repeats = body - position + length, most
    for at in range(position, body):
        column = bytes(data[at : at + (most - 1) * size + 1 : size])
        repeats = min(repeats, len(column) - len(column.lstrip(column[:1])))
    return repeats, size


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_RECORD, message)
