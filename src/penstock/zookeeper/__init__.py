"""An embedded, single-node server of the ZooKeeper client protocol."""

from penstock.zookeeper.config import ZooKeeperConfig
from penstock.zookeeper.server import ZooKeeperServer

__all__ = ["ZooKeeperConfig", "ZooKeeperServer"]
