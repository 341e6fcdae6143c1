"""Makes small files of other programs by these programs, and `formats/vectors.json` with the figures that they print.

Needs deepeval 4.x, ragas 0.4.x with rapidfuzz, pytrec-eval-terrier, jiwer and swebench. Run it in this folder. The files of promptfoo, BFCL,
HELM and OpenAI's batch API are written by hand, because these programs need models; their figures are those in their own headers.
"""

import json
import os
import pathlib
import shutil
import tempfile

OUT = pathlib.Path(__file__).parent / "formats"
WORK = pathlib.Path(tempfile.mkdtemp())
os.environ.update(
    DEEPEVAL_TELEMETRY_OPT_OUT="YES", DEEPEVAL_RESULTS_FOLDER=str(WORK / "deepeval"), RAGAS_DO_NOT_TRACK="true", HF_HUB_OFFLINE="1"
)
os.chdir(WORK)
QUESTIONS = [
    ("Capital of France?", "Paris", "Paris"),
    ("Capital of Peru?", "Lima", "Cusco"),
    ("Capital of Italy?", "Rome", "Rome"),
    ("Capital of Chad?", "N'Djamena", "Abéché"),
    ("Capital of Mali?", "Bamako", "Bamako"),
]


def deepeval(name, wrong):
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, DisplayConfig
    from deepeval.metrics import BaseMetric, ExactMatchMetric
    from deepeval.test_case import LLMTestCase, ToolCall

    class Errors(BaseMetric):
        """The share of characters that are wrong: lower is better."""

        def __init__(self):
            self.threshold, self.async_mode = 0.5, False

        def measure(self, case, *args, **kwargs):
            same = sum(a == b for a, b in zip(case.actual_output, case.expected_output))
            self.score = 1 - same / max(len(case.actual_output), len(case.expected_output))
            self.success = self.score <= self.threshold
            self.reason = f"{same} characters are the same"
            return self.score

        def is_successful(self):
            return self.success

        @property
        def __name__(self):
            return "Errors"

    cases = []
    for number, (question, answer, output) in enumerate(QUESTIONS):
        call = ToolCall(name="lookup", input_parameters={"place": question.split()[-1][:-1]})
        cases.append(
            LLMTestCase(
                input=question,
                expected_output=answer,
                actual_output="unknown" if number in wrong else output,
                retrieval_context=[f"{answer} is a city.", "Cities are large."],
                expected_tools=[call],
                tools_called=[] if number in wrong else [call],
            )
        )
    evaluate(
        cases,
        metrics=[ExactMatchMetric(), Errors()],
        async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
    )
    newest = max((WORK / "deepeval").glob("test_run_*.json"), key=os.path.getmtime)
    run = json.loads(newest.read_text())
    newest.unlink()
    (OUT / f"deepeval_{name}.json").write_text(json.dumps(run) + "\n")
    means = {it["metric"]: sum(it["scores"]) / len(it["scores"]) for it in run["metricsScores"]}
    return {"means": means, "passed": run["testPassed"], "failed": run["testFailed"]}


def goldens():
    from deepeval.dataset import EvaluationDataset, Golden
    from deepeval.test_case import ToolCall

    rows = [
        Golden(
            input=question,
            expected_output=answer,
            actual_output=output,
            retrieval_context=[f"{answer} is a city.", "Cities are large."],
            tools_called=[ToolCall(name="lookup", input_parameters={"q": output})],
            expected_tools=[ToolCall(name="lookup", input_parameters={"q": answer})],
        )
        for question, answer, output in QUESTIONS
    ]
    for kind in ("csv", "json"):
        EvaluationDataset(goldens=rows).save_as(file_type=kind, directory=str(WORK), file_name="goldens", include_test_cases=False)
        shutil.copy(WORK / f"goldens.{kind}", OUT / f"deepeval_goldens.{kind}")


