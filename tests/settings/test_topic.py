"""Every topic setting: default, a value it takes, a value it refuses; and how the broker gives defaults."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ConfigError
from penstock.settings.broker import BrokerSettings
from penstock.settings.kinds import LONG_MAX, Value, parse, to_text
from penstock.settings.table import Setting
from penstock.settings.topic import TOPIC_TABLE, TopicSettings
from tests.support.rows import each_row

DAY_MS = 24 * 60 * 60 * 1000

# name, default, a text it takes, its value, a text it refuses
CASES: list[tuple[str, Value, str, Value, str]] = [
    ("cleanup.policy", ("delete",), "compact, delete", ("compact", "delete"), "compact,shred"),
    ("compression.type", "producer", "zstd", "zstd", "brotli"),
    ("compression.gzip.level", -1, "9", 9, "0"),
    ("compression.lz4.level", 9, "17", 17, "18"),
    ("compression.zstd.level", 3, "-131072", -131072, "23"),
    ("delete.retention.ms", DAY_MS, "0", 0, "-1"),
    ("file.delete.delay.ms", 60000, "0", 0, "-1"),
    ("flush.messages", LONG_MAX, "1", 1, "0"),
    ("flush.ms", LONG_MAX, "0", 0, "-1"),
    ("follower.replication.throttled.replicas", (), "0:1,12:3", ("0:1", "12:3"), "0-1"),
    ("leader.replication.throttled.replicas", (), "*", ("*",), "*,0:1"),
    ("index.interval.bytes", 4096, "0", 0, "-1"),
    ("local.retention.bytes", -2, "-1", -1, "-3"),
    ("local.retention.ms", -2, "1000", 1000, "-3"),
    ("max.compaction.lag.ms", LONG_MAX, "1", 1, "0"),
    ("max.message.bytes", 1048588, "0", 0, "2147483648"),
    ("message.timestamp.after.max.ms", 3600000, "0", 0, "-1"),
    ("message.timestamp.before.max.ms", LONG_MAX, "0", 0, "9223372036854775808"),
    ("message.timestamp.type", "CreateTime", "LogAppendTime", "LogAppendTime", "logappendtime"),
    ("min.cleanable.dirty.ratio", 0.5, "1", 1.0, "1.01"),
    ("min.compaction.lag.ms", 0, "5", 5, "-1"),
    ("min.insync.replicas", 1, "2", 2, "0"),
    ("preallocate", False, "TRUE", True, "yes"),
    ("remote.log.copy.disable", False, "true", True, "1"),
    ("remote.log.delete.on.disable", False, "True", True, ""),
    ("remote.storage.enable", False, "false", False, "true"),
    ("retention.bytes", -1, "1024", 1024, "1k"),
    ("retention.ms", 7 * DAY_MS, "-1", -1, "-2"),
    ("segment.bytes", 1 << 30, "1048576", 1048576, "1048575"),
    ("segment.index.bytes", 10 << 20, "4", 4, "3"),
    ("segment.jitter.ms", 0, "1", 1, "-1"),
    ("segment.ms", 7 * DAY_MS, "1", 1, "0"),
    ("unclean.leader.election.enable", False, "true", True, "on"),
]


def test_the_cases_are_the_33_settings_of_kafka() -> None:
    public = [name for name, one in TOPIC_TABLE.items() if not one.internal]
    assert len(public) == 33
    assert sorted(public) == sorted(name for name, *_ in CASES)


@each_row(("name", "default", "text", "value", "bad"), CASES, lambda name, *_: name)
def test_default_valid_invalid(name: str, default: Value, text: str, value: Value, bad: str) -> None:
    attribute = name.replace(".", "_")
    assert getattr(TopicSettings(), attribute) == default
    assert getattr(TopicSettings.from_configs({name: text}), attribute) == value
    with pytest.raises(ConfigError) as refusal:
        TopicSettings.from_configs({name: bad}, topic="foods")
    assert str(refusal.value).startswith(f"{name}: got {bad!r}; takes ")
    assert str(refusal.value).endswith("(topic 'foods')")


def test_the_error_says_which_key_what_it_got_and_what_it_takes() -> None:
    with pytest.raises(ConfigError) as refusal:
        TopicSettings.from_configs({"retention.ms": "soon"}, topic="foods")
    assert str(refusal.value) == (
        "retention.ms: got 'soon'; takes an integer of milliseconds, -1 for no limit (topic 'foods')"
    )


def test_attributes_are_the_names_in_snake_case() -> None:
    assert [one.attribute for one in TOPIC_TABLE.values()] == [one.name for one in fields(TopicSettings)]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"^Unknown topic config name: max\.message\.byte; did you mean"):
        TopicSettings.from_configs({"max.message.byte": "1"})
    with pytest.raises(ConfigError, match=r"^Unknown topic config name: x$"):
        TopicSettings.from_configs({"x": "1"})


def test_compaction_lags_must_be_in_order() -> None:
    with pytest.raises(ConfigError, match=r"min\.compaction\.lag\.ms: got 10; takes at most"):
        TopicSettings.from_configs({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "9"})


def test_an_empty_cleanup_policy_keeps_everything() -> None:
    settings = TopicSettings.from_configs({"cleanup.policy": ""})
    assert (settings.compact, settings.delete) == (False, False)
    with pytest.raises(ConfigError):
        TopicSettings.from_configs({"cleanup.policy": "compact,compact"})


def test_segments_roll_by_what_compaction_needs() -> None:
    configs = {"cleanup.policy": "compact", "max.compaction.lag.ms": "5", "internal.segment.bytes": "100"}
    settings = TopicSettings.from_configs(configs)
    assert (settings.max_segment_ms, settings.segment_size) == (5, 100)
    assert TopicSettings().segment_size == 1 << 30


def test_a_plain_broker_gives_the_plain_defaults() -> None:
    assert TopicSettings.from_configs({}, BrokerSettings.from_configs({})) == TopicSettings()


@pytest.mark.parametrize(
    ("broker", "retention_ms"),
    [
        ({"log.retention.hours": "2"}, 7_200_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3", "log.retention.ms": "4"}, 4),
        ({"log.retention.hours": "-1"}, -1),
    ],
)
def test_retention_falls_back_through_the_brokers_units(broker: dict[str, str], retention_ms: int) -> None:
    settings = BrokerSettings.from_configs(broker)
    assert TopicSettings.from_configs({}, settings).retention_ms == retention_ms
    assert TopicSettings.from_configs({"retention.ms": "9"}, settings).retention_ms == 9


def test_every_broker_synonym_reaches_its_topic_setting() -> None:
    for name, _, text, value, _ in CASES:
        for synonym in TOPIC_TABLE[name].broker_synonyms[:1]:
            broker = BrokerSettings.from_configs({synonym.name: text})
            assert getattr(TopicSettings.from_configs({}, broker), name.replace(".", "_")) == value, name


@given(st.sampled_from(list(TOPIC_TABLE.values())), st.text())
def test_any_text_is_a_value_that_reads_back_or_a_config_error(setting: Setting, text: str) -> None:
    try:
        value = setting.parse(text)
    except ConfigError:
        return
    shown = to_text(value)
    assert shown is not None
    assert setting.parse(shown) == value


@given(st.floats(min_value=0, max_value=1))
def test_doubles_read_back(number: float) -> None:
    text = to_text(number)
    assert text is not None
    assert "e" not in text
    assert parse(TOPIC_TABLE["min.cleanable.dirty.ratio"].kind, text) == number
