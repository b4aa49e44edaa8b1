"""Which function answers which path: a tree of path segments, walked over the path as it came, before decoding.

Other routers decode the path first, so that a slash in a name (`%2F`) ends the name. Subjects and topics may have one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from penstock.web.errors import HttpError
from penstock.web.media_types import MediaTypes
from penstock.web.request import Request
from penstock.web.response import Response, StreamedResponse

Handler = Callable[[Request], Awaitable[Response | StreamedResponse]]


class Route:
    """`media_types` of its own, where they differ from the service's."""

    __slots__ = ("handler", "media_types", "names", "template")

    def __init__(self, template: str, handler: Handler, media_types: MediaTypes | None) -> None:
        self.template = template
        self.names = tuple(part[1:-1] for part in template.split("/") if part.startswith("{"))
        self.handler = handler
        self.media_types = media_types


class _Node:
    __slots__ = ("fixed", "methods", "variable")

    def __init__(self) -> None:
        self.fixed: dict[str, _Node] = {}
        self.variable: _Node | None = None
        self.methods: dict[str, Route] = {}


class Routes:
    def __init__(self) -> None:
        self._root = _Node()
        self.all: list[tuple[str, Route]] = []

    def add(
        self, method: str, template: str, handler: Handler, media_types: MediaTypes | None = None
    ) -> None:
        node = self._root
        for part in _parts(template):
            node = _child(node, part)
        route = Route(template, handler, media_types)
        assert method not in node.methods, f"{method} {template} is there twice"
        node.methods[method] = route
        self.all.append((method, route))

    def include(self, other: Routes) -> None:
        for method, route in other.all:
            self.add(method, route.template, route.handler, route.media_types)

    def get(self, template: str, media_types: MediaTypes | None = None) -> Callable[[Handler], Handler]:
        return self._decorator("GET", template, media_types)

    def post(self, template: str, media_types: MediaTypes | None = None) -> Callable[[Handler], Handler]:
        return self._decorator("POST", template, media_types)

    def put(self, template: str, media_types: MediaTypes | None = None) -> Callable[[Handler], Handler]:
        return self._decorator("PUT", template, media_types)

    def patch(self, template: str, media_types: MediaTypes | None = None) -> Callable[[Handler], Handler]:
        return self._decorator("PATCH", template, media_types)

    def delete(self, template: str, media_types: MediaTypes | None = None) -> Callable[[Handler], Handler]:
        return self._decorator("DELETE", template, media_types)

    def _decorator(
        self, method: str, template: str, media_types: MediaTypes | None
    ) -> Callable[[Handler], Handler]:
        def decorate(handler: Handler) -> Handler:
            self.add(method, template, handler, media_types)
            return handler

        return decorate

    def find(self, method: str, raw_path: str) -> tuple[Route, dict[str, str]]:
        """The route, and the parts of the path that it names; an `HttpError` 404 or 405 if there is none."""
        values: list[str] = []
        node = _walk(self._root, _parts(raw_path), 0, values)
        if node is None:
            raise HttpError(404)
        route = node.methods.get("GET" if method == "HEAD" else method)
        if route is None:
            raise HttpError(405, headers={"allow": ", ".join(sorted(node.methods))})
        return route, dict(zip(route.names, values, strict=True))


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _child(node: _Node, part: str) -> _Node:
    if part.startswith("{"):
        node.variable = node.variable or _Node()
        return node.variable
    return node.fixed.setdefault(part, _Node())


def _walk(node: _Node, parts: list[str], at: int, values: list[str]) -> _Node | None:
    """Down to the node of the path; a fixed name goes before a variable one."""
    if at == len(parts):
        return node if node.methods else None
    part = parts[at]
    child = node.fixed.get(part)
    if child is not None:
        found = _walk(child, parts, at + 1, values)
        if found is not None:
            return found
    if node.variable is None:
        return None
    values.append(unquote(part) if "%" in part else part)
    found = _walk(node.variable, parts, at + 1, values)
    if found is None:
        values.pop()
    return found
