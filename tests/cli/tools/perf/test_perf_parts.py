from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from penstock.cli.tools.perf.consumer_stats import ConsumerStats
from penstock.cli.tools.perf.payloads import any_of, increasing_numbers, random_letters, read_payload_file
from penstock.cli.tools.perf.producer_stats import MOST_SAMPLES, ProducerStats
from penstock.cli.tools.perf.simple_date_format import SimpleDateFormat
from penstock.cli.tools.perf.throttle import ThroughputThrottler


def test_the_lines_of_a_producer() -> None:
    stats = ProducerStats(10, 5_000, now_ms=0)
    assert stats.record([1, 2, 3, 4], 400, now_ms=4_999) == []
    assert stats.record([10], 100, now_ms=5_000) == [
        "5 records sent, 1.0 records/sec (0.00 MB/sec), 4.0 ms avg latency, 10.0 ms max latency."
    ]
    assert stats.record([5], 1_048_576, now_ms=6_000) == []
    assert stats.total_line(10_000) == (
        "6 records sent, 0.600000 records/sec (0.10 MB/sec), 4.17 ms avg latency, 10.00 ms max latency, "
        "4 ms 50th, 10 ms 95th, 10 ms 99th, 10 ms 99.9th."
    )


def test_a_quiet_producer_and_its_steady_state() -> None:
    stats = ProducerStats(10, 100, now_ms=0)
    stats.is_quiet = True
    assert stats.record([1], 1, now_ms=200) == []
    steady = ProducerStats(10, 100, now_ms=0, is_steady_state=True)
    first = steady.record([1], 1, now_ms=200)
    assert first[0] == "In steady state."
    assert len(steady.record([1], 1, now_ms=400)) == 1
    assert steady.total_line(400).startswith("2 steady state records sent")


def test_samples_are_spread_over_all_records() -> None:
    stats = ProducerStats(3 * MOST_SAMPLES, 5_000, now_ms=0)
    for start in range(0, 12, 4):
        stats.record(list(range(start, start + 4)), 4, now_ms=1)
    assert stats._samples == [0, 3, 6, 9]


def test_nothing_was_sent() -> None:
    line = ProducerStats(1, 5_000, now_ms=0).total_line(1_000)
    assert line.startswith(
        "0 records sent, 0.000000 records/sec (0.00 MB/sec), NaN ms avg latency, 0.00 ms max"
    )


def test_the_lines_of_a_consumer() -> None:
    dates = SimpleDateFormat("SSS")
    stats = ConsumerStats(0, dates)
    stats.start_reporting(0)
    stats.add_join(400)
    stats.records, stats.bytes = 1_000, 1_048_576
    assert (
        stats.interval_line(500) == "500, 0, 1.0000, 2.0000, 1000, 2000.0000, 400, 100, 10.0000, 10000.0000"
    )
    stats.next_interval(500)
    stats.records += 1
    assert stats.interval_line(600) == "600, 0, 1.0000, 0.0000, 1001, 10.0000, 0, 100, 0.0000, 10.0000"
    assert stats.total_line(900) == ("000, 900, 1.0000, 1.1111, 1001, 1112.2222, 400, 500, 2.0000, 2002.0000")


# --- rates


def test_a_throttle_keeps_the_rate() -> None:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    throttler = ThroughputThrottler(1_000, 0.0, sleep)
    for sent in range(5_000):
        now[0] += 0.0001
        throttler.after(sent, now[0])
    assert 5_000 / now[0] == pytest.approx(1_000, rel=0.2)


def test_a_throttle_that_is_off() -> None:
    def sleep(seconds: float) -> None:
        raise AssertionError

    ThroughputThrottler(-1, 0.0, sleep).after(1_000_000, 0.001)


# --- payloads


def test_payloads() -> None:
    letters = list(itertools.islice(random_letters(50), 100))
    assert {len(piece) for piece in letters} == {50}
    assert len(set(letters)) == 100
    assert set(b"".join(letters)) <= set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert list(itertools.islice(increasing_numbers(), 3)) == [b"0", b"1", b"2"]
    assert set(itertools.islice(any_of([b"x", b"y"]), 100)) == {b"x", b"y"}


def test_a_file_of_payloads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "payloads"
    file.write_text("a\n\nb\n")
    assert read_payload_file(str(file), "\n") == [b"a", b"", b"b"]
    assert capsys.readouterr().out == f"Reading payloads from: {file}\nNumber of records read: 3\n"
    file.write_text("")
    with pytest.raises(ValueError, match=r"File does not exist or empty file provided\."):
        read_payload_file(str(file), "\n")


# --- dates


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd HH:mm:ss:SSS", "2020-09-13 14:26:40:007"),
        ("yy/M/d h:m:s a", "20/9/13 2:26:40 PM"),
        ("EEE, d MMM yyyy", "Sun, 13 Sep 2020"),
        ("EEEE MMMM D u", "Sunday September 257 7"),
        ("yyyy-MM-dd'T'HH:mm:ssXXX", "2020-09-13T14:26:40+02:00"),
        ("Z X XX z", "+0200 +02 +0200 CEST"),
        ("'o''clock' k K", "o'clock 14 2"),
        ("''", "'"),
    ],
)
def test_dates(pattern: str, text: str) -> None:
    assert SimpleDateFormat(pattern).format(1_600_000_000_007) == text


@pytest.mark.parametrize(
    ("pattern", "problem"), [("b", "Illegal pattern character 'b'"), ("'a", "Unterminated quote")]
)
def test_patterns_that_are_none(pattern: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        SimpleDateFormat(pattern)
