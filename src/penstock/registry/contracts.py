"""Metadata and rule sets: what a schema carries besides its text.

They are kept as JSON objects in Confluent's one form of them: sets and maps sorted, empty parts left out, defaults of
rules filled in. So two that say the same are equal, and have the same digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from penstock.registry import errors

Metadata: TypeAlias = dict[str, Any]
RuleSet: TypeAlias = dict[str, Any]
Rule: TypeAlias = dict[str, Any]

VERSION_PROPERTY = "confluent:version"
RESERVED_PROPERTY = "confluent:reserved"
MAX_RULE_NAME_LENGTH = 256
RULE_KINDS = ("TRANSFORM", "CONDITION")
MIGRATION_MODES = ("UPGRADE", "DOWNGRADE", "UPDOWN")
DOMAIN_MODES = ("WRITE", "READ", "WRITEREAD")
MODES_WITH_TWO_ACTIONS = ("WRITEREAD", "UPDOWN")
ENVIRONMENTS = ("ALL", "CLIENT", "GATEWAY", "SERVER", "NONE")
RULE_PHASES = {
    "migrationRules": (MIGRATION_MODES, "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"),
    "domainRules": (DOMAIN_MODES, "Domain rules can only be WRITE, READ, WRITEREAD"),
    "encodingRules": (DOMAIN_MODES, "Encoding rules can only be WRITE, READ, WRITEREAD"),
}


# ---- from JSON ----


def text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise errors.bad_request(f"{where}: got {value!r}, takes a string")
    return value


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise errors.bad_request(f"{where}: got {value!r}, takes an object")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise errors.bad_request(f"{where}: got {value!r}, takes a list")
    return value


def flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise errors.bad_request(f"{where}: got {value!r}, takes true or false")
    return value


def _set(value: Any, where: str) -> list[str]:
    return sorted({text(each, where) for each in _list(value, where)})


def _properties(value: Any, where: str) -> dict[str, str]:
    given = _object(value, where)
    return {name: text(given[name], f"{where}.{name}") for name in sorted(given)}


def _tags(value: Any, where: str) -> dict[str, list[str]]:
    given = _object(value, where)
    return {name: _set(given[name], f"{where}.{name}") for name in sorted(given)}


def _one_of(words: tuple[str, ...]) -> Callable[[Any, str], str]:
    def read(value: Any, where: str) -> str:
        if value not in words:
            raise errors.bad_request(f"{where}: got {value!r}, takes one of {', '.join(words)}")
        return str(value)

    return read


_Table: TypeAlias = Mapping[str, Callable[[Any, str], Any]]

_METADATA: _Table = {"tags": _tags, "properties": _properties, "sensitive": _set}
_RULE: _Table = {
    "name": text,
    "doc": text,
    "kind": _one_of(RULE_KINDS),
    "mode": _one_of((*MIGRATION_MODES, *DOMAIN_MODES)),
    "type": text,
    "tags": _set,
    "params": _properties,
    "expr": text,
    "onSuccess": text,
    "onFailure": text,
    "disabled": flag,
}
_RULE_DEFAULTS = {"kind": "TRANSFORM", "mode": "WRITEREAD", "disabled": False}


def _is_empty(value: Any) -> bool:
    return value is None or (not isinstance(value, bool) and not value)


def _read(table: _Table, given: Mapping[str, Any], where: str) -> dict[str, Any]:
    read = {
        name: reader(given[name], f"{where}.{name}")
        for name, reader in table.items()
        if given.get(name) is not None
    }
    return {name: value for name, value in read.items() if not _is_empty(value)}


def metadata_from_json(value: Any, where: str = "metadata") -> Metadata | None:
    return None if value is None else _read(_METADATA, _object(value, where), where)


def rule_set_from_json(value: Any, where: str = "ruleSet") -> RuleSet | None:
    return None if value is None else _read(_RULE_SET, _object(value, where), where)


def _rules(value: Any, where: str) -> list[Rule]:
    return [_rule(each, where) for each in _list(value, where)]


def _rule(value: Any, where: str) -> Rule:
    given = _object(value, where)
    filled = {**given, **{name: word for name, word in _RULE_DEFAULTS.items() if given.get(name) is None}}
    return _read(_RULE, filled, where)


_RULE_SET: _Table = {**dict.fromkeys(RULE_PHASES, _rules), "enableAt": _one_of(ENVIRONMENTS)}


# ---- what a rule set must fulfil ----


def check_rule_set(rule_set: RuleSet | None) -> None:
    seen: set[str] = set()
    for phase, (modes, complaint) in RULE_PHASES.items():
        for rule in (rule_set or {}).get(phase, ()):
            name = rule.get("name")
            if name in seen:
                raise errors.invalid_rule_set(f"Found rule with duplicate name '{name}'")
            _check_rule(rule)
            seen.add(rule["name"])
            if rule["mode"] not in modes:
                raise errors.invalid_rule_set(complaint)


def _check_rule(rule: Rule) -> None:
    _check_rule_name(rule.get("name"))
    if "type" not in rule:
        raise errors.invalid_rule_set("Missing rule type")
    actions = (rule.get("onSuccess", ""), rule.get("onFailure", ""))
    if rule["mode"] not in MODES_WITH_TWO_ACTIONS and any("," in action for action in actions):
        raise errors.invalid_rule_set("Multiple actions only valid with WRITEREAD and UPDOWN")


def _check_rule_name(name: str | None) -> None:
    if name is None:
        raise errors.invalid_rule_set("Missing rule name")
    if len(name) > MAX_RULE_NAME_LENGTH:
        raise errors.invalid_rule_set("Rule name too long")
    if not (name[0].isalpha() or name[0] == "_"):
        raise errors.invalid_rule_set(f"Illegal initial character in rule name: {name}")
    if not all(each.isalnum() or each in "_-" for each in name):
        raise errors.invalid_rule_set(f"Illegal character in rule name: {name}")


def has_rules_of_type(rule_set: RuleSet | None, rule_type: str) -> bool:
    rules = (rule for phase in RULE_PHASES for rule in (rule_set or {}).get(phase, ()))
    return any(rule.get("type") == rule_type for rule in rules)


# ---- defaults, overrides and versions ----


def merge_metadata(older: Metadata | None, newer: Metadata | None) -> Metadata | None:
    if older is None or newer is None:
        return newer if older is None else older
    merged = {
        part: {**older.get(part, {}), **newer.get(part, {})}
        for part in ("tags", "properties")
        if part in older or part in newer
    }
    sensitive = {*older.get("sensitive", ()), *newer.get("sensitive", ())}
    return metadata_from_json({**merged, "sensitive": sorted(sensitive)})


def merge_rule_sets(older: RuleSet | None, newer: RuleSet | None) -> RuleSet | None:
    """A newer rule takes the place of the older one of its name."""
    if older is None or newer is None:
        return newer if older is None else older
    merged: RuleSet = {}
    for phase in RULE_PHASES:
        rules = newer.get(phase, [])
        names = {rule.get("name") for rule in rules}
        merged[phase] = [rule for rule in older.get(phase, []) if rule.get("name") not in names] + rules
    merged["enableAt"] = newer.get("enableAt", older.get("enableAt"))
    return rule_set_from_json(merged)


def without_rules(rule_set: RuleSet, names: list[str]) -> RuleSet:
    kept = {
        phase: [rule for rule in rule_set.get(phase, []) if rule.get("name") not in names]
        for phase in RULE_PHASES
    }
    return rule_set_from_json({**kept, "enableAt": rule_set.get("enableAt")}) or {}


def version_property(metadata: Metadata | None) -> str | None:
    word: str | None = (metadata or {}).get("properties", {}).get(VERSION_PROPERTY)
    return word


def version_number(metadata: Metadata | None) -> int | None:
    try:
        return int(version_property(metadata) or "")
    except ValueError:
        return None


def with_version_property(metadata: Metadata | None, version: int) -> Metadata:
    properties = {**(metadata or {}).get("properties", {}), VERSION_PROPERTY: str(version)}
    return metadata_from_json({**(metadata or {}), "properties": properties}) or {}


def without_version_property(metadata: Metadata | None) -> Metadata:
    """None counts as empty metadata: a schema differs from another by its version property only."""
    properties = {**(metadata or {}).get("properties", {})}
    properties.pop(VERSION_PROPERTY, None)
    return metadata_from_json({**(metadata or {}), "properties": properties}) or {}


def reserved_fields(metadata: Metadata | None) -> set[str]:
    words = (metadata or {}).get("properties", {}).get(RESERVED_PROPERTY, "").split(",")
    return {word.strip() for word in words} - {""}


# ---- digests ----


def metadata_words(metadata: Metadata) -> Iterator[str]:
    """What the digest of a schema takes from its metadata, in order."""
    for name, tags in metadata.get("tags", {}).items():
        yield name
        yield from tags
    for name, value in metadata.get("properties", {}).items():
        yield name
        yield value
    yield from metadata.get("sensitive", ())


def rule_set_words(rule_set: RuleSet) -> Iterator[str]:
    for phase in RULE_PHASES:
        for rule in rule_set.get(phase, ()):
            yield from _rule_words(rule)
    yield rule_set.get("enableAt", "")


def _rule_words(rule: Rule) -> Iterator[str]:
    for name in ("name", "doc", "kind", "mode", "type"):
        yield rule.get(name, "")
    yield from rule.get("tags", ())
    for name, value in rule.get("params", {}).items():
        yield name
        yield value
    for name in ("expr", "onSuccess", "onFailure"):
        yield rule.get(name, "")
    yield "\x01" if rule.get("disabled") else ""
