#!/usr/bin/env python3
"""Throughput of `dsrs-metrics score`: EM and F1 over rows of 180 and of 690 bytes.

    cargo build --release -p dsrs-metrics --features cli
    benches/score/run.py [--program PATH[,PATH]] [--rows N] [--runs N] [--format jsonl|csv|parquet] [-- OPTION..]

Generates the rows once, runs the program several times over each file, and prints for the fastest run: rows, MB/s, the
cores that were busy and the peak memory. Options after `--` are passed to `score`; `{out}` in them is a new path in a
temporary folder, such as in `--out {out}.jsonl`. With `--keep FOLDER` the rows are written there and used again. Rows of
other formats are written by the program, with `--with-rows`. Two programs take turns, and the last column is the CPU time
as a share of the first program's.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

SIZES = [180, 690]
WORDS = (
    "the a of Panthers defense points ranking sixth league leading interceptions four Pro Bowl selections tackle "
    "Short sacks forcing three fumbles recovering two linemen Warsaw capital 1889 Seine river north European "
    "Commission treaty oxygen atmosphere steam engine James Watt Victoria Genghis Khan Luther 24.5% Kenya"
).split()


def words(random, count):
    return " ".join(random.choices(WORDS, k=count))


def row(random, number, size):
    """One row as data sets write it: metrics read `gold.answer` and `pred.answer`; a context fills the rest."""
    answer = words(random, random.randint(1, 4))
    reply = random.choice([answer, answer.lower() + ".", words(random, 3), f"It is the {answer}"])
    made = {
        "id": f"q{number:07}",
        "gold": {"question": words(random, 4) + "?", "answer": [answer]},
        "pred": {"answer": reply, "context": ""},
    }
    missing = size - 1 - len(json.dumps(made))
    made["pred"]["context"] = words(random, max(0, missing) // 4 + 1)[: max(0, missing)]
    return json.dumps(made)


def generate(path, rows, size):
    generator = random.Random(size)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(rows):
            file.write(row(generator, number, size) + "\n")


def run(command):
    """Returns seconds, CPU seconds and peak memory in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"{command} ended with status {status}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def rows_file(folder, args, size):
    """The rows, in the format of the options."""
    path = folder / f"rows-{size}-{args.rows}.jsonl"
    if not path.exists():
        generate(path, args.rows, size)
    if args.format == "jsonl":
        return path
    converted = path.with_suffix(f".{args.format}")
    if not converted.exists():
        command = [args.program[0], "score", str(path), "-m", "em", "--quiet", "--with-rows", "--out", str(converted)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return converted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    parser.add_argument("--program", type=lambda paths: paths.split(","), default=[f"{target}/release/dsrs-metrics"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--format", choices=["jsonl", "csv", "parquet"], default="jsonl")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("options", nargs="*", help="options of `score`, after `--`")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{'bytes/row':>9} {'rows':>9} {'seconds':>8} {'MB/s':>7} {'cores':>6} {'us/row CPU':>10} {'peak MB':>8} {'ratio':>6}")
        for size in SIZES:
            path = rows_file(folder, args, size)
            runs = {program: [] for program in args.program}
            for number in range(args.runs):
                for program in args.program:
                    out = f"{temporary}/{number}-{len(runs[program])}-{args.program.index(program)}"
                    options = [option.format(out=out) for option in args.options]
                    command = [program, "score", str(path), "-m", "em,f1", "--quiet", *options]
                    runs[program].append(run(command))
                    for written in pathlib.Path(temporary).glob(f"{pathlib.Path(out).name}*"):
                        shutil.rmtree(written) if written.is_dir() else written.unlink()
            length = path.stat().st_size
            first = min(cpu for _, cpu, _ in runs[args.program[0]])
            for times in runs.values():
                seconds, cpu, peak = min(times)
                ratio = min(cpu for _, cpu, _ in times) / first
                print(
                    f"{length / args.rows:9.1f} {args.rows:9} {seconds:8.3f} {length / 1e6 / seconds:7.1f} "
                    f"{cpu / seconds:6.2f} {cpu / args.rows * 1e6:10.3f} {peak / 1e6:8.1f} {ratio:6.2f}"
                )


if __name__ == "__main__":
    main()
