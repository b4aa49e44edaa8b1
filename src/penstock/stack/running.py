"""A running platform seen from another shell: its health, and how to stop it."""

import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.errors import ConfigError, PenstockError
from penstock.stack import restart_requests
from penstock.stack.data_dir import DataDir, RunningService, RunningStack
from penstock.stack.health import answers, complaint
from penstock.stack.processes import ProcessIdentity
from penstock.stack.replicas import not_in_sync
from penstock.stack.services import broker_number

STOP_TIMEOUT_S = 30.0
SUPERVISOR_STOP_TIMEOUT_S = 90.0
RESTART_TIMEOUT_S = 90.0
IN_SYNC_TIMEOUT_S = 300.0
LOOK_EVERY_S = 0.05


class StopFailed(PenstockError):
    """A process survives even SIGKILL."""


class RestartFailed(PenstockError):
    """There is no supervisor to ask, or the service does not answer again."""


@dataclass(frozen=True, slots=True)
class Restarted:
    name: str
    address: str
    old_pid: int | None
    new_pid: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """`reason` says what is wrong with one that is not healthy; one that is down has no pid."""

    name: str
    kind: str
    address: str
    pid: int | None
    healthy: bool
    reason: str | None = None


def status_of(data_dir: DataDir) -> list[ServiceStatus]:
    """The services of the data directory; none if nothing runs there."""
    stack = data_dir.load()
    if stack is None or not (stack.supervisor.is_alive() or _survivors(stack)):
        return []
    return [_status(service, stack.supervisor.is_alive()) for service in stack.services]


def _status(service: RunningService, is_supervised: bool) -> ServiceStatus:
    reason = _what_is_wrong(service, is_supervised)
    pid = service.process.pid if service.process is not None and service.is_alive else None
    return ServiceStatus(service.name, service.kind, service.address, pid, reason is None, reason)


def _what_is_wrong(service: RunningService, is_supervised: bool) -> str | None:
    if not service.is_alive:
        comes_back = ", and is started again" if is_supervised else ""
        return f"{service.ended or 'has ended'}{comes_back}"
    before = f"; before, it {service.ended}" if service.ended else ""
    if _answers(service):
        said = complaint(service.kind, service.host, service.port)
        return f"answers for a moment only{before}" if before and said is None else said
    return f"does not answer{before}"


def _answers(service: RunningService) -> bool:
    return service.is_alive and answers(service.kind, service.host, service.port)


def stop(data_dir: DataDir) -> bool:
    """Stops what runs on the data directory, and waits for its end. False if nothing runs there."""
    stack = data_dir.load()
    if stack is None:
        return False
    if stack.supervisor.send(signal.SIGTERM):
        if not stack.supervisor.wait_until_gone(SUPERVISOR_STOP_TIMEOUT_S):
            raise StopFailed(f"the supervisor (pid {stack.supervisor.pid}) does not stop")
        return True
    return stop_survivors(data_dir)


def stop_survivors(data_dir: DataDir) -> bool:
    """Stops services whose supervisor was killed. False if there are none."""
    stack = data_dir.load()
    survivors = _survivors(stack) if stack else []
    for service in reversed(survivors):
        assert service.process is not None
        _stop_process(service.name, service.process)
    data_dir.forget()
    return bool(survivors)


def _survivors(stack: RunningStack) -> list[RunningService]:
    return [service for service in stack.services if service.is_alive]


def _stop_process(name: str, process: ProcessIdentity) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not process.send(number) or process.wait_until_gone(STOP_TIMEOUT_S):
            return
    raise StopFailed(f"{name} (pid {process.pid}) does not stop")


def restart(data_dir: DataDir, wanted: str) -> Iterator[Restarted]:
    """Has the supervisor restart a service, and waits until that answers. Of several of a kind, one after the other:
    the next one begins when no replica is missing any more but its own."""
    stack = data_dir.load()
    if stack is None or not stack.supervisor.is_alive():
        raise RestartFailed(f"Penstock does not run on {data_dir.path}; start it with `penstock up`")
    if not stack.ready:
        raise RestartFailed(f"Penstock on {data_dir.path} is still starting")
    services = _services(stack, wanted)
    for service in services:
        if len(services) > 1:
            _wait_for_replicas(services, service)
        yield _restart(data_dir, stack.supervisor, service)


def _wait_for_replicas(brokers: Sequence[RunningService], next_one: RunningService) -> None:
    bootstrap = ",".join(broker.address for broker in brokers)
    but_for = broker_number(next_one.name)
    assert but_for is not None, "there are several brokers only"
    deadline = time.monotonic() + IN_SYNC_TIMEOUT_S
    while missing := not_in_sync(bootstrap, but_for):
        if time.monotonic() > deadline:
            raise RestartFailed(
                f"{next_one.name} is left alone: after {IN_SYNC_TIMEOUT_S:.0f} s others still lack replicas of "
                f"{len(missing)} partitions, {missing[0]} for one"
            )
        time.sleep(LOOK_EVERY_S)


def _restart(data_dir: DataDir, supervisor: ProcessIdentity, service: RunningService) -> Restarted:
    before = service.process
    began_at = time.monotonic()
    restart_requests.ask(data_dir.path, service.name)
    supervisor.send(restart_requests.WAKES)
    while (left := RESTART_TIMEOUT_S - (time.monotonic() - began_at)) > 0:
        time.sleep(min(LOOK_EVERY_S, left))
        if (stack := data_dir.load()) is None:
            break
        again = next((each for each in stack.services if each.name == service.name), None)
        if again is not None and again.process != before and _answers(again):
            assert again.process is not None
            old_pid = before.pid if before is not None else None
            took = time.monotonic() - began_at
            return Restarted(service.name, service.address, old_pid, again.process.pid, took)
    raise RestartFailed(f"{service.name} does not answer again; see `penstock logs {service.name}`")


def _services(stack: RunningStack, wanted: str) -> list[RunningService]:
    """The one of this name, or all of this kind."""
    found = [service for service in stack.services if wanted in (service.name, service.kind)]
    if found:
        return found
    names = ", ".join(service.name for service in stack.services)
    raise ConfigError(f"got {wanted!r}; the services that run are {names}")
