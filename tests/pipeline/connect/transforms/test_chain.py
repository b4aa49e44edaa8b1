"""The transforms of a connector in their order, with predicates; and transforms that users write."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.connect.api import ConfigDef, Transformation
from penstock.pipeline.connect.api.config_def import ConfigType
from penstock.pipeline.connect.data import ConnectRecord, SinkRecord
from penstock.pipeline.connect.plugins import Plugins, UnknownPlugin
from penstock.pipeline.connect.transforms.chain import TransformChain

CLOSED: list[str] = []


class Shout(Transformation[ConnectRecord]):
    """A transform of a user's own."""

    config_def = ConfigDef().define("mark", ConfigType.STRING, "!")

    def configure(self, configs: Mapping[str, str]) -> None:
        self._mark = self.config_def.parse(configs)["mark"]

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        return record.changed(value=record.value.upper() + self._mark)

    def close(self) -> None:
        CLOSED.append(self._mark)


def chain(**configs: str) -> TransformChain[SinkRecord]:
    return TransformChain.from_configs(
        {name.replace("__", "."): value for name, value in configs.items()}, Plugins(__name__)
    )


def record(topic: str = "orders", value: object = "text") -> SinkRecord:
    return SinkRecord(topic, 0, 0, value)


SHOUT = f"{__name__}:Shout"


def test_no_transforms() -> None:
    empty = TransformChain[SinkRecord].from_configs({}, Plugins())
    assert not empty
    given = record()
    assert empty.apply(given) is given


def test_they_come_in_their_order() -> None:
    both = chain(
        transforms="wrap, route",
        transforms__wrap__type="HoistField$Value",
        transforms__wrap__field="a",
        transforms__route__type="org.apache.kafka.connect.transforms.RegexRouter",
        transforms__route__regex="(.*)",
        transforms__route__replacement="new-$1",
    )
    changed = both.apply(record())
    assert changed is not None
    assert (changed.topic, changed.value) == ("new-orders", {"a": "text"})
    assert [stage.name for stage in both.stages] == ["wrap", "route"]


def test_a_users_own_transform() -> None:
    own = chain(transforms="s", transforms__s__type=SHOUT, transforms__s__mark="?")
    changed = own.apply(record())
    assert changed is not None
    assert changed.value == "TEXT?"
    CLOSED.clear()
    own.close()
    assert CLOSED == ["?"]


@pytest.mark.parametrize(("negate", "dropped"), [("false", True), ("true", False)])
def test_predicates_choose(negate: str, dropped: bool) -> None:
    filtered = chain(
        transforms="f,s",
        transforms__f__type="Filter",
        transforms__f__predicate="p",
        transforms__f__negate=negate,
        transforms__s__type=SHOUT,
        predicates="p",
        predicates__p__type="TopicNameMatches",
        predicates__p__pattern="ord.*",
    )
    assert (filtered.apply(record("orders")) is None) is dropped
    assert (filtered.apply(record("others")) is None) is not dropped


def test_a_tombstone_passes_by() -> None:
    kept = chain(
        transforms="s",
        transforms__s__type=SHOUT,
        transforms__s__predicate="gone",
        transforms__s__negate="TRUE",
        predicates="gone",
        predicates__gone__type="org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
    )
    given = record(value=None)
    assert kept.apply(given) is given


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ConfigError, match=r'Missing required configuration "transforms\.a\.type"'):
        chain(transforms="a")
    with pytest.raises(ConfigError, match=r'Missing required configuration "predicates\.p\.type"'):
        chain(transforms="a", transforms__a__type="Filter", transforms__a__predicate="p")
    with pytest.raises(UnknownPlugin, match="InsertFeld"):
        chain(transforms="a", transforms__a__type="InsertFeld$Value")
    with pytest.raises(ConfigError, match="No field insertion configured"):
        chain(transforms="a", transforms__a__type="InsertField$Value")
