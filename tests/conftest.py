"""What all tests share: how they are run, and servers that start when a test first asks for them."""

import signal

from hypothesis import HealthCheck, settings

from tests.support.examples import examples

# Each before those that import it, so that its assertions are rewritten.
pytest_plugins = [
    "tools.suite.collection",
    "tools.suite.alone",
    "tools.suite.order",
    "tools.suite.processes",
    "tools.suite.seconds",
    "tests.support.cluster_fixture",
    "tests.support.apache_cluster",
    "tests.support.penstock_cluster",
    "tests.support.postgres",
    "tests.support.spark",
    "tests.support.prepare",
]

# The machines are shared and noisy: how long an example takes says nothing.
settings.register_profile(
    "penstock", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("penstock")

# A shell has its background jobs ignore Ctrl-C, and so would all that is started here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
