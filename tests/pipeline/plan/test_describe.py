"""The shape of a description; they are compared with Kafka Streams' in `pipeline/streams/test_beside_java.py`."""

from penstock.streams import StreamsBuilder


def test_a_global_store_is_a_sub_topology_of_its_own() -> None:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    table = builder.global_table("all")
    builder.stream("in").join(table, max, key_selector=lambda k, v: v).to("out")
    assert (
        builder.build().describe()
        == """\
Topologies:
   Sub-topology: 0 for global store (will not generate tasks)
    Source: KSTREAM-SOURCE-0000000001 (topics: [all])
      --> KTABLE-SOURCE-0000000002
    Processor: KTABLE-SOURCE-0000000002 (stores: [all-STATE-STORE-0000000000])
      --> none
      <-- KSTREAM-SOURCE-0000000001
  Sub-topology: 1
    Source: KSTREAM-SOURCE-0000000003 (topics: [in])
      --> KSTREAM-LEFTJOIN-0000000004
    Processor: KSTREAM-LEFTJOIN-0000000004 (stores: [])
      --> KSTREAM-SINK-0000000005
      <-- KSTREAM-SOURCE-0000000003
    Sink: KSTREAM-SINK-0000000005 (topic: out)
      <-- KSTREAM-LEFTJOIN-0000000004

"""
    )
