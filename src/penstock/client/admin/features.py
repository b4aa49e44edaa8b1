"""The features of a cluster: which levels its nodes can have, and which is switched on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from penstock.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from penstock.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for


class UpgradeType(IntEnum):
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True)
class FeatureLevels:
    min_version: int
    max_version: int
    finalized_level: int


@dataclass(frozen=True, slots=True)
class Features:
    levels: Mapping[str, FeatureLevels]
    epoch: int | None


@dataclass(frozen=True, slots=True)
class FeatureUpdate:
    level: int
    upgrade_type: UpgradeType


async def describe_features(cluster: Cluster, *, node_id: int | None = None) -> Features:
    """As any node knows them, or the one that is asked for."""
    request = ApiVersionsRequest("penstock", "1")
    if node_id is None:
        answer = await cluster.ask_any(request, ApiVersionsResponse)
    else:
        answer = await cluster.ask_node(node_id, request, ApiVersionsResponse)
    finalized = {each.name: each.max_version_level for each in answer.finalized_features}
    levels = {
        each.name: FeatureLevels(each.min_version, each.max_version, finalized.get(each.name, 0))
        for each in answer.supported_features
    }
    epoch = answer.finalized_features_epoch
    return Features(levels, None if epoch < 0 else epoch)


async def update_features(
    cluster: Cluster, updates: Mapping[str, FeatureUpdate], *, validate_only: bool = False
) -> dict[str, KafkaError | None]:
    """What went wrong with each feature, if anything."""
    request = UpdateFeaturesRequest(
        cluster.config.request_timeout_ms,
        [FeatureUpdateKey(name, each.level, False, each.upgrade_type) for name, each in updates.items()],
        validate_only,
    )
    answer = await cluster.ask_controller(request, UpdateFeaturesResponse)
    if answer.error_code:
        return dict.fromkeys(updates, error_for(answer.error_code, answer.error_message))
    failed = {
        each.feature: error_for(each.error_code, each.error_message)
        for each in answer.results
        if each.error_code
    }
    return {name: failed.get(name) for name in updates}
