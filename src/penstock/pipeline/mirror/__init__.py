"""MirrorMaker: topics, their settings and consumer groups' offsets, from one Kafka to another.

Three connectors of Connect do it, with the names, keys, topics and record formats of Kafka's MirrorMaker 2: one copies
records, one translates the offsets of consumer groups, one emits heartbeats.
"""

from __future__ import annotations

from typing import Final

_JAVA: Final = "org.apache.kafka.connect.mirror"
JAVA_NAMES: Final[dict[str, str]] = {
    f"{_JAVA}.MirrorSourceConnector": f"{__name__}.source_connector:MirrorSourceConnector",
    f"{_JAVA}.MirrorCheckpointConnector": f"{__name__}.checkpoint_connector:MirrorCheckpointConnector",
    f"{_JAVA}.MirrorHeartbeatConnector": f"{__name__}.heartbeat:MirrorHeartbeatConnector",
}
