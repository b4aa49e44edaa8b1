"""Programs on Java's Kafka Streams, for the tests of streams groups."""

from __future__ import annotations

import functools

from tests.support import toolchains
from tests.support.kafka_streams import JARS

JVM_FLAGS = (
    *("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Xmx192m"),
    "-XX:CICompilerCount=1",
)


@functools.cache
def word_count() -> tuple[str, ...]:
    """The command of `foreign_clients/java_streams/WordCount.java`, for its settings to follow."""
    source = toolchains.SOURCES / "java_streams"
    return toolchains.java_program("java-streams-programs", source, "WordCount", JVM_FLAGS, JARS)
