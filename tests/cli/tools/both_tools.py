"""Kafka's tool and ours, side by side on one server: what `both` does."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from tests.cli.tools.masks import OUR_WARNING, STACK_TRACE, Mask, masked
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import ToolRun, run_java_tool
from tests.support.our_tools import our_tools

T = TypeVar("T")
StderrRule = Literal["same", "first line", "first words", "ignore"]
TIMEOUT_SECONDS = 60.0
PLACEHOLDER = "{name}"
BROKER = "{broker}"
# The width of a terminal is not theirs to find out.
_INHERITED = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}


def run_our_tool(
    name: str, *arguments: str, input: str | bytes = b"", timeout: float = TIMEOUT_SECONDS
) -> ToolRun:
    module = f"penstock.cli.tools.{name.replace('-', '_')}"
    given = input.encode() if isinstance(input, str) else input
    done = our_tools().run(module, arguments, input=given, timeout=timeout, env=_INHERITED)
    return ToolRun(
        done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    )


def _first_line(text: str) -> str:
    return text.lstrip("\n").partition("\n")[0]


STDERR_RULES: dict[StderrRule, Callable[[str], str]] = {
    "same": lambda text: text,
    "first line": _first_line,
    "first words": lambda text: _first_line(text).partition(":")[0],
    "ignore": lambda text: "",
}


class BothTools:
    """Calls both and compares; `kafka_name` and `our_name` are what `{name}` stands for in this test."""

    def __init__(self, server: KafkaServer, test_name: str) -> None:
        self.server = server
        self.bootstrap = server.bootstrap
        plain = re.sub(r"[^A-Za-z0-9]", "-", test_name)
        self.kafka_name = f"{plain}-k"
        self.our_name = f"{plain}-p"

    def each(self, prepare: Callable[[str], T]) -> tuple[T, T]:
        """Sets the stage for both names, Kafka's first."""
        return prepare(self.kafka_name), prepare(self.our_name)

    def __call__(
        self,
        tool: str,
        *arguments: str,
        input: str | bytes = b"",
        mutating: bool = False,
        stderr: StderrRule = "same",
        masks: Sequence[Mask] = (),
        sort_lines: bool = False,
        timeout: float = TIMEOUT_SECONDS,
    ) -> ToolRun:
        """The result that both have in common, after masking."""
        assert mutating == any(PLACEHOLDER in argument for argument in arguments), (
            "{name} is for mutating calls"
        )

        def compared(run: Callable[..., ToolRun], name: str) -> ToolRun:
            words = [
                argument.replace(PLACEHOLDER, name).replace(BROKER, str(self.server.broker_id))
                for argument in arguments
            ]
            done = run(tool, *words, input=input, timeout=timeout)
            out, err = (
                masked(
                    text.replace(name, PLACEHOLDER) if mutating else text, [STACK_TRACE, OUR_WARNING, *masks]
                )
                for text in (done.stdout, done.stderr)
            )
            if sort_lines:
                out = "".join(sorted(out.splitlines(keepends=True)))
            return replace(done, stdout=out, stderr=err)

        theirs, ours = compared(run_java_tool, self.kafka_name), compared(run_our_tool, self.our_name)
        comparable = STDERR_RULES[stderr]
        shown = f"{tool} {' '.join(arguments)}\nKafka's: {theirs}\nours: {ours}"
        assert "Traceback" not in ours.stderr, shown
        assert ours.stdout == theirs.stdout, shown
        assert comparable(ours.stderr) == comparable(theirs.stderr), shown
        assert ours.returncode == theirs.returncode, shown
        return ours
