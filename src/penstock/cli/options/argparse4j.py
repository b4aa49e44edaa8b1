"""Command lines as argparse4j reads them: the library under the newer of Kafka's tools.

It is Python's argparse in Java, with manners of its own, which are kept: flags may be abbreviated as long as no
other begins alike; a value that begins with a hyphen must be joined with `=` unless it is a negative number;
sub-commands may be abbreviated too; what is required is checked after the sub-command has been read, so that the
sub-command's own errors and its help come first; a flag that is not known is answered with the nearest ones.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from penstock.cli.options.kinds import BOOLEAN, STRING, Kind, kind_of
from penstock.cli.tool import Exit

Namespace = dict[str, Any]
Action = str | Callable[[], None]
"""`store`, `store_true`, `append`, `help`, or what to do when the flag is met."""

_MANY = 1 << 31


class ArgumentParserError(Exception):
    """The command line is wrong; `handle_error` of the parser says so to the user."""

    def __init__(
        self, message: str, parser: "ArgumentParser", *, flag: str | None = None, command: str | None = None
    ) -> None:
        super().__init__(message)
        self.parser = parser
        self.unknown_flag = flag
        self.unknown_command = command


class HelpShown(ArgumentParserError):
    """`--help` was met, and the help has been printed."""

    def __init__(self, parser: "ArgumentParser") -> None:
        super().__init__("Help Screen", parser)


class Argument:
    """A flag with all its spellings, or a positional argument."""

    def __init__(
        self,
        *names: str,
        help: str | None = "",
        action: Action = "store",
        required: bool = False,
        type: "type | Kind" = STRING,
        default: object = None,
        choices: Sequence[object] | None = None,
        nargs: str | int | None = None,
        dest: str | None = None,
        metavar: str | None = None,
    ) -> None:
        self.flags = names if names[0].startswith("-") else ()
        self.name = names[0]
        self.help = help
        """None keeps the argument out of help and usage."""
        self.action = action
        self.required = required
        self.kind = kind_of(type)
        self.default = False if action == "store_true" and default is None else default
        self.choices = choices
        self.fewest, self.most = _numbers_of(nargs)
        self.dest = dest or self._usual_dest()
        self.metavar = metavar
        self.group: ArgumentGroup | None = None

    def _usual_dest(self) -> str:
        long_flag = next((flag for flag in self.flags if flag.startswith("--")), None)
        return (long_flag or self.name).lstrip("-").replace("-", "_")

    @property
    def is_flag(self) -> bool:
        return bool(self.flags)

    @property
    def takes_value(self) -> bool:
        return self.action in ("store", "append")

    @property
    def takes_at_most_one(self) -> bool:
        return self.most <= 1

    @property
    def is_mutex(self) -> bool:
        return self.group is not None and self.group.is_mutex

    @property
    def textual_name(self) -> str:
        return "/".join(self.flags) if self.is_flag else self.name

    def value_names(self) -> str:
        """What stands for the value in help and usage."""
        if self.metavar is not None:
            return self.metavar
        if self.choices is not None:
            return textual_choices(self.choices)
        if self.kind is BOOLEAN:
            return "{true,false}"
        return self.dest.upper() if self.is_flag else self.dest

    def convert(self, parser: "ArgumentParser", text: str) -> Any:
        try:
            value = self.kind.convert(text)
        except ValueError as error:
            parser.fail(f"could not convert '{text}' to {self.kind.name} ({error})", self)
        if self.choices is not None and value not in self.choices:
            parser.fail(f"invalid choice: '{text}' (choose from {textual_choices(self.choices)})", self)
        return value


def _numbers_of(nargs: str | int | None) -> tuple[int, int]:
    """How few and how many values; (-1, -1) is exactly one that is not a list."""
    if isinstance(nargs, int):
        return nargs, nargs
    return {None: (-1, -1), "?": (0, 1), "*": (0, _MANY), "+": (1, _MANY)}[nargs]


def textual_choices(choices: Sequence[object]) -> str:
    return f"{{{','.join(map(str, choices))}}}"


class ArgumentGroup:
    def __init__(
        self, parser: "ArgumentParser", title: str, description: str, *, is_mutex: bool, required: bool
    ) -> None:
        self._parser = parser
        self.title = title
        self.description = description
        self.is_mutex = is_mutex
        self.required = required
        self.arguments: list[Argument] = []

    def add_argument(self, *names: str, **how: Any) -> Argument:
        argument = self._parser.add_argument(*names, **how)
        argument.group = self
        self.arguments.append(argument)
        return argument

    @property
    def has_help_of_its_own(self) -> bool:
        return not self.is_mutex or bool(self.title or self.description)

    @property
    def shown(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.help is not None]


class Subparsers:
    def __init__(self, parser: "ArgumentParser") -> None:
        self._parser = parser
        self.parsers: dict[str, ArgumentParser] = {}
        self.dest = self.title = self.description = self.metavar = self.help = ""

    def add_parser(self, command: str, *, help: str = "", **how: Any) -> "ArgumentParser":
        parser = ArgumentParser(self._parser.prog, command=command, main_parser=self._parser, **how)
        parser.help_as_command = help
        self.parsers[command] = parser
        return parser

    def resolve(self, command: str) -> "ArgumentParser":
        if command in self.parsers:
            return self.parsers[command]
        near = sorted(name for name in self.parsers if command and name.startswith(command))
        if len(near) == 1:
            return self.parsers[near[0]]
        if near:
            message = f"ambiguous command: {command} could match {', '.join(near)}"
            raise ArgumentParserError(message, self._parser)
        known = ", ".join(f"'{name}'" for name in self.parsers)
        message = f"invalid choice: '{command}' (choose from {known})"
        raise ArgumentParserError(message, self._parser, command=command)


class ArgumentParser:
    def __init__(
        self,
        prog: str,
        *,
        description: str = "",
        default_help: bool = False,
        add_help: bool = True,
        command: str | None = None,
        main_parser: "ArgumentParser | None" = None,
    ) -> None:
        self.prog = prog
        self.description = description
        self.default_help = default_help
        self.command = command
        self.main_parser = main_parser
        self.help_as_command = ""
        self.flags: list[Argument] = []
        self.positionals: list[Argument] = []
        self.groups: list[ArgumentGroup] = []
        self.subparsers = Subparsers(self)
        self._by_flag: dict[str, Argument] = {}
        if add_help:
            self.add_argument("-h", "--help", action="help", help="show this help message and exit")

    def add_argument(self, *names: str, **how: Any) -> Argument:
        """See `Argument` for what may be said of it."""
        argument = Argument(*names, **how)
        (self.flags if argument.is_flag else self.positionals).append(argument)
        self._by_flag.update(dict.fromkeys(argument.flags, argument))
        return argument

    def add_argument_group(self, title: str, description: str = "") -> ArgumentGroup:
        return self._add_group(title, description, is_mutex=False, required=False)

    def add_mutually_exclusive_group(
        self, title: str = "", description: str = "", *, required: bool = False
    ) -> ArgumentGroup:
        return self._add_group(title, description, is_mutex=True, required=required)

    def _add_group(self, title: str, description: str, *, is_mutex: bool, required: bool) -> ArgumentGroup:
        group = ArgumentGroup(self, title, description, is_mutex=is_mutex, required=required)
        self.groups.append(group)
        return group

    def add_subparsers(
        self, *, dest: str = "", title: str = "", description: str = "", metavar: str = "", help: str = ""
    ) -> Subparsers:
        subparsers = self.subparsers
        subparsers.dest, subparsers.title, subparsers.description = dest, title, description
        subparsers.metavar, subparsers.help = metavar, help
        return subparsers

    # --- help and errors

    def help_text(self) -> str:
        from penstock.cli.options.argparse4j_help import help_text

        return help_text(self)

    def usage_text(self) -> str:
        from penstock.cli.options.argparse4j_help import usage_text

        return usage_text(self)

    def print_help(self) -> None:
        print(self.help_text(), end="")

    def handle_error(self, error: ArgumentParserError) -> None:
        """Says on standard error what is wrong, with the usage; nothing if the help has been shown."""
        if not isinstance(error, HelpShown):
            from penstock.cli.options.argparse4j_help import print_error

            print_error(error)

    def fail(self, message: str, argument: Argument | None = None) -> NoReturn:
        named = message if argument is None else f"argument {argument.textual_name}: {message}"
        raise ArgumentParserError(named, self)

    # --- reading a command line

    def parse_args(self, words: Sequence[str]) -> Namespace:
        reading = _Reading(words)
        values: Namespace = {}
        self._parse(reading, values)
        if reading.deferred is not None:
            raise reading.deferred
        return values

    def parse_args_or_fail(self, words: Sequence[str]) -> Namespace:
        """Ends the tool with 1 if the command line is wrong, and also after the help."""
        try:
            return self.parse_args(words)
        except ArgumentParserError as error:
            self.handle_error(error)
            raise Exit(1) from None

    def _parse(self, reading: "_Reading", values: Namespace) -> None:
        values.update(self._defaults())
        turn = _Turn(self, reading, values)
        while reading.has_more:
            if reading.at_flag and reading.word != "--":
                self._read_flag(turn)
            elif reading.word == "--" and not reading.only_positionals:
                reading.only_positionals = True
                reading.index += 1
            elif turn.wants_positional:
                turn.take_positional()
            elif not reading.only_positionals and self.subparsers.parsers:
                turn.finish()
                self._parse_command(reading, values)
                return
            else:
                self.fail(f"unrecognized arguments: '{' '.join(reading.left())}'")
        if self.subparsers.parsers:
            self.fail("too few arguments")
        turn.finish()

    def _defaults(self) -> Iterator[tuple[str, object]]:
        for argument in (*self.positionals, *self.flags):
            if argument.action != "help":
                is_list = not argument.is_flag and argument.default is None and argument.most > 1
                yield argument.dest, [] if is_list else argument.default

    def _parse_command(self, reading: "_Reading", values: Namespace) -> None:
        parser = self.subparsers.resolve(reading.word)
        reading.index += 1
        parser._parse(reading, values)
        if self.subparsers.dest:
            values[self.subparsers.dest] = parser.command

    def _read_flag(self, turn: "_Turn") -> None:
        word = turn.reading.word
        flag, equals, value = word.partition("=")
        argument = self._resolve_flag(flag)
        if argument is None:
            argument, embedded = self._read_short_flags(word, turn)
        else:
            embedded = value if equals else None
        turn.reading.index += 1
        if argument is not None:
            turn.meet(argument, embedded)

    def _resolve_flag(self, flag: str) -> Argument | None:
        if flag in self._by_flag:
            return self._by_flag[flag]
        near = [known for known in self._by_flag if known.startswith(flag)]
        if not near:
            return None
        if self._is_cluster(flag):
            near.append(flag[:2])
        elif len(near) == 1:
            return self._by_flag[near[0]]
        raise ArgumentParserError(f"ambiguous option: {flag} could match {', '.join(sorted(near))}", self)

    def _is_cluster(self, word: str) -> bool:
        if word.startswith("--"):
            return False
        for letter in word[1:]:
            argument = self._by_flag.get(f"-{letter}")
            if argument is None or argument.takes_value:
                return argument is not None
        return True

    def _read_short_flags(self, word: str, turn: "_Turn") -> tuple[Argument | None, str | None]:
        """`-abc`: runs the flags up to the first that takes a value, and gives that with the rest of the word."""
        letters = "" if word.startswith("--") else word[1:]
        for position, letter in enumerate(letters, 1):
            argument = self._by_flag.get(f"-{letter}")
            if argument is None:
                break
            if argument.takes_value:
                return argument, word[position + 1 :] or None
            turn.meet(argument, None)
        else:
            if letters:
                return None, None
        raise ArgumentParserError(f"unrecognized arguments: '{word}'", self, flag=word)


class _Reading:
    """Where in the words we are; shared by a parser and its sub-commands."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.index = 0
        self.only_positionals = False
        self.deferred: ArgumentParserError | None = None

    @property
    def has_more(self) -> bool:
        return self.index < len(self.words)

    @property
    def word(self) -> str:
        return self.words[self.index]

    @property
    def at_flag(self) -> bool:
        if self.only_positionals:
            return False
        if self.word == "--":
            return True
        is_negative_number = self.word[1:].isdecimal()
        return self.word.startswith("-") and bool(self.word.strip("-")) and not is_negative_number

    def left(self) -> Sequence[str]:
        return self.words[self.index :]

    def take_while_values(self, most: int) -> list[str]:
        start = self.index
        while self.has_more and self.index - start < most and not self.at_flag:
            self.index += 1
        return list(self.words[start : self.index])


