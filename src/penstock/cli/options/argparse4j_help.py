"""The usage and help of an argparse4j parser, byte for byte.

Text is as wide as the terminal less five columns, 75 if there is none, and justified: blanks are spread over all
lines of a paragraph but its last.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from penstock.cli.options.argparse4j import Argument, ArgumentGroup, ArgumentParser, ArgumentParserError
from penstock.cli.options.line_breaks import pieces_of

_MARGIN = 5
_USUAL_WIDTH = 75
_USAGE_INDENT_LIMIT = 30
_HELP_COLUMN = 25
_WIDEST_TITLE = 21
_MANY = 1 << 31


def help_text(parser: ArgumentParser) -> str:
    width = _format_width()
    return "\n".join(section for section in _sections(parser, width) if section)


def _sections(parser: ArgumentParser, width: int) -> Iterator[str]:
    yield usage_text(parser)
    if parser.description:
        yield _wrap(parser.description, width) + "\n"
    commands = parser.subparsers
    titled = bool(commands.title or commands.description)
    positionals = "".join(
        _argument_help(parser, argument, width) for argument in _ungrouped(parser.positionals)
    )
    if commands.parsers and not titled:
        positionals += _commands_help(parser, width)
    if positionals:
        yield f"positional arguments:\n{positionals}"
    if flags := _ungrouped(parser.flags):
        yield "optional arguments:\n" + "".join(_argument_help(parser, flag, width) for flag in flags)
    if commands.parsers and titled:
        described = _described(commands.description, width)
        yield f"{commands.title or 'subcommands'}:\n{described}{_commands_help(parser, width)}"
    for group in parser.groups:
        if group.has_help_of_its_own:
            yield _group_help(parser, group, width)


def _ungrouped(arguments: Sequence[Argument]) -> list[Argument]:
    return [each for each in arguments if each.group is None or not each.group.has_help_of_its_own]


def _group_help(parser: ArgumentParser, group: ArgumentGroup, width: int) -> str:
    title = f"{group.title}:\n" if group.title else ""
    arguments = "".join(_argument_help(parser, argument, width) for argument in group.arguments)
    return f"{title}{_described(group.description, width)}{arguments}"


def _described(description: str, width: int) -> str:
    return f"  {_wrap(description, width, 2, '  ')}\n\n" if description else ""


def _commands_help(parser: ArgumentParser, width: int) -> str:
    commands = parser.subparsers
    listed = _entry(_commands_syntax(parser), commands.help, width)
    return listed + "".join(
        _entry(f"  {name}", command.help_as_command, width)
        for name, command in commands.parsers.items()
        if command.help_as_command
    )


def _commands_syntax(parser: ArgumentParser) -> str:
    return parser.subparsers.metavar or f"{{{','.join(parser.subparsers.parsers)}}}"


def _argument_help(parser: ArgumentParser, argument: Argument, width: int) -> str:
    if argument.help is None:
        return ""
    told = argument.help
    if parser.default_help and argument.default is not None:
        told = f"{told} (default: {_as_java_shows(argument.default)})".lstrip()
    return _entry(_title(argument), told, width)


def _as_java_shows(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _title(argument: Argument) -> str:
    if not argument.is_flag:
        return argument.value_names()
    values = _values_syntax(argument)
    return ", ".join(f"{flag} {values}" if values else flag for flag in argument.flags)


def _entry(title: str, told: str, width: int) -> str:
    if not told:
        return f"  {title}\n"
    text = _wrap(told, width, _HELP_COLUMN, " " * _HELP_COLUMN)
    if len(title) <= _WIDEST_TITLE:
        return f"  {title:<{_HELP_COLUMN - 2}}{text}\n"
    return f"  {title}\n{' ' * _HELP_COLUMN}{text}\n"


# --- usage


def usage_text(parser: ArgumentParser) -> str:
    start = f"usage: {parser.prog}"
    if len(start) > _USAGE_INDENT_LIMIT:
        start, indent, used = f"{start}\n      ", " " * 6, 12
    else:
        indent, used = " " * len(start), len(start)
    return start + _usage_lines(list(_syntaxes(parser)), used, indent)


def _usage_lines(syntaxes: Sequence[str], used: int, indent: str) -> str:
    width = _format_width()
    text, is_first = "", True
    for syntax in syntaxes:
        if not is_first and used + len(syntax) + 1 > width:
            text += f"\n{indent}"
            used = len(indent)
        else:
            is_first = False
        text += f" {syntax}"
        used += 1 + len(syntax)
    return f"{text}\n"


def _syntaxes(parser: ArgumentParser) -> Iterator[str]:
    if parser.main_parser is not None:
        yield from _syntaxes_of_main(parser.main_parser)
    if parser.command is not None:
        yield parser.command
    for flag in parser.flags:
        if flag.help is not None and not flag.is_mutex:
            yield _syntax(flag)
    for group in parser.groups:
        yield from _group_syntaxes(group)
    yield from (_syntax(argument) for argument in parser.positionals if argument.help is not None)
    if parser.subparsers.parsers:
        yield _commands_syntax(parser)
        yield "..."


def _syntaxes_of_main(parser: ArgumentParser) -> Iterator[str]:
    """Of the parser above a sub-command only what is required is told."""
    if parser.main_parser is not None:
        yield from _syntaxes_of_main(parser.main_parser)
    if parser.command is not None:
        yield parser.command
    for flag in parser.flags:
        if flag.help is not None and flag.required and not flag.is_mutex:
            yield _syntax(flag)
    for group in parser.groups:
        if group.required:
            yield from _group_syntaxes(group)
    yield from (_syntax(argument) for argument in parser.positionals if argument.help is not None)


def _group_syntaxes(group: ArgumentGroup) -> Iterator[str]:
    shown = [_bare_syntax(argument) for argument in group.shown]
    if not group.is_mutex or not shown:
        return
    if len(shown) == 1:
        yield shown[0] if group.required else _syntax(group.shown[0])
        return
    opening, closing = "()" if group.required else "[]"
    yield opening + shown[0]
    for syntax in shown[1:-1]:
        yield from ("|", syntax)
    yield from ("|", shown[-1] + closing)


def _syntax(argument: Argument) -> str:
    bare = _bare_syntax(argument)
    return bare if argument.required or not argument.is_flag else f"[{bare}]"


def _bare_syntax(argument: Argument) -> str:
    values = _values_syntax(argument)
    if not argument.is_flag:
        return values
    return f"{argument.flags[0]} {values}" if values else argument.flags[0]


def _values_syntax(argument: Argument) -> str:
    if not argument.takes_value:
        return ""
    name = argument.value_names()
    if argument.fewest == -1:
        return name
    if argument.most == 1 and argument.fewest == 0:
        return f"[{name}]"
    if argument.most >= _MANY:
        many = f"{name} [{name} ...]"
        return many if argument.fewest else f"[{many}]"
    return " ".join([name] * argument.fewest)


# --- errors


def print_error(error: ArgumentParserError) -> None:
    parser = error.parser
    out = sys.stderr
    out.write(usage_text(parser))
    out.write(_wrap(f"{parser.prog}: error: {error}\n", _format_width()))
    if error.unknown_flag is not None:
        body = error.unknown_flag.lstrip("-")
        flags = [flag for argument in parser.flags for flag in argument.flags if len(flag.lstrip("-")) > 1]
        if len(body) >= 2:
            _print_nearest(body, {flag: flag.lstrip("-") for flag in flags}, out)
    elif error.unknown_command is not None:
        _print_nearest(error.unknown_command, {name: name for name in parser.subparsers.parsers}, out)


_TOO_FAR = 7


def _print_nearest(word: str, subjects: dict[str, str], out: TextIO) -> None:
    far = {
        subject: 0 if body.startswith(word) else _distance(word, body) for subject, body in subjects.items()
    }
    nearest = min(far.values(), default=_TOO_FAR)
    if nearest < _TOO_FAR:
        out.write("\nDid you mean:\n")
        out.writelines(f"\t{subject}\n" for subject in sorted(far) if far[subject] == nearest)


def _distance(one: str, other: str) -> int:
    """How far apart two words are, with git's costs: a swap 0, another letter 2, one more 1, one less 4."""
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, other_letter in enumerate(other, 1):
            cost = last[j - 1] + (0 if letter == other_letter else 2)
            swapped = i >= 2 and j >= 2 and letter != other_letter
            if swapped and one[i - 2] == other_letter and letter == other[j - 2]:
                cost = min(cost, before_last[j - 2])
            row.append(min(cost, last[j] + 4, row[j - 1] + 1))
        before_last, last = last, row
    return last[-1]


