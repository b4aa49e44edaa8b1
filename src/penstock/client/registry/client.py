"""`SchemaRegistryClient`: what a Schema Registry offers, over HTTP, with a memory of what cannot change.

An id has one schema for ever, and so has a version of a subject; these are asked for once. What can change is asked for
every time, but for the latest version, which `latest.cache.ttl.sec` is about.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from penstock.client.registry.cache import Cache
from penstock.client.registry.http import RegistryHttp, path_of
from penstock.client.registry.schemas import (
    CompatibilityCheck,
    RegisteredSchema,
    Schema,
    registered_from_json,
    schema_from_json,
)
from penstock.client.registry.settings import client_settings

MAX_SUBJECTS_REMEMBERED = 1_000
MAX_REFERENCE_DEPTH = 100


class SchemaRegistryClient:
    """Talks to a Schema Registry, ours or Confluent's. Safe to use from many threads.

    Takes an address, several (the next is asked when one does not answer), or a mapping with Confluent's names.

    >>> from penstock.client import Schema, SchemaRegistryClient
    >>> with SchemaRegistryClient("http://localhost:8081") as registry:
    ...     first = registry.register("names-value", Schema('"string"'))
    ...     registry.schema_by_id(first.id).text
    '"string"'
    """

    def __init__(
        self, config: str | Sequence[str] | Mapping[str, object] | None = None, /, **keywords: object
    ) -> None:
        settings = client_settings(config, keywords)
        self._http = RegistryHttp(settings)
        remembered = settings["max.schemas.per.subject"] * MAX_SUBJECTS_REMEMBERED
        self._by_id: Cache[tuple[str | None, int, str | None], RegisteredSchema] = Cache(remembered)
        self._by_guid: Cache[tuple[str, str | None], Schema] = Cache(remembered)
        self._by_version: Cache[tuple[str, int, str | None], RegisteredSchema] = Cache(remembered)
        self._registered: Cache[tuple[str, Schema, bool], RegisteredSchema] = Cache(remembered)
        self._looked_up: Cache[tuple[str, Schema, bool], RegisteredSchema] = Cache(remembered)
        self._latest: Cache[tuple[str, tuple[tuple[str, str], ...], str | None], RegisteredSchema] = Cache(
            settings["latest.cache.size"], settings["latest.cache.ttl.sec"]
        )

    @property
    def urls(self) -> list[str]:
        """Where the registries are, without passwords.

        >>> from penstock.client import SchemaRegistryClient
        >>> SchemaRegistryClient("http://reader:secret@localhost:8081/").urls
        ['http://localhost:8081']
        """
        return self._http.urls

    # --- schemas

    def register(self, subject: str, schema: Schema, normalize: bool = False) -> RegisteredSchema:
        """The schema as a version of the subject; the one that it is already, if it is one.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.register("names-value", Schema('"string"')).id == first.id
        True
        """

        def ask() -> RegisteredSchema:
            path = path_of("subjects", subject, "versions")
            answer = self._http.request("POST", path, {"normalize": normalize}, schema.as_json())
            return registered_from_json({"subject": subject, **answer}, schema)

        return self._registered.get_or((subject, schema, normalize), ask)

    def lookup(
        self, subject: str, schema: Schema, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Which version of the subject a schema is; error 40403 if none.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.lookup("names-value", Schema('"string"')).version
        1
        """

        def ask() -> RegisteredSchema:
            query = {"normalize": normalize, "deleted": deleted}
            answer = self._http.request("POST", path_of("subjects", subject), query, schema.as_json())
            return registered_from_json(answer, schema)

        return ask() if deleted else self._looked_up.get_or((subject, schema, normalize), ask)

    def schema_by_id(
        self, schema_id: int, subject: str | None = None, schema_format: str | None = None
    ) -> Schema:
        """The schema of an id; `subject` says in which context, `schema_format` in which form.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.schema_by_id(first.id).schema_type
        'AVRO'
        """
        return self.registered_by_id(schema_id, subject, schema_format).schema

    def registered_by_id(
        self, schema_id: int, subject: str | None = None, schema_format: str | None = None
    ) -> RegisteredSchema:
        """The same with its guid.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     len(registry.registered_by_id(first.id).guid)
        36
        """

        def ask() -> RegisteredSchema:
            query = {"subject": subject, "format": schema_format}
            answer = self._http.request("GET", path_of("schemas", "ids", schema_id), query)
            return RegisteredSchema(schema_from_json(answer), schema_id, subject, None, answer.get("guid"))

        return self._by_id.get_or((subject, schema_id, schema_format), ask)

    def schema_by_guid(self, guid: str, schema_format: str | None = None) -> Schema:
        """The schema of a guid, which is the same in every registry.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.schema_by_guid(registry.registered_by_id(first.id).guid).text
        '"string"'
        """

        def ask() -> Schema:
            query = {"format": schema_format}
            return schema_from_json(self._http.request("GET", path_of("schemas", "guids", guid), query))

        return self._by_guid.get_or((guid, schema_format), ask)

    def referenced_by(self, subject: str, version: int) -> list[int]:
        """The ids of the schemas that refer to a version of a subject.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.referenced_by("names-value", 1)
        []
        """
        path = path_of("subjects", subject, "versions", version, "referencedby")
        return list(self._http.request("GET", path))

    def resolved_references(
        self, schema: Schema, schema_format: str | None = None
    ) -> dict[str, RegisteredSchema]:
        """What a schema refers to and what that refers to, by name, each after what it refers to itself.

        >>> from penstock.client import Schema, SchemaReference, SchemaRegistryClient
        >>> customer = Schema('{"type": "record", "name": "Customer", "fields": []}')
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("customers-value", customer)
        ...     both = Schema('["null", "Customer"]', "AVRO", (SchemaReference("Customer", "customers-value", 1),))
        ...     list(registry.resolved_references(both))
        ['Customer']
        """
        found: dict[str, RegisteredSchema] = {}
        for name, registered in self._references(schema, schema_format, 0):
            found.setdefault(name, registered)
        return found

    def _references(
        self, schema: Schema, schema_format: str | None, depth: int
    ) -> Iterator[tuple[str, RegisteredSchema]]:
        if depth > MAX_REFERENCE_DEPTH:
            raise ValueError(f"references are nested more than {MAX_REFERENCE_DEPTH} deep")
        for reference in schema.references:
            found = self.version(reference.subject, reference.version, True, schema_format)
            yield from self._references(found.schema, schema_format, depth + 1)
            yield reference.name, found

    # --- subjects and versions

    def subjects(self, prefix: str | None = None, deleted: bool = False) -> list[str]:
        """The names of all subjects, or of those that begin with `prefix`.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.subjects()
        ['names-value']
        """
        return list(self._http.request("GET", "/subjects", {"subjectPrefix": prefix, "deleted": deleted}))

    def versions(self, subject: str, deleted: bool = False) -> list[int]:
        """The versions that a subject has.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.versions("names-value")
        [1]
        """
        return list(self._http.request("GET", path_of("subjects", subject, "versions"), {"deleted": deleted}))

    def version(
        self, subject: str, version: int, deleted: bool = False, schema_format: str | None = None
    ) -> RegisteredSchema:
        """One version of a subject; with `deleted` also one that was deleted, but not for good.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.version("names-value", 1).id == first.id
        True
        """

        def ask() -> RegisteredSchema:
            query = {"deleted": deleted, "format": schema_format}
            path = path_of("subjects", subject, "versions", version)
            return registered_from_json(self._http.request("GET", path, query))

        return self._by_version.get_or((subject, version, schema_format), ask)

    def latest_version(self, subject: str, schema_format: str | None = None) -> RegisteredSchema:
        """The latest version of a subject, as of at most `latest.cache.ttl.sec` ago.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.latest_version("names-value").version
        1
        """

        def ask() -> RegisteredSchema:
            path = path_of("subjects", subject, "versions", "latest")
            return registered_from_json(self._http.request("GET", path, {"format": schema_format}))

        return self._latest.get_or((subject, (), schema_format), ask)

    def latest_with_metadata(
        self, subject: str, properties: Mapping[str, str], schema_format: str | None = None
    ) -> RegisteredSchema:
        """The latest version whose metadata has these properties.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> metadata = {"properties": {"owner": "billing"}}
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"', metadata=metadata))
        ...     registry.latest_with_metadata("names-value", {"owner": "billing"}).version
        1
        """
        pairs = tuple(sorted(properties.items()))

        def ask() -> RegisteredSchema:
            query = {
                "key": [key for key, _ in pairs],
                "value": [value for _, value in pairs],
                "format": schema_format,
            }
            return registered_from_json(
                self._http.request("GET", path_of("subjects", subject, "metadata"), query)
            )

        return self._latest.get_or((subject, pairs, schema_format), ask)

    def delete_version(self, subject: str, version: int | str, permanent: bool = False) -> int:
        """Deletes a version ("latest" is one too); for good, when it was deleted before and `permanent` is set.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.delete_version("names-value", "latest")
        1
        """
        path = path_of("subjects", subject, "versions", version)
        deleted = int(self._http.request("DELETE", path, {"permanent": permanent}))
        self._forget(subject)
        return deleted

    def delete_subject(self, subject: str, permanent: bool = False) -> list[int]:
        """Deletes all versions of a subject, and says which those were.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     registry.delete_subject("names-value"), registry.subjects()
        ([1], [])
        """
        deleted = list(self._http.request("DELETE", path_of("subjects", subject), {"permanent": permanent}))
        self._forget(subject)
        return deleted

    def _forget(self, subject: str) -> None:
        """What was said about a subject that has changed; ids keep their schemas."""
        for cache in (self._registered, self._looked_up, self._by_version, self._latest):
            cache.forget(lambda key: bool(key[0] == subject))

    def clear_latest(self) -> None:
        """Has the latest versions asked for again, before their time.

        >>> from penstock.client import SchemaRegistryClient
        >>> SchemaRegistryClient("http://localhost:8081").clear_latest()
        """
        self._latest.clear()

    # --- compatibility, config, mode

    def check_compatibility(
        self, subject: str, schema: Schema, version: int | str | None = "latest", normalize: bool = False
    ) -> CompatibilityCheck:
        """Whether a schema may follow a version of the subject; with None, all that its level asks for.

        >>> from penstock.client import Schema, SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     first = registry.register("names-value", Schema('"string"'))
        ...     bool(registry.check_compatibility("names-value", Schema('"int"')))
        False
        """
        which = () if version is None else (version,)
        path = path_of("compatibility", "subjects", subject, "versions", *which)
        query = {"verbose": True, "normalize": normalize}
        answer = self._http.request("POST", path, query, schema.as_json())
        return CompatibilityCheck(answer["is_compatible"], tuple(answer.get("messages") or ()))

    def config(self, subject: str | None = None, default_to_global: bool = False) -> dict[str, Any]:
        """The config of a subject, or of all: its compatibility level, and more.

        >>> from penstock.client import SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     registry.config()["compatibilityLevel"]
        'BACKWARD'
        """
        return dict(self._http.request("GET", _of("config", subject), {"defaultToGlobal": default_to_global}))

    def set_config(self, subject: str | None = None, /, **config: object) -> dict[str, Any]:
        """Sets the compatibility level, or more, of a subject, or of all that have none of their own.

        >>> from penstock.client import SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     registry.set_config("names-value", compatibility="FULL")
        {'compatibility': 'FULL'}
        """
        return dict(self._http.request("PUT", _of("config", subject), None, config))

    def delete_config(self, subject: str | None = None) -> dict[str, Any]:
        """Has a subject follow the config of all again; says what it had.

        >>> from penstock.client import SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     _ = registry.set_config("names-value", compatibility="FULL")
        ...     registry.delete_config("names-value")["compatibilityLevel"]
        'FULL'
        """
        return dict(self._http.request("DELETE", _of("config", subject)))

    def mode(self, subject: str | None = None, default_to_global: bool = False) -> str:
        """What may be done with a subject, or with all: READWRITE, READONLY, READONLY_OVERRIDE, IMPORT or FORWARD.

        >>> from penstock.client import SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     registry.mode()
        'READWRITE'
        """
        query = {"defaultToGlobal": default_to_global}
        return str(self._http.request("GET", _of("mode", subject), query)["mode"])

    def set_mode(self, mode: str, subject: str | None = None, force: bool = False) -> str:
        """Sets what may be done with a subject, or with all.

        >>> from penstock.client import SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     registry.set_mode("READONLY", "names-value")
        'READONLY'
        """
        body = {"mode": mode}
        return str(self._http.request("PUT", _of("mode", subject), {"force": force}, body)["mode"])

    def delete_mode(self, subject: str | None = None) -> str:
        """Has a subject follow the mode of all again; says which it had.

        >>> from penstock.client import SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     _ = registry.set_mode("READONLY", "names-value")
        ...     registry.delete_mode("names-value")
        'READONLY'
        """
        return str(self._http.request("DELETE", _of("mode", subject))["mode"])

    def contexts(self) -> list[str]:
        """The contexts that the registry's subjects are in.

        >>> from penstock.client import SchemaRegistryClient
        >>> with SchemaRegistryClient("http://localhost:8081") as registry:
        ...     registry.contexts()
        ['.']
        """
        return list(self._http.request("GET", "/contexts"))

    # --- the end

    def close(self) -> None:
        """Closes the connections. The client opens them again if it is used again.

        >>> from penstock.client import SchemaRegistryClient
        >>> SchemaRegistryClient("http://localhost:8081").close()
        """
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<SchemaRegistryClient of {', '.join(self.urls)}>"


def _of(what: str, subject: str | None) -> str:
    return path_of(what) if subject is None else path_of(what, subject)
