from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.s3_server import S3Server, running_s3
from tools.suite.processes import starts_processes


@pytest.fixture(scope="package")
@starts_processes
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with running_s3(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.processes)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | dict[str, str]:
    """A folder, or the settings of a bucket."""
    if request.param == "folder":
        return tmp_path
    server: S3Server = request.getfixturevalue("s3")
    bucket = f"lake-{uuid.uuid4()}"
    server.create_bucket(bucket)
    return server.configs(bucket)
