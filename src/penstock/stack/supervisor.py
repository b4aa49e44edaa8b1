"""The supervisor: starts a process per service, says when all answer, starts again what dies, stops in order.

It is a plain loop without threads or an event loop: it sleeps until a signal comes (a child died, the user
wants to stop) or until the next thing is due (a question to a service that does not answer yet, a restart).
A service that dies before it ever answered has a reason that a restart would not cure, so that its last words
are shown and everything stops. One that dies later is started again, at growing intervals, up to a limit; one whose
disk was full, and one of several brokers, for as long as it takes. The supervisor itself needs no room on that disk.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from penstock.errors import PenstockError
from penstock.stack import restart_requests
from penstock.stack.child import LONGEST_DISK_BACKOFF_S, RESTART_LIMIT, RESTART_WINDOW_S, Child
from penstock.stack.data_dir import DataDir, RunningStack
from penstock.stack.health import count_brokers
from penstock.stack.processes import identify
from penstock.stack.services import Service
from penstock.stack.signals import SignalInbox
from penstock.stack.table_text import table_text

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
ASK_INTERVAL_S = 0.02
ROTATE_INTERVAL_S = 5.0
SUPERVISOR_LOG = "penstock"
"""Its own, in the background."""
READY_LINE = "Penstock is ready"
NEEDED_BY_ALL = ("zookeeper", "broker")


class ServiceFailed(PenstockError):
    """A service does not come up, or not again."""


class Supervisor:
    def __init__(
        self, services: Sequence[Service], data_dir: DataDir, when_ready: Callable[[], None] = lambda: None
    ) -> None:
        self._data_dir = data_dir
        self._children = [Child(service, data_dir) for service in services]
        self._inbox = SignalInbox()
        self._when_ready = when_ready
        self._ready = False
        self._rotate_at = 0.0

    def run(self) -> None:
        """From the start of all services to their end, which a signal asks for. Raises `ServiceFailed`."""
        self._inbox.open()
        restart_requests.take(self._data_dir.path)  # of a life before
        try:
            self._start_all()
            self._announce()
            while not self._inbox.stops:
                self._inbox.wait(self._seconds_to_next_task())
                self._begin_restarts()
                self._tend_children()
                self._maybe_rotate_logs()
        finally:
            self._stop_all()

    def _start_all(self) -> None:
        for children in self._in_turns():
            for child in children:
                child.start()
                self._save()
            self._wait_for_answers(children)
            self._wait_until_brokers_meet(children)

    def _in_turns(self) -> list[list[Child]]:
        """All at once; but several brokers have to be there before others make topics with replicas on them."""
        if len(self._brokers(self._children)) < 2:
            return [self._children]
        first = [child for child in self._children if child.service.kind in NEEDED_BY_ALL]
        return [first, [child for child in self._children if child not in first]]

    def _brokers(self, children: Sequence[Child]) -> list[Child]:
        return [child for child in children if child.service.kind == "broker"]

    def _wait_until_brokers_meet(self, children: Sequence[Child]) -> None:
        brokers = self._brokers(children)
        deadline = time.monotonic() + START_TIMEOUT_S
        while len(brokers) > 1 and not self._inbox.stops:
            if all(
                count_brokers(each.service.connect_host, each.service.port) >= len(brokers)
                for each in brokers
            ):
                return
            for child in brokers:
                _refuse_to_wait_for(child, deadline)
            self._inbox.wait(ASK_INTERVAL_S)

    def _wait_for_answers(self, children: Sequence[Child]) -> None:
        """One that says that it is loading is waited for, and so are those that need it: what of them gave up before
        is started again."""
        deadline = time.monotonic() + START_TIMEOUT_S
        is_loading = False
        while not self._inbox.stops:
            silent = [child for child in children if not child.check_answer()]
            if not silent:
                return
            if self._hear_of_loading(silent):
                is_loading, deadline = True, time.monotonic() + START_TIMEOUT_S
            for child in silent:
                if child.start_again_at is not None:
                    self._maybe_start_again(child)
                elif is_loading and child.has_died() and child is not silent[0]:
                    self._on_death(child)
                else:
                    _refuse_to_wait_for(child, deadline)
            self._inbox.wait(ASK_INTERVAL_S)

    def _hear_of_loading(self, silent: Sequence[Child]) -> bool:
        news = [(child, said) for child in silent if (said := child.news_of_loading()) is not None]
        for child, said in news:
            _say(f"{child.service.name} is {said}")
        return bool(news)

    def _announce(self) -> None:
        if self._inbox.stops:
            return
        self._ready = True
        self._save()
        print(self._table(), flush=True)
        self._when_ready()
        print(READY_LINE, flush=True)

    def _table(self) -> str:
        rows = [
            (
                child.service.name,
                child.service.address,
                str(child.pid),
                str(self._data_dir.log_path(child.service.name)),
            )
            for child in self._children
        ]
        return table_text(("SERVICE", "ADDRESS", "PID", "LOG"), rows)

    def _seconds_to_next_task(self) -> float:
        if any(child.is_running() and not child.answered for child in self._children):
            return ASK_INTERVAL_S
        due = [at for child in self._children for at in child.due_times()]
        return max(0.0, min([*due, self._rotate_at]) - time.monotonic())

    def _begin_restarts(self) -> None:
        wanted = restart_requests.take(self._data_dir.path)
        for child in self._children:
            if child.service.name in wanted and child.to_be_gone_at is None:
                _say(f"restarting {child.service.name} (pid {child.pid}), as asked")
                child.begin_restart(STOP_TIMEOUT_S)

    def _tend_children(self) -> None:
        for child in self._children:
            if child.to_be_gone_at is not None:
                self._tend_restart(child, child.to_be_gone_at)
            elif child.start_again_at is not None:
                self._maybe_start_again(child)
            elif child.has_died():
                self._on_death(child)
            elif not child.answered and child.check_answer():
                _say(f"{child.service.name} answers again (pid {child.pid})")
            if child.maybe_forget_end():
                self._save()

    def _tend_restart(self, child: Child, to_be_gone_at: float) -> None:
        if self._inbox.stops:
            return
        if not child.is_running():
            self._start_again(child)
        elif time.monotonic() > to_be_gone_at:
            _say(f"{child.service.name} (pid {child.pid}) does not stop; killing it")
            child.send(signal.SIGKILL)
            child.to_be_gone_at = time.monotonic() + STOP_TIMEOUT_S

    def _maybe_rotate_logs(self) -> None:
        if time.monotonic() < self._rotate_at:
            return
        for child in self._children:
            child.rotate_log()
        self._data_dir.rotate_log(SUPERVISOR_LOG)
        self._rotate_at = time.monotonic() + ROTATE_INTERVAL_S

    def _on_death(self, child: Child) -> None:
        if self._inbox.stops:
            return
        backoff = child.schedule_restart(
            gives_up=len(self._brokers(self._children)) < 2 or child.service.kind != "broker"
        )
        if backoff is None:
            raise _failure(child, f"died more than {RESTART_LIMIT} times in {RESTART_WINDOW_S:.0f} seconds")
        how = child.note_end()
        self._save()
        _say(f"{child.service.name} (pid {child.pid}) {how}; starting it again in {backoff:.1f} s")

    def _maybe_start_again(self, child: Child) -> None:
        assert child.start_again_at is not None
        if time.monotonic() >= child.start_again_at:
            self._start_again(child)

    def _start_again(self, child: Child) -> None:
        try:
            child.start()
        except OSError as error:
            child.start_again_after(LONGEST_DISK_BACKOFF_S)
            _say(f"{child.service.name} can't be started, it is tried again: {error}")
        self._save()

    def _save(self) -> None:
        supervisor = identify(os.getpid())
        assert supervisor is not None
        running = (child.as_running_service() for child in self._children)
        services = tuple(service for service in running if service is not None)
        self._data_dir.save(RunningStack(supervisor, self._ready, services))

    def _stop_all(self) -> None:
        """The opposite order of the start, so that a broker can still say goodbye to ZooKeeper."""
        for child in reversed(self._children):
            self._stop(child)
        self._data_dir.forget()

    def _stop(self, child: Child) -> None:
        deadline = time.monotonic() + STOP_TIMEOUT_S
        stops = self._inbox.stops
        child.send(signal.SIGTERM)
        while child.is_running():
            if time.monotonic() > deadline or self._inbox.stops > max(stops, 1):
                _say(f"{child.service.name} (pid {child.pid}) does not stop; killing it")
                child.send(signal.SIGKILL)
                deadline = time.monotonic() + STOP_TIMEOUT_S
                stops = self._inbox.stops
            self._inbox.wait(0.1)


def _refuse_to_wait_for(child: Child, deadline: float) -> None:
    if child.has_died():
        raise _failure(child, f"ended with {child.how_it_ended()} before it answered")
    if time.monotonic() > deadline:
        raise _failure(child, f"does not answer after {START_TIMEOUT_S:.0f} seconds")


def _failure(child: Child, what: str) -> ServiceFailed:
    words = "".join(f"\n    {line}" for line in child.last_words())
    said = f" Its last words:{words}" if words else ""
    return ServiceFailed(f"{child.service.name} {what}.{said}")


def _say(text: str) -> None:
    with suppress(OSError):  # a log on a full disk
        print(f"penstock: {text}", file=sys.stderr, flush=True)
