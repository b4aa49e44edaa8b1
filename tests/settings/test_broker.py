import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ConfigError
from penstock.settings.broker import (
    ALL_BROKER_SETTINGS,
    BROKER_TABLE,
    BrokerSettings,
    unknown_names,
)
from penstock.settings.dynamic import check_dynamic_broker_configs
from penstock.settings.endpoints import Endpoint
from penstock.settings.kinds import Kind, Password, parse, to_text
from tests.support.rows import each_row

OURS = {
    "listeners": "loopback unless told otherwise",
    "zookeeper.connect": "the embedded ZooKeeper's address",
    "socket.receive.buffer.bytes": "the kernel sizes buffers by the traffic it sees",
}


def kafka_settings() -> list[list[str]]:
    lines = (Path(__file__).parent / "kafka_broker_settings.tsv").read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@each_row("row", kafka_settings(), lambda row: row[1])
def test_every_setting_of_kafka_is_known_with_its_type_default_and_scope(row: list[str]) -> None:
    _, name, kind, default, scope = row
    setting = ALL_BROKER_SETTINGS[name]
    assert setting.kind is Kind[kind]
    assert setting.scope.value == scope
    if name not in OURS:
        assert setting.default == (None if default == "<null>" else parse(setting.kind, default))


def test_every_default_is_a_value_the_setting_takes() -> None:
    for setting in ALL_BROKER_SETTINGS.values():
        text = to_text(setting.default)
        if text is not None:
            assert setting.parse(text) == setting.default, setting.name


def test_every_setting_has_a_name_from_its_attribute_and_a_sentence() -> None:
    for setting in BROKER_TABLE.values():
        assert hasattr(BrokerSettings, setting.attribute)
        assert setting.doc.endswith("."), setting.name


def test_the_defaults_just_work_on_one_machine() -> None:
    settings = BrokerSettings.from_configs({})
    local = Endpoint("PLAINTEXT", "PLAINTEXT", "127.0.0.1", 9092)
    assert settings.endpoints == settings.advertised_endpoints == (local,)
    assert settings.data_dirs == ("/tmp/kafka-logs",)
    assert settings.zookeeper_connect == "localhost:2181"
    assert settings.zookeeper_connection_wait_ms == 18000
    assert settings.inter_broker_listener == "PLAINTEXT"
    assert settings == BrokerSettings()


def test_unknown_names_warn_with_the_nearest() -> None:
    assert unknown_names({"num.partition": "1", "num.partitions": "1", "listener.name.a.ssl.key": "x"}) == [
        "unknown setting num.partition is ignored; did you mean num.partitions?"
    ]
    assert unknown_names({"wibble": "1"}) == ["unknown setting wibble is ignored"]


def test_an_empty_host_listens_everywhere_and_advertises_this_machine() -> None:
    settings = BrokerSettings.from_configs({"listeners": "PLAINTEXT://:9092"})
    assert settings.endpoints[0].host == ""
    assert settings.advertised_endpoints[0].host in (socket.gethostname(), "localhost")


