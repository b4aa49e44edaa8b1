"""/admin/loggers: who logs how much, on this worker or on all."""

from __future__ import annotations

import logging
from typing import Final

from penstock.pipeline.connect.errors import NotFoundError
from penstock.pipeline.connect.rest.bodies import configs_of
from penstock.pipeline.connect.rest.service import Service
from penstock.pipeline.connect.worker.errors import BadRequestError
from penstock.web.request import Request
from penstock.web.response import NO_CONTENT, Response, json_response
from penstock.web.routes import Routes

log = logging.getLogger("penstock.connect.rest")

LEVELS: Final = ("OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL")


def routes_of(service: Service) -> Routes:
    routes, worker = Routes(), service.worker

    async def list_loggers(request: Request) -> Response:
        return json_response(worker.loggers())

    async def get(request: Request) -> Response:
        return json_response(worker.logger(request.path["logger"]))

    async def set_level(request: Request) -> Response:
        level = _level((await configs_of(request)).get("level"))
        scope = request.text("scope", "worker").lower()
        if scope == "cluster":
            await worker.set_cluster_logger_level(request.path["logger"], level)
            return NO_CONTENT
        if scope != "worker":
            log.warning("scope: got %r, takes worker or cluster; taken as worker", scope)
        return json_response(worker.set_logger_level(request.path["logger"], level))

    routes.add("GET", "/admin/loggers", service.answering(list_loggers))
    routes.add("GET", "/admin/loggers/{logger}", service.answering(get))
    routes.add("PUT", "/admin/loggers/{logger}", service.answering(set_level))
    return routes


def _level(text: str | None) -> str:
    if text is None:
        raise BadRequestError("Desired 'level' parameter was not specified in request.")
    if text.strip().upper() not in LEVELS:
        raise NotFoundError(f"invalid log level '{text}'.")
    return text.strip().upper()
