"""The examples in the documentation of `penstock.streams` are true."""

import doctest
import io
from importlib import import_module

import penstock.streams
from tests.support.rows import each_row

MODULES = sorted(
    {
        "penstock.streams",
        *(getattr(getattr(penstock.streams, name), "__module__", "") for name in penstock.streams.__all__),
    }
    - {"builtins"}
)


def examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder()
    return [found for name in MODULES for found in finder.find(import_module(name), name) if found.examples]


@each_row("test", examples(), lambda test: test.name)
def test_examples_are_true(test: doctest.DocTest) -> None:
    report = io.StringIO()
    failed = doctest.DocTestRunner(verbose=False).run(test, out=report.write).failed
    assert not failed, report.getvalue()


def test_there_are_examples() -> None:
    assert len(examples()) >= 10
