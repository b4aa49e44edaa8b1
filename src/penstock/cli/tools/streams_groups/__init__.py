"""The parts of kafka-streams-groups."""
