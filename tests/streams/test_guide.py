"""The programs in the guide of streams run in its order, and find what they say."""

import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs/guide/streams.md"


def test_the_programs_of_the_guide() -> None:
    programs = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    assert len(programs) >= 5
    names: dict[str, object] = {"__name__": "guide"}
    for program in programs:
        exec(compile(program, str(GUIDE), "exec"), names)
