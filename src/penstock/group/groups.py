"""What all kinds of groups have in common, and what the parts of a shard share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

from penstock.controller.image import ClusterImage
from penstock.errors import ApiError, ErrorCode
from penstock.group.metadata_hash import TopicHashes
from penstock.machine import Outcome
from penstock.settings.broker import BrokerSettings
from penstock.settings.group_config import GroupConfig, GroupConfigs

CheckPartition = Callable[[str, bytes, int], None]
"""Raises the ApiError that refuses a commit for one partition: (topic, topic id, partition)."""

CLASSIC = "classic"
CONSUMER = "consumer"
SHARE = "share"
STREAMS = "streams"


class Group(ABC):
    """One group of any kind."""

    KIND: ClassVar[str]

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id

    @property
    @abstractmethod
    def state_name(self) -> str:
        """As clients see it: `Stable`, `Empty`, ..."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no members, so that it may be deleted."""
        return self.state_name == "Empty"

    @property
    @abstractmethod
    def protocol_type(self) -> str:
        """As ListGroups shows it: `consumer`, `connect`, `share`, ..."""

    @abstractmethod
    def check_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation_or_epoch: int,
        *,
        is_transactional: bool,
        version: int,
    ) -> CheckPartition | None:
        """Raises the ApiError that refuses a commit of such a member.

        Where that depends on the partition too (a member that is an epoch behind may still commit what it owned
        since then), what is returned is asked for each of them.
        """

    def on_offset_commit(self, member_id: str, outcome: Outcome) -> None:  # noqa: B027
        """A member has committed: where that is a sign of life, its session timer is set anew."""

    @abstractmethod
    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Raises the ApiError that refuses to show committed offsets to such a member."""

    @abstractmethod
    def check_offset_delete(self) -> None:
        """Raises the ApiError that refuses to delete offsets of the group as it is now."""

    @abstractmethod
    def check_delete(self) -> None:
        """Raises the ApiError that refuses to delete the group as it is now."""

    @abstractmethod
    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member consumes this topic, so that its offsets must stay."""

    @abstractmethod
    def offsets_expire_from_ms(self, topic: str, committed_at_ms: int) -> int | None:
        """The time from which the retention of an offset counts; None as long as the offset is in use."""

    @abstractmethod
    def write_tombstones(self, outcome: Outcome) -> None:
        """Writes what removes the group (not its offsets) from the log."""


class GroupContext:
    """What the parts of one shard share: its groups, and the world around it."""

    def __init__(
        self, image: ClusterImage, settings: Callable[[], BrokerSettings], new_id: Callable[[], str]
    ) -> None:
        self.image = image
        self._settings = settings
        self.new_id = new_id
        """A fresh unique id, for members that come without one."""
        self.groups: dict[str, Group] = {}
        self.topic_hashes = TopicHashes(image)
        self._group_configs = GroupConfigs(image.group_configs, settings)

    @property
    def settings(self) -> BrokerSettings:
        """The broker's settings in force."""
        return self._settings()

    def group_config(self, group_id: str) -> GroupConfig:
        """The settings in force of a group, whether there is one or not."""
        return self._group_configs.of(group_id)

    def of_kind(self, kind: str) -> Iterator[Group]:
        return (group for group in self.groups.values() if kind == group.KIND)


def check_group_id(group_id: str | None) -> None:
    """Refuses a group without a name, where a name is needed."""
    if not group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID, "The group id must not be empty")
