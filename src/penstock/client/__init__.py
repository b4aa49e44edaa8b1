"""Producer, consumer and admin client, for any Kafka."""
