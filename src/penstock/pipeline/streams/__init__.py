"""The DSL of Kafka Streams, which makes plans; `penstock.streams` is its public name."""
