"""What a Connect cluster keeps in Kafka: the config, offset and status topics, in Kafka Connect's own records."""
