"""Where the API is served: `listeners`, and `admin.listeners` for /admin where those are told apart."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from types import ModuleType
from typing import Final

from penstock.pipeline.connect.rest import connector_plugins, connectors, loggers, offsets, root, tasks
from penstock.pipeline.connect.rest.service import Service, translate
from penstock.web.app import HttpApp
from penstock.web.listeners import Listener, parse_listeners
from penstock.web.media_types import MediaTypes
from penstock.web.routes import Routes
from penstock.web.serving import serving

MEDIA_TYPES: Final = MediaTypes(produces=("application/json",), consumes=("application/json",))
RESOURCES: Final = (root, connectors, tasks, offsets, connector_plugins)
ADMIN_RESOURCES: Final = (loggers,)


def make_app(service: Service, *others: Routes) -> HttpApp:
    """With /admin, unless that has listeners of its own (or, with an empty list, none)."""
    is_admin_here = service.worker.settings.admin_listeners is None
    return _app(service, (*RESOURCES, *ADMIN_RESOURCES) if is_admin_here else RESOURCES, *others)


def make_admin_app(service: Service) -> HttpApp:
    return _app(service, ADMIN_RESOURCES)


def _app(service: Service, resources: Iterable[ModuleType], *others: Routes) -> HttpApp:
    routes = Routes()
    for included in (*(resource.routes_of(service) for resource in resources), *others):
        routes.include(included)
    timeout_ms = service.worker.settings.request_body_timeout_ms
    return HttpApp(routes, MEDIA_TYPES, translate=translate, body_timeout_ms=timeout_ms)


@asynccontextmanager
async def serving_rest(service: Service, *others: Routes) -> AsyncIterator[list[Listener]]:
    """Yields where the API really listens; /admin's own listeners are not among them. `others` are served with it."""
    settings = service.worker.settings
    async with AsyncExitStack() as stack:
        head = settings.head_limits
        listeners = await stack.enter_async_context(
            serving(make_app(service, *others), settings.endpoints, head=head)
        )
        own = [text for text in settings.admin_listeners or () if text.strip()]
        if own:
            admin = parse_listeners("admin.listeners", own)
            await stack.enter_async_context(
                serving(make_admin_app(service), admin, key="admin.listeners", head=head)
            )
        yield listeners
