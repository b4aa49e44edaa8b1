"""What schemas say of arrays: of all items, of tuples (the first items, and others) and of sizes.

Tuples are open, closed or partially open to items beyond their own, as objects are to other properties.
"""

from __future__ import annotations

from typing import Any

from tests.registry.formats.json_schema.cases import (
    BEFORE_2019,
    BEFORE_2020,
    DRAFT_2020_12,
    INTEGER,
    MODERN,
    NUMBER,
    SINCE_6,
    STRING,
    Case,
    check,
    each_way,
)

ARRAY = {"type": "array"}


def array(items: Any, **more: Any) -> dict[str, Any]:
    return {**ARRAY, "items": items, **more}


LISTS = [
    Case("nothing changed", array(STRING), array(STRING), [], []),
    Case(
        "items get a schema",
        ARRAY,
        array(STRING),
        ["!SCHEMA_ADDED #/items"],
        ["SCHEMA_REMOVED #/items"],
    ),
    Case(
        "items change their type",
        array(STRING),
        array(INTEGER),
        ["!TYPE_CHANGED #/items"],
        ["!TYPE_CHANGED #/items"],
    ),
    Case(
        "items are widened",
        array(INTEGER),
        array(NUMBER),
        ["TYPE_EXTENDED #/items"],
        ["!TYPE_NARROWED #/items"],
    ),
    Case(
        "items of items",
        array(array({**STRING, "maxLength": 1})),
        array(array(STRING)),
        ["MAX_LENGTH_REMOVED #/items/items/maxLength"],
        ["!MAX_LENGTH_ADDED #/items/items/maxLength"],
    ),
    Case("items say array, as the type does", {"items": STRING}, array(STRING), [], []),
    Case(
        "items become anything",
        array(STRING),
        array({}),
        [],
        ["!TYPE_CHANGED #/items"],
    ),
    Case(
        "false says nothing of additional items if all items have a schema",
        array(STRING),
        array(STRING, additionalItems=False),
        [],
        [],
        BEFORE_2020,
    ),
    Case(
        "no items at all since 2020-12",
        ARRAY,
        array(False),
        ["!ADDITIONAL_ITEMS_REMOVED #/additionalItems"],
        ["ADDITIONAL_ITEMS_ADDED #/additionalItems"],
        (DRAFT_2020_12,),
    ),
    Case(
        "no items at all until 2019-09",
        ARRAY,
        array(False),
        ["!SCHEMA_ADDED #/items"],
        ["SCHEMA_REMOVED #/items"],
        BEFORE_2020[1:],
    ),
    Case("items that may be anything (true) since 2020-12", ARRAY, array(True), [], [], (DRAFT_2020_12,)),
]

SIZES = [
    Case(
        "more items are allowed",
        {**ARRAY, "maxItems": 2},
        {**ARRAY, "maxItems": 3},
        ["MAX_ITEMS_INCREASED #/maxItems"],
        ["!MAX_ITEMS_DECREASED #/maxItems"],
    ),
    Case(
        "a largest number of items is set",
        ARRAY,
        {**ARRAY, "maxItems": 3},
        ["!MAX_ITEMS_ADDED #/maxItems"],
        ["MAX_ITEMS_REMOVED #/maxItems"],
    ),
    Case(
        "more items are asked for",
        {**ARRAY, "minItems": 2},
        {**ARRAY, "minItems": 3},
        ["!MIN_ITEMS_INCREASED #/minItems"],
        ["MIN_ITEMS_DECREASED #/minItems"],
    ),
    Case(
        "a smallest number of items is set",
        ARRAY,
        {**ARRAY, "minItems": 3},
        ["!MIN_ITEMS_ADDED #/minItems"],
        ["MIN_ITEMS_REMOVED #/minItems"],
    ),
    Case(
        "items must be unique",
        ARRAY,
        {**ARRAY, "uniqueItems": True},
        ["!UNIQUE_ITEMS_ADDED #/uniqueItems"],
        ["UNIQUE_ITEMS_REMOVED #/uniqueItems"],
    ),
    Case("items need not be unique, said or not", ARRAY, {**ARRAY, "uniqueItems": False}, [], []),
    Case(
        "arrays must contain something",
        ARRAY,
        {**ARRAY, "contains": STRING},
        ["!MIN_CONTAINS_ADDED #/minContains"],
        ["MIN_CONTAINS_REMOVED #/minContains"],
        MODERN,
    ),
    Case("contains is not compared until draft 7", ARRAY, {**ARRAY, "contains": STRING}, [], [], BEFORE_2019),
    Case(
        "arrays must contain more",
        {**ARRAY, "contains": STRING, "minContains": 1},
        {**ARRAY, "contains": STRING, "minContains": 2},
        ["!MIN_CONTAINS_INCREASED #/minContains"],
        ["MIN_CONTAINS_DECREASED #/minContains"],
        MODERN,
    ),
    Case(
        "arrays must contain one, said or not",
        {**ARRAY, "contains": STRING},
        {**ARRAY, "contains": STRING, "minContains": 1},
        [],
        [],
        MODERN,
    ),
    Case(
        "arrays may contain more",
        {**ARRAY, "contains": STRING, "maxContains": 1},
        {**ARRAY, "contains": STRING, "maxContains": 2},
        ["MAX_CONTAINS_INCREASED #/maxContains"],
        ["!MAX_CONTAINS_DECREASED #/maxContains"],
        MODERN,
    ),
    Case(
        "arrays may not contain any number",
        {**ARRAY, "contains": STRING},
        {**ARRAY, "contains": STRING, "maxContains": 2},
        ["!MAX_CONTAINS_ADDED #/maxContains"],
        ["MAX_CONTAINS_REMOVED #/maxContains"],
        MODERN,
    ),
    Case(
        "how many are contained is nothing without contains",
        ARRAY,
        {**ARRAY, "minContains": 2, "maxContains": 3},
        [],
        [],
        MODERN,
    ),
]


