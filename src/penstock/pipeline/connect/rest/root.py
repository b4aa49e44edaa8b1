"""/, /health and /metrics: who this is, and how it is."""

from __future__ import annotations

from typing import Final

import penstock
from penstock.pipeline.connect.rest.service import Service
from penstock.web.errors import HttpError
from penstock.web.media_types import MediaTypes
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes

STATUSES: Final = {"healthy": 200, "starting": 503, "unhealthy": 500}
PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"
METRICS_TYPES: Final = MediaTypes(produces=("text/plain", "application/openmetrics-text"), consumes=())


def routes_of(service: Service) -> Routes:
    routes, worker = Routes(), service.worker

    @routes.get("/")
    async def root(request: Request) -> Response:
        return json_response(
            {
                "version": penstock.__version__,
                "commit": "",
                "kafka_cluster_id": worker.kafka_cluster_id(),
            }
        )

    @routes.get("/health")
    async def health(request: Request) -> Response:
        status, message = worker.health()
        return json_response({"status": status, "message": message}, STATUSES[status])

    @routes.get("/metrics", METRICS_TYPES)
    async def metrics(request: Request) -> Response:
        if service.metrics is None:
            raise HttpError(404)
        return Response(service.metrics().encode(), 200, PROMETHEUS)

    return routes
