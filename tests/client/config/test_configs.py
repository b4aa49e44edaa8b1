"""Typed settings: Kafka's names or keywords, librdkafka's names behind them, and errors that help."""

import logging

import pytest

from penstock import AdminConfig, ConsumerConfig, ProducerConfig
from penstock.client.config.configs import ClientConfig
from penstock.client.librdkafka import Consumer, KafkaException, Producer
from penstock.errors import ConfigError

SERVERS = "localhost:9092"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def native(**keywords: object) -> dict[str, object]:
    return ProducerConfig(bootstrap_servers=SERVERS, **keywords).for_librdkafka()


def native_consumer(**keywords: object) -> dict[str, object]:
    return ConsumerConfig(bootstrap_servers=SERVERS, **keywords).for_librdkafka()


def test_dotted_names_and_keywords_are_the_same() -> None:
    by_name = ProducerConfig(
        {"bootstrap.servers": "a:1,b:2", "linger.ms": "20", "enable.idempotence": "false"}
    )
    by_keyword = ProducerConfig(bootstrap_servers=["a:1", "b:2"], linger_ms=20, enable_idempotence=False)
    assert by_name == by_keyword
    assert by_name.bootstrap_servers == ("a:1", "b:2")
    assert by_name["linger.ms"] == by_name.linger_ms == 20.0


def test_keywords_override_the_mapping() -> None:
    assert ProducerConfig({"bootstrap.servers": SERVERS, "linger.ms": "1"}, linger_ms=2).linger_ms == 2.0


