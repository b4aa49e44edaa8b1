"""One run of the benchmark: its sizes, its servers, and the samples that the scenarios take."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench import topics
from bench.client import run_client, run_module
from bench.latency_floor import running_floor
from bench.metrics import BY_KEY
from bench.servers import SERVERS, Server

RECORD_BYTES = 1024
PARTITIONS = 4
MOST_WARM_UP_ROUNDS = 12
IDLE_WARM_UP_ROUNDS = 2  # so many rounds in a row without improvement end the warm-up: one may just be noise
OWN_WARM_UP_ROUNDS = 3
IMPROVEMENT = 0.9  # of the best before
BRISK_RECORDS_PER_SECOND = 2_000
BUSY_RECORDS_PER_SECOND = 5_000
GROUP_CLIENT = "bench.group_client"
LATENCY_CLIENT = "bench.latency_client"


CLIENTS_MAX_IN_FLIGHT = 1_000_000
"""What librdkafka does unless told otherwise."""


@dataclass(frozen=True)
class Sizes:
    rounds: int
    gigabytes: float  # each round of produce and of consume
    small_requests: int
    latency_records: int
    records_per_second: int
    memory_gigabytes: float
    partitions: int
    connections: int
    rebalances: int
    commits: int
    transactions: int
    tool_records: int = 1_000_000
    client_records: int = 500_000  # of the Python clients, a multiple of a thousand
    pipeline_records: int = 2_000_000
    pipeline_latency_records: int = 1_000
    cluster_partitions: int = 3_000
    streams_records: int = 2_000_000
    streams_latency_records: int = 2_000
    streams_restored_keys: int = 1_000_000

    def scaled(self, scale: float) -> Sizes:
        """The same work in small, for trying the benchmark itself out."""
        return replace(
            self,
            gigabytes=self.gigabytes * scale,
            small_requests=round(self.small_requests * scale),
            latency_records=round(self.latency_records * scale),
            memory_gigabytes=self.memory_gigabytes * scale,
            partitions=max(20, round(self.partitions * scale)),
            connections=max(10, round(self.connections * scale)),
            rebalances=max(2, round(self.rebalances * scale)),
            commits=max(100, round(self.commits * scale)),
            transactions=max(2, round(self.transactions * scale)),
            tool_records=max(1_000, round(self.tool_records * scale)),
            client_records=max(1, round(self.client_records * scale / 1_000)) * 1_000,
            pipeline_records=max(1_000, round(self.pipeline_records * scale)),
            pipeline_latency_records=max(100, round(self.pipeline_latency_records * scale)),
            cluster_partitions=max(30, round(self.cluster_partitions * scale)),
            streams_records=max(20_000, round(self.streams_records * scale)),
            streams_latency_records=max(100, round(self.streams_latency_records * scale)),
            streams_restored_keys=max(1_000, round(self.streams_restored_keys * scale)),
        )


FULL = Sizes(5, 1.0, 100_000, 10_000, 500, 5.0, 2_000, 500, 10, 10_000, 200)
QUICK = Sizes(
    *(3, 0.5, 30_000, 5_000, 500, 1.0, 2_000, 500, 5, 5_000, 100),
    pipeline_records=500_000,
    streams_records=500_000,
    streams_restored_keys=200_000,
)


@dataclass(frozen=True)
class Load:
    """One client process's work, measured at the server."""

    seconds: float
    cpu_seconds: float
    companion_cpu_seconds: float


@dataclass(frozen=True)
class Latencies:
    """Nanoseconds of each record from the moment that it was due."""

    written: list[int]
    acknowledged: list[int]
    read: list[int]


