"""The functions of `client.admin` in both colours, against one broker in this process."""

from tests.client.cluster.conftest import Asker, ask

__all__ = ["Asker", "ask"]
