"""One number for the partitions of all topics that a group subscribes to: when it changes, so must the assignment."""

import hashlib
from collections.abc import Iterable

from penstock.controller.image import ClusterImage, TopicImage


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
        return hash_group([self._of_topic(name) for name in known]) if known else 0

    def _of_topic(self, name: str) -> int:
        found = self._hashes.get(name)
        if found is None:
            found = self._hashes[name] = hash_topic(self._image.topics[name])
        return found


def hash_group(hashes: list[int]) -> int:
    return _hash(b"".join(value.to_bytes(8, "little", signed=True) for value in hashes))


def hash_topic(topic: TopicImage) -> int:
    return _hash(topic.topic_id + len(topic.partitions).to_bytes(4))


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), signed=True)
