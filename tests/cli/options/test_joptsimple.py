from __future__ import annotations

import random

import pytest

from penstock.cli.options.joptsimple import Option, OptionError, OptionParser
from penstock.cli.options.kinds import LONG
from tests.cli.options.probe import ask_java_with_words
from tests.support.slices import cases, sweep

pytestmark = sweep


def sample_parser() -> tuple[OptionParser, list[Option]]:
    """The same as in Probe.java."""
    parser = OptionParser()
    list_ = parser.accepts("list", "List.")
    options = [
        parser.accepts("help", "Print usage information.", for_help=True),
        list_,
        parser.accepts(
            "topic", "The topic, a word that may be repeated as often as one likes to.", argument="topic"
        ),
        parser.accepts(
            "partitions", "How many (that's a number).", argument="# of partitions", kind=int, default=3
        ),
        parser.accepts(
            "timeout-with-a-name-that-is-long", "", argument="", optional_argument=True, kind=LONG
        ),
        parser.accepts(
            *("state", "State\n\tone\n\ttwo\nof the group."),
            argument="",
            optional_argument=True,
            available_if=[list_],
        ),
        parser.accepts("keys", "Keys.", argument="", separator=","),
        parser.accepts("v", "Verbose."),
        parser.accepts("x", "An x.", argument=""),
    ]
    return parser, options


def as_java(values: list[object]) -> str:
    return f"[{', '.join(map(str, values))}]"


def what_ours_says(words: list[str]) -> str:
    parser, all_options = sample_parser()
    try:
        options = parser.parse(words)
        if options.has("help"):
            return parser.help_text()
        said = [f"{each}{as_java(options.values(each))} " for each in all_options if options.has(each)]
        topic = options.value("topic")
        return f"{''.join(said)}{'null' if topic is None else topic}{as_java(options.arguments)}"
    except OptionError as error:
        return str(error)


COMMAND_LINES = [
    ["--help"],
    ["--help", "--state"],
    ["-topic", "a", "-partitions=4"],
    ["-vx", "rest"],
    ["-vxrest"],
    ["-x=rest"],
    ["-vz"],
    ["--topic"],
    ["--topic", "--list"],
    ["--topic="],
    ["--topic", ""],
    ["--keys", "a,b,,c"],
    ["--keys", ",,"],
    ["--partitions", "x"],
    ["--partitions", "99999999999"],
    ["--partitions", "+5"],
    ["--timeout-with-a-name-that-is-long", "-5"],
    ["--timeout-with-a-name-that-is-long", "--list"],
    ["--state"],
    ["--state", "stable", "--list"],
    ["--", "--topic", "a"],
    ["-", "word", "--list=ignored"],
    ["--lis"],
    ["--topic", "a", "--topic", "b"],
]
WORDS = [
    *(
        "--topic",
        "-topic",
        "--topic=a",
        "--list",
        "-list",
        "--partitions",
        "7",
        "-7",
        "x",
        "-x",
        "-v",
        "-vx",
        "--state",
    ),
    *(
        "--timeout-with-a-name-that-is-long",
        "--keys",
        "a,b",
        "a",
        "",
        "-",
        "--",
        "---",
        "--help",
        "--no",
        "=",
        "-=",
    ),
]


@pytest.mark.processes
def test_command_lines_are_read_as_java_reads_them() -> None:
    dice = random.Random(4712)
    lines = COMMAND_LINES + [dice.choices(WORDS, k=dice.randint(1, 6)) for _ in range(cases(1_000))]
    theirs = ask_java_with_words("joptsimple", lines)
    differing = [
        (words, their, our)
        for words, their in zip(lines, theirs, strict=True)
        if their != (our := what_ours_says(words))
    ]
    assert differing == []


def test_an_option_is_asked_for_by_name_or_by_itself() -> None:
    parser = OptionParser()
    topic = parser.accepts("topic", argument="topic", aliases=["t"])
    options = parser.parse(["-t", "orders"])
    assert options.value("topic") == options.value("t") == options.value(topic) == "orders"
    assert str(topic) == "[t, topic]"


def test_what_is_required_is_named_and_starred() -> None:
    parser = OptionParser()
    parser.accepts("group", "The group.", argument="group", required=True)
    parser.accepts("help", for_help=True)
    with pytest.raises(OptionError, match=r"Missing required option\(s\) \[group\]"):
        parser.parse([])
    assert parser.parse(["--help"]).has("help")
    assert parser.help_text().splitlines()[0].split() == ["Option", "(*", "=", "required)", "Description"]
    assert "* --group <String: group>" in parser.help_text()
