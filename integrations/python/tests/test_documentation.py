"""The examples of the documentation: of the docstrings, and of the README."""

import doctest
from pathlib import Path

import pytest

import dsrs_metrics
from dsrs_metrics import _native

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize("module", [dsrs_metrics, _native])
def test_the_examples_of_docstrings_run(module):
    result = doctest.testmod(module)
    assert result.attempted > 2 and result.failed == 0


def test_the_examples_of_the_readme_run():
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted > 10 and result.failed == 0


def test_everything_has_documentation_and_examples():
    for name in dsrs_metrics.__all__:
        value = getattr(dsrs_metrics, name)
        assert value.__doc__, name
        is_class = isinstance(value, type)
        assert is_class or ">>>" in value.__doc__, name


def test_the_readme_has_a_row_for_every_function():
    text = README.read_text("utf-8")
    missing = [name for name in dsrs_metrics.__all__ if f"`{name}" not in text]
    assert missing == []
