"""What Kafka's tools list and describe, as tables and as JSON: a module per tool, `view(options) -> View | None`."""
