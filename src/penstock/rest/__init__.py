"""The REST proxy: Kafka over HTTP, with Confluent's APIs."""