def tuples(draft_2020: bool, *first: Any, others: Any = True) -> dict[str, Any]:
    """`others` is what the items beyond the first ones must fit."""
    items, additional = ("prefixItems", "items") if draft_2020 else ("items", "additionalItems")
    schema = {**ARRAY, items: list(first)} if first else dict(ARRAY)
    return schema if others is True else {**schema, additional: others}


def tuple_cases(draft_2020: bool) -> list[Case]:
    def tup(*first: Any, others: Any = True) -> dict[str, Any]:
        return tuples(draft_2020, *first, others=others)

    drafts = (DRAFT_2020_12,) if draft_2020 else BEFORE_2020
    return [
        Case(
            "a first item changes its type",
            tup(STRING, INTEGER),
            tup(STRING, STRING),
            ["!TYPE_CHANGED #/items/1"],
            ["!TYPE_CHANGED #/items/1"],
            drafts,
        ),
        Case(
            "a first item is widened",
            tup(STRING, INTEGER),
            tup(STRING, NUMBER),
            ["TYPE_EXTENDED #/items/1"],
            ["!TYPE_NARROWED #/items/1"],
            drafts,
        ),
        Case(
            "an item is added to an open tuple",
            tup(STRING),
            tup(STRING, INTEGER),
            ["!ITEM_ADDED_TO_OPEN_CONTENT_MODEL #/items/1"],
            ["ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL #/items/1"],
            drafts,
        ),
        Case(
            "an item of any value is added to an open tuple",
            tup(STRING),
            tup(STRING, {}),
            ["ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL #/items/1"],
            ["ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL #/items/1"],
            drafts,
        ),
        Case(
            "an item is added to a closed tuple",
            tup(STRING, others=False),
            tup(STRING, INTEGER, others=False),
            ["ITEM_ADDED_TO_CLOSED_CONTENT_MODEL #/items/1"],
            ["!ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL #/items/1"],
            drafts,
        ),
        Case(
            "two items are added to a closed tuple",
            tup(STRING, others=False),
            tup(STRING, INTEGER, {}, others=False),
            ["ITEM_ADDED_TO_CLOSED_CONTENT_MODEL #/items/1", "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL #/items/2"],
            [
                "!ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL #/items/1",
                "!ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL #/items/2",
            ],
            drafts,
        ),
        Case(
            "an item that the schema of others covers is added",
            tup(STRING, others=INTEGER),
            tup(STRING, INTEGER, others=INTEGER),
            ["ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/1"],
            ["ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/1"],
            drafts,
        ),
        Case(
            "an item that the schema of others does not cover is added",
            tup(STRING, others=INTEGER),
            tup(STRING, STRING, others=INTEGER),
            [
                "!TYPE_CHANGED #/items/1",
                "!ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/1",
            ],
            [
                "!TYPE_CHANGED #/items/1",
                "!ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/1",
            ],
            drafts,
        ),
        Case(
            "an open tuple is closed",
            tup(STRING),
            tup(STRING, others=False),
            ["!ADDITIONAL_ITEMS_REMOVED #/additionalItems"],
            ["ADDITIONAL_ITEMS_ADDED #/additionalItems"],
            drafts,
        ),
        Case(
            "other items get a schema",
            tup(STRING),
            tup(STRING, others=INTEGER),
            ["!ADDITIONAL_ITEMS_NARROWED #/additionalItems"],
            ["ADDITIONAL_ITEMS_EXTENDED #/additionalItems"],
            drafts,
        ),
        Case(
            "a closed tuple takes others of a schema",
            tup(STRING, others=False),
            tup(STRING, others=INTEGER),
            ["ADDITIONAL_ITEMS_ADDED #/additionalItems"],
            ["!ADDITIONAL_ITEMS_REMOVED #/additionalItems"],
            drafts,
        ),
        Case(
            "the schema of others is widened",
            tup(STRING, others=INTEGER),
            tup(STRING, others=NUMBER),
            ["TYPE_EXTENDED #/additionalItems"],
            ["!TYPE_NARROWED #/additionalItems"],
            drafts,
        ),
        Case(
            "a list becomes an open tuple",
            array(STRING),
            tup(STRING, STRING),
            [
                "SCHEMA_REMOVED #/items",
                "!ITEM_ADDED_TO_OPEN_CONTENT_MODEL #/items/0",
                "!ITEM_ADDED_TO_OPEN_CONTENT_MODEL #/items/1",
            ],
            [
                "!SCHEMA_ADDED #/items",
                "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL #/items/0",
                "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL #/items/1",
            ],
            drafts,
        ),
        Case(
            "an array of anything becomes a closed tuple",
            ARRAY,
            tup(STRING, others=False),
            [
                "!ITEM_ADDED_TO_OPEN_CONTENT_MODEL #/items/0",
                "!ADDITIONAL_ITEMS_REMOVED #/additionalItems",
            ],
            [
                "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL #/items/0",
                "ADDITIONAL_ITEMS_ADDED #/additionalItems",
            ],
            drafts,
        ),
    ]


