"""The REST proxy as a process: serves until it is told to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.rest.docs_page import docs_routes
from penstock.rest.errors import translate
from penstock.rest.kafka import Kafka, connected_kafka
from penstock.rest.operations import JSON, routes_of
from penstock.rest.settings import RestSettings
from penstock.rest.v2.operations import OPERATIONS as V2
from penstock.rest.v3.operations import OPERATIONS as V3
from penstock.web.app import HttpApp
from penstock.web.listeners import Listener
from penstock.web.routes import Routes
from penstock.web.running import run_service, stop_signal
from penstock.web.serving import serving

OPERATIONS = (*V3, *V2)


def make_app(kafka: Kafka) -> HttpApp:
    routes = Routes()
    routes.include(routes_of(OPERATIONS, kafka))
    routes.include(docs_routes(OPERATIONS))
    return HttpApp(
        routes,
        JSON,
        max_body_bytes=kafka.settings.api_v3_produce_request_size_limit_max_bytes,
        translate=translate,
        authentication=kafka.settings.web.authentication,
        body_timeout_ms=kafka.settings.web.request_body_timeout_ms,
    )


@asynccontextmanager
async def running_proxy(settings: RestSettings) -> AsyncIterator[list[Listener]]:
    """A proxy in this event loop: where it listens."""
    async with (
        connected_kafka(settings) as kafka,
        serving(
            make_app(kafka), settings.endpoints, tls=settings.web.tls_files, head=settings.web.head_limits
        ) as listeners,
    ):
        try:
            yield listeners
        finally:
            kafka.stopping.set()


def run(settings: RestSettings) -> int:
    """Runs a proxy until SIGTERM or SIGINT; the exit code."""
    return run_service("kafka-rest-start", _serve(settings))


async def _serve(settings: RestSettings) -> None:
    stopping = asyncio.create_task(stop_signal())
    async with running_proxy(settings) as listeners:
        print(f"REST proxy is ready on {', '.join(map(str, listeners))}", flush=True)
        await stopping
