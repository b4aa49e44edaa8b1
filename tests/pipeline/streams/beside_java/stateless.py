"""Topologies without state."""

from penstock.streams import Branched, Consumed, Produced, Repartitioned, StreamsBuilder
from tests.pipeline.streams.beside_java import both, is_low, marked, topology


@topology
def filter(b: StreamsBuilder) -> None:
    b.stream("in").filter(is_low).to("out")


@topology
def filter_not(b: StreamsBuilder) -> None:
    b.stream("in").filter_not(is_low).to("out")


@topology
def map(b: StreamsBuilder) -> None:
    b.stream("in").map(lambda k, v: (v, k)).to("out")


@topology
def map_values(b: StreamsBuilder) -> None:
    b.stream("in").map_values(marked).to("out")


@topology
def map_values_with_key(b: StreamsBuilder) -> None:
    def keyed(k: str | None, v: str | None) -> str | None:
        return v if k is None else f"{k}:{'null' if v is None else v}"

    b.stream("in").map_values(keyed, with_key=True).to("out")


@topology
def flat_map(b: StreamsBuilder) -> None:
    b.stream("in").flat_map(lambda k, v: [] if v is None else [(v, "1"), ("all", v)]).to("out")


@topology
def flat_map_values(b: StreamsBuilder) -> None:
    b.stream("in").flat_map_values(lambda v: ["none"] if v is None else [v, v + v]).to("out")


@topology
def select_key(b: StreamsBuilder) -> None:
    b.stream("in").select_key(lambda k, v: v).to("out")


@topology
def named_steps(b: StreamsBuilder) -> None:
    source = b.stream("in", Consumed(name="the-source"))
    mapped = source.filter(is_low, name="the-filter").map_values(marked, name="the-mapper")
    mapped.peek(lambda k, v: None, name="the-peek").to("out", Produced(name="the-sink"))


@topology
def several_topics(b: StreamsBuilder) -> None:
    b.stream(["in", "other"]).map_values(marked).to("out")


@topology
def same_topic_twice(b: StreamsBuilder) -> None:
    b.stream("in").filter(is_low).to("out")
    b.stream("in").map_values(marked).to("out2")


@topology
def branches(b: StreamsBuilder) -> None:
    split = b.stream("in").split("split-").branch(is_low, Branched("low"))
    made = split.branch(lambda k, v: v == "7", Branched("seven")).default_branch(Branched("rest"))
    made["split-low"].to("low")
    made["split-seven"].to("seven")
    made["split-rest"].to("rest")


@topology
def branches_without_default(b: StreamsBuilder) -> None:
    def twice(stream: object) -> None:
        stream.map_values(lambda v: v + v).to("seven")  # type: ignore[attr-defined]

    split = b.stream("in").split().branch(is_low).branch(lambda k, v: v == "7", Branched(consumer=twice))
    for each in split.no_default_branch().values():
        each.to("low")


@topology
def merge(b: StreamsBuilder) -> None:
    b.stream("in").map_values(marked).merge(b.stream("other")).to("out")


@topology
def diamond(b: StreamsBuilder) -> None:
    source = b.stream("in")
    flat = source.flat_map_values(lambda v: [] if v is None else [v + "a", v + "b"])
    flat.merge(source.map_values(marked)).to("out")


@topology
def wide_diamond(b: StreamsBuilder) -> None:
    source = b.stream("in")
    one = source.map_values(marked).filter(is_low)
    two = source.filter(is_low).map_values(lambda v: v + "2").filter_not(lambda k, v: v is None)
    last = source.peek(lambda k, v: None)
    one.merge(two).merge(last).to("out")
    two.to("out2")
    source.to("out3")


@topology
def fan(b: StreamsBuilder) -> None:
    source = b.stream("in")
    for i in range(9):
        branch = source
        for _ in range(i * 5 % 7):
            branch = branch.map_values(marked)
        branch.to(f"out{i}")


@topology
def fan_in(b: StreamsBuilder) -> None:
    source, merged = b.stream("in"), b.stream("other")
    for i in range(8):
        branch = source
        for _ in range(i * 3 % 5):
            branch = branch.map_values(marked)
        merged = branch.merge(merged) if i % 2 else merged.merge(branch)
        if i % 3 == 0:
            merged.filter(is_low).to(f"low{i}")
    merged.to("out")


@topology
def fan_of_tables(b: StreamsBuilder) -> None:
    one, other = b.table("in"), b.table("other")
    for i in range(4):
        joined = one.left_join(other, both)
        for _ in range(i):
            joined = joined.map_values(marked)
        joined.to_stream().to(f"out{i}")
        looked_up = b.stream("global").join(other if i % 2 else one, lambda first, second: first + second)
        looked_up.to(f"looked{i}")


@topology
def repartition(b: StreamsBuilder) -> None:
    b.stream("in").repartition().map_values(marked).to("out")


@topology
def repartition_named(b: StreamsBuilder) -> None:
    by_value = b.stream("in").select_key(lambda k, v: v)
    by_value.repartition(Repartitioned("by-value", number_of_partitions=1)).to("out")


@topology
def through_own_topic(b: StreamsBuilder) -> None:
    b.stream("in").map_values(marked).to("between")
    b.stream("between").map_values(marked).to("out")


@topology
def timestamps_of_values(b: StreamsBuilder) -> None:
    def extract(key: object, value: str | None, timestamp: int, latest: int) -> int:
        return -1 if value is None else int(value) * 100

    b.stream("in", Consumed(timestamp_extractor=extract)).to("out")


@topology
def foreach(b: StreamsBuilder) -> None:
    source = b.stream("in")
    source.for_each(lambda k, v: None)
    source.to("out")
