"""CPU of the REST proxy per post of one record of 1 KB, and per record in batches; a bare Starlette endpoint below it.

For the latency while half loaded, each client pauses for as long as a request takes under load. What a proxy process
spends is counted, not what the broker does. The column of Penstock has the proxy, that of Kafka the bare endpoint,
which is given the same bodies. Posts go to v3 and, as `rest_v2_...`, to v2.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from bench.http_load import CLIENTS, Ask, connect, exchange, load
from bench.http_services import serving
from bench.session import Session
from tests.support.processes import Process

ENTRIES = 500
POSTS_PER_RECORD = 25
"""One post for so many of the records that other clients are measured with."""
FLOOR, PROXY = "kafka", "penstock"
V2_JSON = "application/vnd.kafka.json.v2+json"
DATA = {"name": "x" * 470, "text": "y" * 470, "numbers": [1, 2, 3, 4, 5]}
RECORD = {"value": {"type": "JSON", "data": DATA}}


class Api(NamedTuple):
    """How records are posted, one and many at a time."""

    prefix: str
    single: bytes
    batch: bytes
    content_type: str


V3 = Api(
    "rest",
    json.dumps(RECORD).encode(),
    json.dumps({"entries": [{"id": str(number), **RECORD} for number in range(ENTRIES)]}).encode(),
    "application/json",
)
V2 = Api(
    "rest_v2",
    json.dumps({"records": [{"value": DATA}]}).encode(),
    json.dumps({"records": [{"value": DATA}] * ENTRIES}).encode(),
    V2_JSON,
)


def run(session: Session) -> None:
    directory = session.directory("rest")
    directory.mkdir(parents=True, exist_ok=True)
    with session.fresh(session.names[-1]) as server:
        server.start()
        proxy_words = ["penstock.cli.tools.kafka_rest_start", "--override", "listeners=http://127.0.0.1:0"]
        proxy_words += ["--override", f"bootstrap.servers={server.bootstrap}"]
        with (
            serving(directory / "proxy.log", proxy_words) as (proxy, proxy_port),
            serving(directory / "bare.log", ["bench.bare_endpoint"]) as (bare, bare_port),
            session.topic(server, 1) as topic,
        ):
            records = f"{_cluster(proxy_port)}/topics/{topic}/records"
            paths = {V3: (records, f"{records}:batch"), V2: (f"/topics/{topic}", f"/topics/{topic}")}
            for _ in range(session.sizes.rounds):
                for api in (V3, V2):
                    _measure(session, FLOOR, api, bare, bare_port, ("/", "/"), None)
                    _measure(session, PROXY, api, proxy, proxy_port, paths[api], server.broker)
            _record_memory(session, proxy)


def _cluster(port: int) -> str:
    answer = exchange(connect(port), Ask("GET", "/v3/clusters"))
    return f"/v3/clusters/{json.loads(answer)['data'][0]['cluster_id']}"


def _measure(
    session: Session,
    column: str,
    api: Api,
    process: Process,
    port: int,
    paths: tuple[str, str],
    broker: Process | None,
) -> None:
    posts = max(2 * CLIENTS, session.sizes.client_records // POSTS_PER_RECORD)
    batches = max(CLIENTS, session.sizes.client_records // ENTRIES // 10)
    single, batch = (
        Ask("POST", path, body, api.content_type)
        for path, body in zip(paths, (api.single, api.batch), strict=True)
    )
    loaded = load(process, port, [single] * (posts // 2), broker=broker)
    half_loaded = load(process, port, [single] * (posts // 2), pause=loaded.mean)
    many = load(process, port, [batch] * batches, broker=broker)
    metrics = [f"{api.prefix}_{name}" for name in ("post_cpu", "post_p99", "batch_cpu")]
    session.record(metrics[0], column, loaded.cpu_per_ask * 1e3)
    session.record(metrics[1], column, half_loaded.p99 * 1e3)
    session.record(metrics[2], column, many.cpu_per_ask / ENTRIES * 1e6)
    session.say_last(column, *metrics)
    if column == PROXY:
        session.note(metrics[0], loaded.limit)
        session.note(metrics[2], many.limit)


def _record_memory(session: Session, proxy: Process) -> None:
    """Of the proxy, and with the registry if that was measured in the same run."""
    session.record("rest_rss", PROXY, proxy.rss_bytes() / 1e6)
    registry = session.samples.get("registry_rss", {}).get(PROXY, [])
    if registry:
        session.record("services_rss", PROXY, registry[-1] + proxy.rss_bytes() / 1e6)
    session.say_last(PROXY, "rest_rss", "services_rss")
