"""Where Delta tables are and how they are reached, by delta-rs (the package `deltalake`, of the extra `delta`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.connectors.lake.delta_flush import flush_commits
from penstock.pipeline.connect.connectors.lake.file_systems import CONNECT_SECONDS, REQUEST_SECONDS
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

S3_RETRIES: Final = 3
"""Of one request; then the task tries again."""

_LASTING: Final = re.compile(
    r"PermissionDenied|Permission denied|NotADirectory|Not a directory|AccessDenied|NoSuchBucket|InvalidAccessKeyId"
    r"|SignatureDoesNotMatch"
)
_PASSING: Final = re.compile(r"Generic (S3|LocalFileSystem) error|No space left|File too large|os error")
_COLOURS: Final = re.compile("\x1b\\[[0-9;]*m")
_BACKTRACE: Final = re.compile(r"\s+0: (<unknown>|\w+::|\w+\n).*", re.DOTALL)


class CommitConflict(Exception):
    """Somebody else has committed what this commit did not know of: it has to look again."""


@dataclass(frozen=True, slots=True)
class DeltaPlace:
    """A folder with one table for each topic."""

    root: str
    options: Mapping[str, str] = field(default_factory=dict)

    def opened(self, topic: str) -> Any | None:
        """As it is now; None if there is no table."""
        from deltalake import DeltaTable

        uri = self.uri(topic)
        with delta_errors(f"cannot read the table {uri}"):
            if not DeltaTable.is_deltatable(uri, storage_options=dict(self.options)):
                return None
            return DeltaTable(uri, storage_options=dict(self.options))

    def create(self, topic: str, schema: Any, partition_by: Sequence[str]) -> None:
        """If two do so, the first one wins."""
        from deltalake import DeltaTable

        uri = self.uri(topic)
        with delta_errors(f"cannot create the table {uri}"):
            DeltaTable.create(
                uri,
                schema,
                mode="ignore",
                partition_by=list(partition_by),
                name=topic,
                storage_options=dict(self.options),
            )

    def flush(self, topic: str, first: int, last: int) -> None:
        """These versions; a store of objects has them when it says so."""
        if not self.root.startswith("s3://"):
            with delta_errors(f"cannot flush the table {self.uri(topic)}"):
                flush_commits(Path(self.uri(topic)), first, last)

    def uri(self, topic: str) -> str:
        return f"{self.root}/{topic}"


def delta_place_of(settings: Mapping[str, Any]) -> DeltaPlace:
    path = settings["store.path"]
    if settings["s3.bucket.name"]:
        path = f"s3://{settings['s3.bucket.name']}"
    is_s3 = path.startswith("s3://")
    folder = path if is_s3 else path.removeprefix("file://").removeprefix("file:")
    root = "/".join(filter(None, (folder.rstrip("/"), settings["topics.dir"].strip("/"))))
    return DeltaPlace(root, _s3_options(settings) if is_s3 else {})


def _s3_options(settings: Mapping[str, Any]) -> dict[str, str]:
    """A commit is a put that says "only if it is not there", which S3 has had since 2024."""
    secret, url = settings["aws.secret.access.key"], settings["store.url"]
    options = {
        "aws_region": settings["s3.region"],
        "aws_conditional_put": "etag",
        "connect_timeout": f"{CONNECT_SECONDS:.0f}s",
        "timeout": f"{REQUEST_SECONDS:.0f}s",
        "max_retries": str(S3_RETRIES),
    }
    if settings["aws.access.key.id"]:
        options["aws_access_key_id"] = settings["aws.access.key.id"]
        options["aws_secret_access_key"] = secret.reveal() if secret else ""
    if url:
        options["aws_endpoint_url"] = url if "://" in url else f"https://{url}"
        options["aws_allow_http"] = "true"
    return options


def require_delta_place(settings: Mapping[str, Any]) -> None:
    path = str(settings["store.path"])
    if not settings["s3.bucket.name"] and "://" in path and not path.startswith(("s3://", "file://")):
        raise ConfigError(
            f"store.path: got {path!r}; with format.class=delta it takes a folder or s3://bucket/..."
        )


def require_delta_package(settings: Mapping[str, Any]) -> None:
    if find_spec("deltalake") is None:
        raise ConfigError("format.class: delta needs the package deltalake; pip install 'penstock[delta]'")


@contextmanager
def delta_errors(doing: str) -> Iterator[None]:
    """A store that cannot be reached and a full disk pass; whatever else there is lasts."""
    from deltalake.exceptions import CommitFailedError

    try:
        yield
    except CommitFailedError as error:
        raise CommitConflict(f"{doing}: {_line(error)}") from error
    except Exception as error:  # delta-rs raises plain ones too
        text = _line(error)
        is_passing = isinstance(error, OSError) or _PASSING.search(text)
        kind = RetriableConnectError if is_passing and not _LASTING.search(text) else ConnectError
        raise kind(f"{doing}: {text}") from error


def _line(error: Exception) -> str:
    text = _BACKTRACE.sub("", _COLOURS.sub("", str(error)))
    return " ".join(text.replace("↳", ":").split())
