"""Measures `score --gold`: time per row and memory of a join of N gold rows with N predictions.

    python3 benches/gold_join.py PROGRAM [ROWS] [same|other]

The predictions are in the order of the gold rows (`same`), or in another (`other`, the default). Needs about 200 bytes of
disk a row in the folder for temporary files.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time


def write(path, ids, row):
    with open(path, "w") as file:
        file.writelines(row(number) for number in ids)


def main():
    program, rows = sys.argv[1], int((sys.argv[2:] or [1_000_000])[0])
    order = (sys.argv[3:] or ["other"])[0]
    # A step without a common divisor visits every row once.
    step = 1 if order == "same" else 7_368_787
    with tempfile.TemporaryDirectory() as folder:
        gold, preds = (os.path.join(folder, name) for name in ["gold.jsonl", "preds.jsonl"])
        write(gold, range(rows), lambda it: f'{{"id": "q{it}", "answer": "answer {it % 97}"}}\n')
        others = (number * step % rows for number in range(rows))
        write(preds, others, lambda it: f'{{"id": "q{it}", "pred": {{"answer": "answer {it % 89}"}}}}\n')
        started = time.monotonic()
        command = [program, "score", preds, "--gold", gold, "-m", "em", "--quiet"]
        result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TMPDIR": folder})
        seconds = time.monotonic() - started
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(result.stdout.strip(), result.stderr.strip())
        print(
            f"{rows} rows, {order} order: {seconds:.1f} s; a row takes {usage.ru_utime / rows * 1e6:.2f} us of the "
            f"program and {usage.ru_stime / rows * 1e6:.2f} us of the system; {usage.ru_maxrss / 1024:.0f} MiB"
        )


main()
