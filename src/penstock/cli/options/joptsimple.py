"""Command lines as joptsimple reads them: the library under most of Kafka's tools.

Its manners that users meet, and that therefore are kept:

- `--name value`, `--name=value`, and with a single hyphen `-name value`, `-name=value`. A single hyphen before
  something that is no name is a cluster of one-letter options.
- A required argument is the next word, whatever it looks like (`--topic --list` asks for the topic `--list`).
  An optional argument is the next word unless that begins with a hyphen; numbers may be negative.
- An option may be repeated; to ask for its one value then is an error.
- Arguments are converted when they are asked for, not when they are read: a bad number is no error where
  nobody looks at it, and errors come in the order in which the tool looks.
- Other words are the non-option arguments, `--` ends the options.
- What is required is not required when an option that is for help is there.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from penstock.cli.options.kinds import STRING, Kind, kind_of

Description = str | Callable[[], str]
"""Of an option, for the help; one that takes time to make is made only when the help is shown."""


class OptionError(Exception):
    """The command line is wrong; the message is joptsimple's own. Few tools show the name of its exception as well."""

    java_name: ClassVar[str] = "joptsimple.OptionException"


class ArgumentConversionError(OptionError):
    java_name = "joptsimple.OptionArgumentConversionException"


class MultipleArgumentsError(OptionError):
    java_name = "joptsimple.MultipleArgumentsForOptionException"


class Option:
    """One option with all its names. Its text is that of the library, `[topic]`, as Kafka's messages show it."""

    def __init__(
        self,
        names: Sequence[str],
        description: Description,
        *,
        argument: str | None = None,
        optional_argument: bool = False,
        kind: Kind = STRING,
        defaults: Sequence[object] = (),
        separator: str | None = None,
        required: bool = False,
        for_help: bool = False,
    ) -> None:
        self.names = sorted(names, key=lambda name: (len(name) > 1, name))
        self._description = description
        self.argument = argument
        self.argument_required = argument is not None and not optional_argument
        self.kind = kind
        self.defaults = defaults
        self.separator = separator
        self.required = required
        self.for_help = for_help
        self.available_if: list[Option] = []

    @property
    def description(self) -> str:
        return self._description if isinstance(self._description, str) else self._description()

    @property
    def takes_argument(self) -> bool:
        return self.argument is not None

    def split(self, text: str) -> list[str]:
        return self._parts(text) or [text]

    def _parts(self, text: str) -> list[str]:
        parts = [text] if self.separator is None else text.split(self.separator)
        return [part for part in parts if part]

    def convert(self, text: str) -> Any:
        try:
            return self.kind.convert(text)
        except ValueError:
            name = "/".join(self.names)
            raise ArgumentConversionError(f"Cannot parse argument '{text}' of option {name}") from None

    def can_convert(self, text: str) -> bool:
        try:
            for part in self._parts(text):
                self.kind.convert(part)
        except ValueError:
            return False
        return True

    def __str__(self) -> str:
        return f"[{', '.join(self.names)}]"

    __repr__ = __str__


class OptionSet:
    """What a command line said. An option is asked for by its name or by itself."""

    def __init__(self, options: dict[str, Option]) -> None:
        self._options = options
        self._found: dict[Option, list[str]] = {}
        self.in_order: list[Option] = []
        """The options as they came, one that is repeated as often as it came."""
        self.arguments: list[str] = []
        """Words that belong to no option."""

    def add(self, option: Option, *texts: str) -> None:
        self._found.setdefault(option, []).extend(texts)
        self.in_order.append(option)

    def has(self, option: str | Option) -> bool:
        return self._option(option) in self._found

    def values(self, option: str | Option) -> list[Any]:
        """The converted arguments; those it defaults to if there are none."""
        asked = self._option(option)
        texts = self._found.get(asked)
        return [asked.convert(text) for text in texts] if texts else list(asked.defaults)

    def value(self, option: str | Option) -> Any:
        """The one argument, or what it defaults to, or None."""
        values = self.values(option)
        if len(values) > 1:
            name = "/".join(self._option(option).names)
            raise MultipleArgumentsError(
                f"Found multiple arguments for option {name}, but you asked for only one"
            )
        return values[0] if values else None

    def _option(self, option: str | Option) -> Option:
        return self._options[option] if isinstance(option, str) else option


