"""A running platform seen from another shell: its health, and how to stop it."""

import signal
from dataclasses import dataclass

from penstock.errors import PenstockError
from penstock.stack.data_dir import DataDir, RunningService, RunningStack
from penstock.stack.health import answers
from penstock.stack.processes import ProcessIdentity

STOP_TIMEOUT_S = 30.0
SUPERVISOR_STOP_TIMEOUT_S = 90.0


class StopFailed(PenstockError):
    """A process survives even SIGKILL."""


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    name: str
    kind: str
    address: str
    pid: int
    healthy: bool


def status_of(data_dir: DataDir) -> list[ServiceStatus]:
    """The services of the data directory; none if nothing runs there."""
    stack = data_dir.load()
    if stack is None or not (stack.supervisor.is_alive() or _survivors(stack)):
        return []
    return [
        ServiceStatus(service.name, service.kind, service.address, service.process.pid, _is_healthy(service))
        for service in stack.services
    ]


def _is_healthy(service: RunningService) -> bool:
    return service.process.is_alive() and answers(service.kind, service.host, service.port)


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
        _stop_process(service.name, service.process)
    data_dir.forget()
    return bool(survivors)


def _survivors(stack: RunningStack) -> list[RunningService]:
    return [service for service in stack.services if service.process.is_alive()]


def _stop_process(name: str, process: ProcessIdentity) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not process.send(number) or process.wait_until_gone(STOP_TIMEOUT_S):
            return
    raise StopFailed(f"{name} (pid {process.pid}) does not stop")
