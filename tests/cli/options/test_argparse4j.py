from __future__ import annotations

import random

import pytest

from penstock.cli.options.argparse4j import ArgumentParser, ArgumentParserError, HelpShown
from penstock.cli.options.kinds import LONG
from penstock.cli.tool import Exit
from tests.cli.options.probe import COLUMNS, ask_java_with_words
from tests.support.slices import cases, sweep

pytestmark = [pytest.mark.processes, sweep]


def sample_parser() -> ArgumentParser:
    """The same as in Probe.java."""
    parser = ArgumentParser(
        "probe",
        default_help=True,
        description="A parser that has one of each kind, so that what becomes of each can be seen.",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="Say more.")
    parser.add_argument("--topic", required=True, metavar="TOPIC", help="The topic (there's only one).")
    parser.add_argument("--count", type=int, default=-1, help="How many.")
    parser.add_argument("--acks", type=int, choices=[0, 1, -1], help="Acks required on each message.")
    parser.add_argument("--props", nargs="+", metavar="NAME=VALUE")
    parser.add_argument("--feature", action="append")
    parser.add_argument("-q", action="store_true", help=None)
    size = parser.add_mutually_exclusive_group("Payload", "Either of them.", required=True)
    size.add_argument("--record-size", type=LONG, help="Bytes.")
    size.add_argument("--payload-file")
    commands = parser.add_subparsers(dest="command")
    describe = commands.add_parser("describe", help="Describe it.")
    describe.add_argument("--status", action="store_true")
    describe.add_argument("names", nargs="*")
    delete = commands.add_parser("delete", description="Deletes it for good.")
    delete.add_argument("name", help="What goes.")
    return parser


def as_java(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}={as_java(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_java, value))}]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def what_ours_says(words: list[str], capture: pytest.CaptureFixture[str]) -> str:
    parser = sample_parser()
    try:
        said = as_java(parser.parse_args(words))
        capture.readouterr()
        return said
    except HelpShown:
        return capture.readouterr().out
    except ArgumentParserError as error:
        capture.readouterr()
        parser.handle_error(error)
        return capture.readouterr().err


COMMAND_LINES = [
    [],
    ["--help"],
    ["describe", "--help"],
    ["--topic", "a", "--record-size", "1", "delete", "-h"],
    ["--topic", "a", "--record-size", "1", "describe", "x", "y", "--status"],
    ["--topic", "a", "--record-size", "1", "delete"],
    ["--topic", "a", "--record-size", "1", "delete", "x", "y"],
    ["--topic", "a", "describe"],
    ["--record-size=1", "describe"],
    ["--topic", "a", "--record-size", "1", "--payload-file", "f", "describe"],
    ["--topc", "a"],
    ["--topic", "a", "--acks", "7", "describe"],
    ["--topic", "a", "--acks", "-1", "--record-size", "5", "des"],
    ["--topic", "a", "--record-size", "5", "de"],
    ["--topic", "a", "--record-size", "5", "discribe"],
    ["--count", "many"],
    ["--count", "99999999999"],
    ["--verbose=yes"],
    ["-vq", "--topic", "a", "--record-size", "1", "describe"],
    ["-vz"],
    ["--props", "a=b", "c=d", "--topic", "a", "--record-size", "1", "describe"],
    ["--props"],
    ["--feature", "a", "--feature", "b", "--topic", "t", "--record-size", "1", "describe"],
    ["--topic", "a", "--", "describe"],
    ["--p", "x"],
    ["--topic"],
]
WORDS = [
    *(
        "--topic",
        "--topic=a",
        "--top",
        "a",
        "--count",
        "5",
        "-5",
        "--acks",
        "1",
        "--props",
        "x=y",
        "--feature",
        "-v",
    ),
    *(
        "-q",
        "-vq",
        "-h",
        "--record-size",
        "--payload-file",
        "f",
        "describe",
        "delete",
        "--status",
        "name",
        "--",
        "--no",
    ),
]


def test_command_lines_are_read_as_java_reads_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", COLUMNS)
    dice = random.Random(4713)
    start = ["--topic", "a", "--record-size", "1"]
    lines = COMMAND_LINES + [
        [*dice.choice([[], start]), *dice.choices(WORDS, k=dice.randint(1, 5))] for _ in range(cases(750))
    ]
    theirs = ask_java_with_words("argparse4j", lines)
    differing = [
        (words, their, our)
        for words, their in zip(lines, theirs, strict=True)
        if their != (our := what_ours_says(words, capsys))
    ]
    assert differing == []


def test_a_wrong_command_line_ends_the_tool(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Exit) as ended:
        sample_parser().parse_args_or_fail(["--no-such-flag"])
    assert ended.value.exit_code == 1
    assert "unrecognized arguments: '--no-such-flag'" in capsys.readouterr().err
