"""The operations of the API as a table: routes are made of it, and so is its description (OpenAPI)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from inspect import getdoc

from penstock.rest.fields import Fields, Parameter
from penstock.rest.kafka import Kafka
from penstock.web.media_types import MediaTypes
from penstock.web.request import Request
from penstock.web.response import Response, StreamedResponse
from penstock.web.routes import Routes

Handler = Callable[[Kafka, Request], Awaitable[Response | StreamedResponse]]

JSON = MediaTypes(produces=("application/json",), consumes=("application/json",))
EVENTS = MediaTypes(produces=("text/event-stream",), consumes=("application/json",))


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    handler: Handler
    tag: str
    status: int = 200
    query: tuple[Parameter, ...] = ()
    body: Fields | None = None
    media_types: MediaTypes = JSON

    @property
    def summary(self) -> str:
        return (getdoc(self.handler) or "").partition("\n")[0]


def routes_of(operations: Iterable[Operation], kafka: Kafka) -> Routes:
    routes = Routes()
    for each in operations:
        routes.add(each.method, each.path, partial(each.handler, kafka), each.media_types)
    return routes
