"""What a consumer says about itself when it joins a classic group.

The metadata is the clients' own affair, in a format of theirs (`ConsumerProtocolSubscription`), whose every version
begins with a version number and the topics. Only these are read here, to know which offsets are in use.
"""

import struct

_SHORT = struct.Struct(">h")
_INT = struct.Struct(">i")


def decode_subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """The topics, or None if these bytes are something else."""
    try:
        return frozenset(_read_topics(metadata))
    except (struct.error, ValueError):
        return None


def _read_topics(metadata: bytes) -> list[str]:
    (count,) = _INT.unpack_from(metadata, _SHORT.size)
    position = _SHORT.size + _INT.size
    if not 0 <= count <= len(metadata):
        raise ValueError(f"{count} topics in {len(metadata)} bytes")
    topics = []
    for _ in range(count):
        (length,) = _SHORT.unpack_from(metadata, position)
        end = position + _SHORT.size + length
        if length < 0 or end > len(metadata):
            raise ValueError(f"a name of {length} bytes at {position} of {len(metadata)}")
        topics.append(str(metadata[position + _SHORT.size : end], "utf-8"))
        position = end
    return topics
