"""The shipped test kit: a broker inside the test's own process, a clock to move, a file system that fails when told."""

from penstock.testing.in_process import TEST_SETTINGS, AsyncInProcessBroker, InProcessBroker
from penstock.testing.manual_clock import ManualClock

__all__ = ["TEST_SETTINGS", "AsyncInProcessBroker", "InProcessBroker", "ManualClock"]