class OptionParser:
    def __init__(self) -> None:
        self._options: dict[str, Option] = {}

    def accepts(
        self,
        name: str,
        description: Description = "",
        *,
        aliases: Sequence[str] = (),
        argument: str | None = None,
        optional_argument: bool = False,
        kind: type | Kind = STRING,
        default: object = None,
        defaults: Sequence[object] = (),
        separator: str | None = None,
        required: bool = False,
        for_help: bool = False,
        available_if: Sequence[Option] = (),
    ) -> Option:
        """An option. What its `argument` is, is said in the help; None if it takes none."""
        option = Option(
            (name, *aliases),
            description,
            argument=argument,
            optional_argument=optional_argument,
            kind=kind_of(kind),
            defaults=defaults or (() if default is None else (default,)),
            separator=separator,
            required=required,
            for_help=for_help,
        )
        option.available_if += available_if
        for each in option.names:
            self._options[each] = option
        return option

    def option(self, name: str) -> Option:
        return self._options[name]

    def options(self) -> list[Option]:
        """Each option once, sorted by its first name."""
        return [self._options[name] for name in sorted(self._options) if self._options[name].names[0] == name]

    def help_text(self) -> str:
        """What joptsimple prints as help: two columns, 80 wide."""
        from penstock.cli.options.joptsimple_help import help_text

        return help_text(self.options())

    # --- reading a command line

    def parse(self, words: Sequence[str]) -> OptionSet:
        found = OptionSet(self._options)
        left = list(reversed(words))
        while left:
            word = left.pop()
            if word == "--":
                found.arguments += reversed(left)
                break
            self._read(word, left, found)
        if not any(option.for_help for option in found.in_order):
            self._check_required(found)
            self._check_available(found)
        return found

    def _read(self, word: str, left: list[str], found: OptionSet) -> None:
        if word.startswith("--"):
            name, equals, text = word[2:].partition("=")
            if name not in self._options:
                raise OptionError(f"{name} is not a recognized option")
            self._take(self._options[name], text if equals else None, left, found)
        elif _is_short(word):
            self._read_short(word[1:], left, found)
        else:
            found.arguments.append(word)

    def _read_short(self, word: str, left: list[str], found: OptionSet) -> None:
        name, equals, text = word.partition("=")
        if name in self._options:
            self._take(self._options[name], text if equals else None, left, found)
            return
        cluster = list(self._cluster(word))
        for position, option in enumerate(cluster, 1):
            rest = word[position:] if option.takes_argument and position < len(word) else None
            self._take(option, rest, left, found)

    def _cluster(self, letters: str) -> Iterator[Option]:
        """The one-letter options of `-abc`, up to the first that takes the rest as its argument."""
        for letter in letters:
            if letter not in self._options:
                raise OptionError(f"{letter} is not a recognized option")
            yield self._options[letter]
            if self._options[letter].takes_argument:
                return

    def _take(self, option: Option, text: str | None, left: list[str], found: OptionSet) -> None:
        if not option.takes_argument:
            found.add(option)
        elif text is not None:
            found.add(option, *option.split(text))
        elif option.argument_required:
            if not left:
                raise OptionError(f"Option {'/'.join(option.names)} requires an argument")
            found.add(option, *option.split(left.pop()))
        elif left and self._is_argument_of(option, left[-1]):
            found.add(option, *option.split(left.pop()))
        else:
            found.add(option)

    @staticmethod
    def _is_argument_of(option: Option, word: str) -> bool:
        looks_like_an_option = word.startswith("-") and word != "-"
        return (option.kind.is_number or not looks_like_an_option) and option.can_convert(word)

    def _check_required(self, found: OptionSet) -> None:
        missing = [option for option in self.options() if option.required and not found.has(option)]
        if missing:
            raise OptionError(f"Missing required option(s) {_listed(missing)}")

    def _check_available(self, found: OptionSet) -> None:
        unavailable = [
            option for option in self.options() if found.has(option) and not _is_available(option, found)
        ]
        if unavailable:
            listed = _listed(unavailable)
            raise OptionError(f"Option(s) {listed} are unavailable given other options on the command line")


def _is_short(word: str) -> bool:
    return word.startswith("-") and word != "-" and not word.startswith("--")


def _is_available(option: Option, found: OptionSet) -> bool:
    return not option.available_if or any(found.has(other) for other in option.available_if)


def _listed(options: Sequence[Option]) -> str:
    return f"[{', '.join('/'.join(option.names) for option in options)}]"
