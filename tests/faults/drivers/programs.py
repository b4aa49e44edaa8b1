"""The driver programs that have to be built first."""

from __future__ import annotations

import functools
from pathlib import Path

from tests.support import toolchains

SOURCES = Path(__file__).parent
JVM_FLAGS = (
    *("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Xmx128m"),
    "-XX:CICompilerCount=1",
)


@functools.cache
def franz_go_member() -> tuple[str, ...]:
    return (*toolchains.go_program("faults-go", SOURCES / "go"), "member")


@functools.cache
def franz_go_processor() -> tuple[str, ...]:
    return (*toolchains.go_program("faults-go", SOURCES / "go"), "processor")


@functools.cache
def kafkajs_member() -> tuple[str, ...]:
    return toolchains.node_program("faults-node", SOURCES / "node")


@functools.cache
def java_member() -> tuple[str, ...]:
    return toolchains.java_program("faults-java", SOURCES / "java", "GroupMember", JVM_FLAGS)


@functools.cache
def java_processor() -> tuple[str, ...]:
    return toolchains.java_program("faults-java", SOURCES / "java", "Processor", JVM_FLAGS)
