"""The shipped test kit: a broker, a registry and a REST proxy inside the test's own process, a Connect worker and
whole clusters beside it, request interception, a clock to move, a file system that fails when told, and the pytest
plugin that hands these out.

What is named here is imported when it is asked for: pytest loads the plugin, and with it this package, at every start.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.testing.cluster import CLUSTER_SETTINGS, Cluster, ClusterTrouble
    from penstock.testing.connect_process import ConnectProcess, ConnectTrouble
    from penstock.testing.in_process import TEST_SETTINGS, AsyncInProcessBroker, InProcessBroker
    from penstock.testing.in_process_services import InProcessRegistry, InProcessRestProxy
    from penstock.testing.interception import Interceptor, Rule, SeenRequest
    from penstock.testing.manual_clock import ManualClock

__all__ = [
    "CLUSTER_SETTINGS",
    "TEST_SETTINGS",
    "AsyncInProcessBroker",
    "Cluster",
    "ClusterTrouble",
    "ConnectProcess",
    "ConnectTrouble",
    "InProcessBroker",
    "InProcessRegistry",
    "InProcessRestProxy",
    "Interceptor",
    "ManualClock",
    "Rule",
    "SeenRequest",
]

_MODULE_OF = {
    "CLUSTER_SETTINGS": "cluster",
    "Cluster": "cluster",
    "ClusterTrouble": "cluster",
    "TEST_SETTINGS": "in_process",
    "AsyncInProcessBroker": "in_process",
    "ConnectProcess": "connect_process",
    "ConnectTrouble": "connect_process",
    "InProcessBroker": "in_process",
    "InProcessRegistry": "in_process_services",
    "InProcessRestProxy": "in_process_services",
    "Interceptor": "interception",
    "ManualClock": "manual_clock",
    "Rule": "interception",
    "SeenRequest": "interception",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
