"""Installs what the tests need beyond Python, such as Java, Go, Node and shells, from the distribution's packages.

Only what is missing is installed, and only by root where apt-get is there. Elsewhere this says which tests
will be skipped; under CI, where none may be, a tool that is missing at the end is a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Tool:
    """A program that tests run: how to ask its version, the oldest that will do, its packages."""

    command: tuple[str, ...]
    oldest: tuple[int, ...]
    packages: tuple[str, ...]  # the first that the distribution has is taken
    tests: str


JDK = ("openjdk-17-jdk-headless", "default-jdk-headless")

TOOLS = (
    Tool(("java", "-version"), (17,), JDK, "Apache Kafka's own tools and Java clients"),
    Tool(("javac", "-version"), (17,), JDK, "Java clients"),
    Tool(("mvn", "-B", "-v"), (3, 6), ("maven",), "Apache Kafka's own tools and Java clients"),
    Tool(("go", "version"), (1, 22), ("golang-go",), "franz-go"),
    Tool(("node", "--version"), (18,), ("nodejs",), "kafkajs"),
    Tool(("npm", "--version"), (8,), ("npm",), "kafkajs"),
    Tool(("bash", "--version"), (4,), ("bash",), "completion"),
    Tool(("zsh", "--version"), (5,), ("zsh",), "completion"),
    Tool(("fish", "--version"), (3,), ("fish",), "completion"),
    Tool(("ip", "-V"), (), ("iproute2",), "commands with fixed ports, in a network namespace"),
    Tool(
        ("unshare", "--version"), (2,), ("util-linux",), "commands with fixed ports, in a network namespace"
    ),
    Tool(("psql", "--version"), (13,), ("postgresql",), "Connect with PostgreSQL"),
    Tool(("openssl", "version"), (1, 1), ("openssl",), "TLS"),
)

TERMINAL_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def version_of(tool: Tool) -> tuple[int, ...] | None:
    """The version that the program says it has; None if it is not there or does not run."""
    if shutil.which(tool.command[0]) is None:
        return None
    try:
        said = subprocess.run(tool.command, capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\d+(\.\d+)*", TERMINAL_COLOURS.sub("", said.stdout + said.stderr))
    return tuple(int(part) for part in found[0].split(".")) if found and said.returncode == 0 else None


def why_unfit(tool: Tool) -> str | None:
    """None if the program will do, else what is wrong with it."""
    version = version_of(tool)
    wanted = ".".join(map(str, tool.oldest))
    if version is None:
        return f"{tool.command[0]} is not there, {wanted} or newer is needed"
    if version < tool.oldest:
        return f"{tool.command[0]} is version {'.'.join(map(str, version))}, {wanted} or newer is needed"
    return None


def missing_tools() -> dict[Tool, str]:
    return {tool: reason for tool in TOOLS if (reason := why_unfit(tool))}


def can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(tools: Iterable[Tool]) -> None:
    """Installs package by package, so that one that the distribution lacks does not hinder the rest."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], env=environment, check=False)
    for packages in dict.fromkeys(tool.packages for tool in tools):
        if not any(install_package(package, environment) for package in packages):
            print(f"test packages: apt-get could not install {' or '.join(packages)}")


def install_package(package: str, environment: dict[str, str]) -> bool:
    print(f"test packages: installing {package}", flush=True)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package]
    done = subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)
    return done.returncode == 0


def main() -> int:
    missing = missing_tools()
    if missing and can_install():
        install(missing)
        missing = missing_tools()
    for tool, reason in missing.items():
        print(
            f"test packages: {reason}: tests of {tool.tests} are skipped (Debian package: {tool.packages[0]})"
        )
    return 1 if missing and os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
