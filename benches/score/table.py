#!/usr/bin/env python3
"""What people do around the kernels: rows in and out of files, comparison, agreement and report of a million rows.

    cargo build --release -p dsrs-metrics --features cli,parquet
    benches/score/table.py [--program PATH[,PATH]] [--rows N[,N]] [--runs N] [--only TEXT] [--peers PYTHON]

Generates rows of 180 bytes and two runs over them, then runs each command several times; several programs take turns, such as
the one before a change and the one after it. Prints the median of the seconds with the smallest and the largest, the CPU
seconds, the microseconds for each row and the peak memory. With --peers, an interpreter with duckdb and polars reads the same
files; it also writes the file of Parquet columns without results. Several numbers of rows show the growth.
"""

import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile

from run import generate, run

COMMANDS = [
    ("score rows.jsonl -m em", "score {rows}.jsonl -m em -q"),
    ("score rows.jsonl -m em,f1", "score {rows}.jsonl -m em,f1 -q"),
    ("score rows.csv -m em", "score {rows}.csv -m em -q"),
    ("score rows.parquet -m em", "score {plain}.parquet -m em -q"),
    ("score results.parquet -m em", "score {rows}.parquet -m em -q"),
    ("score --out x.jsonl", "score {rows}.jsonl -m em,f1 -q --out {out}.jsonl"),
    ("score --with-rows", "score {rows}.jsonl -m em,f1 -q --out {out}.jsonl --with-rows"),
    ("score --out x.csv", "score {rows}.jsonl -m em,f1 -q --out {out}.csv"),
    ("score --out x.parquet", "score {rows}.jsonl -m em,f1 -q --out {out}.parquet"),
    ("score --group, 40% groups", "score {grouped}.jsonl -m em -q --group topic"),
    ("compare, em and f1", "compare {a}.jsonl {b}.jsonl"),
    ("compare, f1", "compare {a}.jsonl {b}.jsonl -m f1"),
    ("agree", "agree {labelled}.jsonl --label good -m em"),
    ("report", "report {labelled}.jsonl --out {out}.html"),
]

PEERS = [
    ("duckdb, em of jsonl", "duckdb", """
import duckdb
duckdb.sql("set threads to 2")
duckdb.sql("select count(*) filter (lower(trim(gold.answer[1])) = lower(trim(pred.answer))) from read_json('{rows}.jsonl', format='newline_delimited')").fetchall()
"""),
    ("duckdb, em of parquet", "duckdb", """
import duckdb
duckdb.sql("set threads to 2")
duckdb.sql('''select count(*) filter (lower(trim("gold.answer")) = lower(trim("pred.answer"))) from read_parquet('{plain}.parquet')''').fetchall()
"""),
    ("polars, em of jsonl", "polars", """
import polars as pl
text = lambda it: it.str.strip_chars().str.to_lowercase()
rows = pl.scan_ndjson('{rows}.jsonl')
gold, pred = pl.col('gold').struct.field('answer').list.first(), pl.col('pred').struct.field('answer')
rows.select((text(gold) == text(pred)).sum()).collect()
"""),
]


# Strings in columns, in row groups of the size that DuckDB prefers.
PLAIN = """
import duckdb
fields = 'id, gold.answer[1] as "gold.answer", gold.question as "gold.question", pred.answer as "pred.answer"'
rows = f"select {fields} from read_json('{rows}.jsonl', format='newline_delimited')"
duckdb.sql(f"copy ({rows}) to '{plain}.parquet' (format parquet)")
"""


def with_field(path, target, field, value):
    """Writes rows with one more field."""
    with open(path, encoding="utf-8") as rows, open(target, "w", encoding="utf-8") as out:
        for number, row in enumerate(rows):
            out.write(f'{{"{field}": {value(number)}, {row[1:]}')


def files(folder, count, program, peers):
    """The paths of the rows and of the runs over them, without extension."""
    names = ["rows", "plain", "other", "grouped", "labels", "labelled", "a", "b"]
    names = {name: folder / f"{name}-{count}" for name in names}
    generator = random.Random(1)

    def score(name, out, *options):
        command = [program, "score", f"{names[name]}.jsonl", "-m", "em,f1", "-q", *options, "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    # The last of them.
    if not pathlib.Path(f"{names['labelled']}.jsonl").exists():
        generate(names["rows"].with_suffix(".jsonl"), count, 180)
        generate(names["other"].with_suffix(".jsonl"), count, 181)
        rows = f"{names['rows']}.jsonl"
        with_field(rows, f"{names['grouped']}.jsonl", "topic", lambda _: generator.randrange(max(1, count * 2 // 5)))
        with_field(rows, f"{names['labels']}.jsonl", "good", lambda _: ["false", "true"][generator.randrange(2)])
        for format in ["csv", "parquet"]:
            score("rows", f"{names['rows']}.{format}", "--with-rows")
        score("rows", f"{names['a']}.jsonl")
        score("other", f"{names['b']}.jsonl")
        score("labels", f"{names['labelled']}.jsonl", "--with-rows")
    if peers and not pathlib.Path(f"{names['plain']}.parquet").exists():
        script = PLAIN.replace("{rows}.jsonl", f"{names['rows']}.jsonl").replace("{plain}", str(names["plain"]))
        subprocess.run([peers, "-c", script], check=True, stdout=subprocess.DEVNULL)
    return {name: str(path) for name, path in names.items()}


def show(name, times, first, count):
    seconds = sorted(time for time, _, _ in times)
    median, cpu = statistics.median(seconds), statistics.median(cpu for _, cpu, _ in times)
    peak = max(peak for _, _, peak in times)
    ratio = f"{median / first:6.2f}" if first else ""
    figures = f"{median:8.2f} {seconds[0]:7.2f} {seconds[-1]:7.2f} {cpu:8.2f} {1e6 * median / count:7.2f}"
    print(f"{name:28} {figures} {peak / 1e6:9.1f} {ratio}", flush=True)
    return median


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    parser.add_argument("--program", type=lambda paths: paths.split(","), default=[f"{target}/release/dsrs-metrics"])
    parser.add_argument("--rows", type=lambda rows: [int(it) for it in rows.split(",")], default=[1_000_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="commands whose names contain this text")
    parser.add_argument("--peers", metavar="PYTHON")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder in which the files are kept and used again")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.keep) as temporary:
        for count in args.rows:
            folder = args.keep or pathlib.Path(temporary)
            named = files(folder, count, args.program[0], args.peers)
            header = f"{'seconds':>8} {'least':>7} {'most':>7} {'CPU s':>8} {'us/row':>7} {'peak MB':>9} {'ratio':>6}"
            print(f"\n{f'{count} rows':28} {header}")
            for name, command in COMMANDS:
                has_file = args.peers or "{plain}" not in command
                if args.only not in name or not has_file:
                    continue
                times = {program: [] for program in args.program}
                for _ in range(args.runs):
                    for program in args.program:
                        out = pathlib.Path(temporary) / "out"
                        times[program].append(run([program, *command.format(out=out, **named).split()]))
                        for written in pathlib.Path(temporary).glob("out*"):
                            shutil.rmtree(written) if written.is_dir() else written.unlink()
                first = None
                for of_program in times.values():
                    median = show(name, of_program, first, count)
                    first = first or median
            for name, _, script in PEERS if args.peers else []:
                if args.only in name:
                    show(name, [run([args.peers, "-c", script.format(**named)]) for _ in range(args.runs)], None, count)


if __name__ == "__main__":
    main()
