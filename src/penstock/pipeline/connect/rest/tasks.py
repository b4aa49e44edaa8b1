"""/connectors/{connector}/tasks: what they are given, how they are, and a restart of one."""

from __future__ import annotations

import re

from penstock.pipeline.connect.rest.service import Service
from penstock.web.errors import HttpError
from penstock.web.request import Request
from penstock.web.response import NO_CONTENT, Response, json_response
from penstock.web.routes import Routes


def routes_of(service: Service) -> Routes:
    routes, worker = Routes(), service.worker

    async def list_tasks(request: Request) -> Response:
        return json_response(await worker.tasks(request.path["connector"]))

    async def status(request: Request) -> Response:
        return json_response(await worker.task_status(request.path["connector"], _task(request)))

    async def restart(request: Request) -> Response:
        await worker.restart_task(request.path["connector"], _task(request))
        return NO_CONTENT

    routes.add("GET", "/connectors/{connector}/tasks", service.answering(list_tasks))
    routes.add("GET", "/connectors/{connector}/tasks/{task}/status", service.answering(status))
    routes.add("POST", "/connectors/{connector}/tasks/{task}/restart", service.answering(restart))
    return routes


def _task(request: Request) -> int:
    """What is no number is no path that there is."""
    text = request.path["task"]
    if not re.fullmatch(r"-?\d{1,9}", text, re.ASCII):
        raise HttpError(404)
    return int(text)
