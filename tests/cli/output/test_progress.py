import io
import os
import pty

import pytest

from penstock.cli.output import progress as module
from penstock.cli.output.progress import Progress, duration_text, progress_line, scaled


def test_nothing_is_drawn_where_nobody_watches() -> None:
    stream = io.StringIO()
    with Progress("reading", total=10, stream=stream) as bar:
        for _ in range(10):
            bar.advance()
    assert stream.getvalue() == ""
    assert bar.done == 10


def test_on_a_terminal_the_line_is_drawn_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "REDRAW_SECONDS", 0)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal, Progress("reading", 10, "B", terminal) as bar:
        bar.reach(5)
        bar.close()
        drawn = ""
        while "50%" not in drawn or not drawn.endswith("\r\x1b[K"):
            drawn += os.read(ours, 10_000).decode()
    os.close(ours)
    assert "reading  [############------------]  50%  5 B of 10 B" in drawn


def test_a_dumb_terminal_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        assert not module.is_for_people(terminal)
    os.close(ours)


def test_lines() -> None:
    assert progress_line("send", 250, 1000, "", 10) == (
        "send  [######------------------]  25%  250 of 1.0 k  25/s  30s left"
    )
    assert progress_line("send", 2_500_000, None, "B", 2) == "send  2.5 MB  1.2 MB/s"
    assert progress_line("send", 3, 0, "", 0) == "send  3  0/s"
    assert scaled(12_345_678, "B") == "12.3 MB"
    assert [scaled(amount, "records") for amount in (12, 12_345)] == ["12 records", "12.3 k records"]
    assert [duration_text(seconds) for seconds in (5, 65, 3720)] == ["5s", "1m05s", "1h02m"]
