"""Lines out of a stream of bytes, as they come: a line ends with LF, CR or CR LF, the last one may lack its end."""

from collections.abc import Callable, Iterator

LF, CR = b"\n", b"\r"


def read_lines(read: Callable[[], bytes]) -> Iterator[list[bytes]]:
    """The lines of each piece that `read` gives, until it gives an empty one."""
    begun: list[bytes] = []
    after_cr = False
    while piece := read():
        if after_cr and piece.startswith(LF):
            piece = piece[1:]
        after_cr = piece.endswith(CR)
        first, *others = with_line_feeds(piece).split(LF)
        begun.append(first)
        if others:
            *whole, rest = others
            yield [b"".join(begun), *whole]
            begun = [rest]
    if last := b"".join(begun):
        yield [last]


def with_line_feeds(piece: bytes) -> bytes:
    return piece.replace(b"\r\n", LF).replace(CR, LF) if CR in piece else piece
