"""Who imports `penstock` pays for what is used, and a script that forgets to close its producer still ends well."""

import subprocess
import sys

import pytest

from penstock.testing import InProcessBroker

pytestmark = pytest.mark.processes

EXPENSIVE = {"asyncio", "confluent_kafka", "typing", "logging"}


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("imported", "allowed"),
    [("penstock", set()), ("penstock.client", set()), ("penstock.wire_client", {"typing"})],
)
def test_imports_are_cheap(imported: str, allowed: set[str]) -> None:
    done = run_python(f"import sys, {imported}; print(*sys.modules)")
    assert not EXPENSIVE - allowed & set(done.stdout.split()), done.stdout + done.stderr


def test_a_script_that_forgets_to_close_its_producer_is_told(broker: InProcessBroker) -> None:
    done = run_python(
        "from penstock import KafkaProducer\n"
        f"producer = KafkaProducer(bootstrap_servers='{broker.bootstrap_servers}', linger_ms=60_000)\n"
        "producer.produce('forgotten', b'lost')\n"
    )
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"<KafkaProducer to {broker.bootstrap_servers}, open> was dropped without close(); "
        "1 records may not be delivered"
    ]


def test_a_script_that_closes_its_producer_says_nothing(broker: InProcessBroker) -> None:
    done = run_python(
        "from penstock import KafkaProducer\n"
        f"with KafkaProducer(bootstrap_servers='{broker.bootstrap_servers}') as producer:\n"
        "    producer.produce('forgotten', b'found')\n"
    )
    assert (done.returncode, done.stderr) == (0, "")
