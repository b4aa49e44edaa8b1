from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.s3_server import S3Server, running_s3


@pytest.fixture(scope="package")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with running_s3(tmp_path_factory.mktemp("s3")) as server:
        yield server
