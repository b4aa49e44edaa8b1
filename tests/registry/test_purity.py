"""The core of the registry decides; it does no IO and asks no clock."""

import pytest

from tests.test_architecture import IMPURE_MODULES, MODULES, imports_of

CORE = (
    *("answers", "compatibility", "contracts", "decisions", "decisions_config", "decisions_delete"),
    *(
        "decisions_register",
        "decisions_tags",
        "errors",
        "layered",
        "listings",
        "lookups",
        "matching",
        "names",
    ),
    *("parsing", "requests", "rules", "scopes", "state", "stored", "tagging"),
)


@pytest.mark.parametrize("name", CORE)
def test_the_core_is_pure(name: str) -> None:
    imported = imports_of(MODULES[f"registry.{name}"])
    assert not {module.split(".")[0] for module in imported} & (IMPURE_MODULES | {"logging", "datetime"})
    own = {module.split(".")[2] for module in imported if module.startswith("penstock.registry.")}
    assert own <= {*CORE, "formats"}
