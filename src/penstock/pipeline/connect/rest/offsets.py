"""/connectors/{connector}/offsets and /topics: how far it is, and what it reads or writes."""

from __future__ import annotations

from penstock.pipeline.connect.rest.bodies import offsets_of
from penstock.pipeline.connect.rest.connectors import ACCEPTED
from penstock.pipeline.connect.rest.service import Service
from penstock.web.errors import HttpError
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes


def routes_of(service: Service) -> Routes:
    routes, worker = Routes(), service.worker

    async def get(request: Request) -> Response:
        return json_response(await worker.offsets(request.path["connector"]))

    async def alter(request: Request) -> Response:
        message = await worker.alter_offsets(request.path["connector"], await offsets_of(request))
        return json_response({"message": message})

    async def reset(request: Request) -> Response:
        return json_response({"message": await worker.reset_offsets(request.path["connector"])})

    async def topics(request: Request) -> Response:
        _require(worker.settings.topic_tracking_enable, "Topic tracking is disabled.")
        return json_response(await worker.topics(request.path["connector"]))

    async def reset_topics(request: Request) -> Response:
        _require(worker.settings.topic_tracking_enable, "Topic tracking is disabled.")
        _require(worker.settings.topic_tracking_allow_reset, "Topic tracking reset is disabled.")
        await worker.reset_topics(request.path["connector"])
        return ACCEPTED

    routes.add("GET", "/connectors/{connector}/offsets", service.answering(get))
    routes.add("PATCH", "/connectors/{connector}/offsets", service.answering(alter))
    routes.add("DELETE", "/connectors/{connector}/offsets", service.answering(reset))
    routes.add("GET", "/connectors/{connector}/topics", service.answering(topics))
    routes.add("PUT", "/connectors/{connector}/topics/reset", service.answering(reset_topics))
    return routes


def _require(is_allowed: bool, refusal: str) -> None:
    if not is_allowed:
        raise HttpError(403, 403, refusal)