class Session:
    def __init__(self, names: Sequence[str], sizes: Sizes) -> None:
        self.names = names
        self.sizes = sizes
        self.root = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
        self.samples: dict[str, dict[str, list[float]]] = {}
        self.notes: dict[str, str] = {}
        self._steady: list[Server] = []
        self._count = 0

    # --- samples

    def record(self, metric: str, server: str, value: float) -> None:
        self.samples.setdefault(BY_KEY[metric].key, {}).setdefault(server, []).append(value)

    def note(self, metric: str, text: str) -> None:
        """What is to stand beside the figure; the last one counts."""
        self.notes[BY_KEY[metric].key] = text

    def say(self, text: str) -> None:
        print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)

    def say_last(self, server: str, *metrics: str) -> None:
        """One line with the newest sample of each metric."""
        parts = [
            f"{BY_KEY[metric].title} {values[-1]:.3f} {BY_KEY[metric].unit}"
            for metric in metrics
            if (values := self.samples.get(metric, {}).get(server))
        ]
        self.say(f"{server}: {', '.join(parts)}")

    # --- servers

    def fresh(self, name: str) -> Server:
        """A server that has not been started, on a directory of its own."""
        return SERVERS[name](self.directory(name))

    def directory(self, name: str) -> Path:
        self._count += 1
        return self.root / f"{name}-{self._count}"

    def steady(self) -> list[Server]:
        """The servers that serve all scenarios of steady load, started and warmed up by the first of them."""
        if not self._steady:
            for name in self.names:
                server = self.fresh(name)
                self._steady.append(server)
                server.start()
                self.warm_up(server)
        return self._steady

    def warm_up(self, server: Server) -> None:
        """All kinds of work again and again, until none of them gets cheaper: Java compiles as it runs."""
        costs: list[tuple[float, ...]] = []
        while len(costs) < MOST_WARM_UP_ROUNDS and still_improving(costs):
            costs.append(self.warm_up_round(server))
        self.say(f"{server.name}: warmed up in {len(costs)} rounds")

    def warm_up_with(self, work: Callable[[Session, Server], object]) -> None:
        """A scenario's own work, a few times before it counts; the general warm-up has none of its kind."""
        for server in self.steady():
            for _ in range(OWN_WARM_UP_ROUNDS):
                work(self, server)

    def warm_up_round(self, server: Server) -> tuple[float, ...]:
        """The CPU seconds of each kind of work."""
        records = self.records_in(self.sizes.gigabytes)
        with self.topic(server, PARTITIONS) as topic:
            large = (self.produce(server, topic, records), self.consume(server, topic, records))
        with self.topic(server, 1) as topic:
            small = self.small_requests(server, topic, self.sizes.small_requests)
        with self.topic(server, 1) as topic:
            self.librdkafka_latency(server, topic, self.sizes.latency_records, BRISK_RECORDS_PER_SECOND)
        return tuple(load.cpu_seconds for load in (*large, small))

    def close(self) -> None:
        for server in self._steady:
            server.close()
        shutil.rmtree(self.root, ignore_errors=True)

    @contextmanager
    def topic(self, server: Server, partitions: int) -> Iterator[str]:
        name = self.name_of_topic()
        topics.create(server, {name: partitions})
        yield name
        topics.delete(server, [name])

    def name_of_topic(self) -> str:
        self._count += 1
        return f"bench-{self._count}"

    # --- load

    def records_in(self, gigabytes: float) -> int:
        return max(1, round(gigabytes * 1e9 / RECORD_BYTES))

    def produce(self, server: Server, topic: str, records: int) -> Load:
        job = {"topic": topic, "partitions": PARTITIONS, "records": records}
        return self._measure(server, "produce", acks="all", record_bytes=RECORD_BYTES, **job)

    def consume(self, server: Server, topic: str, records: int) -> Load:
        return self._measure(server, "consume", topic=topic, partitions=PARTITIONS, records=records)

    def small_requests(
        self,
        server: Server,
        topic: str,
        records: int,
        partitions: int = 1,
        max_in_flight: int = CLIENTS_MAX_IN_FLIGHT,
    ) -> Load:
        job = {"topic": topic, "records": records, "partitions": partitions}
        return self._measure(server, "produce_one_by_one", max_in_flight=max_in_flight, **job)

    def latency(
        self, server: Server, topic: str, records: int, records_per_second: int, warm_up_records: int = 0
    ) -> Latencies:
        """By a client that is nothing but two sockets."""
        return self.socket_latency(server.port, topic, records, records_per_second, warm_up_records)

    def latency_floor(self, records: int, records_per_second: int, warm_up_records: int = 0) -> Latencies:
        """The same of a server that has its answers ready."""
        with running_floor(warm_up_records + records) as port:
            return self.socket_latency(port, "any", records, records_per_second, warm_up_records)

    def socket_latency(
        self, port: int, topic: str, records: int, records_per_second: int, warm_up_records: int
    ) -> Latencies:
        job = {"port": port, "topic": topic, "records": records, "warm_up_records": warm_up_records}
        rate = {"records_per_second": records_per_second}
        return Latencies(**run_module(LATENCY_CLIENT, "latency", {**job, **rate}))

    def librdkafka_latency(
        self, server: Server, topic: str, records: int, records_per_second: int, warm_up_records: int = 0
    ) -> list[int]:
        """Nanoseconds of each record from produce() to the poll() that returns it."""
        job = {"topic": topic, "partitions": 1, "records": records, "warm_up_records": warm_up_records}
        rate = {"records_per_second": records_per_second}
        result: list[int] = run_client("latency", bootstrap=server.bootstrap, **job, **rate)["nanoseconds"]
        return result

    def settle(self, server: Server, topic: str, protocol: str, members: int, partitions: int) -> list[float]:
        """Seconds of each time that a member left."""
        job = {"topic": topic, "protocol": protocol, "members": members, "partitions": partitions}
        times = {"port": server.port, "times": self.sizes.rebalances}
        result: list[float] = run_module(GROUP_CLIENT, "settle", {**job, **times})["seconds"]
        return result

    def commits(self, server: Server, topic: str) -> list[int]:
        """Nanoseconds of each offset commit."""
        amounts = {"commits": self.sizes.commits, "warm_up": self.sizes.commits}
        job = {"port": server.port, "topic": topic, **amounts}
        result: list[int] = run_module(GROUP_CLIENT, "commit", job)["nanoseconds"]
        return result

    def transactions(self, server: Server, topic: str, count: int, records: int) -> Load:
        job = {"topic": topic, "partitions": PARTITIONS, "transactions": count, "records": records}
        return self._measure(server, "transactions", record_bytes=RECORD_BYTES, **job)

    def _measure(self, server: Server, command: str, **job: object) -> Load:
        cpu, companion_cpu = server.cpu_seconds(), server.companion_cpu_seconds()
        result = run_client(command, bootstrap=server.bootstrap, **job)
        return Load(
            result["seconds"], server.cpu_seconds() - cpu, server.companion_cpu_seconds() - companion_cpu
        )


def still_improving(costs: Sequence[tuple[float, ...]]) -> bool:
    """Whether one of the last rounds was clearly cheaper, in any kind of work, than all rounds before them."""
    before, last = costs[:-IDLE_WARM_UP_ROUNDS], costs[-IDLE_WARM_UP_ROUNDS:]
    if not before:
        return True
    best_before, best_last = map(min, zip(*before, strict=True)), map(min, zip(*last, strict=True))
    return any(now < IMPROVEMENT * best for now, best in zip(best_last, best_before, strict=True))
