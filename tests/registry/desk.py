"""A registry of the pure core alone: what is decided goes through bytes into the state, as it does through a topic."""

import json
from typing import Any

import pytest

from penstock.registry import decisions_config, decisions_delete, decisions_register, listings, lookups
from penstock.registry.decisions import Decision
from penstock.registry.errors import RegistryError
from penstock.registry.formats import avro
from penstock.registry.rules import RegistryRules
from penstock.registry.state import RegistryState
from penstock.registry.stored import Record


class Desk:
    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formats", {"AVRO": avro})
        self.rules = RegistryRules(**settings)
        self.state = RegistryState()
        self.log: list[Record] = []

    def take(self, decision: Decision) -> Any:
        for key, value in decision.records:
            assert self.state.replay(key, value, len(self.log), timestamp_ms=1000 + len(self.log)) is None
            self.log.append((key, value))
        return decision.answer

    def register(self, subject: str, schema: Any, **more: Any) -> Any:
        """Members of the body in camelCase, as they travel; parameters of the call in snake_case."""
        options = {name: more.pop(name) for name in ("normalize", "force", "format_name") if name in more}
        body = {"schema": schema if isinstance(schema, str) else json.dumps(schema), **more}
        return self.take(decisions_register.decide_register(self.state, self.rules, subject, body, **options))

    def delete_version(self, subject: str, version: str | int, **options: bool) -> Any:
        return self.take(decisions_delete.decide_delete_version(self.state, subject, version, **options))

    def delete_subject(self, subject: str, **options: bool) -> Any:
        return self.take(decisions_delete.decide_delete_subject(self.state, subject, **options))

    def delete_context(self, context: str) -> Any:
        return self.take(decisions_delete.decide_delete_context(self.state, context))

    def set_config(self, subject: str | None, **body: Any) -> Any:
        return self.take(decisions_config.decide_set_config(self.state, subject, body))

    def delete_config(self, subject: str | None) -> Any:
        return self.take(decisions_config.decide_delete_config(self.state, self.rules, subject))

    def config(self, subject: str | None, **options: bool) -> Any:
        return decisions_config.get_config(self.state, self.rules, subject, **options)

    def set_mode(self, subject: str | None, mode: Any, **options: bool) -> Any:
        return self.take(
            decisions_config.decide_set_mode(self.state, self.rules, subject, {"mode": mode}, **options)
        )

    def delete_mode(self, subject: str | None, **options: bool) -> Any:
        return self.take(decisions_config.decide_delete_mode(self.state, self.rules, subject, **options))

    def mode(self, subject: str | None, **options: bool) -> Any:
        return decisions_config.get_mode(self.state, subject, **options)["mode"]

    def get(self, subject: str, version: str | int, **options: Any) -> Any:
        return lookups.get_version(self.state, self.rules, subject, version, **options)

    def by_id(self, schema_id: int, subject: str | None = None, **options: Any) -> Any:
        return lookups.get_schema_by_id(self.state, self.rules, schema_id, subject, **options)

    def lookup(self, subject: str, schema: Any, **more: Any) -> Any:
        options = {name: more.pop(name) for name in ("normalize", "deleted", "format_name") if name in more}
        body = {"schema": schema if isinstance(schema, str) else json.dumps(schema), **more}
        return lookups.lookup(self.state, self.rules, subject, body, **options)

    def check(self, subject: str, schema: Any, version: str | int | None = None, **more: Any) -> Any:
        options = {name: more.pop(name) for name in ("normalize", "verbose") if name in more}
        body = {"schema": schema if isinstance(schema, str) else json.dumps(schema), **more}
        return lookups.check_compatibility(self.state, self.rules, subject, body, version, **options)

    def versions(self, subject: str, **options: Any) -> Any:
        return listings.list_versions(self.state, self.rules, subject, **options)

    def subjects(self, **options: Any) -> Any:
        return listings.list_subjects(self.state, self.rules, **options)

    def schemas(self, **options: Any) -> Any:
        return listings.list_schemas(self.state, self.rules, **options)

    def referenced_by(self, subject: str, version: str | int, **options: Any) -> Any:
        return listings.list_referenced_by(self.state, self.rules, subject, version, **options)


def refusal(call: Any, *arguments: Any, **options: Any) -> tuple[int, int, str]:
    with pytest.raises(RegistryError) as caught:
        call(*arguments, **options)
    return caught.value.status, caught.value.error_code, caught.value.message


def record(name: str, *fields: Any) -> dict[str, Any]:
    """An Avro record; a field is "name:type" or an object."""
    return {
        "type": "record",
        "name": name,
        "fields": [
            dict(zip(("name", "type"), field.split(":"), strict=True)) if isinstance(field, str) else field
            for field in fields
        ],
    }


def with_default(name: str, type_: Any, default: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "default": default}
