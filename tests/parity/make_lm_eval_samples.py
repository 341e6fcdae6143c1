"""Writes tests/parity/lm_eval: the files of two runs of lm-eval, and the values and tests that belong to them.

Run with lm-eval 0.4.13, datasets 5.2 and scipy 1.17, without network:

    python tests/parity/make_lm_eval_samples.py            # writes the files
    python tests/parity/make_lm_eval_samples.py --check    # compares the committed values with what lm-eval computes now

Two models answer a task with two filters and a task of choices; the better one is wrong in fewer rows. lm-eval writes its own
samples and results, and `vectors.json` has the values of its metrics as it has them in memory, with scipy's exact permutation test
and paired t interval of their differences.
"""

import json
import os
import pathlib
import random
import shutil
import sys
import tempfile

os.environ["HF_DATASETS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.api.task import ConfigurableTask
from lm_eval.loggers import EvaluationTracker
from scipy import stats

SEED = 20261128
OUT = pathlib.Path(__file__).with_name("lm_eval")
DATES = {"weak": "2026-11-28T10-00-00.000001", "strong": "2026-11-28T11-00-00.000001"}
ROWS = 40


def rows():
    generate = random.Random(SEED)
    for number in range(ROWS):
        a, b = generate.randint(1, 50), generate.randint(1, 50)
        yield {"question": f"{a} + {b}?", "answer": str(a + b), "topic": ["small", "large"][a + b > 50], "number": number}


# The rows in which a model is wrong.
WRONG = {}


@register_model("scripted")
class Scripted(LM):
    """Answers from the question, and is wrong in some rows."""

    def __init__(self, pretrained, **_):
        super().__init__()
        self.wrong = WRONG[pretrained]

    def generate_until(self, requests):
        replies = []
        for request in requests:
            number, answer = request.doc["number"], request.doc["answer"]
            said = answer if number not in self.wrong else str(int(answer) + 1)
            # The strict filter wants `####`, which some replies lack.
            replies.append(f"So it is {said}." if number % 5 == 0 else f"Let me add.\n#### {said}")
        return replies

    def loglikelihood(self, requests):
        replies = []
        for request in requests:
            number, choice = request.doc["number"], request.args[1].strip()
            is_right = (choice == request.doc["answer"]) != (number in self.wrong)
            replies.append((-1.25 if is_right else -3.5 - number / 100, is_right))
        return replies

    def loglikelihood_rolling(self, requests):
        return [-1.0 for _ in requests]


def regex(name, pattern):
    steps = [{"function": "regex", "regex_pattern": pattern}, {"function": "take_first"}]
    return {"name": name, "filter": steps}


def tasks(data):
    common = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "num_fewshot": 0,
        "metadata": {"version": 3.0},
    }
    sums = {
        **common,
        "task": "sums",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["</s>"], "do_sample": False},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        "filter_list": [regex("strict-match", r"#### (\-?[0-9]+)"), regex("flexible-extract", r"(\-?[0-9]+)")],
    }
    choices = {
        **common,
        "task": "sums_choice",
        "output_type": "multiple_choice",
        "doc_to_text": "{{question}}",
        "doc_to_target": 0,
        "doc_to_choice": "{{[answer, '0']}}",
        "metric_list": [
            {"metric": "acc", "aggregation": "mean", "higher_is_better": True},
            {"metric": "brier_score", "aggregation": "brier_score", "higher_is_better": False},
        ],
    }
    return [ConfigurableTask(config=sums), ConfigurableTask(config=choices)]


def run(name, wrong, data, folder):
    WRONG[name] = wrong
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.log_experiment_args(
        model_source="scripted", model_args=f"pretrained={name}", system_instruction="", chat_template="", fewshot_as_multiturn=False
    )
    results = simple_evaluate(
        model="scripted", model_args=f"pretrained={name}", tasks=tasks(data), log_samples=True, bootstrap_iters=0, evaluation_tracker=tracker
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task, of_task in samples.items():
        tracker.save_results_samples(task_name=task, samples=of_task)
    written = next(folder.rglob("results_*.json"))
    date = written.stem.removeprefix("results_")
    out = OUT / name
    out.mkdir(parents=True)
    for file in written.parent.iterdir():
        # The folder of the run and the time are of this process.
        text = file.read_text().replace(str(data), "data.jsonl").replace(date, DATES[name])
        if file.name.startswith("results_"):
            results = json.loads(text)
            keep = ["results", "versions", "n-shot", "higher_is_better", "n-samples", "config", "task_hashes",
                    "model_source", "model_name", "lm_eval_version", "configs"]
            text = json.dumps({key: results[key] for key in keep if key in results}, indent=2)
        (out / file.name.replace(date, DATES[name])).write_text(text)
    values = {}
    for task, of_task in samples.items():
        for sample in of_task:
            for metric in sample["metrics"]:
                # Others are parts of a score of all rows.
                if isinstance(sample[metric], (int, float)):
                    of_metric = values.setdefault(task, {}).setdefault(f"{metric},{sample['filter']}", {})
                    of_metric[str(sample["doc_id"])] = float(sample[metric])
    return values


def tested(a, b):
    """The exact permutation test of the differences, and the interval of their mean."""
    ids = sorted(a, key=int)
    differences = np.array([b[it] - a[it] for it in ids], dtype=float)
    moved = differences[differences != 0]
    p = 1.0
    if len(moved) > 0:
        def statistic(x, axis):
            return np.sum(x, axis=axis)
        p = stats.permutation_test((moved,), statistic, permutation_type="samples", n_resamples=np.inf).pvalue
    test = stats.ttest_rel([b[it] for it in ids], [a[it] for it in ids])
    low, high = test.confidence_interval()
    return {"rows": len(ids), "moved": len(moved), "a": float(np.mean([a[it] for it in ids])), "b": float(np.mean([b[it] for it in ids])),
            "difference": float(differences.mean()), "low": float(low), "high": float(high), "p": float(p)}


def main():
    generate = random.Random(SEED + 1)
    weak = set(generate.sample(range(ROWS), 13))
    strong = set(generate.sample(sorted(weak), 4)) | {next(it for it in range(ROWS) if it not in weak)}
    check = "--check" in sys.argv
    global OUT
    committed = OUT
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        OUT = folder / "out"
        data = folder / "data.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows()))
        values = {name: run(name, wrong, data, folder / name) for name, wrong in [("weak", weak), ("strong", strong)]}
        comparison = {}
        for task, metrics in values["weak"].items():
            for metric, of_weak in metrics.items():
                comparison.setdefault(task, {})[metric] = tested(of_weak, values["strong"][task][metric])
        vectors = json.dumps({"values": values, "comparison": comparison}, indent=1, sort_keys=True) + "\n"
        if check:
            assert (committed / "vectors.json").read_text() == vectors, "the vectors differ"
            return
        (OUT / "vectors.json").write_text(vectors)
        shutil.rmtree(committed, ignore_errors=True)
        shutil.copytree(OUT, committed)


main()
