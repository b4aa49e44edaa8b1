"""Random records for a topology, and what our driver makes of them."""

from collections.abc import Iterator
from random import Random

from penstock.streams import StreamsBuilder, Topology, TopologyTestDriver
from tests.pipeline.streams.beside_java import TOPOLOGIES
from tests.support.kafka_streams import Advance, Outcome, Piped

EVENTS = 80
TOPICS = {"in": 10, "other": 6, "global": 3}
STEPS_MS = (0, 0, 1, 5, 20, 60, 150, 400, 2_500)
BACK_MS = (0, 0, 0, 0, 5, 60, 300, 700, 1_500, 6_000, 150_000)
LEAPS_MS = 100_000


def built(name: str) -> Topology:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    TOPOLOGIES[name](builder)
    return builder.build()


def events_of(seed: int, topics: dict[str, int]) -> Iterator[Piped | Advance]:
    random, now = Random(seed), 10_000 if seed % 3 else 0
    for _ in range(EVENTS):
        if random.random() < 0.12:
            yield Advance(random.choice((100, 500, 1_000, 5_000)))
        now += LEAPS_MS if random.random() < 0.02 else random.choice(STEPS_MS)
        value = None if random.random() < 0.12 else random.choice("0123456789")
        headers = (("h", random.choice((b"1", b"", None))),) if random.random() < 0.3 else ()
        (topic,) = random.choices(list(topics), list(topics.values()))
        keys = "aab01234" if topic == "global" else "aab" if seed % 2 else "abcd"
        key = None if random.random() < 0.05 else random.choice(keys)
        timestamp = max(0, now - random.choice(BACK_MS))
        yield Piped(topic, timestamp, key and key.encode(), value and value.encode(), headers)


def ours(name: str, events: list[Piped | Advance], emit_interval_ms: int) -> Outcome:
    topology = built(name)
    with TopologyTestDriver(topology, emit_interval_ms=emit_interval_ms) as driver:
        for event in events:
            if isinstance(event, Advance):
                driver.advance_wall_clock_time(event.by_ms)
            else:
                topic = driver.create_input_topic(event.topic, "bytes", "bytes")
                topic.pipe_input(event.key, event.value, event.timestamp, event.headers)
        outcome = Outcome(topology.describe(), dropped=sum(driver.dropped_records.values()))
        for name in driver.produced_topic_names:
            records = driver.create_output_topic(name, "bytes", "bytes").read_records_to_list()
            outcome.produced[name] = [
                Piped(name, each.timestamp, each.key, each.value, each.headers) for each in records
            ]
    return outcome


def inputs_of(name: str) -> dict[str, int]:
    read = {topic for group in built(name).sub_topologies for topic in group.source_topics}
    return {topic: weight for topic, weight in TOPICS.items() if topic in read}
