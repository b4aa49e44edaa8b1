"""The configuration that a plugin takes: keys with types, defaults, checks and words for a form.

Errors are Kafka's own texts: tools show them beside the key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, Self

from penstock.errors import ConfigError
from penstock.settings.kinds import Password


class ConfigType(Enum):
    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    INT = "INT"
    SHORT = "SHORT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"
    CLASS = "CLASS"
    PASSWORD = "PASSWORD"


class Importance(Enum):
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(Enum):
    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
"""The default of a key that has none."""

Validator = Callable[[str, Any], None]
"""Given key and parsed value; raises ConfigError, whose text the user sees."""

Recommender = Callable[[str, Mapping[str, Any]], Sequence[Any]]
"""The values to offer for a key, given all that was parsed."""


@dataclass(frozen=True, slots=True)
class ConfigKey:
    name: str
    type: ConfigType
    default: Any = REQUIRED
    importance: Importance = Importance.MEDIUM
    doc: str = ""
    validator: Validator | None = None
    group: str | None = None
    order_in_group: int = -1
    width: Width = Width.NONE
    display_name: str = ""
    dependents: tuple[str, ...] = ()
    recommender: Recommender | None = None

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED


@dataclass(slots=True)
class ConfigValue:
    """What `validate` says of one key; `value` is text, None when absent."""

    name: str
    value: Any = None
    recommended_values: list[Any] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    visible: bool = True


class ConfigDef:
    """Keys in the order of their definition: `ConfigDef().define("file", ConfigType.STRING, doc="...")`."""

    def __init__(self, keys: Mapping[str, ConfigKey] | None = None) -> None:
        self._keys: dict[str, ConfigKey] = dict(keys or {})

    def define(self, name: str, type: ConfigType, default: Any = REQUIRED, **more: Any) -> Self:
        if name in self._keys:
            raise ConfigError(f"Configuration {name} is defined twice.")
        key = ConfigKey(name, type, **more)
        parsed = default if default is REQUIRED else parse_value(key, default)
        self._keys[name] = replace(key, default=parsed, display_name=key.display_name or name)
        return self

    def including(self, other: ConfigDef) -> ConfigDef:
        """These keys and those of `other`, which win."""
        return ConfigDef({**self._keys, **other._keys})

    def __getitem__(self, name: str) -> ConfigKey:
        return self._keys[name]

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __iter__(self) -> Iterator[ConfigKey]:
        return iter(self._keys.values())

    def __len__(self) -> int:
        return len(self._keys)

    def parse(self, configs: Mapping[str, Any]) -> dict[str, Any]:
        """Every key's value, typed, with defaults; raises the first error. Other keys are left out."""
        return {key.name: self._parse_key(key, configs) for key in self}

    def validate(self, configs: Mapping[str, Any]) -> dict[str, ConfigValue]:
        """All errors of all keys at once."""
        answers = {key.name: ConfigValue(key.name) for key in self}
        for key in self:
            _check(key, configs, answers[key.name])
        parsed = {name: answer.value for name, answer in answers.items()}
        for key in self:
            if key.recommender is not None:
                answers[key.name].recommended_values = list(key.recommender(key.name, parsed))
        return answers

    def _parse_key(self, key: ConfigKey, configs: Mapping[str, Any]) -> Any:
        value = _given(key, configs)
        if key.validator is not None:
            key.validator(key.name, value)
        return value


def _given(key: ConfigKey, configs: Mapping[str, Any]) -> Any:
    if key.name in configs:
        return parse_value(key, configs[key.name])
    if key.is_required:
        raise ConfigError(f'Missing required configuration "{key.name}" which has no default value.')
    return key.default


def _check(key: ConfigKey, configs: Mapping[str, Any], answer: ConfigValue) -> None:
    """As Kafka does it, a value that cannot be parsed is null to the validator, which may say so too."""
    try:
        answer.value = _given(key, configs)
    except ConfigError as error:
        answer.errors.append(str(error))
    if key.validator is None:
        return
    try:
        key.validator(key.name, answer.value)
    except ConfigError as error:
        answer.errors.append(str(error))
    except (TypeError, AttributeError):  # a validator that takes no None
        if answer.value is not None:
            raise


def invalid(name: str, value: Any, why: str) -> ConfigError:
    return ConfigError(f"Invalid value {_as_java_prints(value)} for configuration {name}: {why}")


def _as_java_prints(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def parse_value(key: ConfigKey, value: Any) -> Any:
    if value is None or not isinstance(value, str):
        return value
    return _PARSERS[key.type](key.name, value if key.type is ConfigType.PASSWORD else value.strip())


def _parse_boolean(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise invalid(name, text, "Expected value to be either true or false")
    return text.lower() == "true"


def _whole_number(kind: str, bits: int) -> Callable[[str, str], int]:
    def parse(name: str, text: str) -> int:
        number = int(text) if re.fullmatch(r"[+-]?\d+", text, re.ASCII) else None
        if number is None or not -1 << (bits - 1) <= number < 1 << (bits - 1):
            raise invalid(name, text, f"Not a number of type {kind}")
        return number

    return parse


def _parse_double(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise invalid(name, text, "Not a number of type DOUBLE") from None


def _parse_list(name: str, text: str) -> list[str]:
    return [item.strip() for item in text.split(",")] if text else []


def _as_text(name: str, text: str) -> str:
    return text


def _as_password(name: str, text: str) -> Password:
    return Password(text)


_PARSERS: dict[ConfigType, Callable[[str, str], Any]] = {
    ConfigType.BOOLEAN: _parse_boolean,
    ConfigType.STRING: _as_text,
    ConfigType.INT: _whole_number("INT", 32),
    ConfigType.SHORT: _whole_number("SHORT", 16),
    ConfigType.LONG: _whole_number("LONG", 64),
    ConfigType.DOUBLE: _parse_double,
    ConfigType.LIST: _parse_list,
    ConfigType.CLASS: _as_text,
    ConfigType.PASSWORD: _as_password,
}


def at_least(minimum: float) -> Validator:
    def check(name: str, value: Any) -> None:
        if value is None:
            raise invalid(name, value, "Value must be non-null")
        if value < minimum:
            raise invalid(name, value, f"Value must be at least {minimum}")

    return check


def between(low: float, high: float) -> Validator:
    def check(name: str, value: Any) -> None:
        if value is None:
            raise invalid(name, value, "Value must be non-null")
        if value < low:
            raise invalid(name, value, f"Value must be at least {low}")
        if value > high:
            raise invalid(name, value, f"Value must be no more than {high}")

    return check


def one_of(*choices: str, ignore_case: bool = False) -> Validator:
    folded = {each.lower() for each in choices}

    def check(name: str, value: Any) -> None:
        right = value in choices or (ignore_case and isinstance(value, str) and value.lower() in folded)
        if not right:
            words = "String must be one of (case insensitive)" if ignore_case else "String must be one of"
            raise invalid(name, value, f"{words}: {', '.join(choices)}")

    return check


def not_empty(name: str, value: Any) -> None:
    if value is not None and not value:
        raise invalid(name, value, "String must be non-empty")
