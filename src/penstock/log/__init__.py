"""One partition on disk, in Kafka's own file formats."""
