"""What kafka-consumer-groups and kafka-share-groups have in common."""
