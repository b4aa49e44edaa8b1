"""The data directory of a platform: what lies where, who runs on it, and the lock that lets only one.

penstock.lock               held by the supervisor while it runs
penstock.json               its processes, for `penstock status` and `penstock down`
config/<service>.properties what each service was started with
logs/<service>.log          what each service writes; older parts in <service>.log.1 to .3
restart/<service>           that it is to be restarted, for as long as the supervisor has not seen it
<service>/                  its data
"""

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.errors import DISK_ERRNOS, ConfigError
from penstock.log_rotation import LARGEST_LOG_BYTES, rotate, set_aside
from penstock.stack.processes import ProcessIdentity

STATE_BLOCK_BYTES = 4096


def default_data_dir() -> Path:
    return Path(os.environ.get("PENSTOCK_HOME") or "~/.penstock").expanduser()


@dataclass(frozen=True, slots=True)
class RunningService:
    """`process` is None while it is down; `ended` is how it ended last, until it answers again."""

    name: str
    kind: str
    host: str
    port: int
    address: str
    process: ProcessIdentity | None
    ended: str | None = None

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.is_alive()


@dataclass(frozen=True, slots=True)
class RunningStack:
    """`services` in the order of their start."""

    supervisor: ProcessIdentity
    ready: bool
    services: tuple[RunningService, ...]


class DataDir:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @property
    def _state_path(self) -> Path:
        return self.path / "penstock.json"

    def config_path(self, service: str) -> Path:
        return self.path / "config" / f"{service}.properties"

    def log_path(self, service: str) -> Path:
        return self.path / "logs" / f"{service}.log"

    def services_with_logs(self) -> list[str]:
        return sorted(path.stem for path in (self.path / "logs").glob("*.log"))

    def create(self) -> None:
        try:
            for directory in (self.path, self.path / "config", self.path / "logs"):
                directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"--data-dir: {self.path} can't be created: {error.strerror}") from None

    def lock(self) -> None:
        """Held until this process ends: the kernel lets go of it even after a kill."""
        try:
            descriptor = os.open(self.path / "penstock.lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise ConfigError(f"--data-dir: {self.path} can't be written: {error.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise ConfigError(self._already_running()) from None
        self._lock = descriptor

    def _already_running(self) -> str:
        stack = self.load()
        owner = f" (pid {stack.supervisor.pid})" if stack else ""
        return (
            f"Penstock already runs on {self.path}{owner}; see `penstock status --data-dir {self.path}`, "
            "stop it with `penstock down`, or choose another --data-dir and --port-offset"
        )

    def save(self, stack: RunningStack) -> None:
        """Written aside and renamed; on a full disk into the blocks that the file has already, which it fills up to
        their end for that: who runs here must be known most of all when the disk is full."""
        text = (json.dumps(asdict(stack), indent=2) + "\n").encode()
        text = text.ljust(-(-len(text) // STATE_BLOCK_BYTES) * STATE_BLOCK_BYTES)
        temporary = self._state_path.with_suffix(".json.tmp")
        try:
            temporary.write_bytes(text)
            temporary.replace(self._state_path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            if error.errno not in DISK_ERRNOS or not self._state_path.exists():
                raise
            _overwrite(self._state_path, text)

    def load(self) -> RunningStack | None:
        """None if nothing was started here, or it was stopped."""
        try:
            fields = json.loads(self._state_path.read_text())
            return RunningStack(
                ProcessIdentity(**fields["supervisor"]),
                fields["ready"],
                tuple(_running_service(each) for each in fields["services"]),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"{self._state_path}: can't be read ({error})") from None

    def forget(self) -> None:
        self._state_path.unlink(missing_ok=True)

    def open_log(self, service: str) -> int:
        """A descriptor to append to; a log that grew too large is set aside first."""
        path = self.log_path(service)
        if path.exists() and path.stat().st_size > LARGEST_LOG_BYTES:
            set_aside(path)
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def rotate_log(self, service: str) -> int:
        """Shortens a log that is being written, if it is too large; by how many bytes."""
        return rotate(self.log_path(service))

    def log_size(self, service: str) -> int:
        path = self.log_path(service)
        return path.stat().st_size if path.exists() else 0

    def log_since(self, service: str, position: int, most_lines: int = 20) -> list[str]:
        """The last lines that were written after `position`."""
        try:
            with self.log_path(service).open("rb") as log:
                log.seek(position)
                text = log.read(1024 * 1024).decode(errors="replace")
        except OSError:
            return []
        return text.splitlines()[-most_lines:]


def _overwrite(path: Path, text: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(descriptor, text.ljust(os.fstat(descriptor).st_size), 0)
    finally:
        os.close(descriptor)


def _running_service(fields: dict[str, Any]) -> RunningService:
    process = fields.pop("process")
    return RunningService(**fields, process=ProcessIdentity(**process) if process is not None else None)
