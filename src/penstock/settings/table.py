"""The machinery of settings.

A group of settings is a frozen dataclass whose fields are declared with the functions of `declare`:
`boolean`, `integer`, `long`, `string` and so on. A declaration gives the field its static type and its
default, and carries the rest (type on the wire, validator, documentation, who may change it while the
broker runs, the broker's synonyms) as the field's metadata, so that every setting stands in one place. The
name is the field's name with dots: `retention_ms` is `retention.ms`.

    @dataclass(frozen=True, slots=True)
    class TopicSettings:
        retention_ms: int = long(7 * DAY_MS, "How long ...", at_least(-1, "-1 for no limit"))

`table_of(TopicSettings)` is the table: it parses text, and describes itself.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import Enum
from typing import Any, NamedTuple

from penstock.errors import ConfigError
from penstock.settings import kinds
from penstock.settings.kinds import Kind, Value
from penstock.settings.takes import ANYTHING, Takes

_UNITS = {
    "ms": "milliseconds",
    "seconds": "seconds",
    "minutes": "minutes",
    "hours": "hours",
    "bytes": "bytes",
}


class Scope(Enum):
    """Who may change a broker's setting while it runs; topic settings are always dynamic."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class Importance(Enum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Effect(Enum):
    """Whether the broker acts on a setting; every name that Kafka knows is accepted."""

    HONOURED = "yes"
    LATER = "not yet"
    NO_EFFECT = "none"


@dataclass(frozen=True, slots=True)
class Synonym:
    """A broker's setting that gives a topic's setting its default; `factor` turns hours into milliseconds."""

    name: str
    factor: int = 1

    def convert(self, value: Value) -> Value:
        if self.factor == 1 or not isinstance(value, int):
            return value
        return value * self.factor if value >= 0 else -1


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    kind: Kind
    default: Value
    doc: str
    takes: Takes = ANYTHING
    importance: Importance = Importance.MEDIUM
    scope: Scope = Scope.READ_ONLY
    broker_synonyms: tuple[Synonym, ...] = ()
    effect: Effect = Effect.HONOURED
    internal: bool = False

    @property
    def attribute(self) -> str:
        return self.name.replace(".", "_")

    @property
    def is_sensitive(self) -> bool:
        return self.kind is Kind.PASSWORD

    @property
    def what_it_takes(self) -> str:
        unit = _UNITS.get(self.name.rpartition(".")[2]) if self.kind in kinds.LARGEST else None
        words = kinds.WORDS[self.kind] + (f" of {unit}" if unit else "")
        if self.takes.says.startswith("one of"):
            return self.takes.says
        return f"{words}, {self.takes.says}" if self.takes.says else words

    def parse(self, text: str, where: str = "") -> Value:
        """The value of `text`; `where` ("topic 'foods'") ends the error's line."""
        try:
            value = kinds.parse(self.kind, text)
        except OverflowError:
            raise self._refusal(text, where, f", at most {kinds.LARGEST[self.kind]}") from None
        except ValueError:
            raise self._refusal(text, where) from None
        if not self.takes.accepts(value):
            raise self._refusal(text, where)
        return value

    def _refusal(self, text: str, where: str, more: str = "") -> ConfigError:
        got = "a secret" if self.is_sensitive else repr(text)
        place = f" ({where})" if where else ""
        return ConfigError(f"{self.name}: got {got}; takes {self.what_it_takes}{more}{place}")


class Table(Mapping[str, Setting]):
    """Settings by name, in the order of their declaration."""

    def __init__(self, settings: Iterable[Setting]) -> None:
        self._settings: dict[str, Setting] = {}
        for one in settings:
            assert one.name not in self._settings, f"{one.name} is declared twice"
            self._settings[one.name] = one

    def __getitem__(self, name: str) -> Setting:
        return self._settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def nearest(self, name: str) -> str | None:
        """The name that was probably meant."""
        matches = get_close_matches(name.strip().lower().replace("_", "."), self._settings, n=1, cutoff=0.75)
        return matches[0] if matches else None

    def parse(self, configs: Mapping[str, str], where: str = "") -> dict[str, Value]:
        """Values by attribute; every name must be known."""
        return {
            self._settings[name].attribute: self._settings[name].parse(text, where)
            for name, text in configs.items()
        }


class UnknownName(NamedTuple):
    """A name that no setting has, and the one that was probably meant."""

    name: str
    nearest: str | None

    @property
    def hint(self) -> str:
        return f"; did you mean {self.nearest}?" if self.nearest else ""


def refuse_unknown(found: Iterable[UnknownName], where: str, prefix: str = "") -> None:
    """For settings that were given in place: a misspelt one is a mistake, not one of some other version's."""
    for name, nearest in found:
        hint = f"; did you mean {prefix}{nearest}?" if nearest else ""
        raise ConfigError(f"{where}: {prefix}{name} is no setting{hint}")


def table_of(settings_class: type[Any]) -> Table:
    """The table behind a dataclass of settings."""
    return Table(
        one.metadata["setting"](one.name.replace("_", "."))
        for one in fields(settings_class)
        if "setting" in one.metadata
    )
