"""One service's process, and when to start it again after it died."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from penstock.errors import DISK_EXIT_CODE
from penstock.stack.data_dir import DataDir, RunningService
from penstock.stack.health import answers
from penstock.stack.processes import identify
from penstock.stack.services import Service

RESTART_LIMIT = 5
RESTART_WINDOW_S = 60.0
FIRST_BACKOFF_S = 0.1
LONGEST_BACKOFF_S = 5.0
LONGEST_DISK_BACKOFF_S = 10.0
"""Between tries of a service whose disk is full, which may last for hours."""
CALM_AFTER_DISK_S = 10.0
"""A service whose disk was full has to answer for so long before that is forgotten: the first record that does not fit
may come only now."""
LOADING = "loading logs: "
NEWS_INTERVAL_S = 0.5
SHOWN_REASON = 300
"""Characters."""
_LOG_PREFIX = re.compile(r"^\d{4}-\S+ \S+ [A-Z]+ \S+: ")
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
        self._disk_deaths: list[float] = []
        self._log_start = 0
        self._news: str | None = None
        self._asked_at = 0.0
        self.ended: str | None = None
        """How it ended last, until it answers again."""
        self.ended_for_its_disk_before = False
        self.forget_end_at: float | None = None

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
        self.start_again_at = self.to_be_gone_at = self._news = None
        self._asked_at = time.monotonic()

    def begin_restart(self, patience_s: float) -> None:
        """Whoever is asked to end has not died."""
        self._deaths.clear()
        if self.is_running():
            self.send(signal.SIGTERM)
            self.to_be_gone_at = time.monotonic() + patience_s
        else:
            self.start_again_at = time.monotonic()

    def due_times(self) -> list[float]:
        """When there will be something to do for it."""
        times = (self.start_again_at, self.to_be_gone_at, self.forget_end_at)
        return [time for time in times if time is not None]

    def has_died(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def check_answer(self) -> bool:
        """Whether it answers, or has since its start."""
        if not self.answered and not self.has_died():
            self.answered = answers(self.service.kind, self.service.connect_host, self.service.port)
            if self.answered and self.ended is not None:
                wait_s = CALM_AFTER_DISK_S if self.ended_for_its_disk_before else 0.0
                self.forget_end_at = time.monotonic() + wait_s
        return self.answered

    def maybe_forget_end(self) -> bool:
        """Whether its last end is news no more."""
        if self.forget_end_at is None or time.monotonic() < self.forget_end_at:
            return False
        self.forget_end_at = self.ended = None
        return True

    def schedule_restart(self, *, gives_up: bool = True) -> float | None:
        """Seconds until the next start; None if it died too often, and `gives_up` then. A disk that is full or fails is
        waited for."""
        now = time.monotonic()
        if self.ended_for_its_disk:
            self._disk_deaths = _recent(self._disk_deaths, now)
            return self.start_again_after(backoff(len(self._disk_deaths), LONGEST_DISK_BACKOFF_S))
        self._deaths = _recent(self._deaths, now)
        if len(self._deaths) > RESTART_LIMIT and gives_up:
            return None
        return self.start_again_after(backoff(len(self._deaths), LONGEST_BACKOFF_S))

    def start_again_after(self, seconds: float) -> float:
        self.to_be_gone_at = None
        self.start_again_at = time.monotonic() + seconds
        return seconds

    @property
    def ended_for_its_disk(self) -> bool:
        return self._process is not None and self._process.returncode == DISK_EXIT_CODE

    def note_end(self) -> str:
        """How it ended, and if its disk is the reason, what it said of it: that may be cut short, or be nothing,
        where its log lies on the same disk."""
        assert self._process is not None
        self.forget_end_at = None
        self.ended_for_its_disk_before = self.ended_for_its_disk
        if not self.ended_for_its_disk:
            self.ended = f"ended with {self.how_it_ended()}"
            return self.ended
        told = [line for line in self.last_words() if "can't" in line or "No space left" in line]
        said = f": {_LOG_PREFIX.sub('', told[-1])[:SHOWN_REASON]}" if told else ""
        self.ended = f"ended: its disk is full or fails{said}"
        return self.ended

    def how_it_ended(self) -> str:
        assert self._process is not None
        code = self._process.returncode
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def rotate_log(self) -> None:
        self._log_start = max(0, self._log_start - self._data_dir.rotate_log(self.service.name))

    def news_of_loading(self) -> str | None:
        """What it has said, since it was asked last, of how far its start has come."""
        if time.monotonic() < self._asked_at + NEWS_INTERVAL_S:
            return None
        self._asked_at = time.monotonic()
        said = next((line for line in reversed(self.last_words()) if LOADING in line), None)
        if said is None or said == self._news:
            return None
        self._news = said
        return said[said.index(LOADING) :]

    def last_words(self) -> list[str]:
        """What its log says since its start."""
        return self._data_dir.log_since(self.service.name, self._log_start)

    def send(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def as_running_service(self) -> RunningService | None:
        """None before its first start."""
        if self.pid is None:
            return None
        service = self.service
        return RunningService(
            service.name,
            service.kind,
            service.connect_host,
            service.port,
            service.address,
            identify(self.pid),
            self.ended,
        )


def backoff(deaths: int, longest_s: float) -> float:
    return min(FIRST_BACKOFF_S * 2.0 ** (deaths - 1), longest_s)


def _recent(deaths: list[float], now: float) -> list[float]:
    return [death for death in deaths if death > now - RESTART_WINDOW_S] + [now]


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Leaves a file alone that says it already: there may be no room to write it anew."""
    lines = (f"{name}={value.replace(chr(92), chr(92) * 2)}\n" for name, value in properties.items())
    text = "# Written by `penstock up` at every start.\n" + "".join(lines)
    if path.exists() and path.read_text() == text and path.stat().st_mode & 0o777 == OWNER_ONLY:
        return
    aside = path.with_name(path.name + ".tmp")
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY), "w") as file:
            os.fchmod(file.fileno(), OWNER_ONLY)
            file.write(text)
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
