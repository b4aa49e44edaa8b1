"""`penstock up`: in this process, or in one of its own (`--detach`)."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import BinaryIO

from penstock.errors import PenstockError
from penstock.stack.child import LOADING
from penstock.stack.data_dir import DataDir, default_data_dir
from penstock.stack.ports import refuse_ports_in_use
from penstock.stack.running import status_of, stop_survivors
from penstock.stack.services import StackOptions, left_out, plan
from penstock.stack.supervisor import (
    READY_LINE,
    START_TIMEOUT_S,
    STOP_TIMEOUT_S,
    SUPERVISOR_LOG,
    Supervisor,
)
from penstock.stack.table_text import table_text


class DetachedFailed(PenstockError):
    """The supervisor in the background ended, or does not get ready."""


def temporary_data_dir() -> Path:
    return Path(tempfile.mkdtemp(prefix="penstock-"))


def run_in_foreground(options: StackOptions) -> None:
    """Until a signal asks for the end; an ephemeral data directory is removed then."""
    try:
        services = plan(options)
        for line in left_out(options):
            print(f"penstock: {line}", file=sys.stderr, flush=True)
        data_dir = DataDir(options.data_dir)
        data_dir.create()
        data_dir.lock()
        if stop_survivors(data_dir):
            print("penstock: stopped services whose supervisor had been killed", file=sys.stderr, flush=True)
        refuse_ports_in_use(services)
        Supervisor(services, data_dir).run()
    finally:
        if options.ephemeral:
            shutil.rmtree(options.data_dir, ignore_errors=True)


def run_detached(options: StackOptions, arguments: list[str]) -> None:
    """`arguments` make the same `penstock up` in the foreground; this returns when it is ready."""
    for line in left_out(options):
        print(f"penstock: {line}", file=sys.stderr, flush=True)
    data_dir = DataDir(options.data_dir)
    data_dir.create()
    writer = data_dir.open_log(SUPERVISOR_LOG)
    with open(data_dir.log_path(SUPERVISOR_LOG), "rb") as log:
        log.seek(0, os.SEEK_END)
        supervisor = _start_supervisor(writer, arguments)
        try:
            _wait_until_ready(data_dir, supervisor, log)
        except BaseException:  # Ctrl-C too: what is not ready does not stay behind
            supervisor.terminate()
            supervisor.wait()
            raise
    rows = [(each.name, each.address, str(each.pid)) for each in status_of(data_dir)]
    print(table_text(("SERVICE", "ADDRESS", "PID"), rows))
    print(READY_LINE)
    where = "" if options.data_dir == default_data_dir().absolute() else f" --data-dir {options.data_dir}"
    print(f"Stop it with: penstock down{where}", flush=True)


def _start_supervisor(log: int, arguments: list[str]) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "penstock.cli.main", "up", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)


def _wait_until_ready(data_dir: DataDir, supervisor: "subprocess.Popen[bytes]", log: BinaryIO) -> None:
    """`log` is what the supervisor says from now on; it can be read even when its directory is removed."""
    deadline = time.monotonic() + START_TIMEOUT_S + STOP_TIMEOUT_S
    told = b""
    while time.monotonic() < deadline:
        has_ended = supervisor.poll() is not None
        news = log.read()
        told += news
        if LOADING.encode() in news:
            deadline = time.monotonic() + START_TIMEOUT_S + STOP_TIMEOUT_S
            print(news.decode(errors="replace").strip(), file=sys.stderr, flush=True)
        if has_ended:
            words = told.decode(errors="replace").strip()
            raise DetachedFailed(words.removeprefix("penstock: ") or "the supervisor ended without a word")
        stack = data_dir.load()
        if stack and stack.ready and stack.supervisor.pid == supervisor.pid:
            return
        time.sleep(0.02)
    raise DetachedFailed("the supervisor does not get ready")
