"""A worker as a process of its own, with ticks in threads; its argument is a file of its settings.

The process writes a line to a file for each task that it runs, so that a test sees where it ran.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork
from tests.pipeline.connect.worker import some_connectors
from tests.pipeline.connect.worker.in_thread import ThreadWorker


def run(work: TaskWork) -> TaskReport:
    with Path(work.task_configs["directory"], f"ran-{work.connector}").open("a") as file:
        file.write(f"{os.getpid()}\n")
    return some_connectors.run(work)


def main(file: str) -> None:
    said = json.loads(Path(file).read_text())
    worker = ThreadWorker(said["configs"], run, port=said["port"])
    print(f"ready {worker.url}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1])
