"""One setting of a client: what it takes, what it is by default, and what librdkafka calls it.

Text is read as in a properties file, and so is a value of the right Python type: `linger.ms` takes 5 and "5".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

from penstock.errors import ConfigError
from penstock.settings import kinds
from penstock.settings.kinds import Kind, Password, Value
from penstock.settings.takes import ANYTHING, Takes

_UNITS = {"ms": "milliseconds", "bytes": "bytes", "kbytes": "kilobytes"}
_NUMBERS = {Kind.SHORT, Kind.INT, Kind.LONG, Kind.DOUBLE}
_STATIC_TYPES = {
    Kind.BOOLEAN: "bool",
    Kind.STRING: "str",
    Kind.INT: "int",
    Kind.SHORT: "int",
    Kind.LONG: "int",
    Kind.DOUBLE: "float",
    Kind.LIST: "str | Sequence[str]",
    Kind.PASSWORD: "str",
}


class Native(Enum):
    """What becomes of a setting in librdkafka, where it is not passed on under a name."""

    SAME_NAME = "passed on under its own name"
    NONE = "the client itself acts on it"


@dataclass(frozen=True, slots=True)
class ClientSetting:
    """`kind` is None for a Python object that has no text: a function, a serializer, a callback."""

    name: str
    kind: Kind | None
    default: object
    doc: str
    takes: Takes = ANYTHING
    librdkafka: str | Native = Native.SAME_NAME
    static_type: str = ""
    words: str = ""

    @property
    def attribute(self) -> str:
        return self.name.replace(".", "_")

    @property
    def native_name(self) -> str | None:
        """What librdkafka calls it; None if it does not have it."""
        if self.librdkafka is Native.SAME_NAME:
            return self.name
        return self.librdkafka if isinstance(self.librdkafka, str) else None

    @property
    def is_secret(self) -> bool:
        return self.kind is Kind.PASSWORD

    @property
    def python_type(self) -> str:
        """How the keyword is annotated."""
        if self.static_type:
            return self.static_type
        assert self.kind is not None, f"{self.name}: an object needs a static_type"
        if self.kind is Kind.STRING and self.takes.says.startswith("one of "):
            return f"Literal[{', '.join(map(_quoted, self.takes.says[7:].split(', ')))}]"
        return _STATIC_TYPES[self.kind]

    @property
    def what_it_takes(self) -> str:
        if self.words or self.kind is None:
            return self.words or "an object"
        if self.takes.says.startswith("one of"):
            return self.takes.says
        unit = _UNITS.get(self.name.rpartition(".")[2]) if self.kind in _NUMBERS else None
        words = kinds.WORDS[self.kind] + (f" of {unit}" if unit else "")
        return f"{words}, {self.takes.says}" if self.takes.says else words

    def read(self, given: object) -> object:
        """The value that was given as text or as an object; `ConfigError` if it is none of this setting's."""
        if self.kind is None:
            return self._checked_object(given)
        try:
            value = _value_of(self.kind, given)
        except (ValueError, OverflowError, TypeError):
            raise self.refusal(given) from None
        if not self.takes.accepts(value):
            raise self.refusal(given)
        return value

    def _checked_object(self, given: object) -> object:
        if given is None or self.takes.accepts(given):  # type: ignore[arg-type]
            return given
        raise self.refusal(given)

    def refusal(self, given: object) -> ConfigError:
        got = "a secret" if self.is_secret else repr(given)
        return ConfigError(f"{self.name}: got {got}; takes {self.what_it_takes}")


def _quoted(word: str) -> str:
    return f'"{word}"'


def _value_of(kind: Kind, given: object) -> Value:
    if isinstance(given, str):
        return kinds.parse(kind, given.reveal() if isinstance(given, Password) else given)
    if kind is Kind.LIST and isinstance(given, Sequence) and not isinstance(given, bytes):
        return tuple(map(str, given))
    if kind is Kind.BOOLEAN and isinstance(given, bool):
        return given
    if kind is Kind.DOUBLE and isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    if kind in _NUMBERS | {Kind.STRING} and isinstance(given, int) and not isinstance(given, bool):
        return kinds.parse(kind, str(given))
    raise TypeError(given)


class ClientTable(Mapping[str, ClientSetting]):
    """The settings of one kind of client, by Kafka's dotted name; `aliases` are librdkafka's other names for some."""

    def __init__(self, settings: Iterable[ClientSetting], aliases: Mapping[str, str]) -> None:
        self._settings: dict[str, ClientSetting] = {}
        for one in settings:
            assert one.name not in self._settings, f"{one.name} is declared twice"
            self._settings[one.name] = one
        self._aliases = {alias: name for alias, name in aliases.items() if name in self._settings}
        names = (*self._settings, *self._aliases)
        self._by_attribute = {name.replace(".", "_"): name for name in names}

    def __getitem__(self, name: str) -> ClientSetting:
        return self._settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def of_attribute(self, attribute: str) -> ClientSetting | None:
        name = self._by_attribute.get(attribute)
        return None if name is None else self._settings[self._aliases.get(name, name)]

    def read(self, given: Mapping[str, object]) -> dict[str, object]:
        """Values by dotted name, of names in either spelling."""
        values: dict[str, object] = {}
        for spelling, value in given.items():
            setting = self.find(spelling)
            if setting.name in values:
                raise ConfigError(f"{spelling}: is another name of {setting.name}; give one of the two")
            values[setting.name] = setting.read(value)
        return values

    def find(self, spelling: str) -> ClientSetting:
        """The setting of a dotted name or of a keyword."""
        setting = self.of_attribute(spelling.replace(".", "_"))
        if setting is None:
            raise ConfigError(self._unknown(spelling))
        return setting

    def _unknown(self, spelling: str) -> str:
        dotted = "." in spelling
        names = list(self._settings) if dotted else [name.replace(".", "_") for name in self._settings]
        nearest = get_close_matches(spelling.strip().lower(), names, n=1, cutoff=0.6)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        return f"unknown setting {spelling}{hint}"
