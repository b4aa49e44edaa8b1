"""`penstock_connect` as its users have it."""

import pytest

from penstock.testing import ConnectProcess, ConnectTrouble, InProcessBroker
from tests.support.spark import require_java
from tests.testing.test_pytest_plugin import run

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.processes

SPARK_SECONDS = 280.0
CONNECTOR = """
import time

from penstock.pipeline.connect.api import ConfigDef, SourceConnector, SourceTask
from penstock.pipeline.connect.api.config_def import ConfigType
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.data.schema import STRING

class DishTask(SourceTask):
    def start(self, configs):
        self.topic, self.dish = configs["topic"], configs["dish"]
        if self.dish == "burnt toast":
            raise ValueError(f"{self.dish} is no dish")

    def poll(self):
        time.sleep(0.05)
        return [SourceRecord({}, {}, self.topic, self.dish, STRING)]


class Dishes(SourceConnector):
    task_class = DishTask
    config_def = ConfigDef().define("topic", ConfigType.STRING).define("dish", ConfigType.STRING)
"""


def test_a_connect_worker(pytester: pytest.Pytester) -> None:
    """With a connector of the project's own, one that is refused, and one that fails."""
    require_java()
    (pytester.path / "connectors").mkdir()
    pytester.path.joinpath("connectors/dishes.py").write_text(CONNECTOR)
    pytester.makeconftest(
        """
        from pathlib import Path

        import pytest

        @pytest.fixture(scope="session")
        def penstock_connect_settings():
            return {"plugin.path": Path(__file__).parent / "connectors"}
        """
    )
    pytester.makepyfile(
        """
        import pytest

        from penstock.testing import ConnectTrouble

        def test_records_come(penstock_connect, penstock_consumer, penstock_topic):
            config = {"connector.class": "Dishes", "topic": penstock_topic, "dish": "ramen"}
            penstock_connect.start_connector("dishes", config)
            assert next(iter(penstock_consumer)).value == b'"ramen"'
            assert penstock_connect.status("dishes")["tasks"][0]["state"] == "RUNNING"

        def test_the_last_test_left_nothing(penstock_connect):
            assert penstock_connect.connectors() == []

        def test_what_is_missing_is_named(penstock_connect):
            with pytest.raises(ConnectTrouble, match='400: (?s:.*)"topic" which has no default'):
                penstock_connect.start_connector("dishes", {"connector.class": "Dishes"})
            assert penstock_connect.connectors() == []

        def test_what_fails_says_why(penstock_connect, penstock_topic):
            config = {"connector.class": "Dishes", "topic": penstock_topic, "dish": "burnt toast"}
            with pytest.raises(ConnectTrouble, match="connector dishes failed: (?s:.*)burnt toast is no dish"):
                penstock_connect.start_connector("dishes", config)
        """
    )
    run(pytester, timeout=SPARK_SECONDS).assert_outcomes(passed=4)


def test_a_worker_that_cannot_start_says_why(penstock_broker: InProcessBroker) -> None:
    worker = ConnectProcess(penstock_broker.bootstrap_servers, {"tick.ms": "soon"})
    with pytest.raises(ConnectTrouble, match=r"(?s)has ended:.*tick\.ms: got 'soon'"):
        worker.start()
