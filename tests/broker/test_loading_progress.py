"""A start that takes long says how far it has come."""

import logging

import pytest

from penstock.broker import loading_progress
from penstock.testing import InProcessBroker
from tests.broker.asking import batch_of, new_topic, produced, values_in
from tests.broker.conftest import only_penstock
from tests.support.wire_client import WireClient

pytestmark = only_penstock


def progress_of_a_restart(broker: InProcessBroker, caplog: pytest.LogCaptureFixture) -> list[str]:
    with caplog.at_level(logging.INFO, "penstock.broker"):
        broker.restart()
    return [line for line in caplog.messages if line.startswith("loading logs")]


def test_each_step_is_told(
    broker: InProcessBroker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading_progress, "NEWS_INTERVAL_MS", 0)
    with WireClient(broker.bootstrap_servers) as client:
        for name in ("foods", "drinks", "sweets"):
            produced(client, new_topic(client, name), batch_of(b"x"))
    told = progress_of_a_restart(broker, caplog)
    assert told == [f"loading logs: {count} of 3 topics" for count in (1, 2, 3)]
    with WireClient(broker.bootstrap_servers) as client:
        assert values_in(client, "foods") == [b"x"]


def test_a_quick_start_says_nothing(broker: InProcessBroker, caplog: pytest.LogCaptureFixture) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods")
    assert progress_of_a_restart(broker, caplog) == []
