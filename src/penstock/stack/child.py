"""One service's process, and when to start it again after it died."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from penstock.stack.data_dir import DataDir, RunningService
from penstock.stack.health import answers
from penstock.stack.processes import identify
from penstock.stack.services import Service

RESTART_LIMIT = 5
RESTART_WINDOW_S = 60.0
FIRST_BACKOFF_S = 0.1
LONGEST_BACKOFF_S = 5.0
OWNER_ONLY = 0o600


class Child:
    def __init__(self, service: Service, data_dir: DataDir) -> None:
        self.service = service
        self.answered = False
        self.start_again_at: float | None = None
        self.to_be_gone_at: float | None = None
        """While it is being restarted: when it is killed, if it has not ended by then."""
        self._data_dir = data_dir
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths: list[float] = []
        self._log_start = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        config = self._data_dir.config_path(self.service.name)
        write_properties(config, self.service.properties)
        log = self._data_dir.open_log(self.service.name)
        self._log_start = self._data_dir.log_size(self.service.name)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.service.module, str(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in a terminal reaches the supervisor only
            )
        finally:
            os.close(log)
        self.answered = False
        self.start_again_at = self.to_be_gone_at = None

    def begin_restart(self, patience_s: float) -> None:
        """Whoever is asked to end has not died."""
        self._deaths.clear()
        if self.is_running():
            self.send(signal.SIGTERM)
            self.to_be_gone_at = time.monotonic() + patience_s
        else:
            self.start_again_at = time.monotonic()

    def has_died(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def check_answer(self) -> bool:
        """Whether it answers, or has since its start."""
        if not self.answered and not self.has_died():
            self.answered = answers(self.service.kind, self.service.connect_host, self.service.port)
        return self.answered

    def schedule_restart(self) -> float | None:
        """Seconds until the next start; None if it died too often."""
        now = time.monotonic()
        self._deaths = [death for death in self._deaths if death > now - RESTART_WINDOW_S] + [now]
        if len(self._deaths) > RESTART_LIMIT:
            return None
        backoff: float = min(FIRST_BACKOFF_S * 2.0 ** (len(self._deaths) - 1), LONGEST_BACKOFF_S)
        self.start_again_at = now + backoff
        return backoff

    def how_it_ended(self) -> str:
        assert self._process is not None
        code = self._process.returncode
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def last_words(self) -> list[str]:
        """What its log says since its start."""
        return self._data_dir.log_since(self.service.name, self._log_start)

    def send(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def as_running_service(self) -> RunningService | None:
        process = identify(self.pid) if self.pid is not None else None
        if process is None:
            return None
        service = self.service
        return RunningService(
            service.name, service.kind, service.connect_host, service.port, service.address, process
        )


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    lines = (f"{name}={value.replace(chr(92), chr(92) * 2)}\n" for name, value in properties.items())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY), "w") as file:
        os.fchmod(file.fileno(), OWNER_ONLY)
        file.write("# Written by `penstock up` at every start.\n" + "".join(lines))
