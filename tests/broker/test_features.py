from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.wire.messages.api_versions import ApiVersionsRequest
from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.messages.describe_cluster import DescribeClusterRequest
from penstock.wire.messages.share_group_describe import ShareGroupDescribeRequest
from penstock.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from penstock.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from penstock.wire.schema import ApiMessage
from tests.broker.committing import new_group
from tests.broker.platform import Platform
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
FAILED = "The update failed for all features since the following feature had an error: "


@pytest.fixture
def server_id(client: WireClient) -> int:
    (one,) = client.send(DescribeClusterRequest()).brokers
    found: int = one.broker_id
    return found


def api_versions(client: WireClient, version: int = 4) -> Any:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    return client.send(request, version)


def finalized(client: WireClient) -> dict[str, int]:
    return {one.name: one.max_version_level for one in api_versions(client).finalized_features}


def update(
    client: WireClient, *updates: tuple[str, int, int], version: int = 2, validate_only: bool = False
) -> Any:
    keys = [FeatureUpdateKey(name, level, upgrade_type=kind) for name, level, kind in updates]
    return client.send(UpdateFeaturesRequest(feature_updates=keys, validate_only=validate_only), version)


def test_a_new_cluster_has_the_newest_protocols(client: WireClient) -> None:
    levels = finalized(client)
    wanted = {"group.version": 1, "transaction.version": 2, "share.version": 1, "metadata.version": 30}
    assert {name: levels[name] for name in wanted} == wanted
    supported = {
        one.name: (one.min_version, one.max_version) for one in api_versions(client).supported_features
    }
    assert {name: supported[name] for name in wanted} == {
        "group.version": (0, 1),
        "transaction.version": (0, 2),
        "share.version": (0, 1),
        "metadata.version": (7, 30),
    }


def test_old_clients_do_not_see_features_that_may_be_off(client: WireClient) -> None:
    names = {one.name for one in api_versions(client, 3).supported_features}
    assert "metadata.version" in names
    assert names.isdisjoint({"group.version", "transaction.version", "share.version"})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("group.version", 0, 0), "The controller does not support the given upgrade type."),
        (("group.version", 0, 9), "The controller does not support the given upgrade type."),
        (("group.version", -1, UPGRADE), "A feature version cannot be less than 0."),
        (("group.version", 7, UPGRADE), "Local controller ID only supports versions 0-1"),
        (("metadata.version", 6, SAFE_DOWNGRADE), "Local controller ID only supports versions 7-30"),
        (("no.such.feature", 1, UPGRADE), "Local controller ID does not support this feature."),
        (("no.such.feature", 0, UPGRADE), "Feature no.such.feature not found."),
        (
            ("transaction.version", 1, UPGRADE),
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade.",
        ),
    ],
)
def test_changes_that_are_refused(
    client: WireClient, server_id: int, change: tuple[str, int, int], reason: str
) -> None:
    before = finalized(client)
    answer = update(client, change)
    name, level, _ = change
    explained = reason.replace("ID", str(server_id))
    assert (answer.error_code, answer.error_message) == (
        ErrorCode.INVALID_UPDATE_VERSION,
        f"{FAILED}Invalid update version {level} for feature {name}. {explained}",
    )
    assert finalized(client) == before


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (
            SAFE_DOWNGRADE,
            "Refusing to perform the requested downgrade because it might delete metadata information.",
        ),
        (UNSAFE_DOWNGRADE, "Unsafe metadata downgrade is not supported in this version."),
    ],
)
def test_metadata_is_not_downgraded(client: WireClient, kind: int, reason: str) -> None:
    answer = update(client, ("metadata.version", 29, kind))
    assert (answer.error_code, answer.error_message) == (
        ErrorCode.INVALID_UPDATE_VERSION,
        f"{FAILED}Unsupported metadata.version downgrade from 30 to 29. {reason}",
    )


def test_one_refused_change_refuses_all(client: WireClient) -> None:
    before = finalized(client)
    answer = update(client, ("transaction.version", 1, SAFE_DOWNGRADE), ("group.version", 5, UPGRADE))
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert finalized(client) == before


def test_the_first_version_can_not_downgrade(client: WireClient) -> None:
    key = FeatureUpdateKey("transaction.version", 1, allow_downgrade=True)
    answer = client.send(UpdateFeaturesRequest(feature_updates=[key]), 0)
    assert (answer.error_code, answer.results) == (ErrorCode.INVALID_UPDATE_VERSION, [])


@pytest.fixture
def restored(client: WireClient) -> Iterator[None]:
    """The server is shared: whatever happens, others find its features on."""
    yield
    names = "transaction.version", "group.version", "share.version"
    update(client, *zip(names, (2, 1, 1), (UPGRADE,) * 3, strict=True))


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("version", [1, 2])
def test_features_go_down_and_up(client: WireClient, version: int) -> None:
    epoch = api_versions(client).finalized_features_epoch
    down = ("transaction.version", 1, SAFE_DOWNGRADE), ("group.version", 0, UNSAFE_DOWNGRADE)
    before = finalized(client)
    tried = update(client, *down, version=version, validate_only=True)
    assert tried.error_code == 0
    assert finalized(client) == before

    done = update(client, *down, version=version)
    assert (done.error_code, done.error_message) == (0, None)
    if version == 1:
        assert [(one.feature, one.error_code, one.error_message) for one in done.results] == [
            ("transaction.version", 0, "NONE"),
            ("group.version", 0, "NONE"),
        ]
    changed = {**before, "transaction.version": 1}
    del changed["group.version"]
    wait_for(lambda: finalized(client) == changed, what="the features to be lower")
    assert api_versions(client).finalized_features_epoch > epoch

    answer = update(client, ("group.version", 1, SAFE_DOWNGRADE))
    assert answer.error_message.endswith("Can't downgrade to a newer version.")
    up = ("transaction.version", 2, UPGRADE), ("group.version", 1, UPGRADE)
    assert update(client, *up, version=version).error_code == 0
    wait_for(lambda: finalized(client) == before, what="the features to be back")
    assert update(client, *up, version=version).error_code == 0, "what is there already is no change"


@pytest.mark.usefixtures("restored")
def test_what_is_off_is_not_served(client: WireClient) -> None:
    group = new_group(client)
    down = ("group.version", 0, SAFE_DOWNGRADE), ("share.version", 0, SAFE_DOWNGRADE)
    assert update(client, *down).error_code == 0
    asked: list[ApiMessage] = [
        ConsumerGroupHeartbeatRequest(group, "me", 0, subscribed_topic_names=["none"], topic_partitions=[]),
        ShareGroupHeartbeatRequest(group, "me", 0, subscribed_topic_names=["none"]),
    ]
    wait_for(
        lambda: {client.send(one).error_code for one in asked} == {ErrorCode.UNSUPPORTED_VERSION},
        what="both protocols to be off",
    )
    for describe in (ConsumerGroupDescribeRequest([group]), ShareGroupDescribeRequest([group])):
        assert client.send(describe).groups[0].error_code == ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.processes
def test_features_are_remembered(tmp_path: Path) -> None:
    with Platform(tmp_path) as platform:
        with WireClient(platform.bootstrap) as client:
            assert update(client, ("share.version", 0, SAFE_DOWNGRADE)).error_code == 0
            epoch = api_versions(client).finalized_features_epoch
        platform.restart_broker(kill=True)
        with WireClient(platform.bootstrap) as client:
            assert "share.version" not in finalized(client)
            assert api_versions(client).finalized_features_epoch == epoch
