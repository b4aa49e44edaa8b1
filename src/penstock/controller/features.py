"""The features of the cluster (KIP-584): the levels that are possible, and which change of one is taken.

Level 0 means off. `metadata.version` stands for Kafka's own record formats; a level with which those changed can't be
gone back from.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode

METADATA_VERSION = "metadata.version"
GROUP_VERSION = "group.version"
TRANSACTION_VERSION = "transaction.version"
SHARE_VERSION = "share.version"
STREAMS_VERSION = "streams.version"


class Levels(NamedTuple):
    lowest: int
    highest: int

    def __str__(self) -> str:
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"


SUPPORTED_FEATURES: Mapping[str, Levels] = {
    METADATA_VERSION: Levels(7, 30),
    GROUP_VERSION: Levels(0, 1),
    TRANSACTION_VERSION: Levels(0, 2),
    SHARE_VERSION: Levels(0, 1),
    STREAMS_VERSION: Levels(0, 1),
}
FIRST_FEATURES: Mapping[str, int] = {name: levels.highest for name, levels in SUPPORTED_FEATURES.items()}
"""What a new cluster has switched on."""
CHANGED_METADATA = frozenset({7, 8, 11, 13, 14, 15, 17, 23, 30})
"""The metadata versions that came with new or changed records."""

OFF = Levels(0, 0)


class UpgradeType(IntEnum):
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class FeatureUpdate(NamedTuple):
    name: str
    level: int
    upgrade_type: int


def decide_features(
    current: Mapping[str, int], updates: Mapping[str, FeatureUpdate], controller_id: int
) -> dict[str, int]:
    """The levels after all updates; the ApiError that refuses them if one can't be made."""
    for update in updates.values():
        _check(update, current.get(update.name, 0), controller_id)
    levels = {**current, **{update.name: update.level for update in updates.values()}}
    return {name: level for name, level in levels.items() if level}


def _check(update: FeatureUpdate, current: int, controller_id: int) -> None:
    reason = _reason_against(update, current, controller_id)
    if reason is not None:
        raise _invalid(f"Invalid update version {update.level} for feature {update.name}. {reason}")
    if update.name == METADATA_VERSION and update.level < current:
        _check_metadata_downgrade(update, current)


def _reason_against(update: FeatureUpdate, current: int, controller_id: int) -> str | None:
    if update.upgrade_type not in set(UpgradeType):
        return "The controller does not support the given upgrade type."
    if update.level < 0:
        return "A feature version cannot be less than 0."
    supported = SUPPORTED_FEATURES.get(update.name, OFF)
    if not supported.lowest <= update.level <= supported.highest:
        if supported is OFF:
            return f"Local controller {controller_id} does not support this feature."
        return f"Local controller {controller_id} only supports versions {supported}"
    is_upgrade = update.upgrade_type == UpgradeType.UPGRADE
    if update.level < current and is_upgrade:
        return (
            "Can't downgrade the version of this feature without setting the "
            "upgrade type to either safe or unsafe downgrade."
        )
    if update.level > current and not is_upgrade:
        return "Can't downgrade to a newer version."
    if update.name not in SUPPORTED_FEATURES:
        return f"Feature {update.name} not found."
    return None


def _check_metadata_downgrade(update: FeatureUpdate, current: int) -> None:
    if CHANGED_METADATA.isdisjoint(range(update.level + 1, current + 1)):
        return
    reason = (
        "Unsafe metadata downgrade is not supported in this version."
        if update.upgrade_type == UpgradeType.UNSAFE_DOWNGRADE
        else "Refusing to perform the requested downgrade because it might delete metadata information."
    )
    raise _invalid(f"Unsupported metadata.version downgrade from {current} to {update.level}. {reason}")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_UPDATE_VERSION, message)
