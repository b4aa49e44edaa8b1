"""One program in a process of its own, with a Spark of its own: until it is told to stop, or can't go on."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.spark.settings import EngineSettings
from penstock.pipeline.tasks.application import State, StreamsApplication
from penstock.pipeline.tasks.program import ProgramFile
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.settings.endpoints import name_of_this_machine

LOCALHOST = "127.0.0.1"


def run_program(file: ProgramFile, configs: Mapping[str, str]) -> int:
    """The exit code. Says on stderr when it runs, and why it ends."""
    program = file.load()
    settings = StreamsSettings.from_configs({**program.configs, **configs}, file.path)
    engine_settings = engine_settings_of(program.application_id, settings)
    engine = Engine(engine_settings)
    application = StreamsApplication(
        file,
        configs,
        engine,
        packs=settings.num_stream_threads or os.cpu_count() or 1,
        control_host=LOCALHOST if engine_settings.is_local else name_of_this_machine(),
    )
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    engine.start()
    try:
        application.start()
        _stay(application, stopping)
    finally:
        application.stop()
        engine.stop()
        shutil.rmtree(engine_settings.data_dir, ignore_errors=True)  # all that lasts is in Kafka
    if application.failure is not None:
        print(f"penstock: {application.id}: {application.failure}", file=sys.stderr, flush=True)
        return 1
    return 0


def _stay(application: StreamsApplication, stopping: threading.Event) -> None:
    is_told = False
    while not (stopping.is_set() or application.wait(0.2)):
        if not is_told and application.state is State.RUNNING:
            is_told = True
            print(f"{application.id} is running", file=sys.stderr, flush=True)


def engine_settings_of(application_id: str, settings: StreamsSettings) -> EngineSettings:
    return EngineSettings(
        data_dir=Path(settings.state_dir) / f"{application_id}-{os.getpid()}",
        name=f"streams-{application_id}",
        master=settings.spark_master,
        client_configs=settings.client_configs("consumer"),
        spark_configs=settings.spark_configs,
        with_kafka_jars=False,
    )
