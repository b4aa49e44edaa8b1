"""The help of a joptsimple parser, byte for byte: two columns, 80 wide with two blanks between them.

The columns are as wide as their widest cell, the left one at most half. Cells that are too long are wrapped where
Java breaks lines, with the next lines indented by two; every cell is padded, so that lines end in blanks.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from penstock.cli.options.joptsimple import Option
from penstock.cli.options.line_breaks import pieces_of

_WIDTH = 80
_BETWEEN = 2
_INDENT = "  "

Row = tuple[str, str]


def help_text(options: Sequence[Option]) -> str:
    return _rendered(_option_rows(options), _WIDTH, _BETWEEN)


def _option_rows(options: Sequence[Option]) -> list[Row]:
    if not options:
        return [("No options specified", "")]
    title = "Option (* = required)" if any(option.required for option in options) else "Option"
    headers = [(title, "Description"), ("-" * len(title), "-----------")]
    return headers + [(_left(option), _right(option)) for option in options]


def _left(option: Option) -> str:
    names = ", ".join(f"--{name}" if len(name) > 1 else f"-{name}" for name in option.names)
    return f"{'* ' if option.required else ''}{names}{_argument(option) if option.takes_argument else ''}"


def _argument(option: Option) -> str:
    described = f"{option.kind.name}: {option.argument}" if option.argument else option.kind.name
    return f" <{described}>" if option.argument_required else f" [{described}]"


def _right(option: Option) -> str:
    if not option.defaults:
        return option.description
    defaults = [_as_java_shows(default) for default in option.defaults]
    shown = defaults[0] if len(defaults) == 1 else f"[{', '.join(defaults)}]"
    return f"{option.description} (default: {shown})".strip()


def _as_java_shows(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- two columns


def _rendered(rows: Iterable[Row], width: int, between: int) -> str:
    rows = list(rows)
    left, right = _widths(rows, width, between)
    fitted = [
        pair
        for option, description in rows
        for pair in zip_longest(_wrapped(option, left), _wrapped(description, right), fillvalue="")
    ]
    left, right = _widths(fitted, width, between)
    return "".join(
        f"{option:<{left}}{' ' * between}{description:<{right}}\n" for option, description in fitted
    )


def _widths(rows: Sequence[Row], width: int, between: int) -> tuple[int, int]:
    left = min((width - between) // 2, max(len(option) for option, _ in rows))
    return left, min(width - left - between, max(len(description) for _, description in rows))


def _wrapped(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for line in _lines(text):
        lines += _wrapped_line(line, width)
    return lines


def _lines(text: str) -> list[str]:
    """As Java splits: empty lines at the end do not count."""
    lines = text.strip().split("\n")
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines


def _wrapped_line(line: str, width: int) -> list[str]:
    lines = []
    current = ""
    for piece in pieces_of(line):
        if len(current) + len(piece) > width:
            lines.append(current.rstrip())
            current = _INDENT + piece
        else:
            current += piece
    if current:
        lines.append(current)
    return lines
