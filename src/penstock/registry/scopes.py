"""Configs and modes: that of a subject, else of its context, else the global ones, else the registry's settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from penstock.registry.names import DEFAULT_CONTEXT, GLOBAL_CONTEXT, QualifiedSubject, qualify
from penstock.registry.rules import RegistryRules
from penstock.registry.state import RegistryState
from penstock.registry.stored import CONFIG_FIELDS, Json

T = TypeVar("T")

MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")
DEFAULT_MODE = "READWRITE"
_GLOBAL = str(QualifiedSubject(GLOBAL_CONTEXT, ""))
_INHERITED = (
    "normalize",
    "validateFields",
    "validateNewSchemas",
    "validateRules",
    "compatibilityPolicy",
    "compatibilityGroup",
)
"""What a subject's config takes from the global one where it says nothing."""


def _scopes(subject: str | None) -> Iterator[str | None]:
    yield subject
    own = None if subject is None else qualify(subject)
    yield None if own is None or own.context == DEFAULT_CONTEXT else own.qualified_context
    yield _GLOBAL


def _first(kept: Mapping[str | None, T], subject: str | None) -> T | None:
    return next((kept[scope] for scope in _scopes(subject) if scope in kept), None)


def _has_default(subject: str | None) -> bool:
    return subject is None or qualify(subject).context == GLOBAL_CONTEXT


def is_importing(mode: str) -> bool:
    return mode in ("IMPORT", "FORWARD")


def is_read_only(mode: str) -> bool:
    return mode in ("READONLY", "READONLY_OVERRIDE")


def own_mode(state: RegistryState, subject: str | None) -> str | None:
    return state.modes.get(subject, DEFAULT_MODE if _has_default(subject) else None)


def mode_in_scope(state: RegistryState, subject: str | None) -> str:
    return _first(state.modes, subject) or DEFAULT_MODE


def own_config(state: RegistryState, rules: RegistryRules, subject: str | None) -> Json | None:
    config = state.configs.get(subject)
    if config is None and not _has_default(subject):
        return None
    return _with_level(rules, config)


def config_in_scope(state: RegistryState, rules: RegistryRules, subject: str | None) -> Json:
    own = None if subject is None else own_config(state, rules, subject)
    if own is None:
        return _with_level(rules, _first(state.configs, subject))
    top = own_config(state, rules, None) or {}
    inherited = {name: top[name] for name in _INHERITED if name in top}
    return in_order({**inherited, **own})


def _with_level(rules: RegistryRules, config: Json | None) -> Json:
    return in_order({"compatibilityLevel": rules.compatibility_level, **(config or {})})


def in_order(config: Mapping[str, Any]) -> Json:
    return {name: config[name] for name in CONFIG_FIELDS if config.get(name) is not None}


def has_defaults_or_overrides(config: Json) -> bool:
    return any(
        name in config
        for name in ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet")
    )


def validates_fields(rules: RegistryRules, config: Json) -> bool:
    return bool(config.get("validateFields", rules.validate_fields))


def validates_new_schemas(rules: RegistryRules, config: Json) -> bool:
    return bool(config.get("validateNewSchemas", rules.validate_new_schemas))
