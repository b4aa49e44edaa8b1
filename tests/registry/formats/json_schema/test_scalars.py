"""What schemas say of strings and of numbers: a reader may ask for less than the writer did, never for more."""

from __future__ import annotations

from typing import Any

from tests.registry.formats.json_schema.cases import (
    ALL_DRAFTS,
    BEFORE_2019,
    DRAFT_4,
    INTEGER,
    MODERN,
    NUMBER,
    SINCE_6,
    STRING,
    Case,
    check,
    each_way,
)

STRINGS = [
    Case("nothing changed", {**STRING, "maxLength": 5}, {**STRING, "maxLength": 5}, [], []),
    Case(
        "longer strings are allowed",
        {**STRING, "maxLength": 5},
        {**STRING, "maxLength": 6},
        ["MAX_LENGTH_INCREASED #/maxLength"],
        ["!MAX_LENGTH_DECREASED #/maxLength"],
    ),
    Case(
        "a longest length is set",
        STRING,
        {**STRING, "maxLength": 5},
        ["!MAX_LENGTH_ADDED #/maxLength"],
        ["MAX_LENGTH_REMOVED #/maxLength"],
    ),
    Case(
        "strings must be longer",
        {**STRING, "minLength": 1},
        {**STRING, "minLength": 2},
        ["!MIN_LENGTH_INCREASED #/minLength"],
        ["MIN_LENGTH_DECREASED #/minLength"],
    ),
    Case(
        "a shortest length is set",
        STRING,
        {**STRING, "minLength": 1},
        ["!MIN_LENGTH_ADDED #/minLength"],
        ["MIN_LENGTH_REMOVED #/minLength"],
    ),
    Case(
        "a shortest length of 0 is still a new limit",
        STRING,
        {**STRING, "minLength": 0},
        ["!MIN_LENGTH_ADDED #/minLength"],
        ["MIN_LENGTH_REMOVED #/minLength"],
    ),
    Case(
        "a pattern is set",
        STRING,
        {**STRING, "pattern": "^a"},
        ["!PATTERN_ADDED #/pattern"],
        ["PATTERN_REMOVED #/pattern"],
    ),
    Case(
        "another pattern, even if a wider one, cannot be judged",
        {**STRING, "pattern": "^ab"},
        {**STRING, "pattern": "^a"},
        ["!PATTERN_CHANGED #/pattern"],
        ["!PATTERN_CHANGED #/pattern"],
    ),
    Case(
        "all limits at once",
        {**STRING, "maxLength": 5, "minLength": 2, "pattern": "x"},
        STRING,
        ["MAX_LENGTH_REMOVED #/maxLength", "MIN_LENGTH_REMOVED #/minLength", "PATTERN_REMOVED #/pattern"],
        ["!MAX_LENGTH_ADDED #/maxLength", "!MIN_LENGTH_ADDED #/minLength", "!PATTERN_ADDED #/pattern"],
    ),
    Case(
        "limits in opposite directions",
        {**STRING, "maxLength": 5, "minLength": 2},
        {**STRING, "maxLength": 6, "minLength": 3},
        ["MAX_LENGTH_INCREASED #/maxLength", "!MIN_LENGTH_INCREASED #/minLength"],
        ["!MAX_LENGTH_DECREASED #/maxLength", "MIN_LENGTH_DECREASED #/minLength"],
    ),
    Case(
        "a limit of strings says string, as the type does",
        {"maxLength": 5},
        {**STRING, "maxLength": 5},
        [],
        [],
    ),
    Case("a format of strings is an annotation", STRING, {**STRING, "format": "date"}, [], []),
    Case(
        "another format",
        {**STRING, "format": "date"},
        {**STRING, "format": "date-time"},
        [],
        [],
    ),
    Case("a format alone says string until draft 7", {"format": "date"}, STRING, [], [], BEFORE_2019),
    Case(
        "a format alone says nothing since 2019-09",
        {"format": "date"},
        STRING,
        ["!TYPE_CHANGED #/"],
        [],
        MODERN,
    ),
    Case(
        "a format of integers speaks of strings until draft 7",
        INTEGER,
        {**INTEGER, "format": "int32"},
        ["!TYPE_CHANGED #/"],
        ["PRODUCT_TYPE_NARROWED #/"],
        BEFORE_2019,
    ),
    Case(
        "a format of integers says nothing since 2019-09",
        INTEGER,
        {**INTEGER, "format": "int32"},
        [],
        [],
        MODERN,
    ),
    Case(
        "the encoding and media type of the content are annotations",
        STRING,
        {**STRING, "contentEncoding": "base64", "contentMediaType": "text/plain"},
        [],
        [],
        SINCE_6,
    ),
    Case(
        "a limit of strings on an integer stands beside it",
        INTEGER,
        {**INTEGER, "maxLength": 5},
        ["!TYPE_CHANGED #/"],
        ["PRODUCT_TYPE_NARROWED #/"],
    ),
]


