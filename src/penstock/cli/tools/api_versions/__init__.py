"""Of kafka-broker-api-versions."""
