"""A topology goes to executors as Spark pickles it, the user's functions with it."""

import pickle
from dataclasses import dataclass

from pyspark import cloudpickle

from penstock.streams import Consumed, Produced, StreamsBuilder, Topology, TopologyTestDriver
from tests.pipeline.streams.beside_java.kinds import NAMES
from tests.pipeline.streams.beside_java.runs import built
from tests.support.rows import each_row


@dataclass
class Order:
    customer: str
    cups: int


def pickled(topology: Topology) -> Topology:
    again = pickle.loads(cloudpickle.dumps(topology))
    assert isinstance(again, Topology)
    return again


@each_row("name", NAMES, str)
def test_a_topology_is_the_same_afterwards(name: str) -> None:
    topology = built(name)
    assert pickled(topology).describe() == topology.describe()


@each_row("value_serde", ["json", Order, "integer", "double", "short", "float", "uuid", "bytes"], str)
def test_serdes_go_along(value_serde: str) -> None:
    builder = StreamsBuilder(default_key_serde="string")
    builder.table("in", Consumed(value_serde=value_serde)).to_stream().to("out")
    pickled(builder.build())


def test_functions_go_along() -> None:
    builder = StreamsBuilder(default_key_serde="string")
    cups = builder.stream("in", Consumed(value_serde=Order)).map_values(lambda order: order.cups)
    cups.to("out", Produced(value_serde="long"))
    with TopologyTestDriver(pickled(builder.build())) as driver:
        driver.create_input_topic("in", "string", Order).pipe_input("a", Order("ann", 3))
        assert driver.create_output_topic("out", "string", "long").read_key_value() == ("a", 3)
