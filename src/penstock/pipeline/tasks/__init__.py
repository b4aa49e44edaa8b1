"""Programs of streams on Kafka and Spark: which tasks there are, and how each is run."""
