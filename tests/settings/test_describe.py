from pathlib import Path

from penstock.settings.broker import ALL_BROKER_SETTINGS, BrokerSettings
from penstock.settings.describe import (
    BrokerConfigs,
    ConfigEntry,
    ConfigSource,
    describe_broker,
    describe_broker_defaults,
    describe_topic,
)
from penstock.settings.kinds import Kind
from penstock.settings.reference_page import PAGES
from penstock.settings.topic import TopicSettings


def topic_entries(overrides: dict[str, str], broker: BrokerConfigs) -> dict[str, ConfigEntry]:
    settings = TopicSettings.from_configs(overrides, BrokerSettings.from_configs(broker.effective()))
    return {entry.name: entry for entry in describe_topic(overrides, broker, settings)}


def shown(entry: ConfigEntry) -> list[tuple[str, str | None, int]]:
    return [(synonym.name, synonym.value, int(synonym.source)) for synonym in entry.synonyms]


def test_a_topic_lists_what_overrides_what() -> None:
    broker = BrokerConfigs(
        {"log.segment.bytes": "2000000"}, {"log.segment.bytes": "3000000"}, {"log.segment.bytes": "4000000"}
    )
    entry = topic_entries({"segment.bytes": "1048576"}, broker)["segment.bytes"]
    assert (entry.value, entry.source, entry.kind) == ("1048576", ConfigSource.DYNAMIC_TOPIC_CONFIG, Kind.INT)
    assert shown(entry) == [
        ("segment.bytes", "1048576", 1),
        ("log.segment.bytes", "2000000", 2),
        ("log.segment.bytes", "3000000", 3),
        ("log.segment.bytes", "4000000", 4),
        ("log.segment.bytes", "1073741824", 5),
    ]
    assert not entry.read_only
    assert topic_entries({}, broker)["segment.bytes"].source is ConfigSource.DYNAMIC_BROKER_CONFIG


def test_a_topic_without_overrides_has_33_settings_all_default() -> None:
    entries = topic_entries({}, BrokerConfigs())
    assert len(entries) == 33
    assert {entry.source for entry in entries.values()} == {ConfigSource.DEFAULT_CONFIG}
    assert entries["retention.ms"].value == "604800000"
    assert entries["cleanup.policy"].value == "delete"
    assert entries["min.cleanable.dirty.ratio"].value == "0.5"
    assert entries["preallocate"].documentation


def test_retention_shows_its_synonyms_from_the_first_name_on() -> None:
    by_hours = topic_entries({}, BrokerConfigs(static={"log.retention.hours": "2"}))["retention.ms"]
    assert (by_hours.value, by_hours.source, by_hours.synonyms) == (
        "7200000",
        ConfigSource.DEFAULT_CONFIG,
        (),
    )
    by_ms = BrokerConfigs({"log.retention.ms": "5"}, {}, {"log.retention.hours": "2"})
    assert shown(topic_entries({}, by_ms)["retention.ms"]) == [
        ("log.retention.ms", "5", 2),
        ("log.retention.hours", "2", 4),
        ("log.retention.hours", "168", 5),
    ]


def test_a_broker_shows_every_setting_and_hides_secrets() -> None:
    static = {"num.partitions": "3", "ssl.key.password": "sesame", "wibble": "secret?", "log.dirs": "/a, /b"}
    entries = {entry.name: entry for entry in describe_broker(BrokerConfigs(static=static))}
    assert set(entries) == {one.name for one in ALL_BROKER_SETTINGS.values() if not one.internal} | {"wibble"}
    assert (entries["num.partitions"].value, entries["num.partitions"].read_only) == ("3", True)
    assert shown(entries["num.partitions"]) == [("num.partitions", "3", 4), ("num.partitions", "1", 5)]
    password = entries["ssl.key.password"]
    assert (password.value, password.is_sensitive, password.read_only) == (None, True, False)
    assert shown(password) == [("ssl.key.password", None, 4)]
    unknown = entries["wibble"]
    assert (unknown.value, unknown.is_sensitive, unknown.kind) == (None, True, None)
    assert entries["log.dirs"].value == "/a,/b"
    assert entries["log.retention.ms"].value is None
    assert shown(entries["log.flush.scheduler.interval.ms"]) == [
        ("log.flush.scheduler.interval.ms", "9223372036854775807", 5)
    ]


def test_the_default_of_all_brokers_shows_only_what_is_set() -> None:
    broker = BrokerConfigs({"message.max.bytes": "1"}, {"message.max.bytes": "2"}, {"message.max.bytes": "3"})
    (entry,) = describe_broker_defaults(broker)
    assert (entry.name, entry.value, entry.read_only) == ("message.max.bytes", "2", False)
    assert shown(entry) == [("message.max.bytes", "2", 3)]


def test_the_reference_pages_are_up_to_date() -> None:
    reference = Path(__file__).parents[2] / "docs" / "reference"
    for name, page in PAGES.items():
        assert (reference / name).read_text() == page(), f"{name}: run make generate"
