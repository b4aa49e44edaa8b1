"""What schemas say of objects.

By default a model is open: the writer may have put anything under a name that its schema does not have, so a reader
that gives that name a schema may break. A closed model (`additionalProperties: false`) may have properties added, but
not removed; a partially open one goes by the schema that it has for names it does not know.
"""

from __future__ import annotations

from tests.registry.formats.json_schema.cases import INTEGER, SINCE_6, STRING, Case, check, each_way, obj

CLOSED = {"additionalProperties": False}
OF_STRINGS = {"additionalProperties": STRING}


OPEN_MODELS = [
    Case("nothing changed", obj("a", a=STRING), obj("a", a=STRING), [], []),
    Case(
        "a property is added to an open model",
        obj(a=STRING),
        obj(a=STRING, b=STRING),
        ["!OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a required property is added to an open model",
        obj(a=STRING),
        obj("b", a=STRING, b=STRING),
        ["!REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a required property with a default is added to an open model",
        obj(a=STRING),
        obj("b", a=STRING, b={**STRING, "default": "x"}),
        ["!REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a property of any value is added to an open model",
        obj(a=STRING),
        obj(a=STRING, b={}),
        ["PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a property that may be anything (true) is added to an open model",
        obj(a=STRING),
        obj(a=STRING, b=True),
        ["PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b"],
        SINCE_6,
    ),
    Case(
        "a property that must not be is added to an open model",
        obj(a=STRING),
        obj(a=STRING, b=False),
        ["!OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b"],
        SINCE_6,
    ),
    Case(
        "a property takes the place of another in an open model",
        obj(a=STRING),
        obj(b=STRING),
        [
            "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/a",
            "!OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b",
        ],
        [
            "!OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/a",
            "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b",
        ],
    ),
    Case(
        "openness that is said is that which is not",
        obj(a=STRING, _more={"additionalProperties": True}),
        obj(a=STRING),
        [],
        [],
    ),
    Case(
        "a property is added to a model that says that it is open",
        obj(a=STRING, _more={"additionalProperties": True}),
        obj(a=STRING, b=STRING),
        ["!OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "an object of anything gets its first property",
        {"type": "object"},
        obj(a=STRING),
        ["!OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/a"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/a"],
    ),
    Case("properties say object, as the type does", {"properties": {"a": STRING}}, obj(a=STRING), [], []),
    Case(
        "a property changes its type",
        obj(a=STRING),
        obj(a=INTEGER),
        ["!TYPE_CHANGED #/properties/a"],
        ["!TYPE_CHANGED #/properties/a"],
    ),
    Case(
        "a property of a property is widened",
        obj(a=obj(b={**STRING, "maxLength": 1})),
        obj(a=obj(b={**STRING, "maxLength": 2})),
        ["MAX_LENGTH_INCREASED #/properties/a/properties/b/maxLength"],
        ["!MAX_LENGTH_DECREASED #/properties/a/properties/b/maxLength"],
    ),
    Case(
        "names are not escaped in paths",
        obj(**{"a/b~c": STRING}),
        obj(**{"a/b~c": INTEGER}),
        ["!TYPE_CHANGED #/properties/a/b~c"],
        ["!TYPE_CHANGED #/properties/a/b~c"],
    ),
]

CLOSED_MODELS = [
    Case(
        "a property is added to a closed model",
        obj(a=STRING, _more=CLOSED),
        obj(a=STRING, b=STRING, _more=CLOSED),
        ["OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a required property is added to a closed model",
        obj(a=STRING, _more=CLOSED),
        obj("b", a=STRING, b=STRING, _more=CLOSED),
        ["!REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a required property with a default is added to a closed model",
        obj(a=STRING, _more=CLOSED),
        obj("b", a=STRING, b={**STRING, "default": "x"}, _more=CLOSED),
        ["REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "null is a default too",
        obj(a=STRING, _more=CLOSED),
        obj("b", a=STRING, b={"type": ["string", "null"], "default": None}, _more=CLOSED),
        ["REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a property that could not be is removed from a closed model",
        obj(a=STRING, b=False, _more=CLOSED),
        obj(a=STRING, _more=CLOSED),
        ["PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
        ["OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        SINCE_6,
    ),
    Case(
        "a property of any value is added to a closed model",
        obj(a=STRING, _more=CLOSED),
        obj(a=STRING, b={}, _more=CLOSED),
        ["OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a closed model is opened",
        obj(a=STRING, _more=CLOSED),
        obj(a=STRING),
        ["ADDITIONAL_PROPERTIES_ADDED #/additionalProperties"],
        ["!ADDITIONAL_PROPERTIES_REMOVED #/additionalProperties"],
    ),
    Case(
        "a closed model is opened and gets a property",
        obj(a=STRING, _more=CLOSED),
        obj(a=STRING, b=STRING),
        [
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b",
            "ADDITIONAL_PROPERTIES_ADDED #/additionalProperties",
        ],
        [
            "!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b",
            "!ADDITIONAL_PROPERTIES_REMOVED #/additionalProperties",
        ],
    ),
    Case(
        "a closed model is opened and loses a property",
        obj(a=STRING, b=STRING, _more=CLOSED),
        obj(a=STRING),
        [
            "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b",
            "ADDITIONAL_PROPERTIES_ADDED #/additionalProperties",
        ],
        [
            "!OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b",
            "!ADDITIONAL_PROPERTIES_REMOVED #/additionalProperties",
        ],
    ),
    Case(
        "a closed object inside an open one",
        obj(a=obj(b=STRING, _more=CLOSED)),
        obj(a=obj(b=STRING, c=STRING, _more=CLOSED)),
        ["OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/a/properties/c"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/a/properties/c"],
    ),
]

PARTIALLY_OPEN_MODELS = [
    Case(
        "a property that the schema of others covers is added",
        obj(a=INTEGER, _more=OF_STRINGS),
        obj(a=INTEGER, b=STRING, _more=OF_STRINGS),
        [
            "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b",
        ],
        ["PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a property that the schema of others does not cover is added",
        obj(a=INTEGER, _more=OF_STRINGS),
        obj(a=INTEGER, b=INTEGER, _more=OF_STRINGS),
        [
            "!TYPE_CHANGED #/properties/b",
            "!PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b",
        ],
        [
            "!TYPE_CHANGED #/properties/b",
            "!PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
        ],
    ),
    Case(
        "a narrower property than the others is added",
        obj(_more=OF_STRINGS),
        obj(b={**STRING, "maxLength": 3}, _more=OF_STRINGS),
        [
            "!MAX_LENGTH_ADDED #/properties/b/maxLength",
            "!PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b",
        ],
        [
            "MAX_LENGTH_REMOVED #/properties/b/maxLength",
            "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
        ],
    ),
    Case(
        "a required property that the schema of others covers is added",
        obj(_more=OF_STRINGS),
        obj("b", b=STRING, _more=OF_STRINGS),
        [
            "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
            "!REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b",
        ],
        ["PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a required one with a default",
        obj(_more=OF_STRINGS),
        obj("b", b={**STRING, "default": ""}, _more=OF_STRINGS),
        [
            "DEFAULT_CHANGED #/properties/b",
            "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
            "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b",
        ],
        [
            "DEFAULT_CHANGED #/properties/b",
            "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
        ],
    ),
    Case(
        "a property that a pattern covers is added",
        obj(_more={"patternProperties": {"^s_": STRING}, **CLOSED}),
        obj(s_b=STRING, _more={"patternProperties": {"^s_": STRING}, **CLOSED}),
        [
            "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/s_b",
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/s_b",
        ],
        ["PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/s_b"],
    ),
    Case(
        "a property that no pattern matches is added",
        obj(_more={"patternProperties": {"^s_": STRING}, **CLOSED}),
        obj(b=INTEGER, _more={"patternProperties": {"^s_": STRING}, **CLOSED}),
        ["OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a model with patterns counts as closed to names that none matches",
        obj(_more={"patternProperties": {"^s_": STRING}}),
        obj(b=INTEGER, _more={"patternProperties": {"^s_": STRING}}),
        ["OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b"],
        ["!PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a pattern matches anywhere in a name",
        obj(_more={"patternProperties": {"um": STRING}, **CLOSED}),
        obj(number=INTEGER, _more={"patternProperties": {"um": STRING}, **CLOSED}),
        [
            "!TYPE_CHANGED #/properties/number",
            "!PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/number",
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/number",
        ],
        [
            "!TYPE_CHANGED #/properties/number",
            "!PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/number",
        ],
    ),
    Case(
        "a pattern comes before the schema of others",
        obj(_more={"patternProperties": {"^i_": INTEGER}, **OF_STRINGS}),
        obj(i_b=INTEGER, s=STRING, _more={"patternProperties": {"^i_": INTEGER}, **OF_STRINGS}),
        [
            "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/i_b",
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/i_b",
            "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/s",
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/s",
        ],
        [
            "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/i_b",
            "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/s",
        ],
    ),
    Case(
        "a pattern of Unicode letters, which Python has no word for",
        obj(_more={"patternProperties": {"^\\p{L}+$": STRING}, **CLOSED}),
        obj(b=STRING, _more={"patternProperties": {"^\\p{L}+$": STRING}, **CLOSED}),
        [
            "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b",
            "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b",
        ],
        ["PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "additional properties get a schema",
        obj(a=STRING),
        obj(a=STRING, _more=OF_STRINGS),
        ["!ADDITIONAL_PROPERTIES_NARROWED #/additionalProperties"],
        ["ADDITIONAL_PROPERTIES_EXTENDED #/additionalProperties"],
    ),
    Case(
        "a closed model takes additional properties of a schema",
        obj(a=STRING, _more=CLOSED),
        obj(a=STRING, _more=OF_STRINGS),
        ["ADDITIONAL_PROPERTIES_ADDED #/additionalProperties"],
        ["!ADDITIONAL_PROPERTIES_REMOVED #/additionalProperties"],
    ),
    Case(
        "the schema of additional properties is widened",
        obj(_more={"additionalProperties": {**STRING, "maxLength": 3}}),
        obj(_more={"additionalProperties": {**STRING, "maxLength": 4}}),
        ["MAX_LENGTH_INCREASED #/additionalProperties/maxLength"],
        ["!MAX_LENGTH_DECREASED #/additionalProperties/maxLength"],
    ),
    Case(
        "the schema of additional properties changes its type",
        obj(_more={"additionalProperties": STRING}),
        obj(_more={"additionalProperties": INTEGER}),
        ["!TYPE_CHANGED #/additionalProperties"],
        ["!TYPE_CHANGED #/additionalProperties"],
    ),
]

CASES = [*OPEN_MODELS, *CLOSED_MODELS, *PARTIALLY_OPEN_MODELS]


@each_way(CASES)
def test_content_models(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)
