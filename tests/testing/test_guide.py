"""The examples in the guide run as they stand."""

import re
from pathlib import Path

import pytest

from tests.support.spark import require_java
from tests.testing.test_pytest_plugin import run

pytestmark = pytest.mark.processes

pytest_plugins = ["pytester"]

SPARK_SECONDS = 280.0
GUIDE = Path(__file__).parents[2] / "docs/guide/testing.md"


def test_the_guide_does_what_it_says(pytester: pytest.Pytester) -> None:
    require_java()
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    tests = [block for block in blocks if "def test_" in block]
    assert len(tests) >= 3
    pytester.makepyfile("import pytest\n" + "\n".join(tests))
    run(pytester, timeout=SPARK_SECONDS).assert_outcomes(passed=len(tests))
