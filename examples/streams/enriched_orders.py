"""Orders with the names of their customers: the stream `orders` beside the table `customers`, into `enriched`.

Both topics need as many partitions as each other, unless orders are repartitioned by their customers, as here.
"""

from dataclasses import dataclass

from penstock.streams import Consumed, Joined, Produced, Program, StreamsBuilder


@dataclass
class Order:
    customer: str
    cups: int


def enrich(order: Order, name: str | None) -> dict[str, object]:
    return {"name": name or "someone", "cups": order.cups}


builder = StreamsBuilder(default_key_serde="string")
customers = builder.table("customers", Consumed(value_serde="string"))
orders = builder.stream("orders", Consumed(value_serde=Order))
orders.select_key(lambda number, order: order.customer).left_join(
    customers, enrich, joined=Joined("string", Order, name="by-customer")
).to("enriched", Produced(value_serde="json"))

program = Program("enriched-orders", builder.build())
