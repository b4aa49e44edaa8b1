"""Records that are no longer in memory come from the disk, in a thread, while the broker serves on."""

import os
from pathlib import Path

from penstock.testing import InProcessBroker
from tests.broker.asking import (
    FETCH_BY_NAME,
    batch_of,
    fetch_one,
    fetch_request,
    new_topic,
    produced,
    values_in,
    wanted,
)
from tests.broker.conftest import only_penstock
from tests.support.wire_client import WireClient

pytestmark = only_penstock

RECORD = os.urandom(200_000)
RECORDS = 20


def drop_from_memory(log_dir: Path) -> None:
    for path in log_dir.rglob("*.log"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def test_a_fetch_of_cold_records(tmp_path: Path) -> None:
    with InProcessBroker(log_dirs=[tmp_path]) as broker, WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods")
        for _ in range(RECORDS):
            produced(client, "foods", batch_of(RECORD))
        for _ in range(3):
            drop_from_memory(tmp_path)
            assert values_in(client, "foods") == [RECORD] * RECORDS


def test_a_client_that_leaves_while_the_disk_is_read(tmp_path: Path) -> None:
    with InProcessBroker(log_dirs=[tmp_path]) as broker, WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods")
        produced(client, "foods", batch_of(RECORD))
        for _ in range(10):
            drop_from_memory(tmp_path)
            with WireClient(broker.bootstrap_servers) as leaving:
                leaving.post(fetch_request(wanted("foods")), FETCH_BY_NAME)
        assert fetch_one(client, "foods").error_code == 0
