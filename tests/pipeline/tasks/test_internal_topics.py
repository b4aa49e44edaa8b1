"""A program's own topics, on a broker."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from penstock import KafkaAdmin
from penstock.errors import ErrorCode
from penstock.pipeline.tasks.internal_topics import InternalTopicError, make_own_topics, partitions_of
from penstock.pipeline.tasks.layout import CHANGELOG_CONFIGS, REPARTITION_CONFIGS, OwnTopic
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.testing import InProcessBroker
from penstock.wire_client.errors import KafkaError

WINDOWED = {**CHANGELOG_CONFIGS, "cleanup.policy": "compact,delete", "retention.ms": "90000000"}


def settings(**configs: object) -> StreamsSettings:
    given = {name.replace("_", "."): value for name, value in configs.items()}
    return StreamsSettings.from_configs({"replication.factor": 1, **given})


@pytest.fixture
def admin(streams_broker: InProcessBroker) -> Iterator[KafkaAdmin]:
    with KafkaAdmin(bootstrap_servers=streams_broker.bootstrap_servers) as admin:
        yield admin


@pytest.fixture
def name() -> str:
    return f"app-{uuid4().hex[:8]}"


def test_what_is_missing_is_made_and_what_is_there_stays(admin: KafkaAdmin, name: str) -> None:
    admin.create_topic(f"{name}-there", partitions=3, configs={"retention.ms": "5000"})
    own = [
        OwnTopic(f"{name}-repartition", 2, REPARTITION_CONFIGS),
        OwnTopic(f"{name}-changelog", 3, WINDOWED),
        OwnTopic(f"{name}-there", 3, CHANGELOG_CONFIGS),
    ]
    for _ in range(2):
        make_own_topics(admin, own, settings())
    assert partitions_of(admin, {each.name for each in own}) == {each.name: each.partitions for each in own}
    for topic in own[:2]:
        configs = admin.describe_configs("topic", topic.name)
        assert {each: configs[each].value for each in topic.configs} == topic.configs
    assert admin.describe_configs("topic", f"{name}-there")["retention.ms"].value == "5000"


def test_nothing_is_made_for_a_program_without_own_topics(admin: KafkaAdmin) -> None:
    make_own_topics(admin, [], settings())
    assert partitions_of(admin, []) == {}


def test_settings_of_topics_go_on_top(admin: KafkaAdmin, name: str) -> None:
    """But a windowed changelog keeps what its store needs, as in Kafka Streams."""
    own = [
        OwnTopic(f"{name}-repartition", 1, REPARTITION_CONFIGS),
        OwnTopic(f"{name}-changelog", 1, WINDOWED),
    ]
    make_own_topics(admin, own, settings(topic_retention_ms=1000, topic_segment_bytes=1_048_576))
    of_repartition, of_changelog = (admin.describe_configs("topic", each.name) for each in own)
    assert (of_repartition["retention.ms"].value, of_changelog["retention.ms"].value) == ("1000", "90000000")
    assert of_repartition["segment.bytes"].value == of_changelog["segment.bytes"].value == "1048576"


def test_another_number_of_partitions_is_refused_before_anything_is_made(
    admin: KafkaAdmin, name: str
) -> None:
    admin.create_topic(f"{name}-changelog", partitions=2)
    own = [OwnTopic(f"{name}-new", 3, CHANGELOG_CONFIGS), OwnTopic(f"{name}-changelog", 3, CHANGELOG_CONFIGS)]
    with pytest.raises(InternalTopicError, match=f"topic {name}-changelog has 2 partitions, .* needs 3"):
        make_own_topics(admin, own, settings())
    assert set(partitions_of(admin, {each.name for each in own})) == {f"{name}-changelog"}


@pytest.mark.parametrize(
    ("configs", "code"),
    [
        ({"replication_factor": 3}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ({"topic_retention_ms": "soon"}, ErrorCode.INVALID_CONFIG),
        ({"topic_no_such": "1"}, ErrorCode.INVALID_CONFIG),
    ],
)
def test_what_the_broker_refuses_is_told(
    admin: KafkaAdmin, name: str, configs: dict[str, object], code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as refused:
        make_own_topics(admin, [OwnTopic(f"{name}-changelog", 1, CHANGELOG_CONFIGS)], settings(**configs))
    assert refused.value.code == code
