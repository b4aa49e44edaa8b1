"""`penstock streams reset app.py`: kafka-streams-application-reset with what the program's file knows.

The file says the application's id, its settings, and which topics it reads; those of global tables have no offsets.
With `--application-id` it is for programs of which there is no file here, as Java's.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from penstock.cli.bootstrap_default import default_bootstrap_servers
from penstock.cli.tool import run
from penstock.cli.tools.application_reset.options import SCENARIOS
from penstock.errors import ConfigError
from penstock.pipeline.tasks.layout import topics_from_outside, topics_of_patterns
from penstock.pipeline.tasks.program import Program, ProgramFile
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.settings.properties import read_properties

BOOTSTRAP = "bootstrap.servers"
FLAGS = {
    "to-earliest": "read all of the inputs again, as without any of these flags",
    "to-latest": "go on behind what is there now",
    "dry-run": "say what would be done",
    "force": "send members away that have died and are not missed yet",
}
VALUES = {
    "to-offset": ("OFFSET", "go on at this offset of each partition"),
    "to-datetime": ("TIME", "go on at the first record of YYYY-MM-DDThh:mm:ss.sss"),
    "by-duration": ("DURATION", "go on where the program was, say, PT1H ago"),
    "from-file": ("CSV", "go on at offsets of a file, in lines of topic,partition,offset"),
    "shift-by": ("COUNT", "so many records further, or back if it is less than 0"),
    "input-topics": ("TOPICS", "with --application-id: what it reads, with commas"),
    "internal-topics": ("TOPICS", "delete only these of its own topics, with commas"),
}


def add_reset(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "reset",
        help="have a program begin anew: set its offsets, and delete the topics of its own",
        allow_abbrev=False,
    )
    parser.add_argument("file", type=Path, nargs="?", help="the program: a Python file")
    parser.add_argument("--application-id", metavar="ID", help="a program of which there is no file here")
    parser.add_argument("--bootstrap-server", help="the Kafka that it runs on, as for `run`")
    parser.add_argument("--config", type=Path, metavar="FILE", help="a properties file with settings")
    scenarios = parser.add_mutually_exclusive_group()
    for name in (*FLAGS, *VALUES):
        _add(scenarios if name in SCENARIOS else parser, name)
    parser.set_defaults(run=_reset)


def _add(to: argparse._ActionsContainer, name: str) -> None:
    if name in FLAGS:
        to.add_argument(f"--{name}", action="store_true", help=FLAGS[name])
    else:
        metavar, what = VALUES[name]
        to.add_argument(f"--{name}", metavar=metavar, help=what)


def _reset(parsed: argparse.Namespace) -> int:
    from penstock.cli.tools.kafka_streams_application_reset import reset

    if (parsed.file is None) is (parsed.application_id is None):
        raise ConfigError("streams reset takes the file of a program or --application-id")
    if parsed.file is not None and parsed.input_topics is not None:
        raise ConfigError("--input-topics goes with --application-id; the file says what the program reads")
    program = None if parsed.file is None else ProgramFile.read(parsed.file).load()
    settings = _settings(parsed, {} if program is None else program.configs)
    words = ["--bootstrap-server", ",".join(settings.bootstrap_servers)]
    words += _words_of(parsed) if program is None else _words_of_program(program, settings)
    for name in (*FLAGS, *VALUES):
        words += _words_of_flag(name, getattr(parsed, name.replace("-", "_")))
    return run("penstock streams reset", lambda all_words: reset(all_words, _client_configs(settings)), words)


def _settings(parsed: argparse.Namespace, configs: Mapping[str, str]) -> StreamsSettings:
    given = {**configs, **(read_properties(parsed.config) if parsed.config else {})}
    servers = parsed.bootstrap_server or given.get(BOOTSTRAP) or default_bootstrap_servers()
    return StreamsSettings.from_configs({**given, BOOTSTRAP: servers})


def _client_configs(settings: StreamsSettings) -> dict[str, str]:
    return {"auto.offset.reset": settings.auto_offset_reset, **settings.client_configs("admin")}


def _words_of(parsed: argparse.Namespace) -> list[str]:
    return ["--application-id", parsed.application_id]


def _words_of_program(program: Program, settings: StreamsSettings) -> list[str]:
    from penstock.cli.tools.common.admin_client import admin_client
    from penstock.client.admin.topics import list_topics
    from penstock.wire_client import now

    with admin_client(settings.client_configs("admin")) as cluster:
        patterns = topics_of_patterns(program.topology, [each.name for each in now(list_topics(cluster))])
    inputs = topics_from_outside(program.topology, patterns) - program.topology.global_topics
    of_inputs = ["--input-topics", ",".join(sorted(inputs))] if inputs else []
    return ["--application-id", program.application_id, *of_inputs]


def _words_of_flag(name: str, value: object) -> list[str]:
    if value is None or value is False:
        return []
    return [f"--{name}"] if value is True else [f"--{name}", str(value)]
