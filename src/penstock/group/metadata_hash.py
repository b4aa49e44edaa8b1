"""One number for the partitions of all topics that a group subscribes to: when it changes, so must the assignment.

The same that Kafka stores (XXH3 over the same bytes), so that a log that changes hands causes no rebalance.
"""

import struct
from collections.abc import Iterable

from penstock.controller.image import ClusterImage, TopicImage
from penstock.group.xxh3 import hash_xxh3

MAGIC = b"\0"


class TopicHashes:
    """Remembers the hash of each topic until the topic changes."""

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self._hashes: dict[str, int] = {}

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._hashes.pop(name, None)

    def of_group(self, names: Iterable[str]) -> int:
        """Of those of these topics that exist; 0 if there is none."""
        known = sorted(name for name in names if name in self._image.topics)
        if not known:
            return 0
        hashes = [self._of_topic(name) for name in known]
        return _signed(hash_xxh3(struct.pack(f"<{len(hashes)}Q", *hashes)))

    def _of_topic(self, name: str) -> int:
        found = self._hashes.get(name)
        if found is None:
            found = self._hashes[name] = hash_topic(self._image.topics[name], self._image)
        return found


def hash_topic(topic: TopicImage, image: ClusterImage) -> int:
    """Of its id, name, and partitions with the racks that they are on."""
    out = bytearray(MAGIC)
    out += topic.topic_id[7::-1] + topic.topic_id[:7:-1]
    out += _text(topic.name) + struct.pack("<i", len(topic.partitions))
    for index in range(len(topic.partitions)):
        out += struct.pack("<i", index)
        for rack in _racks(topic, index, image):
            out += struct.pack("<i", len(rack)) + _text(rack)
    return hash_xxh3(bytes(out))


def _racks(topic: TopicImage, index: int, image: ClusterImage) -> list[str]:
    brokers = (image.brokers.get(replica) for replica in topic.partitions[index].replicas)
    return sorted(broker.rack for broker in brokers if broker is not None and broker.rack is not None)


def _text(text: str) -> bytes:
    """UTF-16, and then its length."""
    encoded = text.encode("utf-16-le")
    return encoded + struct.pack("<i", len(encoded) // 2)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
