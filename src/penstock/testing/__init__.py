"""The shipped test kit: a broker inside the test's own process, and a file system that fails on request."""

from penstock.testing.in_process import TEST_SETTINGS, AsyncInProcessBroker, InProcessBroker

__all__ = ["TEST_SETTINGS", "AsyncInProcessBroker", "InProcessBroker"]