def test_defaults_are_kafkas() -> None:
    producer, consumer = ProducerConfig(bootstrap_servers=SERVERS), ConsumerConfig(bootstrap_servers=SERVERS)
    assert (producer.acks, producer.enable_idempotence, producer.linger_ms) == ("all", True, 5.0)
    assert producer.max_in_flight_requests_per_connection == 5
    assert (producer.delivery_timeout_ms, producer.max_block_ms) == (120_000, 60_000)
    assert (consumer.auto_offset_reset, consumer.isolation_level) == ("latest", "read_uncommitted")
    assert (consumer.max_poll_records, consumer.session_timeout_ms) == (500, 45_000)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"linger_sm": 5}, "unknown setting linger_sm; did you mean linger_ms?"),
        ({"batch_sice": 5}, "unknown setting batch_sice; did you mean batch_size?"),
        ({"zzzzzzzz": 5}, "unknown setting zzzzzzzz"),
        ({"linger_ms": "soon"}, "linger.ms: got 'soon'; takes a number of milliseconds, 0 to 900000"),
        ({"linger_ms": -1}, "linger.ms: got -1; takes a number of milliseconds, 0 to 900000"),
        ({"acks": 2}, "acks: got 2; takes one of all, -1, 0, 1"),
        ({"retries": True}, "retries: got True; takes an integer, 0 or more"),
        ({"retries": 1.5}, "retries: got 1.5; takes an integer, 0 or more"),
        ({"enable_idempotence": "yes"}, "enable.idempotence: got 'yes'; takes true or false"),
        (
            {"compression_type": "brotli"},
            "compression.type: got 'brotli'; takes one of none, gzip, snappy, lz4, zstd",
        ),
        ({"transactional_id": ""}, "transactional.id: got ''; takes text, not empty"),
        ({"on_delivery": 7}, "on.delivery: got 7; takes a function of metadata and error"),
        (
            {"acks": 1, "enable_idempotence": True},
            "acks: got '1'; takes all while enable.idempotence is true",
        ),
        ({"acks": 1, "transactional_id": "t"}, "acks: got '1'; takes all with a transactional.id"),
        (
            {"enable_idempotence": False, "transactional_id": "t"},
            "enable.idempotence: got False; takes True with a transactional.id",
        ),
        (
            {"delivery_timeout_ms": 1, "message_timeout_ms": 2},
            "message_timeout_ms: is another name of delivery.timeout.ms; give one of the two",
        ),
    ],
)
def test_what_is_refused_and_how(given: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        ProducerConfig(bootstrap_servers=SERVERS, **given)
    assert str(raised.value) == message


def test_a_dotted_name_is_suggested_for_a_dotted_name() -> None:
    with pytest.raises(ConfigError, match=r"did you mean bootstrap\.servers"):
        ProducerConfig({"bootstrap.server": SERVERS})


def test_bootstrap_servers_are_needed() -> None:
    for given in ({}, {"bootstrap_servers": ""}, {"bootstrap_servers": []}):
        with pytest.raises(ConfigError, match=r"^bootstrap\.servers: "):
            ProducerConfig(**given)


def test_a_setting_of_another_client_is_unknown() -> None:
    with pytest.raises(ConfigError, match="unknown setting group_id"):
        ProducerConfig(bootstrap_servers=SERVERS, group_id="g")
    with pytest.raises(ConfigError, match="got a ConsumerConfig; takes a ProducerConfig"):
        ProducerConfig.of(ConsumerConfig(bootstrap_servers=SERVERS), {})


def test_idempotence_gives_way_as_in_kafka() -> None:
    for weaker in ({"acks": "1"}, {"acks": 0}, {"retries": 0}, {"max_in_flight_requests_per_connection": 6}):
        assert native(**weaker)["enable.idempotence"] == "false"
    assert native(acks=-1, max_in_flight_requests_per_connection=5)["enable.idempotence"] == "true"


def test_names_and_units_of_librdkafka() -> None:
    config = native(
        buffer_memory=64 * 1024 * 1024, max_request_size=5_000_000, request_timeout_ms=7_000, linger_ms=0.5
    )
    assert config["queue.buffering.max.kbytes"] == "65536"
    assert config["message.max.bytes"] == "5000000"
    assert config["socket.timeout.ms"] == config["request.timeout.ms"] == "7000"
    assert config["linger.ms"] == "0.5"
    assert "max.block.ms" not in config
    assert native(queue_buffering_max_kbytes=7)["queue.buffering.max.kbytes"] == "7"


@pytest.mark.parametrize(
    ("codec", "levels", "level"),
    [
        ("zstd", {"compression_zstd_level": 7}, "7"),
        ("zstd", {}, "3"),
        ("lz4", {"compression_lz4_level": 17}, "12"),
        ("gzip", {"compression_lz4_level": 17}, "-1"),
        ("zstd", {"compression_level": 1}, "1"),
    ],
)
def test_compression_levels(codec: str, levels: dict[str, object], level: str) -> None:
    assert native(compression_type=codec, **levels)["compression.level"] == level


def test_a_consumer_in_librdkafkas_words() -> None:
    config = native_consumer(
        auto_offset_reset="none",
        fetch_max_wait_ms=7,
        partition_assignment_strategy="org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    )
    assert config["auto.offset.reset"] == "error"
    assert config["fetch.wait.max.ms"] == "7"
    assert config["partition.assignment.strategy"] == "cooperative-sticky"
    assert config["topic.blacklist"] == "^__"
    assert config["isolation.level"] == "read_uncommitted"


def test_each_group_protocol_has_its_own_settings() -> None:
    assert {"session.timeout.ms", "heartbeat.interval.ms"} <= native_consumer().keys()
    by_broker = native_consumer(group_protocol="CONSUMER")
    assert (
        not {"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"}
        & by_broker.keys()
    )


def test_security_in_javas_words() -> None:
    config = native(
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_jaas_config=f'{SCRAM} required username="u" password="p\\"q";',
        ssl_truststore_location="/ca.pem",
        ssl_endpoint_identification_algorithm="",
    )
    assert config["security.protocol"] == "sasl_ssl"
    assert (config["sasl.username"], config["sasl.password"]) == ("u", 'p"q')
    assert config["ssl.ca.location"] == "/ca.pem"
    assert config["ssl.endpoint.identification.algorithm"] == "none"
    with pytest.raises(ConfigError, match=r"^sasl\.jaas\.config: got a login without username"):
        native(sasl_jaas_config="Module required;")


def test_secrets_are_not_shown() -> None:
    config = ProducerConfig(bootstrap_servers=SERVERS, sasl_password="hush", ssl_key_password="hush")
    assert "hush" not in repr(config)
    assert "hush" not in str(dict(config))
    assert config.for_librdkafka()["sasl.password"] == "hush"


def test_settings_without_effect_warn(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "penstock.client"):
        ProducerConfig(bootstrap_servers=SERVERS, metrics_num_samples=3)
    assert caplog.messages == [
        "metrics.num.samples has no effect: Metrics of Java's client; `stats_cb` has librdkafka's."
    ]


@pytest.mark.parametrize("config", [ProducerConfig, ConsumerConfig], ids=["producer", "consumer"])
def test_librdkafka_knows_every_name(config: type[ClientConfig]) -> None:
    """It reads settings in turn, and stops at the first that it dislikes: the last, which does not exist."""
    make = {ProducerConfig: Producer, ConsumerConfig: Consumer}[config]
    names = {setting.native_name for setting in config.TABLE.values() if setting.native_name}
    for name in sorted(name for name in names if not name.endswith("_cb")):
        with pytest.raises(KafkaException) as raised:
            make(
                {"group.id": "g", name: "1", "no.such.name": "1"}
                if make is Consumer
                else {name: "1", "no.such.name": "1"}
            )
        assert f'No such configuration property: "{name}"' not in str(raised.value)


def test_every_default_is_accepted_by_librdkafka() -> None:
    Producer(native()).close()
    Producer(native(transactional_id="t")).close()
    Consumer(native_consumer(group_id="g")).close()
    Consumer(native_consumer(group_id="g", group_protocol="consumer")).close()


def test_admin_configs_take_the_same() -> None:
    config = AdminConfig({"bootstrap.servers": SERVERS}, default_api_timeout_ms="5000")
    assert config.given == {"bootstrap.servers": (SERVERS,), "default.api.timeout.ms": 5000}
