"""Three brokers of the shipped kit over a ZooKeeper of the test's own, for faults of every kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from penstock.testing import Cluster
from penstock.testing.zookeeper_process import ZooKeeperProcess

__all__ = ["PATIENCE_SECONDS", "SESSION_TIMEOUT_MS", "BrokerCluster", "EmbeddedZooKeeper"]

PATIENCE_SECONDS = 90.0
SESSION_TIMEOUT_MS = 4000
SETTINGS = {
    "auto.create.topics.enable": "false",
    "replica.lag.time.max.ms": "30000",
    "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
}

EmbeddedZooKeeper = ZooKeeperProcess


class BrokerCluster(Cluster):
    def __init__(
        self,
        directory: Path,
        zookeeper_connect: str,
        brokers: int = 3,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            brokers,
            {**SETTINGS, **(settings or {})},
            directory=directory,
            zookeeper_connect=zookeeper_connect,
        )

    @property
    def bootstrap(self) -> str:
        return self.bootstrap_servers

    def wait_until_whole(self, topics: Iterable[str] = ()) -> None:
        """All brokers are there, and all replicas of these topics in sync, as each broker sees it."""
        self.wait_until_in_sync(*topics)
