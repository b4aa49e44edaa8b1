"""The broker's settings, one dataclass per subject; `broker.BrokerSettings` is all of them."""
