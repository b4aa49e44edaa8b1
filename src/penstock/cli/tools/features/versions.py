"""What kafka-features knows by heart: the versions of metadata and of features that come with releases of Kafka."""

from __future__ import annotations

from typing import NamedTuple

METADATA_VERSION = "metadata.version"
# In the order of their levels, of which the first is LOWEST_LEVEL.
METADATA_VERSIONS = (
    "3.3-IV3",
    "3.4-IV0",
    *("3.5-IV0", "3.5-IV1", "3.5-IV2"),
    *("3.6-IV0", "3.6-IV1", "3.6-IV2"),
    *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4"),
    "3.8-IV0",
    "3.9-IV0",
    *("4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3"),
    *("4.1-IV0", "4.1-IV1"),
    *("4.2-IV0", "4.2-IV1"),
    "4.3-IV0",
    "4.4-IV0",
)
LOWEST_LEVEL = 7
LATEST_PRODUCTION = "4.3-IV0"


class Feature(NamedTuple):
    name: str
    since: tuple[tuple[str, int], ...]
    """The level that it has by default from a version of metadata on."""
    dependencies: dict[int, dict[str, int]]
    """What each level above 0 needs."""

    def default_level(self, metadata_level: int) -> int:
        reached = [level for version, level in self.since if level_of(version) <= metadata_level]
        return reached[-1] if reached else 0


FEATURES = (
    Feature("kraft.version", (("3.9-IV0", 1),), {1: {}}),
    Feature("transaction.version", (("4.0-IV2", 2),), {1: {}, 2: {}}),
    Feature("group.version", (("4.0-IV0", 1),), {1: {}}),
    Feature("eligible.leader.replicas.version", (("4.1-IV0", 1),), {1: {METADATA_VERSION: 23}}),
    Feature("share.version", (("4.2-IV0", 1),), {1: {}}),
    Feature("streams.version", (("4.2-IV1", 1),), {1: {}}),
)


def level_of(version: str) -> int:
    """Of a version that is in METADATA_VERSIONS."""
    return METADATA_VERSIONS.index(version) + LOWEST_LEVEL


def version_of(level: int) -> str | None:
    """None for a level that is not known."""
    index = level - LOWEST_LEVEL
    return METADATA_VERSIONS[index] if 0 <= index < len(METADATA_VERSIONS) else None


def parse_version(text: str) -> str:
    """`4.2-IV1` as it is; `4.2`, `4.2.1` and the like are the last version of that release."""
    segments = text.split(".")
    wanted = text if len(segments) <= 2 else ".".join(segments[:2])
    if wanted in METADATA_VERSIONS:
        return wanted
    released = METADATA_VERSIONS[: METADATA_VERSIONS.index(LATEST_PRODUCTION) + 1]
    of_release = [version for version in released if version.partition("-")[0] == wanted]
    if not of_release:
        known = ", ".join(METADATA_VERSIONS)
        raise ValueError(f"Unknown metadata.version '{text}'. Supported metadata.version are: {known}")
    return of_release[-1]
