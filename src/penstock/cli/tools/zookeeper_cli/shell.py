"""The shell: one command of the command line, or line after line; history, and what watches tell."""

import sys
import threading
from collections.abc import Iterable

from penstock.cli.tool import Exit, err
from penstock.cli.tools.zookeeper_cli.commands import COMMANDS, parse
from penstock.cli.tools.zookeeper_cli.errors import COMMAND_NOT_FOUND, ShellError
from penstock.cli.tools.zookeeper_cli.session import ZooKeeperSession
from penstock.cli.tools.zookeeper_cli.words import split_line

OWN_COMMANDS = {
    "connect": "host:port",
    "history": "",
    "printwatches": "on|off",
    "quit": "",
    "redo": "cmdno",
}
HISTORY_SHOWN = 10


def usage() -> None:
    usages = {**OWN_COMMANDS, **{name: command.usage for name, command in COMMANDS.items()}}
    err("ZooKeeper -server host:port -client-configuration properties-file cmd args")
    for name in sorted(usages):
        err(f"\t{name} {usages[name]}")


class Shell:
    def __init__(self, hosts: str, timeout_ms: int, read_only: bool) -> None:
        self._timeout_ms = timeout_ms
        self._read_only = read_only
        self._output = threading.Lock()
        self._history: dict[int, str] = {}
        self._count = 0
        self._prints_watches = True
        self.exit_code = 0
        self.session = self._new_session(hosts)

    def _new_session(self, hosts: str) -> ZooKeeperSession:
        return ZooKeeperSession(hosts, self._timeout_ms, self._read_only, self._on_event)

    def _on_event(self, state: str, kind: str, path: str | None) -> None:
        if self._prints_watches:
            with self._output:
                shown = "null" if path is None else path
                print(f"\nWATCHER::\n\nWatchedEvent state:{state} type:{kind} path:{shown}", flush=True)

    @property
    def prompt(self) -> str:
        return f"[zk: {self.session.hosts}({self.session.state}) {self._count}] "

    # --- running

    def run_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            if line.strip():
                self._history[self._count] = line
                self.run_words(split_line(line))
                self._count += 1

    def run_words(self, words: list[str]) -> None:
        """Runs one command; what goes wrong is said, and is the exit code until the next command."""
        try:
            self._dispatch(words)
            self.exit_code = 0
        except ShellError as error:
            self.exit_code = error.exit_code
            sys.stdout.flush()
            err(str(error))
        sys.stdout.flush()

    def _dispatch(self, words: list[str]) -> None:
        name, arguments = words[0], words[1:]
        if name in OWN_COMMANDS:
            getattr(self, f"_run_{name}")(arguments)
        elif name in COMMANDS:
            self._run_command(name, arguments)
        else:
            usage()
            raise ShellError(f"Command not found: Command not found {name}", COMMAND_NOT_FOUND)

    def _run_command(self, name: str, arguments: list[str]) -> None:
        if not self.session.is_alive:
            print("Not connected")
            return
        command = COMMANDS[name]
        command.run(self.session, parse(name, command, arguments))

    # --- commands of the shell itself

    def _run_connect(self, arguments: list[str]) -> None:
        hosts = arguments[0] if arguments else self.session.hosts
        if self.session.is_alive:
            self.session.close()
        self.session = self._new_session(hosts)
        self.session.connect()

    def _run_history(self, arguments: list[str]) -> None:
        for number in range(max(self._count - HISTORY_SHOWN, 0), self._count + 1):
            print(f"{number} - {self._history.get(number, 'null')}")

    def _run_printwatches(self, arguments: list[str]) -> None:
        if arguments:
            self._prints_watches = arguments[0] == "on"
        else:
            print(f"printwatches is {'on' if self._prints_watches else 'off'}")

    def _run_quit(self, arguments: list[str]) -> None:
        if self.session.is_alive:
            self.session.close()
        raise Exit(self.exit_code)

    def _run_redo(self, arguments: list[str]) -> None:
        if not arguments:
            return
        if not arguments[0].isdigit() or int(arguments[0]) >= self._count:
            raise ShellError("Command index out of range")
        line = self._history[int(arguments[0])]
        words = split_line(line)
        if words[0] == "redo":
            raise ShellError("No redoing redos")
        self._history[self._count] = line
        self._dispatch(words)

    def close(self) -> None:
        self.session.end()
