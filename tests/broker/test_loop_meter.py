"""An operator hears which requests keep the event loop."""

import asyncio
import logging
import time

import pytest

from penstock.broker import loop_meter
from penstock.broker.loop_meter import TOLD_SECONDS, LoopMeter, Metered
from penstock.testing import InProcessBroker
from penstock.wire.api_keys import ApiKey
from tests.broker.asking import create_topic, metadata
from tests.broker.conftest import only_penstock
from tests.support.wire_client import WireClient

pytestmark = only_penstock


@pytest.mark.parametrize("waits", [False, True])
def test_a_request_that_holds_the_loop_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, waits: bool
) -> None:
    monkeypatch.setattr(loop_meter, "HELD_SECONDS", 0.0)
    monkeypatch.setattr(loop_meter, "TOLD_SECONDS", 0.0)
    caplog.set_level(logging.WARNING, loop_meter.__name__)
    with InProcessBroker() as broker, WireClient(broker.bootstrap_servers) as client:
        create_topic(client, "foods") if waits else metadata(client)
        name = "CREATE_TOPICS" if waits else "METADATA"
        own = [line for line in caplog.messages if line.startswith(f"{name} of 127.0.0.1:")]
        assert own
        assert all("kept the event loop for" in line for line in own)
        assert len(own) >= 2 or not waits, "a handler that waits is measured from wait to wait"


def test_it_is_told_once_in_a_while_with_what_there_was_besides(caplog: pytest.LogCaptureFixture) -> None:
    meter = LoopMeter()
    with caplog.at_level(logging.WARNING, loop_meter.__name__):
        for second in (100.0, 100.5, 101.0, 100.0 + TOLD_SECONDS):
            meter.note(ApiKey.METADATA, "somebody", 0.3, second)
    line = "METADATA of somebody kept the event loop for 300 ms, while nobody else was served"
    assert caplog.messages == [line, f"{line}; 2 other requests since this was told last"]


def test_waiting_holds_nothing(caplog: pytest.LogCaptureFixture) -> None:
    meter = LoopMeter()
    meter.held_seconds = 0.1

    async def wait_and_fail() -> int:
        await asyncio.sleep(0.2)
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 0.05)
        except TimeoutError:
            pass
        return 5

    async def hold() -> None:
        await asyncio.sleep(0)
        time.sleep(0.15)  # noqa: ASYNC251, which is what the meter is for
        raise ValueError("as it came")

    async def both() -> None:
        assert await Metered(wait_and_fail(), meter, ApiKey.FETCH, "waiting") == 5
        with pytest.raises(ValueError, match="as it came"):
            await Metered(hold(), meter, ApiKey.FETCH, "holding")

    with caplog.at_level(logging.WARNING, loop_meter.__name__):
        asyncio.run(both())
    (line,) = caplog.messages
    assert line.startswith("FETCH of holding")
