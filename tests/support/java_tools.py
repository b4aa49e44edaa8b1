"""Kafka's own console tools, many calls in one JVM: some fifty milliseconds a call instead of one and a half seconds.

The JVM runs `java/ToolServer.java`. It is started by the first call of a worker and ended when Python ends. A call
that does not end in its time, that leaves threads behind which cannot be stopped, or that ends by System.exit, costs
that JVM; the next call starts another. Tools that print in shutdown hooks of the JVM get one of their own, as does any
tool that must get a signal: `apache_kafka.run_tool`.
"""

from __future__ import annotations

import atexit
import functools
import os
import select
import struct
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support import apache_kafka, toolchains
from tests.support.processes import dying_with_us
from tools.suite.processes import note_a_process

SOURCE = Path(__file__).parent / "java"
TIMED_OUT = -1
ENDED_THE_JVM = -2
IN_THEIR_OWN_JVM = ("kafka-verifiable-producer", "kafka-verifiable-consumer")
# What the server needs to say that a call has not ended in its time.
GRACE_SECONDS = 20.0


@dataclass(frozen=True)
class ToolRun:
    """What one call of a tool left behind; `log` is what Kafka's clients logged, from WARN up."""

    returncode: int
    stdout: str
    stderr: str
    log: str = ""


class ToolTimeoutError(Exception):
    pass


def _bytes_field(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def _call_frame(main_class: str, arguments: Sequence[str], given: bytes, timeout: float) -> bytes:
    words = b"".join(_bytes_field(argument.encode()) for argument in arguments)
    return b"".join(
        (
            _bytes_field(main_class.encode()),
            struct.pack(">i", len(arguments)),
            words,
            _bytes_field(given),
            struct.pack(">q", int(timeout * 1000)),
        )
    )


class _AnswerReader:
    def __init__(self, descriptor: int, deadline: float) -> None:
        self._descriptor = descriptor
        self._deadline = deadline

    def take(self, size: int) -> bytes:
        taken = bytearray()
        while len(taken) < size:
            if not select.select([self._descriptor], [], [], max(self._deadline - time.monotonic(), 0))[0]:
                raise ToolTimeoutError("the JVM of the tools does not answer")
            if not (part := os.read(self._descriptor, size - len(taken))):
                raise EOFError("the JVM of the tools has ended")
            taken += part
        return bytes(taken)

    def integer(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def text(self) -> str:
        return self.take(self.integer()).decode(errors="replace")


def command() -> tuple[str, ...]:
    flags = (*toolchains.JVM_FLAGS, "-Dlog.level=WARN", "-Dfile.encoding=UTF-8")
    return toolchains.java_program("java-tools", SOURCE, "ToolServer", flags)


class ToolServer:
    """One JVM that runs tools in turn."""

    def __init__(self) -> None:
        self._jvm = subprocess.Popen(
            dying_with_us(command()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        atexit.register(self.close)

    @property
    def alive(self) -> bool:
        return self._jvm.poll() is None

    def run(self, main_class: str, arguments: Sequence[str], given: bytes, timeout: float) -> ToolRun:
        assert self._jvm.stdin is not None
        assert self._jvm.stdout is not None
        self._jvm.stdin.write(_call_frame(main_class, arguments, given, timeout))
        answer = _AnswerReader(self._jvm.stdout.fileno(), time.monotonic() + timeout + GRACE_SECONDS)
        try:
            done = ToolRun(answer.integer(), answer.text(), answer.text(), answer.text())
            reusable = answer.take(1) == b"\1"
        except (ToolTimeoutError, EOFError) as error:
            self.close()
            raise type(error)(f"{main_class} {' '.join(arguments)}: {error}") from None
        if done.returncode == ENDED_THE_JVM:
            done = replace(done, returncode=self._jvm.wait(GRACE_SECONDS))
        if not reusable:
            self.close()
        if done.returncode == TIMED_OUT:
            raise ToolTimeoutError(f"{main_class} {' '.join(arguments)} ran for over {timeout:g} s: {done}")
        return done

    def close(self) -> None:
        atexit.unregister(self.close)
        self._jvm.kill()
        self._jvm.wait()
        for pipe in (self._jvm.stdin, self._jvm.stdout):
            if pipe is not None:
                pipe.close()


@functools.cache
def _started() -> list[ToolServer]:
    return []


def _server() -> ToolServer:
    servers = _started()
    if not servers or not servers[-1].alive:
        servers[:] = [ToolServer()]
    return servers[-1]


def run_java_tool(
    main_class_or_name: str, *arguments: str, input: str | bytes = b"", timeout: float = 60
) -> ToolRun:
    """Runs one of Kafka's tools, by the name of its script or by its class; the caller checks the code."""
    note_a_process()
    given = input.encode() if isinstance(input, str) else input
    if main_class_or_name in IN_THEIR_OWN_JVM:
        done = apache_kafka.run_tool(main_class_or_name, *arguments, input=given.decode(), timeout=timeout)
        return ToolRun(done.returncode, done.stdout, done.stderr)
    main_class = apache_kafka.TOOLS.get(main_class_or_name, main_class_or_name)
    return _server().run(main_class, arguments, given, timeout)
