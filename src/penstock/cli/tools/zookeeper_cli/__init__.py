"""The parts of zookeeper-shell."""
