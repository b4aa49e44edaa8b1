"""What a broker says of itself in ZooKeeper: since which of its lives it has lost nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from penstock.controller import znodes
from penstock.controller.image import BrokerImage
from penstock.testing import InProcessBroker
from tests.broker.conftest import only_penstock

pytestmark = only_penstock


@pytest.fixture
def disks(tmp_path: Path) -> list[Path]:
    return [tmp_path / "first", tmp_path / "second"]


@pytest.fixture
def own_broker(disks: list[Path]) -> Iterator[InProcessBroker]:
    with InProcessBroker({"log.dirs": ",".join(map(str, disks))}) as broker:
        yield broker


def registered(broker: InProcessBroker) -> BrokerImage:
    client = KazooClient(broker.zookeeper_connect)
    client.start()
    try:
        data, stat = client.get(znodes.broker_path(0))
        return znodes.decode_broker(0, data, stat.creation_transaction_id)
    finally:
        client.stop()
        client.close()


def start_after_a_kill(broker: InProcessBroker, disks: list[Path]) -> BrokerImage:
    for disk in disks:
        (disk / ".kafka_cleanshutdown").unlink(missing_ok=True)
    broker.start_broker()
    return registered(broker)


def test_whole_as_long_as_the_machine_is_up(own_broker: InProcessBroker, disks: list[Path]) -> None:
    first = registered(own_broker)
    assert first.whole_since == first.epoch, "nothing is known of the time before"
    own_broker.stop_broker()
    killed = start_after_a_kill(own_broker, disks)
    assert killed.epoch > first.epoch
    assert killed.whole_since == first.epoch


def test_a_power_cut(
    own_broker: InProcessBroker, disks: list[Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = registered(own_broker)
    (tmp_path / "boot_id").write_text("another boot\n")
    monkeypatch.setattr("penstock.log.fs.BOOT_ID", str(tmp_path / "boot_id"))
    own_broker.stop_broker()
    own_broker.start_broker()
    assert registered(own_broker).whole_since == first.epoch, "it was stopped in order before"
    own_broker.stop_broker()
    assert start_after_a_kill(own_broker, disks).whole_since == first.epoch, "only the process has ended"
    own_broker.stop_broker()
    (tmp_path / "boot_id").write_text("a third one\n")
    after = start_after_a_kill(own_broker, disks)
    assert after.whole_since == after.epoch
    own_broker.stop_broker()
    assert start_after_a_kill(own_broker, disks).whole_since == after.epoch, "what was lost stays so"


def test_a_disk_that_was_replaced(own_broker: InProcessBroker, disks: list[Path]) -> None:
    own_broker.stop_broker()
    disks[1].rename(disks[1].with_name("broken"))
    after = start_after_a_kill(own_broker, disks)
    assert after.whole_since == after.epoch


@pytest.mark.parametrize("damaged", [b"", b"[]", b'{"since": "x", "boot_id": "y"}', b'{"since": 1}', b"\xff"])
def test_a_mark_that_is_damaged(own_broker: InProcessBroker, disks: list[Path], damaged: bytes) -> None:
    own_broker.stop_broker()
    (disks[0] / ".whole-since").write_bytes(damaged)
    after = start_after_a_kill(own_broker, disks)
    assert after.whole_since == after.epoch
