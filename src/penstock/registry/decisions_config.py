"""Configs and modes: set, read, taken back. A subject of None is the global one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.registry import contracts, errors, stored
from penstock.registry.compatibility import LENIENT, LEVELS, STRICT
from penstock.registry.decisions import Decision, check_writable
from penstock.registry.names import (
    context_of,
    is_context,
    is_default_context,
    is_global_context,
    is_valid_subject,
    normalize_subject,
)
from penstock.registry.requests import read_object
from penstock.registry.rules import RegistryRules
from penstock.registry.scopes import (
    MODES,
    config_in_scope,
    in_order,
    mode_in_scope,
    own_config,
    own_mode,
)
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, Record

POLICIES = (STRICT, LENIENT)


def _scope(subject: str | None) -> str | None:
    return None if subject is None or is_default_context(subject) else normalize_subject(subject)


def _checked_scope(subject: str | None) -> str | None:
    if subject is not None and not is_valid_subject(subject, is_config_or_mode=True):
        raise errors.invalid_subject(subject)
    return _scope(subject)


# ---- configs ----


def get_config(
    state: RegistryState, rules: RegistryRules, subject: str | None, *, default_to_global: bool = False
) -> Json:
    """GET /config and /config/{subject}."""
    scope = _scope(subject)
    if default_to_global:
        return config_in_scope(state, rules, scope)
    config = own_config(state, rules, scope)
    if config is None:
        raise errors.config_not_found(str(scope))
    return config


def decide_set_config(state: RegistryState, subject: str | None, body: Json) -> Decision:
    """PUT /config and /config/{subject}. What the body does not name stays; what it names as null goes."""
    changes = _read_config(read_object(body))
    scope = _checked_scope(subject)
    check_writable(state, scope)
    config = in_order({**state.configs.get(scope, {}), **changes})
    key = stored.encode_key(stored.ConfigKey(scope))
    answer = {_REQUEST_NAMES.get(name, name): value for name, value in config.items()}
    return Decision(((key, stored.encode_config(scope, config)),), answer)


def decide_delete_config(state: RegistryState, rules: RegistryRules, subject: str | None) -> Decision:
    """DELETE /config and /config/{subject}; the answer is the config that was."""
    scope = _scope(subject)
    config = own_config(state, rules, scope)
    if config is None:
        raise errors.subject_not_found(scope)
    check_writable(state, scope)
    return Decision(((stored.encode_key(stored.ConfigKey(scope)), None),), config)


def _level(value: Any, where: str) -> str:
    name = contracts.text(value, where).upper()
    if name not in LEVELS:
        raise errors.invalid_compatibility_level()
    return name


def _policy(value: Any, where: str) -> str:
    name = contracts.text(value, where).upper()
    if name not in POLICIES:
        raise errors.RegistryError(422, 42203, f"{where}: got {value}, takes {', '.join(POLICIES)}")
    return name


def _rule_set(value: Any, where: str) -> contracts.RuleSet | None:
    rule_set = contracts.rule_set_from_json(value, where)
    contracts.check_rule_set(rule_set)
    return rule_set


_CONFIG: Mapping[str, tuple[str, Callable[[Any, str], Any]]] = {
    "alias": ("alias", contracts.text),
    "aliasForDeks": ("aliasForDeks", contracts.text),
    "normalize": ("normalize", contracts.flag),
    "validateFields": ("validateFields", contracts.flag),
    "validateNewSchemas": ("validateNewSchemas", contracts.flag),
    "validateRules": ("validateRules", contracts.flag),
    "compatibility": ("compatibilityLevel", _level),
    "compatibilityPolicy": ("compatibilityPolicy", _policy),
    "compatibilityGroup": ("compatibilityGroup", contracts.text),
    "defaultMetadata": ("defaultMetadata", contracts.metadata_from_json),
    "overrideMetadata": ("overrideMetadata", contracts.metadata_from_json),
    "defaultRuleSet": ("defaultRuleSet", _rule_set),
    "overrideRuleSet": ("overrideRuleSet", _rule_set),
}
"""By its name in a request: the name it is stored under, and how it is read."""
_REQUEST_NAMES = {"compatibilityLevel": "compatibility"}


def _read_config(body: Json) -> Json:
    return {
        name: None if body[asked] is None else read(body[asked], asked)
        for asked, (name, read) in _CONFIG.items()
        if asked in body
    }


# ---- modes ----


def get_mode(state: RegistryState, subject: str | None, *, default_to_global: bool = False) -> Json:
    """GET /mode and /mode/{subject}."""
    scope = _scope(subject)
    mode = mode_in_scope(state, scope) if default_to_global else own_mode(state, scope)
    if mode is None:
        raise errors.mode_not_found(str(scope))
    return {"mode": mode}


def decide_set_mode(
    state: RegistryState, rules: RegistryRules, subject: str | None, body: Json, *, force: bool = False
) -> Decision:
    """PUT /mode and /mode/{subject}. IMPORT wants an empty scope, unless it is forced; null takes the mode back."""
    scope = _checked_scope(subject)
    mode = _read_mode(read_object(body), scope)
    _check_mutable(rules)
    cleared: tuple[Record, ...] = ()
    if mode == "IMPORT" and mode_in_scope(state, scope) != "IMPORT" and not force:
        cleared = _clearing_records(state, scope)
    key = stored.encode_key(stored.ModeKey(scope))
    record = (key, None if mode is None else stored.encode_mode(scope, mode))
    return Decision((*cleared, record), {} if mode is None else {"mode": body["mode"]})


def _read_mode(body: Json, scope: str | None) -> str | None:
    word = body.get("mode", "")
    mode = None if word is None else str(word).upper()
    if mode is not None and mode not in MODES:
        raise errors.invalid_mode()
    if mode == "FORWARD" and not is_global_context(scope):
        raise errors.invalid_mode("Forward mode only supported on global level")
    return mode


def _clearing_records(state: RegistryState, scope: str | None) -> tuple[Record, ...]:
    """Takes what is only softly deleted out of the way of ids that are to be imported."""
    if state.has_subjects(scope, deleted=False):
        raise errors.not_permitted("Cannot import since found existing subjects")
    records: list[Record] = []
    for subject in state.subjects(scope):
        for version in state.schemas[subject]:
            if state.referring(subject, version, deleted=True):
                raise errors.reference_exists(subject, version)
            records.append((stored.encode_key(stored.SchemaKey(subject, version)), None))
    clear = (stored.encode_key(stored.ClearSubjectKey(scope)), stored.encode_cleared_subject(scope))
    return (*records, clear)


def decide_delete_mode(
    state: RegistryState, rules: RegistryRules, subject: str | None, *, recursive: bool = False
) -> Decision:
    """DELETE /mode and /mode/{subject}; `recursive` takes the modes of a context's subjects back too."""
    scope = _scope(subject)
    mode = own_mode(state, scope)
    if mode is None and not recursive:
        raise errors.subject_not_found(scope)
    _check_mutable(rules)
    scopes = [scope]
    if recursive and is_context(scope):
        scopes += sorted(
            other
            for other in state.modes
            if other is not None and not is_context(other) and context_of(other) == context_of(scope)
        )
    records = tuple((stored.encode_key(stored.ModeKey(each)), None) for each in scopes)
    return Decision(records, {} if mode is None else {"mode": mode})


def _check_mutable(rules: RegistryRules) -> None:
    if not rules.mode_mutability:
        raise errors.not_permitted("Mode changes are not allowed")
