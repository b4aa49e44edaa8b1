"""What a pipeline took for its records, and where: in its own process, in the JVM, in Python workers, in the broker."""

from __future__ import annotations

import time

from bench.process_tree import ProcessTree
from bench.servers import Server
from bench.session import Session

PER_RECORDS = 1_000_000


class PipelineLoad:
    """Begins when it is made; `end` when the last record has arrived."""

    def __init__(self, tree: ProcessTree, server: Server) -> None:
        self._tree, self._server = tree, server
        self._cpu_before = self._cpu()
        self._started = time.perf_counter()
        self.seconds = 0.0

    def end(self) -> None:
        self.seconds = time.perf_counter() - self._started
        self.cpu_seconds = {
            kind: seconds - self._cpu_before.get(kind, 0.0) for kind, seconds in self._cpu().items()
        }
        self.broker_cpu_seconds = self.cpu_seconds.pop("broker")
        self.rss_bytes = self._tree.rss_bytes_by_kind()

    def _cpu(self) -> dict[str, float]:
        return {**self._tree.cpu_seconds_by_kind(), "broker": self._server.cpu_seconds()}

    def record(self, session: Session, prefix: str, name: str, records: int) -> None:
        factor = PER_RECORDS / records
        session.record(f"{prefix}_seconds", name, self.seconds * factor)
        session.record(f"{prefix}_cpu", name, sum(self.cpu_seconds.values()) * factor)
        session.record(f"{prefix}_rss", name, sum(self.rss_bytes.values()) / 1e6)
        session.say_last(name, f"{prefix}_seconds", f"{prefix}_cpu", f"{prefix}_rss")
        if name == "penstock":
            cpu = {**self.cpu_seconds, "broker": self.broker_cpu_seconds}
            cores = (f"{kind} {seconds / self.seconds:.2f}" for kind, seconds in cpu.items())
            session.note(f"{prefix}_seconds", f"cores in use: {', '.join(cores)}")
            session.note(f"{prefix}_rss", self._tree.memory_in_words())