# --- text


def _format_width() -> int:
    width = _terminal_width() - _MARGIN
    return width if width > 0 else _USUAL_WIDTH


def _terminal_width() -> int:
    columns = os.environ.get("COLUMNS")
    if columns is not None:
        return int(columns) if columns.isdecimal() else 0
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return 0
    try:
        return os.get_terminal_size(terminal).columns
    except OSError:
        return 0
    finally:
        os.close(terminal)


def _wrap(text: str, width: int, offset: int = 0, indent: str = "") -> str:
    """Lines of `width`; the first starts at column `offset`, the others behind `indent`."""
    wrapped, line, used = "", "", offset
    for piece in pieces_of(text):
        used += len(piece)
        if used > width:
            wrapped += f"{_justified(line, width, used - len(piece))}\n{indent}"
            line, used = "", len(indent) + len(piece)
        line += piece
        if piece.endswith("\n"):
            wrapped += line + indent
            line, used = "", len(indent)
    return wrapped + line


def _justified(line: str, width: int, used: int) -> str:
    """Blanks added between words, evenly, the odd ones in the middle."""
    used -= len(line) - len(line.strip(" "))
    words = _words_and_blanks(line.strip(" "))
    gaps = len(words) // 2
    if gaps == 0:
        return line.strip(" ")
    each, odd = divmod(width - used, gaps)
    first_odd = (gaps - odd + 1) // 2
    for gap in range(gaps):
        words[2 * gap + 1] += " " * (each + (first_odd <= gap < first_odd + odd))
    return "".join(words)


def _words_and_blanks(line: str) -> list[str]:
    """Words at even places, the blanks between them at odd ones."""
    import re

    return re.split("( +)", line)
