"""The functions of `client.admin` in both colours, against one broker in this process."""

from tests.wire_client.conftest import Asker, ask

__all__ = ["Asker", "ask"]
