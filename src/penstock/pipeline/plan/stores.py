"""What stores a topology has. A serde of None is what the program's default says, once the topology is built."""

from dataclasses import dataclass

from penstock.pipeline.plan.serdes import Serde


@dataclass(frozen=True)
class StoreSpec:
    name: str
    is_logged: bool = True

    @property
    def changelog(self) -> str:
        """Without the application's id."""
        return f"{self.name}-changelog"


@dataclass(frozen=True)
class KeyValueStoreSpec(StoreSpec):
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    is_timestamped: bool = True


@dataclass(frozen=True)
class WindowStoreSpec(StoreSpec):
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    window_size_ms: int = 0
    retention_ms: int = 0
    retains_duplicates: bool = False
    emits_on_close: bool = False
    is_timestamped: bool = True


@dataclass(frozen=True)
class SessionStoreSpec(StoreSpec):
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    retention_ms: int = 0


@dataclass(frozen=True)
class OuterJoinStoreSpec(StoreSpec):
    """What has found no partner yet, of both sides of a join of streams."""

    key_serde: Serde | None = None
    left_serde: Serde | None = None
    right_serde: Serde | None = None


@dataclass(frozen=True)
class SubscriptionStoreSpec(StoreSpec):
    """Which rows of the left table wait for which foreign key."""

    foreign_key_serde: Serde | None = None
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    """Of the subscriptions."""


@dataclass(frozen=True)
class SuppressionBufferSpec(StoreSpec):
    key_serde: Serde | None = None
    value_serde: Serde | None = None