def false_item_cases(draft_2020: bool) -> list[Case]:
    return [
        Case(
            "an item that could not be is removed from a closed tuple",
            tuples(draft_2020, STRING, False, others=False),
            tuples(draft_2020, STRING, others=False),
            ["ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL #/items/1"],
            ["ITEM_ADDED_TO_CLOSED_CONTENT_MODEL #/items/1"],
            (DRAFT_2020_12,) if draft_2020 else SINCE_6[:-1],
        ),
        Case(
            "an item that may be anything (true) is added to an open tuple",
            tuples(draft_2020, STRING),
            tuples(draft_2020, STRING, True),
            ["ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL #/items/1"],
            ["ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL #/items/1"],
            (DRAFT_2020_12,) if draft_2020 else SINCE_6[:-1],
        ),
    ]


UNEVALUATED = [
    Case(
        "unevaluated items are refused",
        ARRAY,
        {**ARRAY, "unevaluatedItems": False},
        ["!UNEVALUATED_ITEMS_REMOVED #/unevaluatedItems"],
        ["UNEVALUATED_ITEMS_ADDED #/unevaluatedItems"],
        MODERN,
    ),
    Case(
        "unevaluated items get a schema",
        ARRAY,
        {**ARRAY, "unevaluatedItems": STRING},
        ["!UNEVALUATED_ITEMS_NARROWED #/unevaluatedItems"],
        ["UNEVALUATED_ITEMS_EXTENDED #/unevaluatedItems"],
        MODERN,
    ),
    Case(
        "unevaluated items of a schema are refused",
        {**ARRAY, "unevaluatedItems": STRING},
        {**ARRAY, "unevaluatedItems": False},
        ["!UNEVALUATED_ITEMS_REMOVED #/unevaluatedItems"],
        ["UNEVALUATED_ITEMS_ADDED #/unevaluatedItems"],
        MODERN,
    ),
    Case(
        "the schema of unevaluated items is widened",
        {**ARRAY, "unevaluatedItems": INTEGER},
        {**ARRAY, "unevaluatedItems": NUMBER},
        ["TYPE_EXTENDED #/unevaluatedItems"],
        ["!TYPE_NARROWED #/unevaluatedItems"],
        MODERN,
    ),
    Case(
        "an item is added where the unevaluated have a schema",
        {**ARRAY, "prefixItems": [INTEGER], "unevaluatedItems": STRING},
        {**ARRAY, "prefixItems": [INTEGER, STRING], "unevaluatedItems": STRING},
        ["ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/1"],
        ["ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/1"],
        (DRAFT_2020_12,),
    ),
    Case(
        "unevaluated items are no keyword yet",
        ARRAY,
        {**ARRAY, "unevaluatedItems": False},
        [],
        [],
        BEFORE_2019,
    ),
]

CASES = [*LISTS, *SIZES, *UNEVALUATED]
TUPLES = [*tuple_cases(False), *false_item_cases(False)]
TUPLES_SINCE_2020 = [*tuple_cases(True), *false_item_cases(True)]


@each_way(CASES)
def test_arrays(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)


@each_way(TUPLES, TUPLES_SINCE_2020)
def test_tuples(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)
