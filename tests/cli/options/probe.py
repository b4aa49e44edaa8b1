"""What the Java libraries under Kafka's tools make of the same lines: java/Probe.java."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.support import toolchains

SOURCE = Path(__file__).parent / "java"
WORD_END = "\x1f"
LINE_END = "\x1e"
COLUMNS = "80"


def ask_java(what: str, lines: Sequence[str]) -> list[str]:
    """An answer for each line, of one JVM."""
    done = subprocess.run(
        [*toolchains.java_program("options-probe", SOURCE, "Probe"), what],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "COLUMNS": COLUMNS},
        check=True,
    )
    return [answer.replace(LINE_END, "\n") for answer in done.stdout.split("\n")[:-1]]


def ask_java_with_words(what: str, command_lines: Sequence[Sequence[str]]) -> list[str]:
    return ask_java(what, [WORD_END.join(words) for words in command_lines])
