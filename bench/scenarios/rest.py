"""CPU of the REST proxy per post of one record of 1 KB, and per record in batches; a bare Starlette endpoint below it.

Clients keep their connections, and each has one request under way. What a proxy process spends is counted, not what
the broker does. The column of Penstock has the proxy, that of Kafka the bare endpoint, which is given the same bodies.
"""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from tests.support.processes import Process

from bench.http_services import START_SECONDS, serving
from bench.session import Session

CLIENTS = 8
ENTRIES = 500
POSTS_PER_RECORD = 25
"""One post for so many of the records that other clients are measured with."""
FLOOR, PROXY = "kafka", "penstock"
RECORD = {
    "value": {"type": "JSON", "data": {"name": "x" * 470, "text": "y" * 470, "numbers": [1, 2, 3, 4, 5]}}
}
SINGLE = json.dumps(RECORD).encode()
BATCH = json.dumps({"entries": [{"id": str(number), **RECORD} for number in range(ENTRIES)]}).encode()


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
            path = f"{_cluster(proxy_port)}/topics/{topic}/records"
            for _ in range(session.sizes.rounds):
                _measure(session, FLOOR, bare, bare_port, "/", "/")
                _measure(session, PROXY, proxy, proxy_port, path, f"{path}:batch")
            session.record("rest_rss", PROXY, proxy.rss_bytes() / 1e6)
            session.say_last(PROXY, "rest_rss")


def _cluster(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    connection.request("GET", "/v3/clusters")
    cluster_id = json.load(connection.getresponse())["data"][0]["cluster_id"]
    connection.close()
    return f"/v3/clusters/{cluster_id}"


def _measure(session: Session, column: str, process: Process, port: int, single: str, batch: str) -> None:
    posts = max(CLIENTS, session.sizes.client_records // POSTS_PER_RECORD)
    batches = max(CLIENTS, session.sizes.client_records // ENTRIES // 10)
    cpu, latencies = _cost(process, port, single, SINGLE, posts)
    session.record("rest_post_cpu", column, cpu / posts * 1e3)
    session.record("rest_post_p99", column, latencies[len(latencies) * 99 // 100] * 1e3)
    cpu, _ = _cost(process, port, batch, BATCH, batches)
    session.record("rest_batch_cpu", column, cpu / (batches * ENTRIES) * 1e6)
    session.say_last(column, "rest_post_cpu", "rest_post_p99", "rest_batch_cpu")


def _cost(process: Process, port: int, path: str, body: bytes, posts: int) -> tuple[float, list[float]]:
    """Seconds of CPU, and how long each post took, shortest first."""
    before = process.cpu_seconds()
    with ThreadPoolExecutor(CLIENTS) as pool:
        jobs = [pool.submit(_post, port, path, body, posts // CLIENTS) for _ in range(CLIENTS)]
        latencies = sorted(seconds for job in jobs for seconds in job.result())
    return process.cpu_seconds() - before, latencies


def _post(port: int, path: str, body: bytes, times: int) -> list[float]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    latencies = []
    for _ in range(times):
        started = perf_counter()
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        if response.status not in (200, 207) or (
            b'"error_code":' in answer and b'"error_code":200' not in answer
        ):
            raise RuntimeError(f"{response.status}: {answer[:200]!r}")
        latencies.append(perf_counter() - started)
    connection.close()
    return latencies
