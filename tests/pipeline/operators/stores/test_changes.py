"""A store that takes its changelog is the store that wrote it. The bytes are compared with Kafka Streams' elsewhere."""

from collections import deque
from typing import Any

from penstock.pipeline.operators.stores.changes import Logged
from penstock.pipeline.operators.stores.made import store_of
from penstock.streams import TopologyTestDriver
from tests.pipeline.streams.beside_java.kinds import NAMES
from tests.pipeline.streams.beside_java.runs import built, events_of, inputs_of
from tests.support.kafka_streams import Advance
from tests.support.rows import each_row


def run(driver: TopologyTestDriver, name: str, seed: int) -> None:
    for event in events_of(seed, inputs_of(name)):
        if isinstance(event, Advance):
            driver.advance_wall_clock_time(event.by_ms)
        else:
            topic = driver.create_input_topic(event.topic, "bytes", "bytes")
            topic.pipe_input(event.key, event.value, event.timestamp, event.headers)


def shown(store: Any) -> list[Any]:
    return list(store.all())


@each_row("name", NAMES, str)
def test_a_store_comes_back_from_its_changelog(name: str) -> None:
    topology = built(name)
    with TopologyTestDriver(topology) as driver:
        run(driver, name, seed=2)
        for store, spec in topology.stores.items():
            original = driver.get_state_store(store)
            if isinstance(original, Logged) and spec.is_logged:
                changelog = driver.create_output_topic(f"test-app-{spec.changelog}", "bytes", "bytes")
                restored = store_of(spec, "test-app")
                for record in changelog.read_records_to_list():
                    restored.restore(record.key, record.value, record.timestamp)
                assert shown(restored) == shown(original)


def test_what_is_restored_is_not_logged() -> None:
    topology = built("count_stored")
    store, logged = store_of(topology.stores["counts"], "test-app"), deque[Any]()
    store.log = lambda *change: logged.append(change)
    store.restore(b"a", bytes(7) + b"\x03", 5)
    assert not logged
    store.put("a", (4, 6))
    store.delete("a")
    assert list(logged) == [(b"a", bytes(7) + b"\x04", 6), (b"a", None, -1)]
