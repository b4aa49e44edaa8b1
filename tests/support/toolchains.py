"""Builds the client programs of other languages, once, into `.toolchains/` of the repository.

A build lands in a directory named by a digest of its sources, so that a changed source is built anew and an
unchanged one is found by every later session. Workers that run in parallel take a file lock, so that one builds
and the others wait; a build that breaks off leaves nothing behind that a later one would take for complete.
A missing compiler or package manager skips the test with the reason; in CI, where they must be there, it fails.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support import apache_kafka
from tests.support.maven import Jars

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".toolchains"
SOURCES = ROOT / "tests" / "foreign_clients"
BUILD_TIMEOUT_SECONDS = 600
JVM_FLAGS = ("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Xmx768m")


def unavailable(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def _locked(name: str) -> Iterator[None]:
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _built(name: str, sources: list[Path], build: Callable[[Path], None]) -> Path:
    """The directory that `build` filled from these sources, now or in an earlier session."""
    target = HOME / name / _digest(sources)
    with _locked(name):
        if not target.is_dir():
            shutil.rmtree(HOME / name, ignore_errors=True)
            partial = target.with_suffix(".partial")
            partial.mkdir(parents=True)
            build(partial)
            partial.rename(target)
    return target


def _run(command: list[str], directory: Path, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BUILD_TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])} failed:\n{done.stdout}{done.stderr}")


# --- Go


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


@functools.cache
def _go_missing() -> str | None:
    if shutil.which("go") is None:
        return "no go on PATH to build the franz-go program with"
    needed = re.search(r"^go (\S+)", (SOURCES / "go" / "go.mod").read_text(), re.MULTILINE)
    said = subprocess.run(
        ["go", "env", "GOVERSION"], capture_output=True, text=True, timeout=60, check=False
    ).stdout
    if needed is None or _version(said) >= _version(needed[1]):
        return None
    return f"go on PATH is {said.strip()}, franz-go needs {needed[1]} or newer"


def go_program(name: str, source: Path) -> tuple[str, ...]:
    """The command that runs the Go program whose module stands in `source`."""
    if reason := _go_missing():
        unavailable(reason)

    def build(target: Path) -> None:
        _run(["go", "build", "-o", str(target / "franz"), "."], source)

    sources = [*source.glob("*.go"), source / "go.mod", source / "go.sum"]
    return (str(_built(name, sources, build) / "franz"),)


@functools.cache
def franz_go_command() -> tuple[str, ...]:
    return go_program("franz-go", SOURCES / "go")


# --- Node


def node_program(name: str, source: Path) -> tuple[str, ...]:
    """The command that runs `main.js` in `source`, with the packages that its package.json names."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            unavailable(f"no {program} on PATH to run kafkajs with")
    sources = [*source.glob("*.js"), source / "package.json"]

    def build(target: Path) -> None:
        for file in sources:
            shutil.copy(file, target)
        _run(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"], target)

    return ("node", str(_built(name, sources, build) / "main.js"))


@functools.cache
def kafkajs_command() -> tuple[str, ...]:
    return node_program("node", SOURCES / "node")


# --- Java


def _compiler() -> tuple[str, ...] | None:
    """A command that compiles Java, if this is more than a runtime."""
    if shutil.which("javac"):
        return ("javac",)
    said = subprocess.run(
        ["java", "--list-modules"], capture_output=True, text=True, timeout=60, check=False
    ).stdout
    return ("java", "-m", "jdk.compiler/com.sun.tools.javac.Main") if "jdk.compiler@" in said else None


def java_program(
    name: str,
    source: Path,
    main_class: str = "Main",
    jvm_flags: tuple[str, ...] = JVM_FLAGS,
    jars: Jars = apache_kafka.JARS,
) -> tuple[str, ...]:
    """The command that runs a class among those in `source`, with Kafka's libraries or others."""
    apache_kafka.require_java()
    libraries = jars.classpath()
    sources = list(source.glob("*.java"))

    def build(target: Path) -> None:
        if (compiler := _compiler()) is None:
            unavailable("this Java is a runtime without a compiler: the kafka-clients program needs a JDK")
        _run([*compiler, "-cp", libraries, "-d", str(target), *map(str, sources)], target)

    classes = _built(name, sources, build)
    return ("java", *jvm_flags, jars.log4j_flag, "-cp", f"{classes}{os.pathsep}{libraries}", main_class)


@functools.cache
def java_command() -> tuple[str, ...]:
    return java_program("java", SOURCES / "java")
