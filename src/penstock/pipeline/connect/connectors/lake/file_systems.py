"""Where the files lie: a folder, `s3://bucket/...`, `hdfs://...`, or whatever else pyarrow reaches."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

CONNECT_SECONDS: Final = 5.0
REQUEST_SECONDS: Final = 30.0

_LASTING: Final = re.compile(
    r"AWS Error (ACCESS_DENIED|NO_SUCH_BUCKET|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH)"
)
_NO_LINKS: Final = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)


class Files:
    """A place and the paths below it. Errors leave as ConnectErrors: retriable, since disks and stores come back."""

    def __init__(self, file_system: Any, root: str) -> None:
        self._fs = file_system
        self.root = root.rstrip("/")
        self._has_folders = file_system.type_name != "s3"

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def write(self, name: str, data: bytes) -> None:
        """All of it or nothing, under its name."""
        with _errors(f"cannot write {self.path(name)}"):
            self._make_parent(name)
            hidden = f"{name}.tmp"
            self._store(hidden, data)
            self._rename(hidden, name)

    def create(self, name: str, data: bytes) -> bool:
        """As `write`, but False if the name is taken. Where the store has no such call, two that ask in the same
        instant may both be told True."""
        if self.exists(name):
            return False
        self.write(name, data)
        return True

    def read(self, name: str) -> bytes:
        with _errors(f"cannot read {self.path(name)}"), self._fs.open_input_stream(self.path(name)) as file:
            return bytes(file.read())

    def open(self, name: str) -> Any:
        with _errors(f"cannot read {self.path(name)}"):
            return self._fs.open_input_file(self.path(name))

    def move(self, name: str, target: str) -> None:
        """Nothing if there is no such file: then it was moved before."""
        with _errors(f"cannot move {self.path(name)} to {self.path(target)}"):
            if self.exists(name):
                self._make_parent(target)
                self._rename(name, target)

    def delete(self, name: str) -> None:
        with _errors(f"cannot delete {self.path(name)}"):
            if self.exists(name):
                self._fs.delete_file(self.path(name))

    def exists(self, name: str) -> bool:
        from pyarrow.fs import FileType

        with _errors(f"cannot look at {self.path(name)}"):
            return bool(self._fs.get_file_info(self.path(name)).type == FileType.File)

    def sizes(self, folder: str) -> dict[str, int]:
        """All files in a folder and below, by name, sorted; none where it is not there."""
        from pyarrow.fs import FileSelector, FileType

        with _errors(f"cannot list {self.path(folder)}"):
            selector = FileSelector(self.path(folder).rstrip("/"), allow_not_found=True, recursive=True)
            found = self._fs.get_file_info(selector)
        start = len(self.root) + 1
        return {
            each.path[start:]: each.size for each in sorted(found, key=_path) if each.type == FileType.File
        }

    def folders(self, folder: str) -> list[str]:
        """The names of those right in a folder; none where it is not there."""
        from pyarrow.fs import FileSelector, FileType

        with _errors(f"cannot list {self.path(folder)}"):
            found = self._fs.get_file_info(FileSelector(self.path(folder).rstrip("/"), allow_not_found=True))
        return sorted(each.base_name for each in found if each.type == FileType.Directory)

    def _store(self, name: str, data: bytes) -> None:
        with self._fs.open_output_stream(self.path(name)) as out:
            out.write(data)

    def _rename(self, name: str, target: str) -> None:
        self._fs.move(self.path(name), self.path(target))

    def _make_parent(self, name: str) -> None:
        if self._has_folders:
            self._fs.create_dir(self.path(name).rpartition("/")[0], recursive=True)


class LocalFiles(Files):
    """Flushed to the disk, file and folder, so that they outlast a power failure too."""

    def create(self, name: str, data: bytes) -> bool:
        with _errors(f"cannot write {self.path(name)}"):
            self._make_parent(name)
            hidden = f"{name}.{os.getpid()}.tmp"
            self._store(hidden, data)
            try:
                os.link(self.path(hidden), self.path(name))
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                return super().create(name, data)
            finally:
                os.unlink(self.path(hidden))
            self._flush_folder(name)
            return True

    def _store(self, name: str, data: bytes) -> None:
        with open(self.path(name), "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())

    def _rename(self, name: str, target: str) -> None:
        os.replace(self.path(name), self.path(target))
        self._flush_folder(target)

    def _flush_folder(self, name: str) -> None:
        folder = os.open(os.path.dirname(self.path(name)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _path(info: Any) -> str:
    return str(info.path)


@contextmanager
def _errors(doing: str) -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (OSError, ArrowException) as error:
        text = " ".join(str(error).split())
        is_lasting = isinstance(error, PermissionError | NotADirectoryError | IsADirectoryError)
        kind = ConnectError if is_lasting or _LASTING.search(text) else RetriableConnectError
        raise kind(f"{doing}: {text}") from error


def files_of(settings: Mapping[str, Any]) -> Files:
    """Those of `store.path`, or of a bucket as Confluent's S3 sink names it."""
    path = settings["store.path"]
    if settings["s3.bucket.name"]:
        path = f"s3://{settings['s3.bucket.name']}"
    if path.startswith("s3://"):
        return _s3(settings, path.removeprefix("s3://"))
    if "://" in path and not path.startswith("file://"):
        return _of_uri(path)
    from pyarrow.fs import LocalFileSystem

    return LocalFiles(LocalFileSystem(), path.removeprefix("file://").removeprefix("file:"))


def _of_uri(path: str) -> Files:
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem

    try:
        return Files(*FileSystem.from_uri(path))
    except (ArrowException, OSError, ValueError) as error:
        raise ConfigError(f"store.path: got {path!r}: {' '.join(str(error).split())}") from error


def _s3(settings: Mapping[str, Any], root: str) -> Files:
    from pyarrow.fs import S3FileSystem

    secret = settings["aws.secret.access.key"]
    endpoint = settings["store.url"]
    options: dict[str, Any] = {
        "region": settings["s3.region"],
        "connect_timeout": CONNECT_SECONDS,
        "request_timeout": REQUEST_SECONDS,
    }
    if settings["aws.access.key.id"]:
        options |= {
            "access_key": settings["aws.access.key.id"],
            "secret_key": secret.reveal() if secret else "",
        }
    if endpoint:
        scheme, _, host = endpoint.rpartition("://")
        options |= {"endpoint_override": host.rstrip("/"), "scheme": scheme or "https"}
    return Files(S3FileSystem(**options), root)