def ragas(name, wrong):
    from ragas import EvaluationDataset, evaluate
    from ragas.metrics import ExactMatch, NonLLMContextRecall, NonLLMStringSimilarity

    rows = []
    for number, (question, answer, output) in enumerate(QUESTIONS):
        rows.append(
            {
                "user_input": question,
                "reference": answer,
                "response": "It's unknown, \"really\"" if number in wrong else output,
                "reference_contexts": [f"{answer} is the capital."],
                "retrieved_contexts": ["Bananas grow in the tropics."] + [f"{answer} is the capital."] * (number not in wrong),
            }
        )
    result = evaluate(
        EvaluationDataset.from_list(rows),
        metrics=[ExactMatch(), NonLLMStringSimilarity(), NonLLMContextRecall()],
        show_progress=False,
    )
    frame = result.to_pandas()
    frame.to_csv(OUT / f"ragas_{name}.csv", index=False)
    frame.to_json(OUT / f"ragas_{name}.jsonl", orient="records", lines=True)
    return {metric: float(value) for metric, value in result._repr_dict.items()}


def trec():
    import pytrec_eval

    qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d9": 1}, "q3": {"d4": 3, "d5": -1}}
    run = {
        "q1": {"d2": 3.5, "d1": 3.5, "d3": 0.25, "d7": 9.0},
        "q2": {"d5": 1.0, "d9": 0.5, "d1": 0.5},
        "q3": {"d5": 2.0, "d4": 1.0},
    }
    lines = [f"{q} 0 {d} {grade}" for q, of in qrels.items() for d, grade in of.items()]
    (OUT / "trec.qrels").write_text("\n".join(lines) + "\n")
    lines = [f"{q} Q0 {d} {rank} {score} system" for q, of in run.items() for rank, (d, score) in enumerate(of.items(), 1)]
    (OUT / "trec.run").write_text("\n".join(lines) + "\n")
    found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recip_rank", "map"}).evaluate(run)
    return {name: sum(it[name] for it in found.values()) / len(found) for name in ("ndcg_cut_10", "recip_rank", "map")}


def trn():
    import jiwer

    references = {"spk1-utt1": "the cat sat on the mat", "spk1-utt2": "hello world", "spk2-utt1": "(uh) good morning"}
    said = {"spk2-utt1": "good morning all", "spk1-utt1": "the cat sat on mat", "spk1-utt2": "hello word"}
    for name, texts in (("ref", references), ("hyp", said)):
        (OUT / f"{name}.trn").write_text("".join(f"{text} ({key})\n" for key, text in texts.items()))
    keys = list(references)
    return {
        "mean": sum(jiwer.wer(references[key], said[key]) for key in keys) / len(keys),
        "corpus": jiwer.wer([references[key] for key in keys], [said[key] for key in keys]),
    }


def swebench():
    from swebench.harness.reporting import make_run_report

    results = {"a__a-1": True, "a__a-2": False, "b__b-1": True, "b__b-2": None, "b__b-3": ""}
    predictions = {
        key: {"instance_id": key, "model_name_or_path": "agent", "model_patch": "" if value == "" else f"diff {key}"}
        for key, value in results.items()
    }
    for key, value in results.items():
        if isinstance(value, bool):
            folder = WORK / "logs" / "run_evaluation" / "run" / "agent" / key
            folder.mkdir(parents=True)
            (folder / "report.json").write_text(json.dumps({key: {"resolved": value}}))
    dataset = [{"instance_id": key} for key in [*results, "c__c-1"]]
    path = make_run_report(predictions, dataset, "run")
    report = json.loads(pathlib.Path(path).read_text())
    (OUT / "swebench_report.json").write_text(json.dumps(report, indent=2) + "\n")
    lines = "".join(json.dumps(it) + "\n" for it in predictions.values())
    (OUT / "swebench_predictions.jsonl").write_text(lines)
    return {"resolved": report["resolved_instances"], "total": report["total_instances"]}


def main():
    OUT.mkdir(exist_ok=True)
    vectors = {
        "deepeval": {name: deepeval(name, wrong) for name, wrong in (("a", {0, 2}), ("b", set()))},
        "ragas": {name: ragas(name, wrong) for name, wrong in (("a", {0, 4}), ("b", {4}))},
        "trec": trec(),
        "trn": trn(),
        "swebench": swebench(),
    }
    goldens()
    (OUT / "vectors.json").write_text(json.dumps(vectors, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
