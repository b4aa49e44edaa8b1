"""A local S3 server, moto's, as a process of its own."""

from __future__ import annotations

import http.client
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyarrow.fs import S3FileSystem

from tests.support.processes import Process, free_port


class S3Server:
    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def configs(self, bucket: str) -> dict[str, str]:
        """Of a lake connector."""
        return {
            "s3.bucket.name": bucket,
            "store.url": self.url,
            "aws.access.key.id": "tester",
            "aws.secret.access.key": "secret",
        }

    def create_bucket(self, name: str) -> None:
        assert self.request("PUT", f"/{name}")[0] == 200

    def read(self, path: str) -> bytes:
        server = S3FileSystem(
            access_key="tester",
            secret_key="secret",
            endpoint_override=f"127.0.0.1:{self.port}",
            scheme="http",
        )
        with server.open_input_stream(path) as file:
            return bytes(file.read())

    def request(self, method: str, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def is_up(self) -> bool:
        try:
            return self.request("GET", "/")[0] == 200
        except OSError:
            return False


@contextmanager
def running_s3(folder: Path, port: int | None = None) -> Iterator[S3Server]:
    port = port or free_port()
    argv = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with Process(argv, folder / "s3.log") as process:
        server = S3Server(port)
        process.wait_until(server.is_up, 120, "the S3 server")
        yield server
