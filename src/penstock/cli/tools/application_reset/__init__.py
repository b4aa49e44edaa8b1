"""The parts of kafka-streams-application-reset."""
