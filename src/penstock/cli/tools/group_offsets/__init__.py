"""What kafka-consumer-groups and kafka-share-groups have in common: offsets that are to be reset."""