class _Turn:
    """One parser's turn: what it has met so far."""

    def __init__(self, parser: ArgumentParser, reading: _Reading, values: Namespace) -> None:
        self._parser = parser
        self.reading = reading
        self._values = values
        self._used: set[Argument] = set()
        self._used_of_group: dict[ArgumentGroup, Argument] = {}
        self._positional_texts: list[str] = []
        self._positional = 0

    # --- flags

    def meet(self, argument: Argument, embedded: str | None) -> None:
        self._check_mutex(argument)
        if argument.takes_value:
            self._store(argument, self._value_of(argument, embedded))
        elif embedded is not None:
            self._parser.fail(f"ignore implicit argument '{embedded}'", argument)
        else:
            self._act(argument)
        self._used.add(argument)

    def _check_mutex(self, argument: Argument) -> None:
        if argument.group is not None and argument.is_mutex:
            first = self._used_of_group.setdefault(argument.group, argument)
            if first is not argument:
                self._parser.fail(f"not allowed with argument {first.textual_name}", argument)

    def _act(self, argument: Argument) -> None:
        if argument.action == "help":
            self._parser.print_help()
            raise HelpShown(self._parser)
        if callable(argument.action):
            argument.action()
        else:
            self._values[argument.dest] = True

    def _value_of(self, argument: Argument, embedded: str | None) -> Any:
        most = 1 if argument.takes_at_most_one else argument.most
        texts = self.reading.take_while_values(most) if embedded is None else [embedded]
        if argument.takes_at_most_one:
            if not texts and argument.fewest == -1:
                self._parser.fail("expected one argument", argument)
            return argument.convert(self._parser, texts[0]) if texts else None
        converted = [argument.convert(self._parser, text) for text in texts]
        if len(converted) < argument.fewest:
            self._parser.fail(f"expected {argument.fewest} argument(s)", argument)
        return converted

    def _store(self, argument: Argument, value: Any) -> None:
        if argument.action == "append":
            self._values[argument.dest] = [*(self._values.get(argument.dest) or ()), value]
        else:
            self._values[argument.dest] = value

    # --- positional arguments

    @property
    def wants_positional(self) -> bool:
        return self._positional < len(self._parser.positionals)

    def take_positional(self) -> None:
        argument = self._parser.positionals[self._positional]
        most = 1 if argument.takes_at_most_one else argument.most
        self._positional_texts += self.reading.take_while_values(most)
        if argument.takes_at_most_one:
            self._positional += 1

    def finish(self) -> None:
        """No more words for this parser: gives out the positional ones, and checks what is required."""
        self._give_out_positionals()
        self._check_required()

    def _give_out_positionals(self) -> None:
        texts = self._positional_texts
        needed = sum(abs(argument.fewest) for argument in self._parser.positionals)
        if needed > len(texts):
            self._parser.fail("too few arguments")
        for argument in self._parser.positionals:
            needed -= abs(argument.fewest)
            most = 1 if argument.takes_at_most_one else argument.most
            own = texts[: min(most, len(texts) - needed)]
            texts = texts[len(own) :]
            converted = [argument.convert(self._parser, text) for text in own]
            if converted:
                self._store(argument, converted[0] if argument.takes_at_most_one else converted)

    def _check_required(self) -> None:
        """What is missing is told at the end; what the parser above misses comes first."""
        missing = self._missing_flag() or self._missing_group()
        if missing and self.reading.deferred is None:
            self.reading.deferred = ArgumentParserError(missing, self._parser)

    def _missing_flag(self) -> str | None:
        missing = [each for each in self._parser.flags if each.required and each not in self._used]
        return f"argument {missing[-1].textual_name} is required" if missing else None

    def _missing_group(self) -> str | None:
        groups = [group for group in self._parser.groups if group.is_mutex and group.required]
        missing = [group for group in groups if group not in self._used_of_group]
        if not missing:
            return None
        names = " ".join(argument.textual_name for argument in missing[-1].shown)
        return f"one of the arguments {names} is required"
