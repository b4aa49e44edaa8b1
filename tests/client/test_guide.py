"""The programs of the client's guide run as they are written, one after the other."""

import re
from pathlib import Path

from penstock.testing import InProcessBroker

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "client.md"


def test_the_guide() -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    assert len(blocks) > 6
    with InProcessBroker() as broker:
        program = "\n".join(blocks).replace("localhost:9092", broker.bootstrap_servers)
        exec(compile(program, str(GUIDE), "exec"), {"__name__": "guide"})
