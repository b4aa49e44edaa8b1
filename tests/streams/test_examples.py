"""The example programs do what they say, in memory; `penstock streams topology` shows them."""

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.pipeline.tasks.program import ProgramFile
from penstock.streams import Program, TopologyTestDriver

pytestmark = []
EXAMPLES = Path(__file__).parents[2] / "examples/streams"


def program(name: str) -> Program:
    return ProgramFile.read(EXAMPLES / name).load()


def test_word_count() -> None:
    with TopologyTestDriver(program("word_count.py").topology) as driver:
        driver.create_input_topic("lines", "string", "string").pipe_input(None, "To be or not to be")
        counts = driver.create_output_topic("word-counts", "string", "long")
        assert counts.read_key_values_to_map() == {"to": 2, "be": 2, "or": 1, "not": 1}


def test_enriched_orders() -> None:
    with TopologyTestDriver(program("enriched_orders.py").topology) as driver:
        driver.create_input_topic("customers", "string", "string").pipe_input("c7", "Ann")
        orders = driver.create_input_topic("orders", "string", "json")
        orders.pipe_input("1", {"customer": "c7", "cups": 2})
        orders.pipe_input("2", {"customer": "c8", "cups": 1})
        enriched = driver.create_output_topic("enriched", "string", "json")
        assert enriched.read_key_values_to_list() == [
            ("c7", {"name": "Ann", "cups": 2}),
            ("c8", {"name": "someone", "cups": 1}),
        ]


def test_page_views() -> None:
    with TopologyTestDriver(program("page_views.py").topology) as driver:
        views = driver.create_input_topic("page-views", "string", "string")
        for timestamp_ms in (0, 20_000, 45_000, 500_000):
            views.pipe_input("ann", "/", timestamp_ms)
        sessions = driver.create_output_topic("sessions", "string", "json")
        assert sessions.read_key_values_to_list() == [("ann", {"views": 3, "seconds": 45.0})]


@pytest.mark.processes
@pytest.mark.parametrize("dot", [False, True])
def test_the_topology_on_the_command_line(dot: bool) -> None:
    command = [
        str(Path(sys.executable).parent / "penstock"),
        "streams",
        "topology",
        str(EXAMPLES / "word_count.py"),
    ]
    said = subprocess.run([*command, *(["--dot"] if dot else [])], capture_output=True, text=True, check=True)
    topology = program("word_count.py").topology
    assert said.stdout == (topology.describe_dot() if dot else topology.describe())
