"""What all tests share."""

from hypothesis import HealthCheck, settings

# The machines are shared and noisy: how long an example takes says nothing.
settings.register_profile("penstock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("penstock")
