"""The settings of a group: Kafka's names, types, defaults and bounds.

What a group does not set itself comes from the broker's synonym, `group.consumer.session.timeout.ms` for
`consumer.session.timeout.ms`. The broker also says within which bounds a group may set it
(`group.consumer.min.session.timeout.ms`, `...max...`): a change beyond them is refused, and what was set before the
bounds were drawn is brought within them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.errors import ConfigError
from penstock.settings.broker import BrokerSettings
from penstock.settings.declare import boolean, integer, string
from penstock.settings.kinds import Value
from penstock.settings.table import Synonym, Table, table_of
from penstock.settings.takes import Takes, at_least, one_of

READ_COMMITTED, READ_UNCOMMITTED = "read_committed", "read_uncommitted"
EARLIEST, LATEST, BY_DURATION = "earliest", "latest", "by_duration:"

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?[0-9]+)D)?"
    r"(?P<time>T(?:(?P<hours>[-+]?[0-9]+)H)?(?:(?P<minutes>[-+]?[0-9]+)M)?"
    r"(?:(?P<seconds>[-+]?[0-9]+(?:[.,][0-9]{0,9})?)S)?)?",
    re.IGNORECASE,
)
_UNIT_MS = {"days": 86_400_000, "hours": 3_600_000, "minutes": 60_000, "seconds": 1000}


def parse_duration_ms(text: str) -> int | None:
    """An ISO 8601 duration such as P1DT2H or PT30.5S; None if the text is none."""
    found = _DURATION.fullmatch(text)
    if found is None or found["time"] in ("T", "t"):
        return None
    parts = {unit: found[unit].replace(",", ".") for unit in _UNIT_MS if found[unit] is not None}
    if not parts:
        return None
    total = sum(float(number) * _UNIT_MS[unit] for unit, number in parts.items())
    return int(-total if found["sign"] == "-" else total)


def _is_reset(value: Value) -> bool:
    if not isinstance(value, str) or not value.startswith(BY_DURATION):
        return value in (EARLIEST, LATEST)
    duration_ms = parse_duration_ms(value.removeprefix(BY_DURATION))
    return duration_ms is not None and duration_ms >= 0


def _from(name: str) -> tuple[Synonym, ...]:
    return (Synonym(name),)


@dataclass(frozen=True, slots=True)
class GroupConfig:
    consumer_session_timeout_ms: int = integer(
        45_000,
        "How long a member of a consumer group may be silent.",
        at_least(1),
        broker_synonyms=_from("group.consumer.session.timeout.ms"),
    )
    consumer_heartbeat_interval_ms: int = integer(
        5000,
        "How often members of a consumer group are told to heartbeat.",
        at_least(1),
        broker_synonyms=_from("group.consumer.heartbeat.interval.ms"),
    )
    consumer_assignment_interval_ms: int = integer(
        1000,
        "The least time between two assignments of a consumer group.",
        at_least(0),
        broker_synonyms=_from("group.consumer.assignment.interval.ms"),
    )
    share_session_timeout_ms: int = integer(
        45_000,
        "How long a member of a share group may be silent.",
        at_least(1),
        broker_synonyms=_from("group.share.session.timeout.ms"),
    )
    share_heartbeat_interval_ms: int = integer(
        5000,
        "How often members of a share group are told to heartbeat.",
        at_least(1),
        broker_synonyms=_from("group.share.heartbeat.interval.ms"),
    )
    share_record_lock_duration_ms: int = integer(
        30_000,
        "How long a delivered record stays locked for its consumer.",
        at_least(1000),
        broker_synonyms=_from("group.share.record.lock.duration.ms"),
    )
    share_delivery_count_limit: int = integer(
        5,
        "How often a record is delivered before it is given up.",
        at_least(2),
        broker_synonyms=_from("group.share.delivery.count.limit"),
    )
    share_partition_max_record_locks: int = integer(
        2000,
        "The most locked records of a partition.",
        at_least(100),
        broker_synonyms=_from("group.share.partition.max.record.locks"),
    )
    share_auto_offset_reset: str = string(
        LATEST,
        "Where a share group begins in a partition that is new to it: earliest, latest, or by_duration:PnDTnHnMn.nS "
        "for so long before now.",
        Takes("earliest, latest, or by_duration:PnDTnHnMn.nS", _is_reset),
    )
    share_isolation_level: str = string(
        READ_UNCOMMITTED,
        "Whether a share group is given records of transactions before they are committed.",
        one_of(READ_COMMITTED, READ_UNCOMMITTED),
    )
    share_renew_acknowledge_enable: bool = boolean(
        True, "Whether the members of a share group may renew the locks of their records."
    )
    share_assignment_interval_ms: int = integer(
        1000,
        "The least time between two assignments of a share group.",
        at_least(0),
        broker_synonyms=_from("group.share.assignment.interval.ms"),
    )
    streams_session_timeout_ms: int = integer(
        45_000,
        "How long a member of a streams group may be silent.",
        at_least(1),
        broker_synonyms=_from("group.streams.session.timeout.ms"),
    )
    streams_heartbeat_interval_ms: int = integer(
        5000,
        "How often members of a streams group are told to heartbeat.",
        at_least(1),
        broker_synonyms=_from("group.streams.heartbeat.interval.ms"),
    )
    streams_num_standby_replicas: int = integer(
        0,
        "The standby replicas of each stateful task.",
        at_least(0),
        broker_synonyms=_from("group.streams.num.standby.replicas"),
    )
    streams_initial_rebalance_delay_ms: int = integer(
        3000,
        "How long a new streams group waits for more members before its first assignment.",
        at_least(0),
        broker_synonyms=_from("group.streams.initial.rebalance.delay.ms"),
    )
    streams_assignment_interval_ms: int = integer(
        1000,
        "The least time between two assignments of a streams group.",
        at_least(0),
        broker_synonyms=_from("group.streams.assignment.interval.ms"),
    )

    @classmethod
    def from_configs(cls, overrides: Mapping[str, str], broker: BrokerSettings) -> "GroupConfig":
        """What is set, within bounds or not."""
        values: dict[str, Any] = {
            one.attribute: getattr(broker, _attribute(synonym.name))
            for one in GROUP_TABLE.values()
            for synonym in one.broker_synonyms
        }
        values.update(GROUP_TABLE.parse(overrides))
        return cls(**values)

    @property
    def reset_duration_ms(self) -> int | None:
        """How long before now a share group begins; None if it begins at an end of the log."""
        return parse_duration_ms(self.share_auto_offset_reset.removeprefix(BY_DURATION))

    @property
    def share_reads_committed(self) -> bool:
        return self.share_isolation_level == READ_COMMITTED


GROUP_TABLE: Table = table_of(GroupConfig)


@dataclass(frozen=True, slots=True)
class _Bound:
    name: str
    least_name: str
    most_name: str
    least: int | None
    most: int | None
    """None where the broker has no such bound."""

    @property
    def attribute(self) -> str:
        return _attribute(self.name)

    def clamp(self, value: int) -> int:
        value = value if self.least is None else max(value, self.least)
        return value if self.most is None else min(value, self.most)


def _attribute(name: str) -> str:
    return name.replace(".", "_")


def _bounds(broker: BrokerSettings) -> Iterator[_Bound]:
    """Nearly every setting that the broker has a synonym for has bounds there, too."""
    for one in GROUP_TABLE.values():
        if one.broker_synonyms:
            kind, _, rest = one.name.partition(".")
            rest = rest.removeprefix("num.")
            least, most = f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest}"
            limits = (getattr(broker, _attribute(name), None) for name in (least, most))
            yield _Bound(one.name, least, most, *limits)


def check_group_configs(overrides: Mapping[str, str], broker: BrokerSettings) -> None:
    """Raises the ConfigError that refuses a change."""
    for name in overrides:
        if name not in GROUP_TABLE:
            raise ConfigError(f"Unknown group config name: {name}")
    config = GroupConfig.from_configs(overrides, broker)
    for bound in _bounds(broker):
        value = getattr(config, bound.attribute)
        if bound.least is not None and value < bound.least:
            raise ConfigError(f"{bound.name} must be greater than or equal to {bound.least_name}")
        if bound.most is not None and value > bound.most:
            raise ConfigError(f"{bound.name} must be less than or equal to {bound.most_name}")
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if getattr(config, _attribute(session)) <= getattr(config, _attribute(heartbeat)):
            raise ConfigError(f"{session} must be greater than {heartbeat}")


class GroupConfigs:
    """The settings in force of each group, kept until what they are made of is replaced."""

    def __init__(
        self, overrides: Mapping[str, Mapping[str, str]], broker: Callable[[], BrokerSettings]
    ) -> None:
        self._overrides = overrides
        self._broker = broker
        self._made_for: BrokerSettings | None = None
        self._default: GroupConfig
        self._made: dict[str, tuple[Mapping[str, str], GroupConfig]] = {}

    def of(self, group_id: str) -> GroupConfig:
        broker = self._broker()
        if broker is not self._made_for:
            self._made_for = broker
            self._default = _in_force({}, broker)
            self._made.clear()
        overrides = self._overrides.get(group_id)
        if not overrides:
            return self._default
        made = self._made.get(group_id)
        if made is None or made[0] is not overrides:
            made = self._made[group_id] = overrides, _in_force(overrides, broker)
        return made[1]


def _in_force(overrides: Mapping[str, str], broker: BrokerSettings) -> GroupConfig:
    config = GroupConfig.from_configs(overrides, broker)
    bounded: dict[str, Any] = {
        bound.attribute: bound.clamp(getattr(config, bound.attribute))
        for bound in _bounds(broker)
        if bound.name in overrides
    }
    return replace(config, **bounded)
