"""Shapes that need no schema of one's own: what `quickstart` names."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple


class Quickstart(NamedTuple):
    schema: str
    key_field: str


def _field(name: str, kind: str, logical: str | None = None, **arguments: Any) -> dict[str, Any]:
    described: dict[str, Any] = {"type": kind, "arg.properties": arguments}
    return {"name": name, "type": {**described, "logicalType": logical} if logical else described}


def _record(name: str, *fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "namespace": "ksql", "name": name, "fields": list(fields)}


def _quickstart(name: str, key_field: str, *fields: dict[str, Any]) -> Quickstart:
    return Quickstart(json.dumps(_record(name, *fields)), key_field)


_ADDRESS: Final = {
    "name": "address",
    "type": _record(
        "address",
        _field("city", "string", regex="City_[1-9][0-9]?"),
        _field("state", "string", regex="State_[1-9][0-9]?"),
        _field("zipcode", "long", range={"min": 10000, "max": 100000}),
    ),
}
_USERS: Final = [f"User_{number}" for number in range(1, 10)]
_PRODUCTS: Final = ["apples", "bread", "cheese", "coffee", "flour", "honey", "milk", "olives", "rice", "tea"]

QUICKSTARTS: Final = {
    "orders": _quickstart(
        "orders",
        "orderid",
        _field("ordertime", "long", iteration={"start": 1_700_000_000_000, "step": 1000}),
        _field("orderid", "int", iteration={"start": 0}),
        _field("itemid", "string", regex="Item_[1-9][0-9]{0,2}"),
        _field("orderunits", "double", range={"min": 0.1, "max": 10.0}),
        _ADDRESS,
    ),
    "pageviews": _quickstart(
        "pageviews",
        "viewtime",
        _field("viewtime", "long", iteration={"start": 1, "step": 10}),
        _field("userid", "string", options=_USERS),
        _field("pageid", "string", regex="Page_[1-9][0-9]?"),
    ),
    "users": _quickstart(
        "users",
        "userid",
        _field("registertime", "long", range={"min": 1_480_000_000_000, "max": 1_520_000_000_000}),
        _field("userid", "string", options=_USERS),
        _field("regionid", "string", regex="Region_[1-9]"),
        _field("gender", "string", options=["MALE", "FEMALE", "OTHER"]),
    ),
    "pricing": _quickstart(
        "pricing",
        "product",
        _field("product", "string", options=_PRODUCTS),
        _field("price", "double", range={"min": 0.5, "max": 40.0}),
        _field("currency", "string", options=["EUR", "GBP", "USD"]),
        _field("time", "long", "timestamp-millis", iteration={"start": 1_700_000_000_000, "step": 250}),
    ),
}
