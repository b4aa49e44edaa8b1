"""allOf, anyOf, oneOf, not and conditions.

Alternatives may become more, demands may become fewer. The parts of the smaller side must each find a part of the other
side, one that no other part has taken.
"""

from __future__ import annotations

from typing import Any

from tests.registry.formats.json_schema.cases import (
    INTEGER,
    MODERN,
    NUMBER,
    SINCE_6,
    STRING,
    Case,
    check,
    each_way,
    obj,
)

NULL = {"type": "null"}
BOOLEAN = {"type": "boolean"}
SHORT = {**STRING, "maxLength": 3}
LONG = {**STRING, "maxLength": 9}
A, B, C = obj("a", a=STRING), obj("b", b=STRING), obj("c", c=STRING)
SINCE_7 = SINCE_6[1:]


def alternatives(criterion: str) -> list[Case]:
    """anyOf and oneOf have the same rules."""

    def of(*parts: Any) -> dict[str, Any]:
        return {criterion: list(parts)}

    return [
        Case(f"{criterion}: nothing changed", of(STRING, NULL), of(STRING, NULL), [], []),
        Case(f"{criterion}: another order", of(STRING, NULL), of(NULL, STRING), [], []),
        Case(
            f"{criterion}: an alternative is added",
            of(STRING, NULL),
            of(STRING, NULL, INTEGER),
            ["SUM_TYPE_EXTENDED #/"],
            ["!SUM_TYPE_NARROWED #/"],
        ),
        Case(
            f"{criterion}: an alternative is widened",
            of(SHORT, NULL),
            of(LONG, NULL),
            [f"MAX_LENGTH_INCREASED #/{criterion}/0/maxLength"],
            ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
        ),
        Case(
            f"{criterion}: an alternative takes the place of another",
            of(STRING, NULL),
            of(INTEGER, NULL),
            ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
            ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
        ),
        Case(
            f"{criterion}: one is added and another changed",
            of(STRING, NULL),
            of(INTEGER, NULL, BOOLEAN),
            ["SUM_TYPE_EXTENDED #/", "!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
            ["!SUM_TYPE_NARROWED #/", "!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
        ),
        Case(
            f"{criterion}: two cannot be read by the same one",
            of(SHORT, LONG),
            of(STRING, INTEGER),
            [f"MAX_LENGTH_REMOVED #/{criterion}/0/maxLength", "!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
            ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
        ),
        Case(
            f"{criterion}: the greedy choice is not the right one",
            of(SHORT, LONG),
            of(LONG, SHORT),
            [],
            [],
        ),
        Case(
            f"{criterion}: a choice must be moved to make room",
            of(SHORT, {**STRING, "maxLength": 5}, LONG),
            of({**STRING, "maxLength": 10}, {**STRING, "maxLength": 6}, {**STRING, "maxLength": 4}),
            [
                f"MAX_LENGTH_INCREASED #/{criterion}/0/maxLength",
                f"MAX_LENGTH_INCREASED #/{criterion}/1/maxLength",
                f"MAX_LENGTH_INCREASED #/{criterion}/2/maxLength",
            ],
            [
                f"MAX_LENGTH_INCREASED #/{criterion}/1/maxLength",
                f"MAX_LENGTH_INCREASED #/{criterion}/2/maxLength",
                "!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/",
            ],
        ),
        Case(
            f"{criterion}: the same alternative twice counts once",
            of(STRING, NULL, STRING),
            of(STRING, NULL),
            [],
            [],
        ),
        Case(
            f"{criterion}: a single type becomes an alternative",
            STRING,
            of(INTEGER, STRING),
            ["SUM_TYPE_EXTENDED #/"],
            ["!TYPE_CHANGED #/"],
        ),
        Case(
            f"{criterion}: a single type becomes a wider alternative",
            SHORT,
            of(INTEGER, LONG),
            ["MAX_LENGTH_INCREASED #/maxLength", "SUM_TYPE_EXTENDED #/"],
            ["!TYPE_CHANGED #/"],
        ),
        Case(
            f"{criterion}: a single type becomes narrower alternatives",
            LONG,
            of(INTEGER, SHORT),
            ["!TYPE_CHANGED #/"],
            ["!TYPE_CHANGED #/"],
        ),
        Case(
            f"{criterion}: a single type gets company of one, itself",
            STRING,
            of(STRING),
            [],
            [],
        ),
        Case(
            f"{criterion}: one alternative is no choice",
            SHORT,
            of(LONG),
            ["MAX_LENGTH_INCREASED #/maxLength"],
            ["!TYPE_CHANGED #/"],
        ),
        Case(
            f"{criterion}: a property gets alternatives",
            obj(x=STRING),
            obj(x=of(STRING, NULL)),
            ["SUM_TYPE_EXTENDED #/properties/x"],
            ["!TYPE_CHANGED #/properties/x"],
        ),
        Case(
            f"{criterion}: an alternative among objects is added",
            of(A, B),
            of(A, B, C),
            ["SUM_TYPE_EXTENDED #/"],
            ["!SUM_TYPE_NARROWED #/"],
        ),
        Case(
            f"{criterion}: inside of alternatives",
            of(obj(x=of(INTEGER, NULL)), NULL),
            of(obj(x=of(NUMBER, NULL)), NULL),
            [f"TYPE_EXTENDED #/{criterion}/0/properties/x/{criterion}/0"],
            ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
        ),
        Case(
            f"{criterion}: alternatives become anything",
            of(STRING, NULL),
            {},
            [],
            ["!TYPE_CHANGED #/"],
        ),
        Case(
            f"{criterion}: beside a type",
            {"type": "object", **of(A, B)},
            {"type": "object", **of(A, B, C)},
            ["SUM_TYPE_EXTENDED #/allOf/0"],
            ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
        ),
    ]


DEMANDS = [
    Case("allOf: nothing changed", {"allOf": [A, B]}, {"allOf": [B, A]}, [], []),
    Case(
        "allOf: a demand is added",
        {"allOf": [A, B]},
        {"allOf": [A, B, NUMBER]},
        ["!PRODUCT_TYPE_EXTENDED #/"],
        ["PRODUCT_TYPE_NARROWED #/"],
    ),
    Case(
        "allOf: a demand is widened",
        {"allOf": [SHORT, {"pattern": "x"}]},
        {"allOf": [LONG, {"pattern": "x"}]},
        ["MAX_LENGTH_INCREASED #/allOf/0/maxLength"],
        ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
    ),
    Case(
        "allOf: a demand takes the place of another",
        {"allOf": [SHORT, {"pattern": "x"}]},
        {"allOf": [SHORT, {"pattern": "y"}]},
        ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
        ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
    ),
    Case(
        "allOf: a single schema gets a second demand",
        SHORT,
        {"allOf": [SHORT, {"pattern": "x"}]},
        ["!TYPE_CHANGED #/"],
        ["PRODUCT_TYPE_NARROWED #/"],
    ),
    Case(
        "allOf: any demand that is read is enough",
        {"allOf": [INTEGER, {"enum": [1]}]},
        NUMBER,
        ["TYPE_EXTENDED #/", "PRODUCT_TYPE_NARROWED #/"],
        ["!TYPE_CHANGED #/"],
    ),
    Case("allOf: one demand is none but itself", SHORT, {"allOf": [SHORT]}, [], []),
    Case(
        "allOf: one wider demand",
        SHORT,
        {"allOf": [LONG]},
        ["MAX_LENGTH_INCREASED #/maxLength"],
        ["!TYPE_CHANGED #/"],
    ),
    Case("allOf: all of nothing said", {"allOf": [{}]}, {}, [], []),
]

CRITERIA = [
    Case(
        "oneOf becomes anyOf",
        {"oneOf": [STRING, NULL]},
        {"anyOf": [STRING, NULL]},
        ["COMBINED_TYPE_EXTENDED #/"],
        ["!COMBINED_TYPE_CHANGED #/"],
    ),
    Case(
        "allOf becomes anyOf",
        {"allOf": [A, B]},
        {"anyOf": [A, B]},
        ["COMBINED_TYPE_EXTENDED #/"],
        ["!COMBINED_TYPE_CHANGED #/"],
    ),
    Case(
        "allOf becomes oneOf",
        {"allOf": [A, B]},
        {"oneOf": [A, B]},
        ["!COMBINED_TYPE_CHANGED #/"],
        ["!COMBINED_TYPE_CHANGED #/"],
    ),
    Case(
        "one criterion of one schema is any other",
        {"allOf": [STRING]},
        {"oneOf": [STRING]},
        ["COMBINED_TYPE_EXTENDED #/"],
        ["COMBINED_TYPE_EXTENDED #/"],
    ),
    Case(
        "all of one becomes one of several",
        {"allOf": [STRING]},
        {"oneOf": [STRING, NULL]},
        ["COMBINED_TYPE_EXTENDED #/", "SUM_TYPE_EXTENDED #/"],
        ["!COMBINED_TYPE_CHANGED #/"],
    ),
    Case(
        "all of several becomes one of one",
        {"allOf": [SHORT, {"pattern": "x"}]},
        {"oneOf": [SHORT]},
        ["COMBINED_TYPE_EXTENDED #/", "PRODUCT_TYPE_NARROWED #/"],
        ["!COMBINED_TYPE_CHANGED #/"],
    ),
    Case(
        "one of several becomes any of more",
        {"oneOf": [STRING, NULL]},
        {"anyOf": [STRING, NULL, INTEGER]},
        ["COMBINED_TYPE_EXTENDED #/", "SUM_TYPE_EXTENDED #/"],
        ["!COMBINED_TYPE_CHANGED #/"],
    ),
    Case(
        "one of several becomes any of fewer",
        {"oneOf": [STRING, NULL, INTEGER]},
        {"anyOf": [STRING, NULL]},
        ["COMBINED_TYPE_EXTENDED #/", "!SUM_TYPE_NARROWED #/"],
        ["!COMBINED_TYPE_CHANGED #/"],
    ),
]

NEGATIONS = [
    Case(
        "not: less is refused",
        {"not": STRING},
        {"not": SHORT},
        ["NOT_TYPE_NARROWED #/not"],
        ["!NOT_TYPE_EXTENDED #/not"],
    ),
    Case(
        "not: the same is refused",
        {"not": STRING},
        {"not": STRING},
        ["NOT_TYPE_NARROWED #/not"],
        ["NOT_TYPE_NARROWED #/not"],
    ),
    Case(
        "not: something else is refused",
        {"not": STRING},
        {"not": INTEGER},
        ["!NOT_TYPE_EXTENDED #/not"],
        ["!NOT_TYPE_EXTENDED #/not"],
    ),
    Case(
        "not: integers, then all numbers are refused",
        {"not": INTEGER},
        {"not": NUMBER},
        ["!NOT_TYPE_EXTENDED #/not"],
        ["NOT_TYPE_NARROWED #/not"],
    ),
    Case(
        "not: twice",
        {"not": {"not": SHORT}},
        {"not": {"not": LONG}},
        ["NOT_TYPE_NARROWED #/not"],
        ["!NOT_TYPE_EXTENDED #/not"],
    ),
    Case("not: nothing is refused any more", {"not": STRING}, {}, [], ["!TYPE_CHANGED #/"]),
    Case(
        "not: beside a type",
        {**STRING, "not": {"enum": ["x"]}},
        STRING,
        ["PRODUCT_TYPE_NARROWED #/"],
        ["!TYPE_CHANGED #/"],
    ),
]

CONDITIONS = [
    Case(
        "a condition beside a type",
        {"type": "object"},
        {"type": "object", "if": A, "then": B},
        ["!TYPE_CHANGED #/"],
        ["PRODUCT_TYPE_NARROWED #/"],
        SINCE_7,
    ),
    Case(
        "what a condition says is not compared",
        {"type": "object", "if": A, "then": B},
        {"type": "object", "if": A, "then": C, "else": B},
        [],
        [],
        SINCE_7,
    ),
    Case("conditions are no keywords in draft 6", {"if": A, "then": B}, {}, [], [], (SINCE_6[0],)),
]

BESIDE_REFERENCES = [
    Case(
        "what stands beside a $ref counts since 2019-09",
        {"$ref": "#/$defs/x", "$defs": {"x": STRING}},
        {"$ref": "#/$defs/x", "maxLength": 3, "$defs": {"x": STRING}},
        ["!TYPE_CHANGED #/"],
        ["PRODUCT_TYPE_NARROWED #/"],
        MODERN,
    ),
]

CASES = [
    *alternatives("anyOf"),
    *alternatives("oneOf"),
    *DEMANDS,
    *CRITERIA,
    *NEGATIONS,
    *CONDITIONS,
    *BESIDE_REFERENCES,
]


@each_way(CASES)
def test_combined(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)
