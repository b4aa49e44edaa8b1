"""Several machines, as a page about a cluster has them: each an address of the loopback network and a folder.

A page says `kafka1$ COMMAND`, and shows what comes. Names of machines stand for addresses, and fixed paths lie in the
machine's folder. `systemctl` is played: what it would have done is done to a process of the test.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.notes.shell import install_scripts
from tests.support.namespaces import Namespace, network_namespace
from tests.support.processes import Process, wait_for
from tests.zookeeper.java_client import JVM_FLAGS, class_path

PATIENCE_SECONDS = 90.0
FIXED_PATHS = ("/var/lib", "/disk")
PROMPT = re.compile(r"^(kafka\d)\$ ", re.MULTILINE)
ZOOKEEPER = [
    "java",
    *JVM_FLAGS,
    "-cp",
    "{class_path}",
    "org.apache.zookeeper.server.quorum.QuorumPeerMain",
    "zoo.cfg",
]


class Step(NamedTuple):
    machine: str
    command: str
    shown: str


def steps_in(page: str) -> list[Step]:
    """What is typed on which machine, in the page's order, and what it says."""
    found = []
    for session in re.findall(r"```\n(kafka\d\$ .*?)```", page, flags=re.DOTALL):
        _, *parts = PROMPT.split(session)
        for machine, part in zip(parts[::2], parts[1::2], strict=True):
            command, _, shown = part.partition("\n")
            found.append(Step(machine, command, shown))
    return found


def files_in(page: str) -> dict[str, str]:
    """What the page shows of files, by what each begins with."""
    blocks = re.findall(r"```(?:ini|properties)\n(.*?)```", page, flags=re.DOTALL)
    return {block.split("\n")[0]: block for block in blocks}


class Machines:
    def __init__(self, directory: Path, namespace: Namespace, scripts: Path) -> None:
        self._directory = directory
        self._namespace = namespace
        path = (str(scripts), str(Path(sys.executable).parent), os.environ["PATH"])
        self._environment = {**os.environ, "PATH": os.pathsep.join(path), "LOG_DIR": str(directory)}
        self._services: dict[tuple[str, str], Process] = {}

    def folder(self, machine: str) -> Path:
        folder = self._directory / machine
        folder.mkdir(exist_ok=True)
        return folder

    def place(self, machine: str, path: str) -> Path:
        """Where a fixed path of a machine is."""
        return self.folder(machine) / path.lstrip("/")

    def meant(self, machine: str, text: str) -> str:
        """Addresses for names, and the machine's own folder for paths that are fixed."""
        text = re.sub(r"\bkafka(\d)\b(?=[:\n ]|$)", r"127.0.0.\1", text)
        for path in FIXED_PATHS:
            text = text.replace(path, str(self.place(machine, path)))
        return text

    def write(self, machine: str, name: str, text: str) -> None:
        (self.folder(machine) / name).write_text(self.meant(machine, text))

    # commands

    def run(self, step: Step) -> str:
        """What it says; it has to end well."""
        if step.command.startswith("systemctl "):
            _, verb, service = step.command.split()
            getattr(self, f"_{verb}")(step.machine, service)
            return ""
        done = self._run(step.machine, step.command)
        assert done.returncode == 0, f"{step.command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _run(self, machine: str, command: str) -> subprocess.CompletedProcess[str]:
        words = self._namespace.command(self.folder(machine), "bash", "-c", self.meant(machine, command))
        return subprocess.run(
            words,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def run_until_as_shown(self, step: Step) -> None:
        """One that looks is asked until it sees what the page says."""
        pattern = as_pattern(self.meant(step.machine, step.shown))
        said = ""

        def is_as_shown() -> bool:
            nonlocal said
            said = self.run(step)
            return pattern.fullmatch(said.rstrip("\n")) is not None

        wait_for(is_as_shown, PATIENCE_SECONDS, lambda: f"{step}; it says\n{said}", 0.2)

    # services

    def _start(self, machine: str, service: str) -> None:
        words = {
            "kafka": ["kafka-server-start", "server.properties"],
            "zookeeper": [word.format(class_path=class_path()) for word in ZOOKEEPER],
        }
        log = self.folder(machine) / f"{service}.log"
        command = self._namespace.command(self.folder(machine), *words[service])
        process = Process(command, log, self._environment)
        self._services[machine, service] = process
        if service == "kafka":
            process.wait_until(
                lambda: "is ready on" in log.read_text(), PATIENCE_SECONDS, "the broker to be ready"
            )

    def _restart(self, machine: str, service: str) -> None:
        process = self._services[machine, service]
        assert process.stop(PATIENCE_SECONDS) == 0, process.log_tail()
        process.log.unlink()
        self._start(machine, service)

    def lose(self, machine: str, *services: str) -> None:
        """As when its power goes."""
        for service in services:
            self._services[machine, service].kill()
            self._services[machine, service].log.unlink()

    def close(self) -> None:
        for process in self._services.values():
            process.kill()


def as_pattern(shown: str) -> re.Pattern[str]:
    """An ellipsis stands for anything, and columns may be wider than they are shown."""
    lines = shown.rstrip("\n").split("\n")
    parts = [r"\s+".join(map(_escaped, re.split(r"\s+", line.rstrip()))) + r"[ \t]*" for line in lines]
    return re.compile("\n".join(parts) if shown.strip() else "", re.DOTALL)


def _escaped(word: str) -> str:
    return ".*?".join(map(re.escape, word.split("...")))


@contextmanager
def machines(directory: Path) -> Iterator[Machines]:
    scripts = install_scripts(directory / "scripts")
    with network_namespace() as namespace:
        made = Machines(directory, namespace, scripts)
        try:
            yield made
        finally:
            made.close()
