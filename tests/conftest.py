"""What all tests share."""

import signal

from hypothesis import HealthCheck, settings

# The machines are shared and noisy: how long an example takes says nothing.
settings.register_profile("penstock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("penstock")

# A shell has its background jobs ignore Ctrl-C, and so would all that is started here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
