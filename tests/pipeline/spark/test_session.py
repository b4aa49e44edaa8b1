"""What a driver leaves on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.pipeline.spark import session


def test_what_an_earlier_driver_said_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks log there what they reject, so that is wanted after a restart as well."""
    for line in (b"first\n", b"second\n"):
        with session._driver_output(tmp_path) as output:
            output.write(line)
    assert (tmp_path / session.OUTPUT_FILE).read_bytes() == b"first\nsecond\n"
    monkeypatch.setattr(session, "LARGEST_OUTPUT_BYTES", 5)
    with session._driver_output(tmp_path) as output:
        output.write(b"third\n")
    assert (tmp_path / session.OUTPUT_FILE).read_bytes() == b"third\n"
    assert (tmp_path / "driver.out.1").read_bytes() == b"first\nsecond\n"
