#!/usr/bin/env python3
"""False alarms of one suite in `#[eval]`, deepeval and mira, over runs of an unchanged program with a judge that varies.

    benches/evals/run.py [RUNS] [--deepeval PYTHON] [--mira MIRA]

Needs cargo; with --deepeval an interpreter with the package deepeval, with --mira the program of the crate mira-cli 0.5. The
suites are the files beside this one; the lines between `begin` and `end` are what a user writes for the suite itself.
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

[{section}]
{dependency}

[workspace]
"""


def lines(file):
    text = (HERE / file).read_text().split("begin\n")[1].split("# end")[0].split("// end")[0]
    return sum(bool(line.strip()) for line in text.splitlines())


def package(folder, section, dependency, files):
    """Writes a package, and returns the environment in which cargo builds it."""
    (folder / "Cargo.toml").write_text(CARGO.format(section=section, dependency=dependency))
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    return {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}


def ours(runs, folder):
    dependency = f'dsrs-metrics = {{ path = "{ROOT / "dsrs-metrics"}" }}'
    files = {"src/lib.rs": "", "tests/suite.rs": (HERE / "suite.rs").read_text(), "Cargo.lock": (ROOT / "Cargo.lock").read_text()}
    environment = package(folder, "dev-dependencies", dependency, files)
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
    print(f"#[eval]: {failed} of {runs} unchanged runs fail, {undecided} are undecided; the first that does not pass prints:\n{first}", flush=True)


def mira(runs, folder, program):
    files = {"src/main.rs": (HERE / "suite_mira.rs").read_text()}
    environment = package(folder, "dependencies", 'mira = { package = "mira-eval", version = "0.5" }', files)
    subprocess.run(["cargo", "build", "--quiet"], cwd=folder, env=environment).check_returncode()
    failed, first = 0, None
    for number in range(1, runs + 1):
        command = [program, "run", "--dry-run", "--study-cmd", folder / "target/debug/suite"]
        ran = subprocess.run(command, cwd=folder, env={**environment, "RUN": str(number)}, capture_output=True, text=True)
        failed += ran.returncode != 0
        if ran.returncode != 0:
            first = first or ran.stdout[ran.stdout.rindex("── matrix"):]
    print(f"mira: {failed} of {runs} unchanged runs fail; the first prints its 40 rows, and then:\n{first}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="?", type=int, default=200)
    parser.add_argument("--deepeval", metavar="PYTHON")
    parser.add_argument("--mira", metavar="MIRA", type=pathlib.Path)
    arguments = parser.parse_args()
    print(f"lines of the suite: {lines('suite.rs')} with #[eval], {lines('suite_deepeval.py')} with deepeval, {lines('suite_mira.rs')} with mira", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        ours(arguments.runs, pathlib.Path(folder))
    if arguments.deepeval:
        subprocess.run([arguments.deepeval, HERE / "suite_deepeval.py", str(arguments.runs)], check=True)
    if arguments.mira:
        with tempfile.TemporaryDirectory() as folder:
            mira(arguments.runs, pathlib.Path(folder), arguments.mira.resolve())


if __name__ == "__main__":
    main()
