"""Writes tests/parity/inspect_logs: five logs of inspect_ai, and the values and tests that belong to them.

Run with the versions of inspect_ai and scipy in .ci/peers.txt, without network:

    python tests/parity/make_inspect_logs.py            # writes the logs
    python tests/parity/make_inspect_logs.py --check    # compares the committed values with what inspect_ai reads from the logs

A scripted model answers. `weak.eval` and `strong.eval` have three epochs, several scorers, errors and limits; `graded.json` has
partial and missing scores, and lists; `other_option.eval` is `weak.eval` with another option of a scorer; `agent.eval` has calls of
tools and long texts. `vectors.json` has the values that inspect_ai's own reader and its `value_to_float` return, with scipy's tests of
the differences between `weak.eval` and `strong.eval`.
"""

import json
import math
import os
import pathlib
import random
import shutil
import sys
import tempfile

os.environ["INSPECT_DISPLAY"] = "none"

import numpy as np
import tiktoken
from inspect_ai import Task, eval, task
from inspect_ai.agent import react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ModelOutput, get_model
from inspect_ai.scorer import Score, accuracy, includes, match, mean, scorer, value_to_float
from inspect_ai.solver import generate, solver
from inspect_ai.tool import tool
from scipy import stats

from intervals import few


class Words:
    """Counts words as tokens, because tiktoken downloads its encodings."""

    def encode(self, text, **_):
        return text.split()


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: Words()

SEED = 20261128
OUT = pathlib.Path(__file__).with_name("inspect_logs")
ROWS, EPOCHS = 24, 3
CAPITALS = ["Paris", "Rome", "Berlin", "Madrid", "Lisbon", "Vienna", "Prague", "Dublin", "Oslo", "Athens"]


def dataset():
    return MemoryDataset(
        [
            Sample(id=f"q{number}", input=f"Question {number}: which capital?", target=CAPITALS[number % 10],
                   metadata={"topic": ["north", "south"][number % 2], "number": number})
            for number in range(ROWS)
        ],
        name="capitals",
    )


@scorer(metrics={"length": [mean()], "polite": [accuracy()]})
def style():
    async def score(state, target):
        text = state.output.completion
        return Score(value={"length": len(text), "polite": "C" if "please" in text else "I"}, explanation=f"{len(text)} characters")

    return score


@scorer(metrics=[mean()])
def graded():
    """Partial credit, no answer, words, numbers in strings, and no score."""
    values = ["C", "I", "P", "N", float("nan"), True, "yes", "No", "0.25", 7]

    async def score(state, target):
        return Score(value=values[state.metadata["number"] % 10], answer=state.output.completion, metadata={"grade": "by hand"})

    return score


@scorer(metrics=[mean()])
def pair():
    async def score(state, target):
        return Score(value=[1, 0.5 if state.metadata["number"] % 2 else 0])

    return score


@solver
def failing():
    async def solve(state, generate):
        if state.metadata["number"] in (7, 19) and state.epoch == 2 or state.metadata["number"] == 11:
            raise ValueError("the \"tool\" broke\nin line 2")
        return state

    return solve


@solver
def limited():
    async def solve(state, generate):
        if state.metadata["number"] == 4:
            state.messages.extend(ChatMessageAssistant(content="again") for _ in range(20))
            state.message_limit = 6
        return state

    return solve


def scripted(name, wrong):
    generate = random.Random(f"{SEED} {name}")

    def reply(input, tools, tool_choice, config):
        number = int(input[0].text.split()[1].rstrip(":"))
        share = wrong.get(number, 0)
        answer = CAPITALS[(number + 1) % 10] if generate.random() < share else CAPITALS[number % 10]
        please = "please take " if generate.random() < 0.4 else ""
        output = ModelOutput.from_content(f"mockllm/{name}", f"{please}{answer}")
        return output

    return get_model(f"mockllm/{name}", custom_outputs=reply)


@task
def capitals(ignore_case: bool = True, version: int = 2):
    return Task(dataset=dataset(), solver=[failing(), limited(), generate()],
                scorer=[match(location="end", ignore_case=ignore_case), style()], epochs=EPOCHS, version=version)


@task
def by_hand():
    return Task(dataset=dataset(), solver=[generate()], scorer=[graded(), pair()])


@tool
def lookup():
    async def execute(city: str):
        """Looks up a city.

        Args:
            city: The city.
        """
        if city == "Atlantis":
            raise ValueError("unknown city")
        return f"{city}: " + "a long description. " * 20

    return execute


def calling(name):
    def reply(input, tools, tool_choice, config):
        last = input[-1]
        if last.role == "user":
            return ModelOutput.for_tool_call(f"mockllm/{name}", "lookup", {"city": "Rome"})
        return ModelOutput.for_tool_call(f"mockllm/{name}", "submit", {"answer": "Rome " + "because " * 40})

    return get_model(f"mockllm/{name}", custom_outputs=reply)


