"""One scenario per module; `run(session)` takes its samples in rounds that alternate between the servers."""

from __future__ import annotations

from collections.abc import Callable

from bench.scenarios import (
    client_asyncio,
    client_consume,
    client_produce,
    cluster,
    connections,
    console_tools,
    consume,
    groups,
    latency,
    memory,
    partitions,
    pipeline_file,
    pipeline_lake,
    pipeline_latency,
    pipeline_mirror,
    pipeline_postgres,
    produce,
    registry,
    rest,
    small_requests,
    start,
    streams,
    transactions,
    walk,
)
from bench.session import Session

SCENARIOS: dict[str, Callable[[Session], None]] = {
    "produce": produce.run,
    "walk": walk.run,
    "consume": consume.run,
    "small_requests": small_requests.run,
    "latency": latency.run,
    "groups": groups.run,
    "transactions": transactions.run,
    "start": start.run,
    "memory": memory.run,
    "partitions": partitions.run,
    "connections": connections.run,
    "cluster": cluster.run,
    "console_tools": console_tools.run,
    "client_produce": client_produce.run,
    "client_consume": client_consume.run,
    "client_asyncio": client_asyncio.run,
    "registry": registry.run,
    "rest": rest.run,
    "pipeline_lake": pipeline_lake.run,
    "pipeline_postgres": pipeline_postgres.run,
    "pipeline_file": pipeline_file.run,
    "pipeline_latency": pipeline_latency.run,
    "pipeline_mirror": pipeline_mirror.run,
    "streams": streams.run,
}
