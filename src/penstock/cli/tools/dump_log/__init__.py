"""The parts of kafka-dump-log, by the kind of file."""
