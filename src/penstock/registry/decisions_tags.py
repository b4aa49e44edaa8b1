"""A new version of a schema with other tags, metadata or rules."""

from __future__ import annotations

from typing import Any

from penstock.registry import contracts, errors
from penstock.registry.contracts import RuleSet
from penstock.registry.decisions import Decision
from penstock.registry.decisions_register import decide_register
from penstock.registry.names import is_valid_subject, normalize_subject
from penstock.registry.requests import LATEST, UNASSIGNED_VERSION, read_object, read_tags, read_version
from penstock.registry.rules import RegistryRules
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, StoredSchema


def decide_modify_tags(
    state: RegistryState, rules: RegistryRules, subject: str, version: str | int, body: Json
) -> Decision:
    """POST /subjects/{subject}/versions/{version}/tags."""
    body = read_object(body)
    for name in ("tagsToAdd", "tagsToRemove"):
        read_tags(body, name)  # what is wrong with it goes by its own name
    if not is_valid_subject(subject):
        raise errors.invalid_subject(subject)
    schema = _schema(state, normalize_subject(subject), read_version(version))
    new_version = _new_version(body.get("newVersion"))
    given = contracts.metadata_from_json(body.get("metadata"))
    metadata = contracts.with_version_property(schema.metadata if given is None else given, new_version)
    request = {
        "schema": schema.schema,
        "schemaType": schema.schema_type,
        "references": [reference.to_json() for reference in schema.references],
        "metadata": metadata,
        "ruleSet": _rule_set(state, schema.subject, new_version, body),
        "version": new_version,
        "schemaTagsToAdd": body.get("tagsToAdd"),
        "schemaTagsToRemove": body.get("tagsToRemove"),
    }
    return decide_register(state, rules, schema.subject, request)


def _schema(state: RegistryState, subject: str, version: int) -> StoredSchema:
    schema = state.version(subject, version, deleted=False)
    if schema is not None:
        return schema
    if state.has_subjects(subject, deleted=False):
        raise errors.version_not_found(version)
    raise errors.subject_not_found(subject)


def _new_version(given: Any) -> int:
    if given is None:
        return UNASSIGNED_VERSION
    if not isinstance(given, int) or isinstance(given, bool):
        raise errors.bad_request(f"newVersion: got {given!r}, takes a whole number")
    return given


def _rule_set(state: RegistryState, subject: str, new_version: int, body: Json) -> RuleSet | None:
    """The one given, or that of the version before with rules merged in and removed."""
    given = contracts.rule_set_from_json(body.get("ruleSet"))
    merged = contracts.rule_set_from_json(body.get("rulesToMerge"), "rulesToMerge")
    removed = body.get("rulesToRemove")
    if merged is None and removed is None:
        return given
    if given is not None:
        raise errors.invalid_rule_set("ruleSet should be omitted if specifying rulesToMerge or rulesToRemove")
    if removed is not None and not isinstance(removed, list):
        raise errors.bad_request(f"rulesToRemove: got {removed!r}, takes a list")
    contracts.check_rule_set(merged)
    before = state.version(subject, new_version - 1 if new_version > 1 else LATEST, deleted=False)
    rule_set = contracts.merge_rule_sets(before.rule_set if before else None, merged)
    return contracts.without_rules(rule_set, removed) if rule_set is not None and removed else rule_set
