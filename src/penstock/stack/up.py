"""`penstock up`: in this process, or in one of its own (`--detach`)."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import BinaryIO

from penstock.errors import PenstockError
from penstock.stack.brokers_before import forget_brokers_after
from penstock.stack.child import LOADING
from penstock.stack.data_dir import DataDir, default_data_dir
from penstock.stack.ports import refuse_ports_in_use
from penstock.stack.replicas import as_reassignment, plan_more_replicas
from penstock.stack.running import status_of, stop_survivors
from penstock.stack.services import StackOptions, bootstrap_of, left_out, plan
from penstock.stack.supervisor import (
    READY_LINE,
    START_TIMEOUT_S,
    STOP_TIMEOUT_S,
    SUPERVISOR_LOG,
    Supervisor,
)
from penstock.stack.table_text import table_text

MOST_TOPICS_NAMED = 5
MORE_REPLICAS = "more-replicas.json"


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
        forget_brokers_after(data_dir, options.brokers)
        Supervisor(services, data_dir, when_ready=partial(_tell_of_few_replicas, options)).run()
    finally:
        if options.ephemeral:
            shutil.rmtree(options.data_dir, ignore_errors=True)


def _tell_of_few_replicas(options: StackOptions) -> None:
    """Those of a time when there were fewer brokers keep the replicas that they have until somebody says otherwise."""
    if options.brokers < 2 or (options.only and "broker" not in options.only):
        return
    try:
        plan = plan_more_replicas(bootstrap_of(options), options.replicas)
    except PenstockError as error:
        print(f"penstock: how many replicas topics have is not known: {error}", file=sys.stderr, flush=True)
        return
    if not plan:
        return
    file = options.data_dir / MORE_REPLICAS
    file.write_text(as_reassignment(plan))
    names = sorted({topic for topic, _ in plan})
    shown = ", ".join(names[:MOST_TOPICS_NAMED]) + ", ..." * (len(names) > MOST_TOPICS_NAMED)
    print(
        f"penstock: {len(names)} topics have fewer than {options.replicas} replicas, and are away with their brokers: "
        f"{shown}. This gives them {options.replicas}: kafka-reassign-partitions "
        f"--bootstrap-server {bootstrap_of(options)} --reassignment-json-file {file} --execute",
        file=sys.stderr,
        flush=True,
    )


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
    _tell_of_few_replicas(options)
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
