"""What keeps a broker from starting is said in one line, and the exit code is 1."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.conftest import only_penstock
from tests.broker.platform import Platform
from tests.support.processes import free_port
from tools.suite.processes import starts_processes

pytestmark = [pytest.mark.processes, only_penstock]


@pytest.fixture(scope="module")
@starts_processes
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Only its ZooKeeper runs."""
    platform = Platform(tmp_path_factory.mktemp("zookeeper"))
    platform.start_zookeeper()
    yield platform
    platform.stop()


@pytest.fixture
def platform(zookeeper: Platform, tmp_path: Path) -> Iterator[Platform]:
    """A broker that is not started, with a directory of its own."""
    own = Platform(tmp_path, {"zookeeper.connect": zookeeper.broker_settings["zookeeper.connect"]})
    yield own
    own.stop()


def refusal(platform: Platform, **settings: str) -> str:
    """The last line of a start that fails."""
    platform.broker_settings.update({key.replace("_", "."): value for key, value in settings.items()})
    process = platform.launch_broker()
    assert process.wait(60) == 1, process.log_tail()
    lines = [line for line in process.log_text().splitlines() if line.startswith("kafka-server-start: ")]
    assert len(lines) == 1, process.log_tail()
    assert "Traceback" not in process.log_text()
    return lines[0].removeprefix("kafka-server-start: ")


def test_a_bad_value(platform: Platform) -> None:
    assert refusal(platform, num_partitions="many").startswith("num.partitions: got 'many'; takes ")


def test_a_port_in_use(platform: Platform) -> None:
    with socket.create_server(("127.0.0.1", platform.port)):
        line = refusal(platform)
    assert line == f"listeners: got PLAINTEXT://127.0.0.1:{platform.port}; the port is in use"


def test_a_listener_that_is_not_served(platform: Platform) -> None:
    listener = f"SSL://127.0.0.1:{platform.port}"
    line = refusal(platform, listeners=listener, security_inter_broker_protocol="SSL")
    assert line.startswith(f"listeners: got '{listener}'; takes PLAINTEXT only")


def test_zookeeper_out_of_reach(platform: Platform) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    line = refusal(platform, zookeeper_connect=nowhere, zookeeper_connection_timeout_ms="300")
    assert line == f"zookeeper.connect: no answer within 300 ms from {nowhere}"


def test_a_log_directory_of_another_broker(platform: Platform) -> None:
    platform.start_broker()
    platform.broker.stop()
    line = refusal(platform, broker_id="7")
    assert line.startswith(f"broker.id: got 7, but {platform.log_dir} belongs to broker 0; ")


def test_a_log_directory_of_another_cluster(platform: Platform) -> None:
    platform.log_dir.mkdir()
    (platform.log_dir / "meta.properties").write_text("version=0\nbroker.id=0\ncluster.id=somewhere-else\n")
    line = refusal(platform)
    assert line.startswith(f"log.dirs: {platform.log_dir} belongs to the cluster somewhere-else, but ")


def test_a_log_directory_in_use(platform: Platform, tmp_path: Path) -> None:
    platform.start_broker()
    other = Platform(tmp_path / "other", platform.broker_settings)
    other.directory.mkdir()
    line = refusal(other, broker_id="0", listeners=f"PLAINTEXT://127.0.0.1:{other.port}")
    assert str(platform.log_dir) in line


def test_a_broker_id_in_use(platform: Platform, tmp_path: Path) -> None:
    platform.start_broker()
    other = Platform(tmp_path / "other", {"zookeeper.connect": platform.broker_settings["zookeeper.connect"]})
    other.directory.mkdir()
    assert refusal(other).startswith(f"broker.id: got 0, which a broker at 127.0.0.1:{platform.port} has")


def test_an_address_of_another_broker(platform: Platform, tmp_path: Path) -> None:
    platform.start_broker()
    other = Platform(tmp_path / "other", {"zookeeper.connect": platform.broker_settings["zookeeper.connect"]})
    other.directory.mkdir()
    line = refusal(other, broker_id="7", advertised_listeners=f"PLAINTEXT://127.0.0.1:{platform.port}")
    assert line == (
        f"advertised.listeners: got 127.0.0.1:{platform.port}, which broker 0 has; takes addresses of its own"
    )


def test_no_directory_that_works(platform: Platform) -> None:
    platform.log_dir.write_text("a file")
    assert refusal(platform).startswith("log.dirs: none of the directories can be used: ")


def test_meta_properties_that_make_no_sense(platform: Platform) -> None:
    platform.log_dir.mkdir()
    (platform.log_dir / "meta.properties").write_text("nonsense")
    assert str(platform.log_dir) in refusal(platform)
