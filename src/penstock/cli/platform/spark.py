"""`penstock spark master` and `penstock spark worker spark://host:port`: a Spark cluster of several machines."""

import argparse
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from penstock.cli.platform.data_dir_argument import add_data_dir, data_dir_of
from penstock.pipeline.spark import standalone
from penstock.pipeline.spark.standalone import MASTER_PORT, MasterOptions, WorkerOptions

_MASTER_ADDRESS = re.compile(r"spark://[^/:,]+:\d+(,[^/:,]+:\d+)*")
_MEMORY = re.compile(r"[1-9]\d*[mg]", re.IGNORECASE)


def main(arguments: list[str]) -> int:
    parsed = _parser().parse_args(arguments)
    data_dir = data_dir_of(parsed) / "spark"
    run: Callable[[argparse.Namespace, Path], int] = parsed.run
    return run(parsed, data_dir)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "penstock spark",
        description="Start a part of a Spark cluster, and stay until Ctrl-C. One machine runs the master, each "
        "machine that shall work a worker; pipelines are given the master's address.",
        allow_abbrev=False,
    )
    parts = parser.add_subparsers(required=True, metavar="{master,worker}")
    _add_master(parts.add_parser("master", help="start the master", allow_abbrev=False))
    _add_worker(parts.add_parser("worker", help="start a worker", allow_abbrev=False))
    return parser


def _add_master(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    parser.add_argument(
        "--port",
        type=_port,
        default=MASTER_PORT,
        help="the port that workers and drivers come to; %(default)s",
    )
    parser.set_defaults(run=_run_master)


def _add_worker(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    parser.add_argument("master", type=_master_address, help="the master's address, spark://host:port")
    parser.add_argument("--port", type=_port, help="its own port; a free one if not given")
    parser.add_argument("--cores", type=_cores, help="tasks at the same time; as many as there are cores")
    parser.add_argument(
        "--memory", type=_memory, help="for executors, as 4g or 512m; all but one gigabyte if not given"
    )
    parser.set_defaults(run=_run_worker)


def _add_common(parser: argparse.ArgumentParser) -> None:
    add_data_dir(parser)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen on, and that others know it by; %(default)s",
    )
    parser.add_argument("--ui-port", type=_port, help="the port of Spark's own web pages; any if not given")


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise argparse.ArgumentTypeError(f"got {text!r}; takes a port, 1 to 65535")
    return int(text)


def _cores(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"got {text!r}; takes a number from 1 on")
    return int(text)


def _memory(text: str) -> str:
    if not _MEMORY.fullmatch(text):
        raise argparse.ArgumentTypeError(f"got {text!r}; takes a size as 512m or 4g")
    return text


def _master_address(text: str) -> str:
    if not _MASTER_ADDRESS.fullmatch(text):
        raise argparse.ArgumentTypeError(f"got {text!r}; takes spark://host:port")
    return text


def _run_master(parsed: argparse.Namespace, data_dir: Path) -> int:
    options = MasterOptions(data_dir, parsed.host, parsed.port, parsed.ui_port)
    process = standalone.start_master(options)
    return _stay(process, f"Spark master at {options.address}")


def _run_worker(parsed: argparse.Namespace, data_dir: Path) -> int:
    options = WorkerOptions(
        data_dir,
        parsed.master,
        parsed.port or _free_port(parsed.host),
        parsed.host,
        parsed.cores,
        parsed.memory,
        parsed.ui_port,
    )
    process = standalone.start_worker(options)
    return _stay(process, f"Spark worker at {options.host}:{options.port} for {options.master}")


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def _stay(process: subprocess.Popen[bytes], said: str) -> int:
    """Until a signal ends us, or it ends by itself."""
    stopped = False

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        process.terminate()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    print(said, flush=True)
    code = process.wait()
    if stopped:
        return 0
    print(f"penstock spark: Spark ended with {code}", file=sys.stderr)
    return 1
