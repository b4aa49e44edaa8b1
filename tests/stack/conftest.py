from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.stack.platform import Up, free_port_offset, penstock


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    penstock("down", "--data-dir", str(tmp_path / "data"))


@pytest.fixture
def offset() -> str:
    return str(free_port_offset())


@pytest.fixture
def start_up() -> Iterator[Callable[..., Up]]:
    started: list[Up] = []

    def start(*words: str) -> Up:
        started.append(Up(*words))
        return started[-1]

    yield start
    for up in reversed(started):
        up.close()
