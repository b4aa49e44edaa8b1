"""Settings of programs, as Kafka Streams has them."""

from typing import Any

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.tasks.settings import STREAMS_TABLE, StreamsSettings
from tests.support.rows import each_row

OF_STREAMS = "org.apache.kafka.streams.errors."


def attribute(name: str, value: Any) -> Any:
    return getattr(StreamsSettings.from_configs({name: value}), STREAMS_TABLE[name].attribute)


@each_row(
    ("name", "value", "expected"),
    [
        ("commit.interval.ms", 250, 250),
        ("commit.interval.ms", "250", 250),
        ("num.stream.threads", 0, 0),
        ("replication.factor", -1, -1),
        ("bootstrap.servers", "a:1, b:2", ("a:1", "b:2")),
        ("bootstrap.servers", ["a:1", "b:2"], ("a:1", "b:2")),
        ("errors.dead.letter.queue.topic.name", "letters", "letters"),
        ("errors.dead.letter.queue.topic.name", None, None),
        ("commit.interval.ms", None, 100),
        ("deserialization.exception.handler", "continue", "continue"),
        ("deserialization.exception.handler", f"{OF_STREAMS}LogAndContinueExceptionHandler", "continue"),
        ("deserialization.exception.handler", f"{OF_STREAMS}LogAndFailExceptionHandler", "fail"),
        ("deserialization.exception.handler", "LogAndContinueExceptionHandler", "continue"),
        ("processing.exception.handler", f"{OF_STREAMS}LogAndContinueProcessingExceptionHandler", "continue"),
        ("processing.exception.handler", f"{OF_STREAMS}LogAndFailProcessingExceptionHandler", "fail"),
        ("spark.master", "spark://host:7077", "spark://host:7077"),
    ],
)
def test_values(name: str, value: Any, expected: Any) -> None:
    assert attribute(name, value) == expected


@each_row(
    ("name", "value", "told"),
    [
        ("commit.interval.ms", "soon", "commit.interval.ms: got 'soon'; takes "),
        ("commit.interval.ms", True, "commit.interval.ms: got 'true'; takes "),
        ("commit.interval.ms", 1.5, "commit.interval.ms: got '1.5'; takes "),
        ("commit.interval.ms", 0, "commit.interval.ms: got '0'; takes "),
        ("commit.interval.ms", 1 << 63, "commit.interval.ms: got '9223372036854775808'; takes "),
        ("max.task.idle.ms", -2, "max.task.idle.ms: got '-2'; takes "),
        ("replication.factor", -2, "replication.factor: got '-2'; takes "),
        ("auto.offset.reset", "none", "auto.offset.reset: got 'none'; takes one of"),
        ("processing.guarantee", "exactly_once", "processing.guarantee: got 'exactly_once'; takes one of"),
        ("deserialization.exception.handler", "com.acme.Mine", "deserialization.exception.handler: got"),
        (
            "commit.interval",
            5,
            "commit.interval: is no setting of a program; did you mean commit.interval.ms?",
        ),
        ("comit_interval_ms", 5, "comit_interval_ms: is no setting of a program; did you mean commit.int"),
        ("application.id", "mine", "application.id: is no setting of a program"),
        ("rocksdb.config.setter", "x", "rocksdb.config.setter: is no setting of a program"),
    ],
)
def test_what_is_refused(name: str, value: Any, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        StreamsSettings.from_configs({name: value}, "file.py")
    assert str(refused.value).startswith(told), refused.value
    assert str(refused.value).endswith("(file.py)"), refused.value


def test_what_goes_to_clients_topics_and_spark() -> None:
    settings = StreamsSettings.from_configs(
        {
            "bootstrap.servers": "a:1",
            "ssl.ca.location": "ca.pem",
            "producer.linger.ms": 5,
            "consumer.fetch.min.bytes": 7,
            "consumer.bootstrap.servers": "elsewhere:1",
            "producer.ssl.ca.location": "other.pem",
            "topic.min.insync.replicas": 2,
            "spark.master": "local[2]",
            "spark.executor.memory": "1g",
            "spark.eventLog.enabled": True,
        }
    )
    assert settings.client_configs("producer") == {
        "bootstrap.servers": "a:1",
        "ssl.ca.location": "other.pem",
        "linger.ms": "5",
    }
    assert settings.client_configs("consumer") == {
        "bootstrap.servers": "a:1",
        "ssl.ca.location": "ca.pem",
        "fetch.min.bytes": "7",
    }
    assert settings.client_configs("admin") == {"bootstrap.servers": "a:1", "ssl.ca.location": "ca.pem"}
    assert settings.with_prefix("topic.") == {"min.insync.replicas": "2"}
    assert settings.spark_configs == {"spark.executor.memory": "1g", "spark.eventLog.enabled": "true"}


def test_packs_get_what_the_planner_was_given() -> None:
    given = {"bootstrap.servers": ["a:1", "b:2"], "commit.interval.ms": 7, "producer.acks": None}
    settings = StreamsSettings.from_configs(given)
    assert StreamsSettings.from_configs(settings.configs) == settings
    assert settings.configs == {"bootstrap.servers": "a:1,b:2", "commit.interval.ms": "7"}
