"""What the command line takes and refuses, and what the options become."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.cli.platform.overrides import parse_settings
from penstock.errors import DISK_EXIT_CODE, ConfigError
from penstock.pipeline.connect.settings import ConnectSettings, warnings_about
from penstock.registry.settings import RegistrySettings
from penstock.rest.settings import RestSettings
from penstock.settings.broker import BrokerSettings
from penstock.stack.brokers_before import decide_count, forget_brokers_after
from penstock.stack.child import LONGEST_DISK_BACKOFF_S, RESTART_LIMIT, Child, write_properties
from penstock.stack.data_dir import DataDir, RunningService, RunningStack
from penstock.stack.processes import ProcessIdentity, identify
from penstock.stack.services import KINDS, StackOptions, left_out, plan
from penstock.web.listeners import Listener
from tests.stack.platform import penstock


@pytest.mark.processes
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--brokers", "100"], "--brokers: got 100; takes 1 to 99"),
        (["--brokers", "0"], "--brokers: got 0; takes 1 to 99"),
        (["--only", "sql"], "--only: sql is not available yet; takes zookeeper, broker, registry, rest"),
        (["--only", "zookeeper,kafka"], "--only: got 'kafka'; takes zookeeper, broker, registry, rest"),
        (["--only", "kafka", "--only", "zookeeper"], "--only: got 'kafka'; takes zookeeper, broker"),
        (["--port-offset", "-1"], "--port-offset: got -1; takes 0 to 56443"),
        (["--override", "num.partitions"], "--override: got 'num.partitions'; takes NAME=VALUE"),
        (["--set", "plugin.path"], "--set: got 'plugin.path'; takes SERVICE.NAME=VALUE"),
        (["--set", "connect=x"], "--set: got 'connect=x'; takes SERVICE.NAME=VALUE"),
        (
            ["--set", "conect.plugin.path=x"],
            "--set: got 'conect.plugin.path=x'; the services are zookeeper, br",
        ),
        (["--set", "broker-2.num.partitions=3"], "--set: got broker-2; the brokers are broker-1"),
        (
            ["--brokers", "3", "--set", "broker-4.num.partitions=3"],
            "--set: got broker-4; the brokers are broker-1 to broker-3",
        ),
        (
            ["--brokers", "2", "--override", "log.dirs=/a"],
            "--override: log.dirs: brokers can't share it; give it to one, as in --set broker-1.log.dirs=...",
        ),
        (
            ["--brokers", "2", "--set", "broker.listeners=PLAINTEXT://:9"],
            "--set: broker.listeners: brokers can't share it; give it to one, as in --set broker-1.listeners=...",
        ),
        (
            ["--brokers", "2", "--set", "broker-2.broker.id=7"],
            "--set: broker-2.broker.id: several brokers have the numbers of their names",
        ),
        (["--host", "203.0.113.1"], "--host: got '203.0.113.1'; takes an address of this machine"),
        (["--data-dir", "/a,b"], "--data-dir: got '/a,b'; takes a path without a comma"),
        (["--data-dir", "/proc/a"], "--data-dir: /proc/a can't be created"),
    ],
)
def test_refused(words: list[str], message: str, tmp_path: Path) -> None:
    place = [] if "--data-dir" in words else ["--data-dir", str(tmp_path)]
    refused = penstock("up", "--port-offset", "20000", *place, *words)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"penstock: {message}")
    assert "Traceback" not in refused.stderr


@pytest.mark.processes
def test_help_lists_the_commands_and_the_data_directory() -> None:
    listed = penstock("--help").stdout
    assert all(command in listed for command in ("up", "status", "down", "version"))
    of_up = penstock("up", "--help").stdout
    assert "~/.penstock" in of_up
    assert "zookeeper,broker,registry,rest" in of_up
    assert penstock("version").stdout == penstock("--version").stdout
    assert penstock("frobnicate").returncode == 2


def test_any_setting_of_any_service() -> None:
    given = parse_settings(
        [
            "connect.plugin.path=/srv/a,/srv/b",
            "rest.consumer.request.timeout.ms = 2000",
            "zookeeper.tickTime=500",
        ]
    )
    assert given["connect"] == {"plugin.path": "/srv/a,/srv/b"}
    broker = {"broker": {"num.partitions": "5"}}
    options = StackOptions(Path("/d"), overrides={"num.partitions": "3"}, settings={**given, **broker})
    properties = {service.kind: service.properties for service in plan(options)}
    assert ConnectSettings.from_configs(properties["connect"]).plugin_path == ("/srv/a", "/srv/b")
    assert properties["rest"]["consumer.request.timeout.ms"] == "2000"
    assert properties["zookeeper"]["tickTime"] == "500"
    assert properties["broker"]["num.partitions"] == "5"
    assert (
        properties["registry"]
        == {each.kind: each for each in plan(StackOptions(Path("/d")))}["registry"].properties
    )


def test_the_plan_of_a_platform() -> None:
    options = StackOptions(Path("/data"), port_offset=1000, overrides={"num.partitions": "3"})
    zookeeper, broker, registry, rest, connect = plan(options)
    assert (zookeeper.name, zookeeper.address) == ("zookeeper", "127.0.0.1:3181")
    assert (broker.name, broker.kind, broker.address) == ("broker-1", "broker", "127.0.0.1:10092")
    settings = BrokerSettings.from_configs(broker.properties)
    assert settings.broker_id == 1
    assert settings.num_partitions == 3
    assert settings.data_dirs == ("/data/broker-1",)
    assert settings.zookeeper_connect == "127.0.0.1:3181"
    assert settings.advertised_endpoints[0].address == "127.0.0.1:10092"
    assert settings.offsets_topic_replication_factor == 1
    assert (registry.name, registry.address) == ("registry", "127.0.0.1:9081")
    of_registry = RegistrySettings.from_configs(registry.properties)
    assert of_registry.endpoints == [Listener("127.0.0.1", 9081)]
    assert of_registry.kafkastore_bootstrap_servers == ("127.0.0.1:10092",)
    assert of_registry.advertised_host() == "127.0.0.1"
    assert (rest.name, rest.address) == ("rest", "127.0.0.1:9082")
    of_rest = RestSettings.from_configs(rest.properties)
    assert of_rest.endpoints == [Listener("127.0.0.1", 9082)]
    assert of_rest.bootstrap_servers == ("127.0.0.1:10092",)
    assert of_rest.schema_registry_url == "http://127.0.0.1:9081"
    assert (connect.name, connect.address) == ("connect", "127.0.0.1:9083")
    of_connect = ConnectSettings.from_configs(connect.properties)
    assert of_connect.bootstrap_servers == ("127.0.0.1:10092",)
    assert of_connect.advertised_host() == "127.0.0.1"
    assert of_connect.data_dir == "/data/connect"
    assert [*warnings_about(connect.properties)] == []


def test_the_plan_of_three_brokers() -> None:
    settings = {"broker": {"num.partitions": "2"}, "broker-2": {"num.partitions": "4", "log.dirs": "/disk"}}
    options = StackOptions(Path("/data"), brokers=3, port_offset=1000, settings=settings)
    _, *brokers, registry, rest, connect = plan(options)
    assert [broker.name for broker in brokers] == ["broker-1", "broker-2", "broker-3"]
    each = [BrokerSettings.from_configs(broker.properties) for broker in brokers]
    assert [broker.broker_id for broker in each] == [1, 2, 3]
    assert [broker.advertised_endpoints[0].port for broker in each] == [10092, 10093, 10094]
    assert [broker.data_dirs for broker in each] == [("/data/broker-1",), ("/disk",), ("/data/broker-3",)]
    assert [broker.num_partitions for broker in each] == [2, 4, 2]
    everyone = ("127.0.0.1:10092", "127.0.0.1:10093", "127.0.0.1:10094")
    of_registry = RegistrySettings.from_configs(registry.properties)
    assert of_registry.kafkastore_bootstrap_servers == everyone
    assert of_registry.kafkastore_topic_replication_factor == 3
    assert RestSettings.from_configs(rest.properties).bootstrap_servers == everyone
    of_connect = ConnectSettings.from_configs(connect.properties)
    assert of_connect.bootstrap_servers == everyone
    for topic in ("config", "offset", "status"):
        assert getattr(of_connect, f"{topic}_storage_replication_factor") == 3


@pytest.mark.parametrize(("brokers", "replicas", "in_sync"), [(1, 1, 1), (2, 2, 1), (3, 3, 2), (5, 3, 2)])
def test_as_many_replicas_as_there_are_brokers_up_to_three(brokers: int, replicas: int, in_sync: int) -> None:
    *_, broker = plan(StackOptions(Path("/data"), brokers=brokers, only=("broker",)))
    settings = BrokerSettings.from_configs(broker.properties)
    assert settings.default_replication_factor == replicas
    assert settings.offsets_topic_replication_factor == replicas
    assert settings.transaction_state_log_replication_factor == replicas
    assert settings.share_coordinator_state_topic_replication_factor == replicas
    assert settings.min_insync_replicas == in_sync
    assert settings.transaction_state_log_min_isr == in_sync
    assert settings.share_coordinator_state_topic_min_isr == in_sync


def test_a_platform_has_as_many_brokers_as_before(tmp_path: Path) -> None:
    """Fewer only where the others hold nothing."""
    assert decide_count(None, tmp_path) == 1
    assert decide_count(3, tmp_path) == 3
    data_dir = DataDir(tmp_path)
    data_dir.create()
    for service in plan(StackOptions(tmp_path, brokers=3, only=("broker",))):
        write_properties(data_dir.config_path(service.name), service.properties)
    assert decide_count(None, tmp_path) == 3
    assert decide_count(5, tmp_path) == 5
    for partition in ("foods-0", "foods-1", "foods-2.9f-delete"):
        (tmp_path / "broker-3" / partition).mkdir(parents=True)
    with pytest.raises(
        ConfigError, match=r"--brokers: got 2; .* the partitions of broker-3 \(2\) would be missing"
    ):
        decide_count(2, tmp_path)
    for partition in ("foods-0", "foods-1"):
        (tmp_path / "broker-3" / partition).rmdir()
    assert decide_count(2, tmp_path) == 2
    forget_brokers_after(data_dir, 2)
    assert decide_count(None, tmp_path) == 2


def test_what_is_not_installed_is_left_out_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "connect is left out: it needs no_such_package; get it with: pip install 'penstock[spark]'"
    monkeypatch.setitem(KINDS, "connect", replace(KINDS["connect"], needs="no_such_package"))
    options = StackOptions(Path("/data"))
    assert "connect" not in [service.name for service in plan(options)]
    assert left_out(options) == [line]
    with pytest.raises(ConfigError, match=r"--only: connect can't be started: it needs no_such_package"):
        plan(replace(options, only=("connect",)))


def test_a_rest_proxy_without_a_registry() -> None:
    *_, rest = plan(StackOptions(Path("/data"), only=("broker", "rest"), host="::"))
    of_rest = RestSettings.from_configs(rest.properties)
    assert of_rest.endpoints == [Listener("::", 8082)]
    assert of_rest.bootstrap_servers == ("[::1]:9092",)
    assert of_rest.schema_registry_url is None


def test_a_platform_on_every_interface_advertises_this_machine() -> None:
    zookeeper, broker, registry, *_ = plan(StackOptions(Path("/data"), host="0.0.0.0"))
    settings = BrokerSettings.from_configs(broker.properties)
    assert settings.endpoints[0].address == "0.0.0.0:9092"
    assert settings.advertised_endpoints[0].host not in ("", "0.0.0.0")
    assert (zookeeper.address, broker.address) == ("127.0.0.1:2181", "127.0.0.1:9092")
    of_registry = RegistrySettings.from_configs(registry.properties)
    assert of_registry.endpoints == [Listener("0.0.0.0", 8081)]
    assert of_registry.advertised_host() not in ("", "0.0.0.0")


def test_a_recycled_pid_is_another_process() -> None:
    me = identify(os.getpid())
    assert me is not None
    assert me.is_alive()
    impostor = ProcessIdentity(me.pid, me.start_time - 1)
    assert not impostor.is_alive()
    assert not impostor.send(signal.SIGTERM)
    assert impostor.wait_until_gone(0)
    assert not me.wait_until_gone(0)


@pytest.mark.processes
def test_an_ended_process_has_no_identity() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert identify(process.pid) is None


def test_restarts_back_off_up_to_a_limit(tmp_path: Path) -> None:
    (zookeeper,) = plan(StackOptions(tmp_path, only=("zookeeper",)))
    child = Child(zookeeper, DataDir(tmp_path))
    assert [child.schedule_restart() for _ in range(RESTART_LIMIT)] == [0.1, 0.2, 0.4, 0.8, 1.6]
    assert child.schedule_restart() is None
    assert child.schedule_restart(gives_up=False) == 5.0


@pytest.mark.processes
def test_a_full_disk_is_waited_for(tmp_path: Path) -> None:
    (zookeeper,) = plan(StackOptions(tmp_path, only=("zookeeper",)))
    child = Child(zookeeper, DataDir(tmp_path))
    child._process = subprocess.Popen([sys.executable, "-c", f"raise SystemExit({DISK_EXIT_CODE})"])
    child._process.wait()
    waits = [child.schedule_restart() for _ in range(3 * RESTART_LIMIT)]
    assert waits[:5] == [0.1, 0.2, 0.4, 0.8, 1.6]
    assert waits[-1] == LONGEST_DISK_BACKOFF_S
    assert child.note_end() == "ended: its disk is full or fails"


def test_the_state_reads_back(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    assert data_dir.load() is None
    service = RunningService("broker-1", "broker", "::1", 9092, "[::1]:9092", ProcessIdentity(2, 3))
    stack = RunningStack(ProcessIdentity(1, 2), True, (service,))
    data_dir.save(stack)
    assert data_dir.load() == stack
    (tmp_path / "penstock.json").write_text("{")
    with pytest.raises(ConfigError, match="can't be read"):
        data_dir.load()


def test_a_log_that_grew_too_large_is_set_aside(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    data_dir.create()
    with data_dir.log_path("broker-1").open("wb") as log:
        log.truncate(11 * 1024 * 1024)
    os.close(data_dir.open_log("broker-1"))
    assert data_dir.log_size("broker-1") == 0
    assert (tmp_path / "logs" / "broker-1.log.1").stat().st_size == 11 * 1024 * 1024


def test_the_settings_of_services_are_for_their_owner_only(tmp_path: Path) -> None:
    """They may hold passwords; a file that an earlier version left open to all is closed."""
    file = tmp_path / "connect.properties"
    file.write_text("")
    file.chmod(0o644)
    write_properties(file, {"ssl.keystore.password": "secret"})
    assert file.stat().st_mode & 0o777 == 0o600
    assert "ssl.keystore.password=secret\n" in file.read_text()
    assert list(tmp_path.iterdir()) == [file]
