"""Where a `$ref` leads: inside its document, or to one that was named as a reference. Nothing is ever fetched.

A referenced document is found under its name, under its name seen from the base of any other document (so that
relative references work next to an `$id`), and under its own `$id`. The meta-schemas are always there. As in
Confluent's registry, `#/$defs/x` also finds what stands in `definitions` at the top of a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from jsonschema_specifications import REGISTRY as SPECIFICATIONS  # type: ignore[import-untyped]
from referencing.exceptions import NoSuchResource

from penstock.registry.formats.json_schema.drafts import Draft, draft_of
from penstock.registry.formats.json_schema.text import parse_json
from penstock.registry.formats.schema_format import InvalidSchema


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A document, or a part of one with an `$id` of its own, seen from which references are resolved."""

    root: Any
    base: str
    draft: Draft
    document: Any

    def inside(self, schema: Any) -> Scope:
        """The scope of a schema that stands in this one."""
        own_id = _own_id(schema, self.draft)
        if not own_id or own_id.startswith("#") or schema is self.root:
            return self
        return Scope(schema, _joined(self.base, own_id)[0], self.draft, self.document)


class Found(NamedTuple):
    schema: Any
    scope: Scope


class References:
    """The documents of one schema."""

    def __init__(self, document: Any, texts: Mapping[str, str], *, is_strict: bool) -> None:
        """If it is not strict, a reference whose text is no JSON is passed over."""
        draft = draft_of(document)
        self.root = _scope(document, "", draft)
        self._named: dict[str, Scope] = {}
        for name, text in texts.items():
            try:
                self._named[name] = _referred(text, _joined(self.root.base, name)[0], draft)
            except InvalidSchema as error:
                if is_strict:
                    raise InvalidSchema(f"the reference {name}: {error}") from error
        self._resources: dict[str, Scope] | None = None
        self._anchors: dict[tuple[str, str], Found] = {}

    def lookup(self, ref: str, scope: Scope) -> Found | None:
        uri, fragment = _joined(scope.base, ref)
        found = scope if ref.startswith("#") else self._resource(uri)
        if found is None:
            return None
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            self._index()
            return self._anchors.get((found.base, fragment))
        return _at_pointer(fragment, found) or _at_pointer(fragment, _whole(found))

    def _resource(self, uri: str) -> Scope | None:
        resources = self._index()
        while uri not in resources and uri.startswith("./"):
            uri = uri[2:]
        if uri not in resources and (specification := _specification(uri)) is not None:
            resources[uri] = specification  # the same one next time: schemas are told apart by identity
            self._index_document(specification)
        return resources.get(uri)

    def _index(self) -> dict[str, Scope]:
        if self._resources is None:
            self._resources = {self.root.base: self.root}
            documents = [self.root, *self._named.values()]
            for name, scope in self._named.items():
                self._resources.setdefault(_joined("", name)[0], scope)
                for other in documents:
                    self._resources.setdefault(_joined(other.base, name)[0], scope)
            for scope in documents:
                self._index_document(scope)
        return self._resources

    def _index_document(self, scope: Scope) -> None:
        assert self._resources is not None
        self._resources.setdefault(scope.base, scope)
        for schema, inner in _schemas_of(scope):
            self._resources.setdefault(inner.base, inner)
            for anchor in _anchors_of(schema, inner.draft):
                self._anchors.setdefault((inner.base, anchor), Found(schema, inner))


def _referred(text: str, uri: str, draft: Draft) -> Scope:
    document = parse_json(text)
    return _scope(document, uri, draft_of(document, draft))


def _scope(document: Any, uri: str, draft: Draft) -> Scope:
    root = _with_bridged_definitions(document)
    own_id = _own_id(document, draft)
    return Scope(root, _joined(uri, own_id)[0], draft, root)


def _with_bridged_definitions(document: Any) -> Any:
    if not isinstance(document, dict):
        return document
    old, new = document.get("definitions"), document.get("$defs", {})
    if not isinstance(old, dict) or not old or not isinstance(new, dict):
        return document
    return {**document, "$defs": {**old, **new}}


def _own_id(schema: Any, draft: Draft) -> str:
    if not isinstance(schema, dict) or ("$ref" in schema and not draft.is_modern):
        return ""
    own_id = schema.get(draft.id_keyword)
    return own_id if isinstance(own_id, str) else ""


def _anchors_of(schema: Mapping[str, Any], draft: Draft) -> Iterator[str]:
    if not draft.is_modern and _own_id(schema, draft).startswith("#"):
        yield _own_id(schema, draft)[1:]
    for keyword in ("$anchor", "$dynamicAnchor"):
        if draft.is_modern and isinstance(schema.get(keyword), str):
            yield schema[keyword]


def _schemas_of(scope: Scope) -> Iterator[tuple[Mapping[str, Any], Scope]]:
    """The schema objects of a document, each with the scope that it stands in; strange values are passed over."""
    pending = [(scope.root, scope)]
    while pending:
        schema, outer = pending.pop()
        if isinstance(schema, dict):
            inner = outer.inside(schema)
            yield schema, inner
            pending.extend((part, inner) for part in _parts_of(schema, inner.draft))


def _parts_of(schema: Mapping[str, Any], draft: Draft) -> Iterator[Any]:
    for keyword, value in schema.items():
        shape = draft.shapes.get(keyword, "")
        if shape.startswith(("schemas by", "dependencies")):
            yield from value.values() if isinstance(value, dict) else ()
        elif shape.startswith("schema"):
            yield from value if isinstance(value, list) else (value,)


def _at_pointer(fragment: str, scope: Scope) -> Found | None:
    found, inner = scope.root, scope
    for step in _steps(fragment):
        inner = inner.inside(found)
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step in map(str, range(len(found))):
            found = found[int(step)]
        else:
            return None
    return Found(found, inner.inside(found))


def _steps(fragment: str) -> Iterable[str]:
    return (step.replace("~1", "/").replace("~0", "~") for step in fragment.split("/")[1:])


def _whole(scope: Scope) -> Scope:
    """Java's library looks for a pointer in the whole document even from within a part that has its own `$id`."""
    return Scope(scope.document, scope.base, scope.draft, scope.document)


def _specification(uri: str) -> Scope | None:
    scheme, _, rest = uri.partition("://")
    for candidate in (uri, f"https://{rest}", f"http://{rest}") if scheme in ("http", "https") else ():
        try:
            document = SPECIFICATIONS.contents(candidate)
        except NoSuchResource:
            continue
        return _scope(document, candidate, draft_of(document))
    return None


def _joined(base: str, ref: str) -> tuple[str, str]:
    """The URI that is meant, and the fragment. What is no URI at all is just a name."""
    try:
        uri, fragment = urldefrag(urljoin(base, ref))
    except ValueError:
        uri, _, fragment = ref.partition("#")
    return uri, fragment
