"""Programs on Java's Kafka Streams, from Maven: the jars come once into `.toolchains/` of the repository."""

from __future__ import annotations

import functools

from tests.support import apache_kafka, toolchains
from tests.support.maven import Jars

HOME = apache_kafka.ROOT / ".toolchains" / f"kafka-streams-{apache_kafka.VERSION}"
JARS = Jars(
    HOME,
    "kafka-streams",
    (
        ("org.apache.kafka", "kafka-streams", apache_kafka.VERSION),
        ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
        ("org.apache.logging.log4j", "log4j-core", "2.25.4"),
    ),
)
JVM_FLAGS = (
    *("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Xmx192m"),
    "-XX:CICompilerCount=1",
)


@functools.cache
def word_count() -> tuple[str, ...]:
    """The command of `foreign_clients/java_streams/WordCount.java`, for its settings to follow."""
    source = toolchains.SOURCES / "java_streams"
    return toolchains.java_program("java-streams", source, "WordCount", JVM_FLAGS, JARS)
