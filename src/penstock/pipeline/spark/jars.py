"""The jars of Spark's Kafka connector, fetched once through Spark's own Ivy into the user's cache.

The connector must match pyspark's version; where a patch release has none, that of the minor's first release fits.
Its companion, the token provider, is released less often: it is resolved by itself, in the newest version there is.
Of what they drag in, everything that pyspark ships already is left out, or two versions would meet on one class path.

A folder of jars appears whole (renamed into place) and is never changed; a lock keeps two processes from
fetching the same.
"""

import fcntl
import logging
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import quoteattr

from penstock.pipeline.spark.places import cache_dir
from penstock.pipeline.spark.settings import EngineError

logger = logging.getLogger(__name__)

FETCH_TIMEOUT_S = 180
SCALA = "2.13"
SPARK = "org.apache.spark"
CONNECTOR = f"spark-sql-kafka-0-10_{SCALA}"
COMPANION = f"spark-token-provider-kafka-0-10_{SCALA}"
FIRST_COMPANION = "4.0.0"
_NAME_OF_JAR = re.compile(r"(?P<artifact>.+?)-\d[^/]*\.jar$")

_IVY_FILE = """<ivy-module version="2.0">
<info organisation="penstock" module="connector"/>
<dependencies>
<dependency org="{org}" name={name} rev={version} conf="default" transitive="{transitive}">
<exclude org="{org}" module="{companion}"/>
</dependency>
</dependencies>
</ivy-module>
"""
_IVY_SETTINGS = """<ivysettings>
<settings defaultResolver="all"/>
<caches defaultCacheDir={cache}/>
<resolvers><ibiblio name="all" m2compatible="true"{root}/></resolvers>
</ivysettings>
"""


def connector_jars(java_home: Path, repository: str | None = None) -> list[Path]:
    """The files for `spark.jars`; raises EngineError if they are not in the cache and can't be had."""
    from pyspark.version import __version__ as version

    folder = cache_dir() / "spark-jars" / version
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.parent / "lock"):
            if not folder.is_dir():
                _fetch(folder, java_home, version, repository)
    return sorted(folder.glob("*.jar"))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(folder: Path, java_home: Path, version: str, repository: str | None) -> None:
    logger.info("fetching the jars of Spark's Kafka connector, once, into %s", folder)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        ivy = Ivy(java_home, temporary, repository)
        minor = ".".join([*version.split(".")[:2], "0"])
        ivy.retrieve_first(CONNECTOR, [version, minor])
        ivy.retrieve_first(COMPANION, [version, minor, FIRST_COMPANION])
        _leave_out_what_spark_has(ivy.jars)
        os.replace(ivy.jars, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _leave_out_what_spark_has(folder: Path) -> None:
    present = {_artifact(path) for path in (spark_home() / "jars").iterdir()}
    for path in folder.iterdir():
        if _artifact(path) in present:
            path.unlink()


def _artifact(path: Path) -> str:
    found = _NAME_OF_JAR.match(path.name)
    return found["artifact"] if found else path.name


def spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


class Ivy:
    """Ivy's command line, from the jar that Spark brings."""

    def __init__(self, java_home: Path, folder: Path, repository: str | None) -> None:
        self.jars = folder / "jars"
        self.jars.mkdir()
        self._java = java_home / "bin" / "java"
        self._folder = folder
        self._settings = folder / "settings.xml"
        self._settings.write_text(
            _IVY_SETTINGS.format(
                cache=quoteattr(str(folder / "ivy")),
                root=f" root={quoteattr(repository)}" if repository else "",
            )
        )

    def retrieve_first(self, name: str, versions: Sequence[str]) -> None:
        """Puts the first version that there is into `jars`; the connector with what it depends on."""
        said = ""
        for version in dict.fromkeys(versions):
            said = self._retrieve(name, version)
            if not said:
                return
        raise EngineError(f"the jar {name} {' or '.join(dict.fromkeys(versions))} can't be had: {said}")

    def _retrieve(self, name: str, version: str) -> str:
        """What went wrong, or nothing."""
        file = self._folder / "ivy.xml"
        file.write_text(_ivy_file(name, version))
        classes = next((spark_home() / "jars").glob("ivy-*.jar"))
        command: list[str | Path] = [
            self._java,
            "-cp",
            classes,
            "org.apache.ivy.Main",
            "-settings",
            self._settings,
        ]
        command += ["-ivy", file, "-types", "jar", "bundle", "-retrieve"]
        command += [f"{self.jars}/[artifact]-[revision].[ext]"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return f"no answer for {FETCH_TIMEOUT_S} s"
        return "" if done.returncode == 0 else _first_trouble(done.stdout + done.stderr)


def _ivy_file(name: str, version: str) -> str:
    return _IVY_FILE.format(
        org=SPARK,
        name=quoteattr(name),
        version=quoteattr(version),
        transitive="false" if name == COMPANION else "true",
        companion="" if name == COMPANION else COMPANION,
    )


def _first_trouble(output: str) -> str:
    for line in output.splitlines():
        if any(word in line for word in ("not found", "SERVER ERROR", "unresolved", "Host ")):
            return line.strip(" \t:")
    return (output.strip().splitlines() or ["Ivy failed and did not say why"])[-1]