def _limits(keyword: str, kind: str, *, is_upper: bool, drafts: tuple[str, ...] = ALL_DRAFTS) -> list[Case]:
    more, less = ("", "!") if is_upper else ("!", "")
    at = f"#/{keyword}"
    changes: list[tuple[str, Any, Any, list[str], list[str]]] = [
        ("is set", None, 5, [f"!{kind}_ADDED {at}"], [f"{kind}_REMOVED {at}"]),
        ("is raised", 5, 6, [f"{more}{kind}_INCREASED {at}"], [f"{less}{kind}_DECREASED {at}"]),
        (
            "is raised by a little",
            5.25,
            5.5,
            [f"{more}{kind}_INCREASED {at}"],
            [f"{less}{kind}_DECREASED {at}"],
        ),
        ("is raised from below 0", -2, 0, [f"{more}{kind}_INCREASED {at}"], [f"{less}{kind}_DECREASED {at}"]),
        ("is written otherwise", 5, 5.0, [], []),
        (
            "is raised beyond the digits of a double",
            9007199254740992,
            9007199254740993,
            [f"{more}{kind}_INCREASED {at}"],
            [f"{less}{kind}_DECREASED {at}"],
        ),
    ]
    return [
        Case(
            f"{keyword} of a {name} {what}",
            _limited(of, keyword, old),
            _limited(of, keyword, new),
            forward,
            back,
            drafts,
        )
        for of, name in ((NUMBER, "number"), (INTEGER, "integer"))
        for what, old, new, forward, back in changes
    ]


def _limited(of: dict[str, Any], keyword: str, limit: Any) -> dict[str, Any]:
    return of if limit is None else {**of, keyword: limit}


NUMBERS = [
    *_limits("maximum", "MAXIMUM", is_upper=True),
    *_limits("minimum", "MINIMUM", is_upper=False),
    *_limits("exclusiveMaximum", "EXCLUSIVE_MAXIMUM", is_upper=True, drafts=SINCE_6),
    *_limits("exclusiveMinimum", "EXCLUSIVE_MINIMUM", is_upper=False, drafts=SINCE_6),
    Case("integers are numbers", INTEGER, NUMBER, ["TYPE_EXTENDED #/"], ["!TYPE_NARROWED #/"]),
    Case(
        "integers become numbers with a limit",
        INTEGER,
        {**NUMBER, "maximum": 10},
        ["!MAXIMUM_ADDED #/maximum", "TYPE_EXTENDED #/"],
        ["MAXIMUM_REMOVED #/maximum", "!TYPE_NARROWED #/"],
    ),
    Case(
        "a limit becomes exclusive",
        {**NUMBER, "maximum": 10},
        {**NUMBER, "exclusiveMaximum": 10},
        ["MAXIMUM_REMOVED #/maximum", "!EXCLUSIVE_MAXIMUM_ADDED #/exclusiveMaximum"],
        ["!MAXIMUM_ADDED #/maximum", "EXCLUSIVE_MAXIMUM_REMOVED #/exclusiveMaximum"],
        SINCE_6,
    ),
    Case(
        "draft 4's exclusive is a flag, which is not compared",
        {**NUMBER, "maximum": 10},
        {**NUMBER, "maximum": 10, "exclusiveMaximum": True},
        [],
        [],
        (DRAFT_4,),
    ),
    Case(
        "a limit of numbers says number",
        {"minimum": 3},
        {**NUMBER, "minimum": 3},
        [],
        [],
    ),
    Case(
        "a range is moved",
        {**NUMBER, "minimum": 1, "maximum": 5},
        {**NUMBER, "minimum": 2, "maximum": 6},
        ["!MINIMUM_INCREASED #/minimum", "MAXIMUM_INCREASED #/maximum"],
        ["MINIMUM_DECREASED #/minimum", "!MAXIMUM_DECREASED #/maximum"],
    ),
    Case(
        "numbers must be multiples",
        NUMBER,
        {**NUMBER, "multipleOf": 3},
        ["!MULTIPLE_OF_ADDED #/multipleOf"],
        ["MULTIPLE_OF_REMOVED #/multipleOf"],
    ),
    Case(
        "all multiples of 6 are multiples of 3",
        {**INTEGER, "multipleOf": 6},
        {**INTEGER, "multipleOf": 3},
        ["MULTIPLE_OF_REDUCED #/multipleOf"],
        ["!MULTIPLE_OF_EXPANDED #/multipleOf"],
    ),
    Case(
        "multiples of 3 and of 2 are different numbers",
        {**INTEGER, "multipleOf": 3},
        {**INTEGER, "multipleOf": 2},
        ["!MULTIPLE_OF_CHANGED #/multipleOf"],
        ["!MULTIPLE_OF_CHANGED #/multipleOf"],
    ),
    Case(
        "fractions divide exactly, though not in binary",
        {**NUMBER, "multipleOf": 0.3},
        {**NUMBER, "multipleOf": 0.1},
        ["MULTIPLE_OF_REDUCED #/multipleOf"],
        ["!MULTIPLE_OF_EXPANDED #/multipleOf"],
    ),
    Case(
        "a fraction becomes a whole number",
        {**NUMBER, "multipleOf": 0.5},
        {**NUMBER, "multipleOf": 10},
        ["!MULTIPLE_OF_EXPANDED #/multipleOf"],
        ["MULTIPLE_OF_REDUCED #/multipleOf"],
    ),
    Case(
        "a tiny multiple divides a huge one",
        {**NUMBER, "multipleOf": 1e300},
        {**NUMBER, "multipleOf": 1e-300},
        ["MULTIPLE_OF_REDUCED #/multipleOf"],
        ["!MULTIPLE_OF_EXPANDED #/multipleOf"],
    ),
]


@each_way(STRINGS)
def test_strings(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)


@each_way(NUMBERS)
def test_numbers(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)
