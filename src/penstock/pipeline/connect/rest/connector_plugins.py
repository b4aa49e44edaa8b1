"""/connector-plugins: the classes that there are, what they take, and what is wrong with a configuration."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from penstock.pipeline.connect.connector_config.common import CONNECTOR_CLASS
from penstock.pipeline.connect.plugins import CONNECTORS, PluginInfo, PluginKind
from penstock.pipeline.connect.rest.bodies import configs_of
from penstock.pipeline.connect.rest.service import Service
from penstock.pipeline.connect.worker.errors import BadRequestError
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes

ORDER: Final = (
    *CONNECTORS,
    PluginKind.TRANSFORMATION,
    PluginKind.PREDICATE,
    PluginKind.CONVERTER,
    PluginKind.HEADER_CONVERTER,
)
SUFFIX: Final = "Connector"


def routes_of(service: Service) -> Routes:
    routes = Routes()

    async def list_plugins(request: Request) -> Response:
        kinds = CONNECTORS if request.flag("connectorsOnly", True) else ORDER
        infos = await asyncio.to_thread(service.plugins.list, kinds)
        ordered = sorted(infos, key=lambda info: ORDER.index(info.kind))
        return json_response([_answer(info) for info in ordered])

    async def plugin_config(request: Request) -> Response:
        version = request.text("version", "latest")
        found = await asyncio.to_thread(service.check.plugin_config, request.path["plugin"], version)
        return json_response(found)

    async def validate(request: Request) -> Response:
        configs = await configs_of(request)
        _same_class(configs.get(CONNECTOR_CLASS), request.path["plugin"])
        return json_response(await asyncio.to_thread(service.check.validate, configs))

    routes.add("GET", "/connector-plugins", service.answering(list_plugins))
    routes.add("GET", "/connector-plugins/{plugin}/config", service.answering(plugin_config))
    routes.add("PUT", "/connector-plugins/{plugin}/config/validate", service.answering(validate))
    return routes


def _answer(info: PluginInfo) -> dict[str, Any]:
    return {"class": info.name, "type": info.kind.value, "version": info.version}


def _same_class(given: str | None, plugin: str) -> None:
    if given is not None and not _short(given).endswith(_short(plugin)):
        raise BadRequestError(f"Included connector type {given} does not match request type {plugin}")


def _short(name: str) -> str:
    return name if name == SUFFIX else name.removesuffix(SUFFIX)
