import pytest

from penstock.settings.broker import BrokerSettings
from penstock.settings.group_config import GroupConfig, GroupConfigs, parse_duration_ms


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [
        ("PT0S", 0),
        ("P1D", 86_400_000),
        ("P1DT2H3M4.5S", 93_784_500),
        ("pt0,25s", 250),
        ("PT-1S", -1000),
        ("-PT1M", -60_000),
        ("-PT-1M", 60_000),
        ("P", None),
        ("PT", None),
        ("P1DT", None),
        ("P1H", None),
        ("1h", None),
        ("", None),
    ],
)
def test_durations(text: str, duration_ms: int | None) -> None:
    assert parse_duration_ms(text) == duration_ms


def test_where_a_share_group_begins() -> None:
    assert GroupConfig().reset_duration_ms is None
    assert GroupConfig(share_auto_offset_reset="by_duration:PT1H").reset_duration_ms == 3_600_000


def test_configs_follow_what_they_are_made_of() -> None:
    overrides = {"mine": {"consumer.session.timeout.ms": "50000"}}
    broker = BrokerSettings.from_configs({"group.consumer.heartbeat.interval.ms": "7000"})
    configs = GroupConfigs(overrides, lambda: broker)

    mine, other = configs.of("mine"), configs.of("other")
    assert (mine.consumer_session_timeout_ms, mine.consumer_heartbeat_interval_ms) == (50_000, 7000)
    assert (other.consumer_session_timeout_ms, other.consumer_heartbeat_interval_ms) == (45_000, 7000)
    assert configs.of("mine") is mine

    overrides["mine"] = {"consumer.session.timeout.ms": "55000"}
    assert configs.of("mine").consumer_session_timeout_ms == 55_000

    broker = BrokerSettings.from_configs({})
    assert configs.of("mine").consumer_heartbeat_interval_ms == 5000
    del overrides["mine"]
    assert configs.of("mine").consumer_session_timeout_ms == 45_000


def test_what_was_set_before_the_bounds_were_drawn() -> None:
    broker = BrokerSettings.from_configs({"group.consumer.max.session.timeout.ms": "48000"})
    overrides = {"g": {"consumer.session.timeout.ms": "50000", "share.delivery.count.limit": "3"}}
    config = GroupConfigs(overrides, lambda: broker).of("g")
    assert (config.consumer_session_timeout_ms, config.share_delivery_count_limit) == (48_000, 3)
