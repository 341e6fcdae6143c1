"""The type stubs: they describe the compiled module, and a typed program passes the type checker."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "command",
    [
        ["mypy.stubtest", "dsrs_metrics"],
        ["mypy", "--strict", "-p", "dsrs_metrics"],
        ["mypy", "--strict", str(Path(__file__).parent / "typed.py")],
    ],
    ids=["stubtest", "package", "program"],
)
def test_the_type_checker_accepts(command, tmp_path):
    run = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_wrong_type_is_found(tmp_path):
    program = tmp_path / "wrong.py"
    program.write_text("from dsrs_metrics import EM\nEM('Paris', 'paris')\n")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert run.returncode == 1
    assert 'Argument 2 to "EM" has incompatible type "str"; expected "list[str]"' in run.stdout


def test_the_typed_program_runs():
    subprocess.run([sys.executable, Path(__file__).parent / "typed.py"], check=True)
