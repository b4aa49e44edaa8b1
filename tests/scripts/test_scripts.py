"""Runs every golden script; see `tests.scripts.transcript`."""

import importlib
import os
from pathlib import Path

import pytest

from tests.scripts.transcript import Words, check_script

SCRIPTS = sorted(Path(__file__).parent.glob("*/*.txt"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_script(path: Path) -> None:
    subject = path.stem.partition("_")[0]
    words: Words = importlib.import_module(f"tests.scripts.words.{subject}").Words()
    check_script(path, words, update="PENSTOCK_UPDATE_SCRIPTS" in os.environ)
