"""Topologies as graphs for Graphviz."""

import re

from penstock.streams import Grouped, Materialized, StreamsBuilder


def described(builder: StreamsBuilder) -> str:
    return builder.build().describe_dot()


def builder_of_strings() -> StreamsBuilder:
    return StreamsBuilder(default_key_serde="string", default_value_serde="string")


def test_topics_stores_and_sub_topologies() -> None:
    builder = builder_of_strings()
    words = builder.stream("words").group_by(lambda k, v: v, Grouped("by-word"))
    words.count(Materialized("counts")).to_stream().to("out")
    assert (
        described(builder)
        == """\
digraph topology {
  rankdir=LR;
  node [shape=box];
  subgraph cluster_0 {
    label="sub-topology 0";
    "KSTREAM-SOURCE-0000000000";
    "by-word";
    "by-word-repartition-filter";
    "by-word-repartition-sink";
  }
  "topic words" -> "KSTREAM-SOURCE-0000000000";
  "KSTREAM-SOURCE-0000000000" -> "by-word";
  "by-word" -> "by-word-repartition-filter";
  "by-word-repartition-filter" -> "by-word-repartition-sink";
  "by-word-repartition-sink" -> "topic by-word-repartition";
  subgraph cluster_1 {
    label="sub-topology 1";
    "by-word-repartition-source";
    "KSTREAM-AGGREGATE-0000000002";
    "KTABLE-TOSTREAM-0000000006";
    "KSTREAM-SINK-0000000007";
    "store counts" [shape=cylinder,label="counts"];
  }
  "topic by-word-repartition" -> "by-word-repartition-source";
  "by-word-repartition-source" -> "KSTREAM-AGGREGATE-0000000002";
  "KSTREAM-AGGREGATE-0000000002" -> "store counts" [style=dashed,dir=none];
  "KSTREAM-AGGREGATE-0000000002" -> "KTABLE-TOSTREAM-0000000006";
  "KTABLE-TOSTREAM-0000000006" -> "KSTREAM-SINK-0000000007";
  "KSTREAM-SINK-0000000007" -> "topic out";
  "topic words" [shape=note,label="words"];
  "topic by-word-repartition" [shape=note,label="by-word-repartition"];
  "topic out" [shape=note,label="out"];
}
"""
    )


def test_a_pattern_and_a_topic_that_is_chosen() -> None:
    builder = builder_of_strings()
    builder.stream(re.compile(r"in\.\d+-ä")).to(lambda k, v: v)
    graph = described(builder)
    assert r'"topic in\\.\\d+-ä" -> "KSTREAM-SOURCE-0000000000";' in graph
    assert '"KSTREAM-SINK-0000000001" -> "topic that the program chooses";' in graph


def test_every_line_of_a_graph_is_whole() -> None:
    builder = builder_of_strings()
    table = builder.global_table("all")
    builder.stream("in").join(table, max, key_selector=lambda k, v: v).to("out")
    quoted = r'"(?:[^"\\]|\\.)*"'
    line = rf" *(?:{quoted}(?: -> {quoted})?(?: \[.*\])?;|label={quoted};|subgraph cluster_\d+ \{{|\}}|rankdir=LR;)"
    lines = described(builder).splitlines()
    assert (lines[0], lines[2], lines[-1]) == ("digraph topology {", "  node [shape=box];", "}")
    assert [each for each in lines[1:-1] if "node [" not in each and not re.fullmatch(line, each)] == []
