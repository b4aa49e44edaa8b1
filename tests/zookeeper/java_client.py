"""ZooKeeper's own Java client, its shell, zkCli, and its server, from Maven.

The jars are fetched once into `.toolchains/zookeeper/` of the repository. Workers that run in parallel take a file
lock, so that one fetches and the others wait; a fetch that breaks off is not taken for complete.
"""

import fcntl
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

VERSION = "3.9.3"
DEPENDENCIES = (
    ("org.apache.zookeeper", "zookeeper", VERSION),
    ("commons-cli", "commons-cli", "1.5.0"),
    ("org.slf4j", "slf4j-nop", "1.7.30"),
    ("io.dropwizard.metrics", "metrics-core", "4.1.12.1"),
    ("org.xerial.snappy", "snappy-java", "1.1.10.5"),
)
"""The last two are what the server needs besides."""
ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".toolchains" / "zookeeper" / f"{VERSION}-server"
FETCH_TIMEOUT_SECONDS = 280
RUN_TIMEOUT_SECONDS = 120
JVM_FLAGS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m")


def why_unavailable() -> str | None:
    """None if the client can be fetched and run here, else the reason why not."""
    if shutil.which("java") is None:
        return "no java on PATH"
    if shutil.which("mvn") is None and not (HOME / "complete").exists():
        return "no mvn on PATH to fetch ZooKeeper's client with"
    return None


def require_java() -> None:
    """Skips the test where Java is missing; in CI, where it must not be, fails it."""
    reason = why_unavailable()
    if reason is None:
        return
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _pom() -> str:
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
        for group, artifact, version in DEPENDENCIES
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>penstock.toolchains</groupId><artifactId>zookeeper</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )


def _fetch() -> None:
    with tempfile.TemporaryDirectory() as project:
        (Path(project) / "pom.xml").write_text(_pom())
        subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={HOME / 'jars'}"],
            cwd=project,
            check=True,
            timeout=FETCH_TIMEOUT_SECONDS,
        )
    (HOME / "complete").touch()


@functools.cache
def class_path() -> str:
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (HOME / "complete").exists():
            _fetch()
    return os.pathsep.join(str(jar) for jar in sorted((HOME / "jars").glob("*.jar")))


def shell_command(address: str) -> list[str]:
    """The command line of zkCli against a server."""
    main = "org.apache.zookeeper.ZooKeeperMain"
    return ["java", *JVM_FLAGS, "-cp", class_path(), main, "-timeout", "30000", "-server", address]


def run_shell(address: str, *commands: str) -> str:
    """Runs zkCli with commands on its standard input, one session for all, and returns what it printed."""
    result = subprocess.run(
        shell_command(address),
        input="".join(f"{command}\n" for command in [*commands, "quit"]),
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_SECONDS,
        check=False,
    )
    return result.stdout + result.stderr


def run_command(address: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs zkCli with one command on its command line."""
    return subprocess.run(
        [*shell_command(address), *command],
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_SECONDS,
        check=False,
    )
