#!/usr/bin/env python3
"""False alarms of one suite in `#[eval]` and in deepeval, over runs of an unchanged program with a judge that varies.

    benches/evals/run.py [RUNS] [--deepeval PYTHON]

Needs cargo; with --deepeval an interpreter with the package deepeval. The suites are suite.rs and suite_deepeval.py; the lines
between `begin` and `end` are what a user writes for the suite itself.
"""

import argparse
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
CARGO = """[package]
name = "suite"
version = "0.1.0"
edition = "2024"

[dev-dependencies]
dsrs-metrics = {{ path = "{path}" }}

[workspace]
"""


def lines(file):
    text = (HERE / file).read_text().split("begin\n")[1].split("# end")[0].split("// end")[0]
    return sum(bool(line.strip()) for line in text.splitlines())


def ours(runs, folder):
    (folder / "src").mkdir()
    (folder / "tests").mkdir()
    (folder / "src/lib.rs").write_text("")
    (folder / "Cargo.toml").write_text(CARGO.format(path=ROOT / "dsrs-metrics"))
    (folder / "tests/suite.rs").write_text((HERE / "suite.rs").read_text())
    (folder / "Cargo.lock").write_bytes((ROOT / "Cargo.lock").read_bytes())
    environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
    built = subprocess.run(["cargo", "test", "--no-run", "--quiet"], cwd=folder, env=environment)
    built.check_returncode()
    (binary,) = [it for it in (folder / "target/debug/deps").glob("suite-*") if os.access(it, os.X_OK) and not it.suffix and b"replies_eval" in it.read_bytes()]

    def run(number, update):
        variables = {**environment, "RUN": str(number), "DSRS_UPDATE": update}
        return subprocess.run([binary, "--nocapture"], cwd=folder, env=variables, capture_output=True, text=True)

    run(0, "always").check_returncode()
    failed, undecided, first = 0, 0, None
    for number in range(1, runs + 1):
        ran = run(number, "no")
        failed += ran.returncode != 0
        undecided += ran.returncode == 0 and "  undecided  " in ran.stderr
        if "  undecided  " in ran.stderr or ran.returncode != 0:
            first = first or ran.stderr
    print(f"#[eval]: {failed} of {runs} unchanged runs fail, {undecided} are undecided; the first that does not pass prints:\n{first}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="?", type=int, default=200)
    parser.add_argument("--deepeval", metavar="PYTHON")
    arguments = parser.parse_args()
    print(f"lines of the suite: {lines('suite.rs')} with #[eval], {lines('suite_deepeval.py')} with deepeval")
    with tempfile.TemporaryDirectory() as folder:
        ours(arguments.runs, pathlib.Path(folder))
    if arguments.deepeval:
        subprocess.run([arguments.deepeval, HERE / "suite_deepeval.py", str(arguments.runs)], check=True)


if __name__ == "__main__":
    main()
