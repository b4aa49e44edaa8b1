"""Words of the topic `lines`, counted into `word-counts`: `penstock streams run word_count.py`."""

from penstock.streams import Materialized, Produced, Program, StreamsBuilder

builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
words = (
    builder.stream("lines")
    .flat_map_values(lambda line: line.lower().split())
    .group_by(lambda key, word: word)
)
words.count(Materialized("counts")).to_stream().to("word-counts", Produced("string", "long"))

program = Program("word-count", builder.build())
