"""Writes tests/parity/trajectory_vectors.jsonl.gz: random pairs of trajectories, and the scores of agentevals, deepeval, ragas and
pydantic-evals.

Run with the versions in PEERS, in a virtual environment of their own:

    pip install agentevals==0.0.9 deepeval==4.3.1 ragas==0.4.3 pydantic-evals==2.62.0
    python tests/parity/make_trajectory_vectors.py            # writes the vectors
    python tests/parity/make_trajectory_vectors.py --check    # compares the committed ones with what the peers compute now

The seed is fixed. A trajectory is a list of messages: "u" of the user, or a list of calls `[tool, arguments, result]`.
`agentevals` has a bit for each mode and each rule for arguments, `deepeval` a score for each setting, rounded to 12 digits, `ragas` its
F1, rounded by itself to 4 digits, and `pydantic` a score for each order, rounded to 12 digits.
Where the library differs, tests/text/parity/trajectories.rs computes the peer's definition, and counts the reasons.
"""

import asyncio
import gzip
import importlib.metadata
import json
import os
import pathlib
import random
import sys
import types

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
os.environ["RAGAS_DO_NOT_TRACK"] = "true"
# ragas imports a client of Vertex AI, which its metrics of tool calls do not use and current versions of LangChain do not have.
sys.modules["langchain_community.chat_models.vertexai"] = types.SimpleNamespace(ChatVertexAI=None)

from agentevals.trajectory.match import create_trajectory_match_evaluator
from deepeval.metrics.tool_correctness.tool_correctness import ToolCorrectnessMetric
from deepeval.test_case import ToolCall, ToolCallParams
from pydantic_evals.evaluators import agentic
from ragas import messages as ragas
from ragas.metrics.collections.tool_call_f1 import ToolCallF1

SEED = 20261128
PAIRS = 5000
PEERS = {"agentevals": "0.0.9", "deepeval": "4.3.1", "ragas": "0.4.3", "pydantic-evals": "2.62.0"}
OUT = pathlib.Path(__file__).with_name("trajectory_vectors.jsonl.gz")
MODES = ["strict", "unordered", "subset", "superset"]
# The last one is the list of paths "a" and "b.c" for each tool.
RULES = ["exact", "ignore", "subset", "superset", "paths"]
PARAMS = [[], [ToolCallParams.INPUT_PARAMETERS], [ToolCallParams.INPUT_PARAMETERS, ToolCallParams.OUTPUT]]
TOOLS = ["search", "book"]


def arguments(rng):
    drawn = {}
    for key in "ab":
        if rng.random() < 0.6:
            drawn[key] = rng.choice([1, 1, 2, 1.0, "x", True, None] if key == "a" else [1, {"c": 1}, {"c": 2, "d": 1}, {"c": 1, "d": 1}])
    return drawn


def call(rng):
    return [rng.choice(TOOLS), arguments(rng), rng.choice(["ok", "ok", "no"])]


def trajectory(rng):
    messages = [[call(rng) for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))] for _ in range(rng.randint(0, 3))]
    return [message or "u" for message in messages]


def changed(rng, messages):
    """The same trajectory with a few changes, so that many pairs match."""
    messages = json.loads(json.dumps(messages))
    for message in messages:
        if message == "u":
            continue
        if rng.random() < 0.4:
            rng.shuffle(message)
        for position in range(len(message)):
            if rng.random() < 0.2:
                message[position][1] = arguments(rng)
            if rng.random() < 0.1:
                message[position][2] = "no"
        if rng.random() < 0.1:
            message.append(json.loads(json.dumps(rng.choice(message))))
    if rng.random() < 0.1:
        messages.append([call(rng)])
    if messages and rng.random() < 0.1:
        messages.pop(rng.randrange(len(messages)))
    return messages


def openai(messages):
    written = []
    for message in messages:
        if message == "u":
            written.append({"role": "user", "content": "x"})
        else:
            calls = [{"id": "", "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for n, a, _ in message]
            written.append({"role": "assistant", "content": "", "tool_calls": calls})
    return written


def calls(messages):
    return [
        ToolCall(name=name, input_parameters=given, output=result)
        for message in messages if message != "u" for name, given, result in message
    ]


def evaluator(mode, rule):
    if rule == "paths":
        paths = {tool: ["a", "b.c"] for tool in TOOLS}
        return create_trajectory_match_evaluator(trajectory_match_mode=mode, tool_args_match_overrides=paths)
    return create_trajectory_match_evaluator(trajectory_match_mode=mode, tool_args_match_mode=rule)


def correctness(params, order):
    metric = ToolCorrectnessMetric.__new__(ToolCorrectnessMetric)
    metric.evaluation_params = params
    metric.should_exact_match = order == "exact"
    metric.should_consider_ordering = order == "in_order"
    metric.strict_mode = False
    return metric


def score(metric, pred, gold):
    metric.tools_called, metric.expected_tools = calls(pred), calls(gold)
    return round(float(metric._calculate_score()), 12)


def ragas_f1(metric, pred, gold):
    def written(messages):
        return [ragas.ToolCall(name=name, args=given) for message in messages if message != "u" for name, given, _ in message]

    replies = [ragas.AIMessage(content="", tool_calls=written(pred))]
    return asyncio.run(metric.ascore(user_input=replies, reference_tool_calls=written(gold))).value


def pydantic_f1(pred, gold, order):
    """The score of `TrajectoryMatch`, whose calls are those of the prediction in place of those of spans."""
    named = [types.SimpleNamespace(name=call.name) for call in calls(pred)]
    agentic._extract_tool_calls = lambda tree, include_failed: named
    match = agentic.TrajectoryMatch(expected_trajectory=[call.name for call in calls(gold)], order=order)
    return round(float(match.evaluate(types.SimpleNamespace(span_tree=None)).value), 12)


def vectors():
    rng = random.Random(SEED)
    evaluators = [evaluator(mode, rule) for mode in MODES for rule in RULES]
    metrics = [correctness(params, order) for params in PARAMS for order in ("any", "in_order", "exact")]
    f1 = ToolCallF1()
    for _ in range(PAIRS):
        gold = trajectory(rng)
        pred = changed(rng, gold) if rng.random() < 0.7 else trajectory(rng)
        verdicts = [one(outputs=openai(pred), reference_outputs=openai(gold))["score"] for one in evaluators]
        yield {
            "gold": gold, "pred": pred,
            "agentevals": "".join("1" if verdict else "0" for verdict in verdicts),
            "deepeval": [score(metric, pred, gold) for metric in metrics],
            "ragas": ragas_f1(f1, pred, gold),
            "pydantic": [pydantic_f1(pred, gold, order) for order in ("in_order", "any_order", "exact")],
        }


def main():
    found = {name: importlib.metadata.version(name) for name in PEERS}
    assert found == PEERS, (found, PEERS)
    lines = [json.dumps(vector, separators=(",", ":")) for vector in vectors()]
    if "--check" in sys.argv:
        committed = gzip.decompress(OUT.read_bytes()).decode().splitlines()
        assert len(committed) == len(lines), (len(committed), len(lines))
        for one, now in zip(committed, lines):
            assert one == now, (one, now)
        print(len(lines), "vectors, as committed")
        return
    OUT.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode(), 9, mtime=0))
    print(len(lines), "vectors")


if __name__ == "__main__":
    main()
