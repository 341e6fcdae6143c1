#!/usr/bin/env python3
"""Throughput of `dsrs-metrics score`: EM and F1 over rows of 180 and of 690 bytes.

    cargo build --release -p dsrs-metrics --features cli
    benches/score/run.py [--program PATH[,PATH]] [--rows N] [--runs N] [--format jsonl|csv|parquet] [-- OPTION..]

Generates the rows once, runs the program several times over each file, and prints for the fastest run: rows, MB/s, the
cores that were busy and the peak memory. Options after `--` are passed to `score`; `{out}` in them is a new path in a
temporary folder, such as in `--out {out}.jsonl`. With `--keep FOLDER` the rows are written there and used again. Rows of
other formats are written by the program, with `--with-rows`. Two programs take turns, and the last column is the CPU time
as a share of the first program's.

With `--compare`, `compare` runs on the results of two such files instead. `--duckdb PYTHON` adds the same comparison by
DuckDB as the first program, run by a Python that has the package `duckdb`.
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


DUCKDB = """
import duckdb
duckdb.sql("set threads to 2")
means = (f"avg(b.scores.{metric}.value - a.scores.{metric}.value), stddev(b.scores.{metric}.value - a.scores.{metric}.value)" for metric in ("em", "f1"))
rows = "read_json('{}', format = 'newline_delimited')".format
print(duckdb.sql(f"select count(*), {', '.join(means)} from {rows('PATH_A')} a join {rows('PATH_B')} b using (id)").fetchall())
"""


def words(random, count):
    return " ".join(random.choices(WORDS, k=count))


def row(random, replies, number, size):
    """One row as data sets write it: metrics read `gold.answer` and `pred.answer`; a context fills the rest."""
    answer = words(random, random.randint(1, 4))
    reply = replies.choice([answer, answer.lower() + ".", words(replies, 3), f"It is the {answer}"])
    made = {
        "id": f"q{number:07}",
        "gold": {"question": words(random, 4) + "?", "answer": [answer]},
        "pred": {"answer": reply, "context": ""},
    }
    missing = size - 1 - len(json.dumps(made))
    made["pred"]["context"] = words(replies, max(0, missing) // 4 + 1)[: max(0, missing)]
    return json.dumps(made)


def generate(path, rows, size, seed):
    generator, replies = random.Random(size), random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(rows):
            file.write(row(generator, replies, number, size) + "\n")


def run(command):
    """Returns seconds, CPU seconds and peak memory in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"{command} ended with status {status}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def rows_file(folder, args, size, seed):
    """The rows, in the format of the options."""
    path = folder / f"rows-{size}-{seed}-{args.rows}.jsonl"
    if not path.exists():
        generate(path, args.rows, size, seed)
    return path if args.format == "jsonl" else written(path, args, "em", "--with-rows", args.format)


def written(rows, args, metrics, *options):
    """The result file of the rows, in the format of the last option."""
    *options, format = options
    path = rows.with_name(f"{rows.stem}-{metrics}.{format}")
    if not path.exists():
        command = [args.program[-1], "score", str(rows), "-m", metrics, "--quiet", *options, "--out", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def score(args, folder, size):
    """The rows, and the command of a program that scores them."""
    path = rows_file(folder, args, size, size)
    return path, lambda program, options: [program, "score", str(path), "-m", "em,f1", "--quiet", *options]


def compare(args, folder, size):
    """The first results, and the command of a program that compares them with the second."""
    a, b = (written(rows_file(folder, args, size, seed), args, "em,f1", "jsonl") for seed in (size, size + 1))
    script = DUCKDB.replace("PATH_A", str(a)).replace("PATH_B", str(b))

    def command(program, options):
        return [program, "-c", script] if program == args.duckdb else [program, "compare", str(a), str(b), *options]

    return a, command


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    parser.add_argument("--program", type=lambda paths: paths.split(","), default=[f"{target}/release/dsrs-metrics"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--format", choices=["jsonl", "csv", "parquet"], default="jsonl")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--duckdb")
    parser.add_argument("options", nargs="*", help="options of the command, after `--`")
    args = parser.parse_args()
    programs = [args.duckdb, *args.program] if args.duckdb else args.program
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{'bytes/row':>9} {'rows':>9} {'seconds':>8} {'MB/s':>7} {'cores':>6} {'us/row CPU':>10} {'peak MB':>8} {'ratio':>6}")
        for size in SIZES:
            path, command = (compare if args.compare else score)(args, folder, size)
            runs = {program: [] for program in programs}
            for number in range(args.runs):
                for program in programs:
                    out = f"{temporary}/out-{number}-{programs.index(program)}"
                    options = [option.format(out=out) for option in args.options]
                    runs[program].append(run(command(program, options)))
                    for written in pathlib.Path(temporary).glob(f"{pathlib.Path(out).name}*"):
                        shutil.rmtree(written) if written.is_dir() else written.unlink()
            length = path.stat().st_size
            first = min(cpu for _, cpu, _ in runs[programs[0]])
            for times in runs.values():
                seconds, cpu, peak = min(times)
                ratio = min(cpu for _, cpu, _ in times) / first
                print(
                    f"{length / args.rows:9.1f} {args.rows:9} {seconds:8.3f} {length / 1e6 / seconds:7.1f} "
                    f"{cpu / seconds:6.2f} {cpu / args.rows * 1e6:10.3f} {peak / 1e6:8.1f} {ratio:6.2f}"
                )


if __name__ == "__main__":
    main()
