"""tests/ mirrors src/penstock, so that whoever looks for the test of a module guesses where it is.

The test of `broker/timers.py` is `broker/test_timers.py`; `registry/formats/test_avro.py` is that of a whole package.
Tests of several modules together stand in the folder of the outermost package concerned.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.rows import each_row

TESTS = Path(__file__).parent
ROOT = TESTS.parent
PACKAGE = ROOT / "src/penstock"

OF_THE_REPOSITORY = {"bench", "tools"}
"""Folders beside src/ that have tests: tests/bench mirrors bench/."""

OTHER_FOLDERS = {
    "faults": "load on servers that are killed at random moments",
    "foreign_clients": "clients of other makers and languages, each as a user of our broker",
    "fuzz": "requests drawn from the tables of messages, right and wrong, at a broker that is a process",
    "java_tools": "Kafka's own console tools, in Java, at work on our broker",
    "notes": "what README.md and docs/guide/ have people type",
    "scripts": "what coordinators do, told as transcripts",
    "simulation": "clusters of whole brokers in one process, with simulated network, disks, clock and ZooKeeper",
    "support": "what tests share, and the tests of that",
}

LEAST_NAMESAKES = {"broker": 60, "cli": 86, "client": 63, "pipeline": 60, "registry": 58, "rest": 58}
"""How many in a hundred test files of a package have the name of a module; whoever makes it more writes that here."""

LEAST_BROKER_MODULES = 20
"""Modules of the broker that have a test of their name."""


def files_below(folder: Path) -> list[Path]:
    return sorted(path.relative_to(TESTS) for path in folder.rglob("test_*.py"))


FOLDERS = sorted({path.parent for path in files_below(TESTS)} - {Path()})


def namesake_of(path: Path) -> Path | None:
    """The module, or the package, that a test file is named after."""
    place = PACKAGE / path.parent / path.stem.removeprefix("test_")
    candidates = (place.with_suffix(".py"), place / "__init__.py")
    return next((each for each in candidates if each.exists()), None)


def namesakes_in(package: str) -> Iterator[Path]:
    return (found for path in files_below(TESTS / package) if (found := namesake_of(path)))


@each_row("folder", FOLDERS, str)
def test_each_folder_has_its_place(folder: Path) -> None:
    top = folder.parts[0]
    if top not in OTHER_FOLDERS:
        mirrored = (ROOT if top in OF_THE_REPOSITORY else PACKAGE) / folder
        assert (mirrored / "__init__.py").exists(), f"{mirrored.relative_to(ROOT)} is no package"


def test_each_other_folder_is_there() -> None:
    assert set(OTHER_FOLDERS) <= {folder.parts[0] for folder in FOLDERS}


@pytest.mark.parametrize(("package", "least"), LEAST_NAMESAKES.items())
def test_tests_have_the_names_of_modules(package: str, least: int) -> None:
    found = len(list(namesakes_in(package)))
    assert found * 100 // len(files_below(TESTS / package)) >= least


def test_modules_of_the_broker_have_tests_of_their_name() -> None:
    assert len(set(namesakes_in("broker"))) >= LEAST_BROKER_MODULES
