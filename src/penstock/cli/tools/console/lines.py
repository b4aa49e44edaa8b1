"""Lines out of a stream of bytes, as they come: a line ends with LF, CR or CR LF, the last one may lack its end."""

from collections.abc import Callable, Iterator

LF, CR = b"\n", b"\r"


def read_lines(read: Callable[[], bytes]) -> Iterator[list[bytes]]:
    """The lines of each piece that `read` gives, until it gives an empty one."""
    pending = b""
    after_cr = False
    while piece := read():
        if after_cr and piece.startswith(LF):
            piece = piece[1:]
        after_cr = piece.endswith(CR) if piece else False
        *lines, pending = (pending + with_line_feeds(piece)).split(LF)
        if lines:
            yield lines
    if pending:
        yield [pending]


def with_line_feeds(piece: bytes) -> bytes:
    return piece.replace(b"\r\n", LF).replace(CR, LF) if CR in piece else piece
