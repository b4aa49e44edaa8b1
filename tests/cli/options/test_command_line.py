from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.cli.options import command_line
from penstock.cli.options.command_line import command_parser
from penstock.cli.options.joptsimple import OptionError, OptionParser
from penstock.cli.tool import Exit, run
from penstock.errors import ConfigError


@pytest.fixture
def parser() -> OptionParser:
    parser = command_parser()
    parser.accepts("topic", argument="topic")
    parser.accepts("timeout", argument="ms", kind=int, default=10)
    parser.accepts("list")
    return parser


def ended(act: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code, and the first line that was said."""
    with pytest.raises(Exit) as ending:
        act()
    said = capsys.readouterr()
    return ending.value.exit_code, (said.out + said.err).partition("\n")[0]


def test_help_and_version(parser: OptionParser, capsys: pytest.CaptureFixture[str]) -> None:
    for words, answer in (
        ([], (1, "About it.")),
        (["--help"], (1, "About it.")),
        (["--version"], (0, command_line.KAFKA_VERSION)),
    ):
        options = parser.parse(words)
        act = lambda: command_line.maybe_print_help_or_version(parser, options, words, "About it.")  # noqa: B023, E731
        assert ended(act, capsys) == answer


def test_checks(parser: OptionParser, capsys: pytest.CaptureFixture[str]) -> None:
    options = parser.parse(["--list", "--timeout", "5"])
    checks: list[tuple[Callable[[], object], str]] = [
        (
            lambda: command_line.check_required_args(parser, options, "list", "topic"),
            'Missing required argument "[topic]"',
        ),
        (
            lambda: command_line.check_invalid_args(parser, options, "list", "topic", "timeout"),
            'Option "[list]" can\'t be used with option "[timeout]"',
        ),
        (
            lambda: command_line.check_invalid_args_set(
                parser, options, ["list"], ["timeout"], " (so there)"
            ),
            'Option combination "[[list]]" can\'t be used with option "[timeout]" (so there)',
        ),
        (
            lambda: command_line.check_one_of_args(parser, options, "list", "timeout"),
            "Exactly one of the following arguments is required: [list], [timeout]",
        ),
    ]
    for act, line in checks:
        assert ended(act, capsys) == (1, line)
    command_line.check_invalid_args(parser, options, "topic", "list")


def test_key_value_words() -> None:
    assert command_line.parse_key_value_args(["a=b", "c=d=e", "f", "g="]) == {
        "a": "b",
        "c": "d=e",
        "f": "",
        "g": "",
    }
    with pytest.raises(ValueError, match="Missing value for key f"):
        command_line.parse_key_value_args(["f"], accept_missing_value=False)


def test_an_option_wins_over_a_property_and_that_over_a_default(parser: OptionParser) -> None:
    for words, before, after in (
        ([], {}, {"t": "10"}),
        ([], {"t": "7"}, {"t": "7"}),
        (["--timeout", "5"], {"t": "7"}, {"t": "5"}),
    ):
        properties = dict(before)
        command_line.maybe_merge_options(properties, "t", parser.parse(words), "timeout")
        assert properties == after


def test_properties_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("client.id = me\n")
    assert command_line.load_properties(str(file)) == {"client.id": "me"}
    with pytest.raises(ConfigError, match="nowhere"):
        command_line.load_properties(str(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (OptionError("x is not a recognized option"), 1, "x is not a recognized option"),
        (ConfigError("acks: got 7; takes 0, 1 or -1"), 1, "acks: got 7; takes 0, 1 or -1"),
        (Exit(3), 3, ""),
        (FileNotFoundError(2, "No such file", "here"), 1, "tool: [Errno 2] No such file: 'here'"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_a_tool_ends_with_one_line(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(words: list[str]) -> int:
        raise error

    assert run("tool", command, []) == code
    assert capsys.readouterr().err == (f"{line}\n" if line else "")
