"""/connectors: create, configure, pause, resume, stop, restart and delete them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from penstock.pipeline.connect.errors import NotFoundError
from penstock.pipeline.connect.rest.bodies import NewConnector, configs_of, object_of, with_name
from penstock.pipeline.connect.rest.service import Service
from penstock.web.request import Request
from penstock.web.response import NO_CONTENT, Response, json_bytes, json_response
from penstock.web.routes import Routes

ACCEPTED = Response(b"", 202)


def routes_of(service: Service) -> Routes:
    routes = Routes()
    _add_lists(routes, service)
    _add_configs(routes, service)
    _add_states(routes, service)
    return routes


def _add_lists(routes: Routes, service: Service) -> None:
    worker = service.worker

    async def list_connectors(request: Request) -> Response:
        names = await worker.connectors()
        if "expand" not in request.query:
            return json_response(names)
        expanded = {name: await _expanded(name, request.texts("expand")) for name in names}
        return json_response({name: found for name, found in expanded.items() if found is not None})

    async def _expanded(name: str, expansions: list[str]) -> dict[str, Any] | None:
        """None if it was deleted meanwhile."""
        questions = {"status": worker.status, "info": worker.connector_info}
        try:
            return {each: await questions[each](name) for each in expansions if each in questions}
        except NotFoundError:
            return None

    async def create(request: Request) -> Response:
        new = NewConnector(await object_of(request))
        info = await worker.create(new.name, with_name(new.name, new.configs), new.initial_state)
        return _created(request, new.name, info)

    async def get(request: Request) -> Response:
        return json_response(await worker.connector_info(request.path["connector"]))

    async def delete(request: Request) -> Response:
        await worker.delete(request.path["connector"])
        return NO_CONTENT

    routes.add("GET", "/connectors", service.answering(list_connectors))
    routes.add("POST", "/connectors", service.answering(create))
    routes.add("GET", "/connectors/{connector}", service.answering(get))
    routes.add("DELETE", "/connectors/{connector}", service.answering(delete))


def _created(request: Request, name: str, info: Any) -> Response:
    where = f"{request.scope['scheme']}://{request.header(b'host')}/connectors/{quote(name, safe='')}"
    return Response(json_bytes(info), 201, None, {"location": where})


def _add_configs(routes: Routes, service: Service) -> None:
    worker = service.worker

    async def get(request: Request) -> Response:
        info = await worker.connector_info(request.path["connector"])
        return json_response(info["config"])

    async def put(request: Request) -> Response:
        name = request.path["connector"]
        is_new, info = await worker.put_config(name, with_name(name, await configs_of(request)))
        return _created(request, name, info) if is_new else json_response(info)

    async def patch(request: Request) -> Response:
        return json_response(await worker.patch_config(request.path["connector"], await configs_of(request)))

    routes.add("GET", "/connectors/{connector}/config", service.answering(get))
    routes.add("PUT", "/connectors/{connector}/config", service.answering(put))
    routes.add("PATCH", "/connectors/{connector}/config", service.answering(patch))


def _add_states(routes: Routes, service: Service) -> None:
    worker = service.worker

    async def status(request: Request) -> Response:
        return json_response(await worker.status(request.path["connector"]))

    async def pause(request: Request) -> Response:
        await worker.pause(request.path["connector"])
        return ACCEPTED

    async def resume(request: Request) -> Response:
        await worker.resume(request.path["connector"])
        return ACCEPTED

    async def stop(request: Request) -> Response:
        await worker.stop(request.path["connector"])
        return NO_CONTENT

    async def restart(request: Request) -> Response:
        include_tasks, only_failed = request.flag("includeTasks"), request.flag("onlyFailed")
        found = await worker.restart(request.path["connector"], include_tasks, only_failed)
        return NO_CONTENT if found is None else json_response(found, 202)

    routes.add("GET", "/connectors/{connector}/status", service.answering(status))
    routes.add("PUT", "/connectors/{connector}/pause", service.answering(pause))
    routes.add("PUT", "/connectors/{connector}/resume", service.answering(resume))
    routes.add("PUT", "/connectors/{connector}/stop", service.answering(stop))
    routes.add("POST", "/connectors/{connector}/restart", service.answering(restart))