@task
def agent():
    samples = [Sample(id=number, input=f"Look up Rome, {number}. " + "Be careful. " * 30, target="Rome", metadata={"number": number}) for number in range(1, 4)]
    return Task(dataset=MemoryDataset(samples, name="cities"), solver=react(tools=[lookup()]), scorer=includes())


def logs(folder):
    """Evaluates, and writes the logs."""
    generate = random.Random(SEED)
    weak = {number: generate.choice([0, 0.2, 0.5, 1]) for number in range(ROWS)}
    strong = {number: share / 2 for number, share in weak.items()}
    runs = {
        "weak.eval": (capitals(), scripted("weak", weak)),
        "strong.eval": (capitals(), scripted("strong", strong)),
        "graded.json": (by_hand(), scripted("weak", weak)),
        "other_option.eval": (capitals(ignore_case=False), scripted("weak", weak)),
        "agent.eval": (agent(), calling("agent")),
    }
    for name, (of_task, model) in runs.items():
        with tempfile.TemporaryDirectory() as one:
            # One sample at a time, so that the replies do not depend on the order of samples.
            [log] = eval(of_task, model=model, log_dir=one, log_format=pathlib.Path(name).suffix[1:], fail_on_error=False,
                         max_samples=1, score_display=False)
            assert log.status == "success", (name, log.status, log.error)
            log = read_eval_log(log.location)
            # Paths of this machine, and most of the length: the events, which `agent.eval` and `graded.json` keep.
            log.eval.task_file = log.eval.revision = None
            for sample in log.samples:
                if name in ("weak.eval", "strong.eval", "other_option.eval"):
                    sample.events, sample.timelines = [], None
                if sample.error is not None:
                    sample.error.traceback = sample.error.traceback_ansi = "removed"
            write_eval_log(log, str(folder / name))


def values(file):
    """The values of a log: by score and element, sample and epoch; None without a score, and an error for all scores."""
    to_float, found = value_to_float(), {}
    log = read_eval_log(str(file))
    for sample in log.samples:
        key = f"{sample.id}/{sample.epoch}"
        if sample.error is not None:
            found.setdefault("errors", []).append(key)
            continue
        for name, score in (sample.scores or {}).items():
            if isinstance(score.value, dict):
                elements = {f"{name}:{key}": value for key, value in score.value.items()}
            elif isinstance(score.value, list):
                elements = {f"{name}:{key}": value for key, value in enumerate(score.value)}
            else:
                elements = {name: score.value}
            for element, value in elements.items():
                is_unscored = isinstance(value, float) and math.isnan(value)
                found.setdefault("scores", {}).setdefault(element, {})[key] = None if is_unscored else to_float(value)
        if sample.limit is not None:
            found.setdefault("limits", {})[key] = sample.limit.type
    return found


def rows(found, metric):
    """The score of each row: the mean over its epochs, where an error is 0, and one without a score is left out."""
    by_row = {}
    for key, value in found["scores"][metric].items():
        by_row.setdefault(key.split("/")[0], []).extend([] if value is None else [value])
    for key in found.get("errors", []):
        by_row.setdefault(key.split("/")[0], []).append(0.0)
    return {row: float(np.mean(all)) for row, all in by_row.items() if all}


def tested(a, b):
    """The permutation test of the differences, exact with up to 17 that are not 0, and the interval of their mean."""
    ids = sorted(a)
    differences = np.array([b[it] - a[it] for it in ids])
    moved = differences[np.abs(differences) > 1e-12]
    p = None
    if len(moved) <= 17:
        p = float(stats.permutation_test((moved,), lambda x, axis: np.sum(x, axis=axis), permutation_type="samples", n_resamples=np.inf).pvalue)
    if all(0 <= it <= 1 for it in [*a.values(), *b.values()]):
        low, high = few(differences, -1, 1)
    else:
        low, high = stats.ttest_rel([b[it] for it in ids], [a[it] for it in ids]).confidence_interval()
    return {"rows": len(ids), "a": float(np.mean([a[it] for it in ids])), "b": float(np.mean([b[it] for it in ids])),
            "difference": float(differences.mean()), "low": float(low), "high": float(high), "p": p}


def main():
    check = "--check" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if check:
            shutil.copytree(OUT, folder, dirs_exist_ok=True)
        else:
            logs(folder)
        files = sorted(file for file in folder.iterdir() if file.suffix == ".eval" or file.name == "graded.json")
        assert len(files) == 5
        found = {file.name: values(file) for file in files}
        comparison = {metric: tested(rows(found["weak.eval"], metric), rows(found["strong.eval"], metric)) for metric in found["weak.eval"]["scores"]}
        vectors = json.dumps({"values": found, "comparison": comparison}, indent=1, sort_keys=True) + "\n"
        if check:
            assert (OUT / "vectors.json").read_text() == vectors, "the vectors differ"
            print("5 logs, as committed")
            return
        (folder / "vectors.json").write_text(vectors)
        shutil.rmtree(OUT, ignore_errors=True)
        shutil.copytree(folder, OUT)


main()
