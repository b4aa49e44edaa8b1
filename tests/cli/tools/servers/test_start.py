"""What servers write to their logs."""

import io
import logging

from penstock.cli.tools.servers.start import LOG_FORMAT, LineFormatter


def lines_of(message: str, *arguments: object, error: BaseException | None = None) -> list[str]:
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    handler.setFormatter(LineFormatter(LOG_FORMAT))
    record = logging.LogRecord(
        "penstock.test",
        logging.INFO,
        "",
        0,
        message,
        arguments,
        (type(error), error, None) if error else None,
    )
    handler.handle(record)
    return output.getvalue().split("\n")[:-1]


def test_a_name_that_a_client_has_chosen_cannot_forge_a_line() -> None:
    name = "g\n2026-01-01 00:00:00,000 ERROR penstock: the disk is full\r\x1b[2J\0\x9b\u2028é"
    (line,) = lines_of("group %s: generation %d", name, 1)
    assert line.endswith(
        r"group g\n2026-01-01 00:00:00,000 ERROR penstock: the disk is full\r\x1b[2J\x00\x9b\u2028é: generation 1"
    )


def test_a_traceback_keeps_its_lines() -> None:
    assert lines_of("failed", error=ValueError("a\tb"))[1:] == ["ValueError: a\tb"]
