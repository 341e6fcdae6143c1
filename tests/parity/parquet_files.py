"""Parquet files of pandas, polars and DuckDB, and what they read from the result files of `score --out`.

    python tests/parity/parquet_files.py write FOLDER    # writes FOLDER/{pandas,polars,duckdb}.parquet
    python tests/parity/parquet_files.py read FILE       # prints what each of them reads from FILE as JSON
"""

import json
import pathlib
import sys

import duckdb
import pandas as pd
import polars as pl

ROWS = [
    {"id": "q1", "answers": ["Paris", "paris"], "said": "Paris", "words": 1, "sure": 0.5, "good": True},
    {"id": "q2", "answers": ["42"], "said": "é\u2028\"", "words": None, "sure": None, "good": None},
]


def columns():
    named = {"answers": "gold.answer", "said": "pred.answer", "words": "words", "sure": "sure", "good": "good"}
    return [{named.get(key, key): value for key, value in row.items()} for row in ROWS]


def nested():
    of = lambda row: {"id": row["id"], "gold": {"answer": row["answers"]}, "pred": {"answer": row["said"]}}
    return [{**of(row), **{key: row[key] for key in ("words", "sure", "good")}} for row in ROWS]


def write(folder):
    frame = pd.DataFrame(columns())
    frame["words"] = frame["words"].astype("Int64")
    frame.to_parquet(folder / "pandas.parquet", index=False)
    pl.DataFrame(nested()).write_parquet(folder / "polars.parquet")
    (folder / "rows.json").write_text(json.dumps(nested()))
    source = str(folder / "rows.json").replace("'", "''")
    target = str(folder / "duckdb.parquet").replace("'", "''")
    duckdb.sql(f"COPY (SELECT * FROM read_json('{source}')) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")


def read(file):
    frames = {
        "pandas": json.loads(pd.read_parquet(file).to_json(orient="records")),
        "polars": pl.read_parquet(file).to_dicts(),
        "duckdb": duckdb.sql(f"SELECT * FROM '{str(file)}'").pl().to_dicts(),
    }
    types = {name: str(kind) for name, kind in pl.read_parquet(file).schema.items()}
    print(json.dumps({"types": types, **frames}))


if __name__ == "__main__":
    command, path = sys.argv[1], pathlib.Path(sys.argv[2])
    {"write": write, "read": read}[command](path)
