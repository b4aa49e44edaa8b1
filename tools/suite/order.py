"""Which worker runs which file, and when: a scheduler of pytest-xdist, by files, with what this suite knows of itself.

- Files that take long begin first (`LONGEST`), so that none of them is alone at the end.
- Waiting and computing overlap: the last worker begins with files that only compute (`COMPUTING`), the others with
  those that start servers and wait for them.
- A server that takes seconds to start is not started by every worker: the files that share it have a number of seats
  (`SHARING`). Who runs one of them keeps a seat; others help only when nothing else is left.

A worker gets its next file when it has one test left, which it does not begin before it knows what comes next.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

CONNECT = "tests/pipeline/connect/"
CLI = "tests/cli/tools/"

WITH_APACHE = (
    *(
        f"{CLI}test_kafka_{tool}.py"
        for tool in ("configs", "acls", "cluster", "features", "broker_api_versions")
    ),
    *("tests/pipeline/mirror/test_with_apache.py", "tests/broker/test_malformed_batches.py"),
    *("tests/rest/test_apache.py", "tests/rest/v2/consumers/test_apache.py"),
    *("tests/registry/test_apache_kafka.py", "tests/client/admin/test_security.py"),
)
WITH_PENSTOCK_CLUSTER = (
    *(f"{CLI}test_kafka_{tool}.py" for tool in ("reassign_partitions", "topics", "leader_election")),
    *("tests/java_tools/test_on_three_brokers.py", "tests/cli/tool_commands/test_reassignment_wait.py"),
    "tests/wire_client/test_cluster.py",
    *(
        f"tests/broker/test_{name}.py"
        for name in (
            *("broker_configs", "coordinators", "elections", "endpoints", "placement", "reassigning"),
            *("in_sync", "replication", "unregistering"),
        )
    ),
)
WITH_SPARK = tuple(
    f"tests/pipeline/spark/test_{name}.py" for name in ("kafka", "native", "registry_columns", "ticks")
)
WITH_POSTGRES = (f"{CONNECT}connectors/jdbc/", f"{CONNECT}connectors/postgres_cdc/")

LONGEST = (
    "tests/faults/test_connect.py",
    WITH_APACHE[0],
    WITH_PENSTOCK_CLUSTER[0],
    f"{CLI}test_kafka_console_consumer.py",
    "tests/foreign_clients/test_rebalances.py",
    "tests/foreign_clients/test_transactions.py",
    f"{CLI}test_kafka_dump_log.py",
    "tests/pipeline/mirror/test_with_apache.py",
    WITH_SPARK[0],
    WITH_POSTGRES[1],
    "tests/faults/",
    "tests/foreign_clients/test_kafka_streams.py",
    "tests/foreign_clients/test_share_groups.py",
    f"{CONNECT}test_",
    "tests/testing/",
    "tests/notes/",
    *WITH_APACHE,
    *WITH_PENSTOCK_CLUSTER,
    *WITH_SPARK,
    *WITH_POSTGRES,
    "tests/pipeline/mirror/",
    "tests/pipeline/spark/",
    *(
        "tests/client/test_examples.py",
        "tests/client/producer/test_patience.py",
        "tests/registry/test_writer.py",
    ),
    *("tests/rest/v2/consumers/test_unreachable.py", "tests/web/test_protocol.py"),
    *("tests/broker/handlers/test_consumer_group_heartbeat.py", "tests/broker/test_receive_buffers.py"),
    *("tests/client/consumer/", "tests/registry/test_", "tests/rest/v2/consumers/", "tests/stack/"),
    f"{CONNECT}rest/",
    f"{CLI}test_kafka_streams",
    f"{CLI}test_kafka_share",
    f"{CLI}test_kafka_con",
    "tests/java_tools/",
    "tests/foreign_clients/",
    CLI,
    f"{CONNECT}",
)
"""Beginnings of files, those that take longest first; the end of a run says which they are."""

COMPUTING = (
    *("tests/group/", "tests/log/", "tests/records/", "tests/settings/", "tests/share/", "tests/txn/"),
    "tests/simulation/",
    *("tests/wire/", "tests/registry/formats/", "tests/test_architecture.py", "tests/test_layout.py"),
    *(f"{CONNECT}data/", f"{CONNECT}connectors/lake/", "tests/client/test_examples.py"),
)
"""Beginnings of files that hardly wait."""


@dataclass
class Sharing:
    """Files that need the same costly server of their worker's; so many workers may have one."""

    files: tuple[str, ...]
    seats: int
    taken: set[str] = field(default_factory=set)

    def has(self, file: str) -> bool:
        return file.startswith(self.files)

    def offers_a_seat(self, worker: str) -> bool:
        return worker in self.taken or len(self.taken) < self.seats


SHARING = (
    Sharing(WITH_APACHE, seats=1),
    Sharing(WITH_PENSTOCK_CLUSTER, seats=1),
    Sharing(WITH_SPARK, seats=1),
    Sharing(WITH_POSTGRES, seats=1),
    Sharing((CLI, "tests/java_tools/"), seats=3),
    Sharing(("tests/foreign_clients/",), seats=2),
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesInOrder | None:
    return FilesInOrder(config, log) if config.getoption("dist") == "loadfile" else None


class FilesInOrder(LoadFileScheduling):
    """`workqueue` holds the files nobody has begun, `assigned_work` each worker's tests that have not ended."""

    _numbers: dict[str, int]

    def schedule(self) -> None:
        if self.collection is None:
            tests = next(iter(self.registered_collections.values()))
            self._numbers = {test: number for number, test in enumerate(tests)}
        super().schedule()

    def _assign_work_unit(self, node: WorkerController) -> None:
        file = self._next_file(node)
        tests = self.workqueue.pop(file)
        self.assigned_work[node][file] = tests
        for sharing in SHARING:
            if sharing.has(file):
                sharing.taken.add(node.gateway.id)
        node.send_runtest_some([self._numbers[test] for test in tests])

    def _next_file(self, node: WorkerController) -> str:
        worker = node.gateway.id
        computes = worker == f"gw{self.numnodes - 1}"

        def rank(file: str) -> tuple[bool, int, bool]:
            is_elsewhere = any(each.has(file) and not each.offers_a_seat(worker) for each in SHARING)
            places = (place for place, beginning in enumerate(LONGEST) if file.startswith(beginning))
            place = next(places, len(LONGEST))
            return is_elsewhere, 0 if computes else place, file.startswith(COMPUTING) != computes

        file: str = min(self.workqueue, key=rank)
        return file

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        test = self.registered_collections[node][item_index]
        self._forget(node, test)
        self._reschedule(node)

    def _forget(self, node: WorkerController, test: str) -> None:
        file = self._split_scope(test)
        tests = self.assigned_work[node][file]
        del tests[test]
        if not tests:
            del self.assigned_work[node][file]

    def _reschedule(self, node: WorkerController) -> None:
        if node.shutting_down:
            return
        if not self.workqueue:
            node.shutdown()
        elif self._pending_of(self.assigned_work[node]) <= 1:
            self._assign_work_unit(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """The test that the worker has died of is not run by the next one; what it had not begun is."""
        crashed = next((test for tests in self.assigned_work[node].values() for test in tests), None)
        if crashed is not None:
            self._forget(node, crashed)
        self.workqueue.update(self.assigned_work.pop(node))
        for other in self.assigned_work:
            self._reschedule(other)
        return crashed
