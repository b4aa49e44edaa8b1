"""/programs: deploy, list, describe, stop, start and delete them."""

from __future__ import annotations

from typing import Any

from penstock.errors import ConfigError
from penstock.pipeline.plan.errors import TopologyError
from penstock.pipeline.programs.questions import question_of, shown
from penstock.pipeline.programs.service import NoSuchProgram, ProgramsService
from penstock.pipeline.tasks.program import ProgramFile
from penstock.pipeline.tasks.queries import QueryError
from penstock.web.errors import HttpError
from penstock.web.request import Request
from penstock.web.response import NO_CONTENT, Response, json_response
from penstock.web.routes import Handler, Routes


def routes_of(service: ProgramsService) -> Routes:
    routes = Routes()

    async def list_programs(request: Request) -> Response:
        return json_response(service.listed())

    async def describe(request: Request) -> Response:
        return json_response(service.described(request.path["program"]))

    async def deploy(request: Request) -> Response:
        body = await request.json_object()
        name, file = request.path["program"], ProgramFile(_text(body, "path"), _text(body, "text"))
        return json_response(await service.deploy(name, file, _configs(body)))

    async def stop(request: Request) -> Response:
        return json_response(await service.stop(request.path["program"]))

    async def start(request: Request) -> Response:
        return json_response(await service.start(request.path["program"]))

    async def delete(request: Request) -> Response:
        await service.delete(request.path["program"])
        return NO_CONTENT

    async def stores(request: Request) -> Response:
        return json_response(service.stores_of(request.path["program"]))

    async def query(request: Request) -> Response:
        rows = await service.query(request.path["program"], request.path["store"], question_of(request))
        return json_response([shown(row) for row in rows])

    routes.add("GET", "/programs", list_programs)
    routes.add("GET", "/programs/{program}/stores", _answering(stores))
    routes.add("GET", "/programs/{program}/stores/{store}", _answering(query))
    routes.add("GET", "/programs/{program}", _answering(describe))
    routes.add("PUT", "/programs/{program}", _answering(deploy))
    routes.add("POST", "/programs/{program}/stop", _answering(stop))
    routes.add("POST", "/programs/{program}/start", _answering(start))
    routes.add("DELETE", "/programs/{program}", _answering(delete))
    return routes


def _answering(handler: Handler) -> Handler:
    async def answer(request: Request) -> Any:
        try:
            return await handler(request)
        except NoSuchProgram as error:
            raise HttpError(404, 404, str(error)) from None
        except (ConfigError, TopologyError, QueryError) as error:
            raise HttpError(422, 422, str(error)) from None

    return answer


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise HttpError(400, 400, f"{name}: got {type(value).__name__}; takes text")
    return value


def _configs(body: dict[str, Any]) -> dict[str, str]:
    configs = body.get("configs", {})
    if not isinstance(configs, dict) or not all(isinstance(each, str) for each in configs.values()):
        raise HttpError(400, 400, "configs: takes an object of texts")
    return configs