def test_a_kraft_file_starts_a_broker() -> None:
    settings = BrokerSettings.from_configs(
        {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.bootstrap.servers": "localhost:9093",
            "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
            "advertised.listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        }
    )
    assert settings.broker_id == 1
    assert [str(endpoint) for endpoint in settings.endpoints] == ["PLAINTEXT://:9092"]
    assert [str(endpoint) for endpoint in settings.advertised_endpoints] == ["PLAINTEXT://localhost:9092"]


def test_listeners_of_several_names() -> None:
    settings = BrokerSettings.from_configs(
        {
            "listeners": "internal://127.0.0.1:9092, EXTERNAL://[::1]:9092",
            "advertised.listeners": "EXTERNAL://example.org:443,INTERNAL://127.0.0.1:9092",
            "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
            "inter.broker.listener.name": "INTERNAL",
        }
    )
    assert settings.endpoints == (
        Endpoint("INTERNAL", "PLAINTEXT", "127.0.0.1", 9092),
        Endpoint("EXTERNAL", "PLAINTEXT", "::1", 9092),
    )
    assert settings.endpoints[1].address == "[::1]:9092"
    assert settings.inter_broker_listener == "INTERNAL"


@each_row(
    ("configs", "message"),
    [
        (
            {"listeners": "PLAINTEXT://0.0.0.0:9092"},
            "advertised.listeners: PLAINTEXT://0.0.0.0:9092 is no address",
        ),
        (
            {"advertised.listeners": "PLAINTEXT://:9092"},
            "advertised.listeners: PLAINTEXT://:9092 is no address",
        ),
        ({"listeners": ""}, "listeners: got nothing"),
        ({"listeners": "localhost:9092"}, "listeners: got 'localhost:9092'; takes NAME://host:port"),
        ({"listeners": "PLAINTEXT://a:99999"}, "listeners: got 'PLAINTEXT://a:99999'; takes"),
        ({"listeners": "FOO://a:1"}, "listener.security.protocol.map has no protocol for FOO"),
        ({"listeners": "SSL://127.0.0.1:1"}, "takes PLAINTEXT only: SSL is not there yet"),
        ({"listeners": "PLAINTEXT://a:1,plaintext://b:2"}, "PLAINTEXT stands twice"),
        (
            {
                "listeners": "PLAINTEXT://127.0.0.1:1,B://127.0.0.2:1",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,B:PLAINTEXT",
            },
            "share a port",
        ),
        ({"listener.security.protocol.map": "A:B"}, "listener.security.protocol.map: got 'A:B'"),
        (
            {
                "advertised.listeners": "SSL://a:1",
                "listener.security.protocol.map": "SSL:SSL,PLAINTEXT:PLAINTEXT",
            },
            "takes the names of listeners: PLAINTEXT",
        ),
        ({"inter.broker.listener.name": "X"}, "takes the name of an advertised listener: PLAINTEXT"),
        ({"control.plane.listener.name": "X"}, "control.plane.listener.name: got 'X'; takes no name"),
        ({"num.partitions": "0"}, "num.partitions: got '0'; takes an integer, 1 or more (server.properties)"),
        ({"broker.id": "1001"}, "broker.id: got 1001; takes at most reserved.broker.max.id"),
        ({"broker.id": "1", "node.id": "2"}, "node.id: got 2, but broker.id is 1"),
        ({"broker.id.generation.enable": "false"}, "broker.id: got -1; takes 0 or more"),
        ({"log.dirs": "/a,,/b"}, "log.dirs: got '/a,,/b'"),
        ({"log.dirs": "/a,/a"}, "takes each directory once"),
        ({"log.retention.minutes": "0"}, "log.retention.minutes: got 0; takes -1 for no limit"),
        ({"log.roll.ms": "0"}, "log.roll.ms: got 0; takes 1 or more"),
        (
            {"log.cleaner.min.compaction.lag.ms": "2", "log.cleaner.max.compaction.lag.ms": "1"},
            "takes at most",
        ),
        ({"log.cleaner.dedupe.buffer.size": "1000"}, "more than 1 MiB for each"),
        ({"queued.max.request.bytes": "1000"}, "at least socket.request.max.bytes"),
        ({"max.connections.per.ip": "0"}, "0 only with max.connections.per.ip.overrides"),
        ({"max.connections.per.ip.overrides": "a"}, "takes address:limit pairs"),
        ({"replica.fetch.wait.max.ms": "40000"}, "at most replica.socket.timeout.ms: 30000"),
        ({"group.min.session.timeout.ms": "9000", "group.max.session.timeout.ms": "8000"}, "takes at most"),
        ({"group.consumer.assignors": ""}, "at least one assignor"),
        (
            {"controller.quorum.fetch.timeout.ms": "soon"},
            "takes an integer of milliseconds (server.properties)",
        ),
        ({"zookeeper.connect": " "}, "zookeeper.connect: got ' '; takes text, not empty"),
    ],
)
def test_bad_values_stop_the_start(configs: dict[str, str], message: str) -> None:
    if "max.connections.per.ip.overrides" in configs:
        configs = {**configs, "max.connections.per.ip": "0"}
    with pytest.raises(ConfigError) as refusal:
        BrokerSettings.from_configs(configs, "server.properties")
    assert message in str(refusal.value)


LISTENER_TEXT = st.text(st.sampled_from("PLAINTEXT://[]:,0123456789.ab "), max_size=30)


@given(
    st.sampled_from(list(ALL_BROKER_SETTINGS)), st.one_of(st.text(), st.integers().map(str), LISTENER_TEXT)
)
def test_any_text_makes_settings_or_a_config_error(name: str, text: str) -> None:
    try:
        settings = BrokerSettings.from_configs({name: text})
    except ConfigError as error:
        refusal = str(error)
    else:
        assert settings.overrides[name] == text
        return
    assert refusal


def test_connections_per_ip() -> None:
    settings = BrokerSettings.from_configs({"max.connections.per.ip.overrides": "127.0.0.1:200, ::1:3"})
    assert settings.max_connections_by_ip == {"127.0.0.1": 200, "::1": 3}


def test_secrets_do_not_print() -> None:
    secret = ALL_BROKER_SETTINGS["ssl.key.password"].parse("sesame")
    assert isinstance(secret, Password)
    assert "sesame" not in f"{secret} {secret!r} {[secret]}"
    assert secret.reveal() == "sesame"


def test_what_can_change_while_the_broker_runs() -> None:
    check_dynamic_broker_configs({"log.retention.ms": "5", "message.max.bytes": "1"}, per_broker=False)
    check_dynamic_broker_configs({"ssl.keystore.type": "PEM"}, per_broker=True)
    for configs, per_broker, message in [
        ({"broker.id": "1"}, True, "Cannot update these configs dynamically: broker.id"),
        ({"wibble": "1"}, True, "Cannot update these configs dynamically: wibble"),
        ({"listeners": "PLAINTEXT://a:1"}, False, "Cannot update these configs at default cluster level"),
        ({"log.retention.ms": "soon"}, False, "log.retention.ms: got 'soon'"),
    ]:
        with pytest.raises(ConfigError) as refusal:
            check_dynamic_broker_configs(configs, per_broker=per_broker)
        assert message in str(refusal.value)
