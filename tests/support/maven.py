"""Jars from Maven, fetched once into `.toolchains/` of the repository.

Workers that run in parallel take a file lock, so that one fetches and the others wait; a fetch that breaks off leaves
nothing behind that a later one would take for complete.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FETCH_TIMEOUT_SECONDS = 900
NOTHING_WITH_IT = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)

# Only what is wrong is said, on standard error; -Dlog.level=INFO turns it up.
LOG4J_PROPERTIES = """\
status = error
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = ${sys:log.level:-ERROR}
rootLogger.appenderRef.stderr.ref = stderr
"""


@dataclass(frozen=True)
class Jars:
    """`dependencies` are (group, artifact, version); those in `alone` come without what they bring."""

    home: Path
    artifact: str
    dependencies: tuple[tuple[str, str, str], ...]
    alone: frozenset[str] = frozenset()

    @property
    def fetched(self) -> bool:
        pom = self.home / "pom.xml"
        return (self.home / "lib").is_dir() and pom.exists() and pom.read_text() == self._pom()

    @property
    def log4j_flag(self) -> str:
        return f"-Dlog4j2.configurationFile={self.home / 'log4j2.properties'}"

    @contextmanager
    def locked(self) -> Iterator[None]:
        self.home.parent.mkdir(parents=True, exist_ok=True)
        with open(self.home.parent / f"{self.home.name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def classpath(self) -> str:
        """The first call on a machine fetches the jars."""
        with self.locked():
            if not self.fetched:
                self._fetch()
        return str(self.home / "lib" / "*")

    def _pom(self) -> str:
        dependencies = "".join(
            f"    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version>{NOTHING_WITH_IT if artifact in self.alone else ''}</dependency>\n"
            for group, artifact, version in self.dependencies
        )
        return (
            '<project xmlns="http://maven.apache.org/POM/4.0.0">\n'
            "  <modelVersion>4.0.0</modelVersion>\n"
            "  <groupId>penstock.toolchains</groupId>\n"
            f"  <artifactId>{self.artifact}</artifactId>\n"
            "  <version>1</version>\n"
            "  <packaging>pom</packaging>\n"
            f"  <dependencies>\n{dependencies}  </dependencies>\n"
            "</project>\n"
        )

    def _fetch(self) -> None:
        self.home.mkdir(exist_ok=True)
        partial = self.home / "lib.partial"
        for leftover in (partial, self.home / "lib"):
            shutil.rmtree(leftover, ignore_errors=True)
        for archive in self.home.glob("*.jsa"):
            archive.unlink()
        (self.home / "pom.xml").write_text(self._pom())
        (self.home / "log4j2.properties").write_text(LOG4J_PROPERTIES)
        maven = ("mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime")
        done = subprocess.run(
            [*maven, f"-DoutputDirectory={partial}"],
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"mvn could not fetch {self.home.name}:\n{done.stdout}{done.stderr}")
        partial.rename(self.home / "lib")
