"""Writes a log of inspect_ai with 100,000 samples and about 500 MB, to measure the memory of `--from inspect`:

    python tests/parity/make_large_log.py FILE [SAMPLES]

Members are stored, with random text that does not compress, and an event list that is not read. Needs no package.
"""

import json
import random
import sys
import zipfile

generate = random.Random(0)
letters = "abcdefghijklmnopqrstuvwxyz0123456789+/ABCDEFGHIJKLMNOPQRSTUVWXYZ"
block = "".join(generate.choices(letters, k=1 << 20))
samples = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
    for number in range(samples):
        start = generate.randrange(len(block) - 4200)
        sample = {
            "id": number, "epoch": 1, "input": block[start:start + 800], "target": "x",
            "messages": [{"role": "user", "content": block[start:start + 800]}, {"role": "assistant", "content": block[start:start + 400]}],
            "output": {"completion": block[start:start + 400]},
            "scores": {"match": {"value": "CI"[generate.random() < 0.4], "answer": "x"}},
            "metadata": {"topic": number % 7}, "events": [{"event": "model", "text": block[start:start + 2200]}],
            "attachments": {},
        }
        archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    header = {"version": 2, "status": "success", "eval": {"task": "large", "model": "m/a", "dataset": {"name": "large"}, "config": {"epochs": 1}}}
    archive.writestr("header.json", json.dumps(header))
