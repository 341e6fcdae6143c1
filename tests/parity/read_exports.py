"""Prints what the programs themselves read from the files that `export --to` wrote, as JSON.

    python tests/parity/read_exports.py FOLDER

FOLDER has `run.eval`, `eee/`, `spans.jsonl`, `scores.jsonl` and `assessments.jsonl`; a file that is absent is not read. Run with the
versions in .ci/peers.txt and .ci/peers_alone.txt, without network.
"""

import json
import math
import os
import pathlib
import sys

os.environ["INSPECT_DISPLAY"] = "none"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def number(value):
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def inspect(path):
    from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries

    log = read_eval_log(str(path))
    samples = [
        {
            "id": sample.id,
            "input": sample.input,
            "target": sample.target,
            "completion": sample.output.completion,
            "messages": [
                [message.role, message.text, [[call.function, call.arguments] for call in getattr(message, "tool_calls", None) or []]]
                for message in sample.messages
            ],
            "error": sample.error and sample.error.message,
            "metadata": sample.metadata,
            "working_time": sample.working_time,
            "tokens": {name: usage.total_tokens for name, usage in sample.model_usage.items()},
            "scores": {
                name: [number(score.value), score.explanation, (score.metadata or {}).get("dsrs_metrics_outcome")]
                for name, score in sample.scores.items()
            },
        }
        for sample in log.samples
    ]
    # The viewer reads the summaries first, and then a sample by its id.
    summaries = read_eval_log_sample_summaries(str(path))
    for sample, summary in zip(log.samples, sorted(summaries, key=lambda it: [s.id for s in log.samples].index(it.id))):
        assert (sample.id, len(sample.messages)) == (summary.id, summary.message_count)
        assert read_eval_log_sample(str(path), sample.id, 1).uuid == summary.uuid
    return {
        "status": log.status,
        "task": log.eval.task,
        "model": log.eval.model,
        "dataset": log.eval.dataset.name,
        "created": log.eval.created,
        "samples": samples,
        "results": {
            score.name: [score.scored_samples, score.unscored_samples, {name: it.value for name, it in score.metrics.items()}]
            for score in log.results.scores
        },
    }


def every_eval_ever(folder):
    from every_eval_ever.validator.validate import expand_paths, main

    files = sorted(str(path) for path in folder.rglob("*.json*"))
    assert len(expand_paths(files)) == len(files)
    code = 0
    sys.stdout = sys.stderr
    try:
        code = main(["--format", "json", *files])
    except SystemExit as exit:
        code = exit.code
    finally:
        sys.stdout = sys.__stdout__
    read = {"valid": code == 0, "files": [str(pathlib.Path(file).relative_to(folder)) for file in files]}
    for file in files:
        if file.endswith(".json"):
            read["run"] = json.loads(pathlib.Path(file).read_text())
        else:
            read["rows"] = lines(pathlib.Path(file))
    return read


def spans(path):
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    read = []
    for line in path.read_text().splitlines():
        for resource in Parse(hexadecimal_ids(line), ExportTraceServiceRequest()).resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    value = lambda it: getattr(it, it.WhichOneof("value"))
                    read.append(
                        {
                            "trace": span.trace_id.hex(),
                            "parent": span.parent_span_id.hex(),
                            "ended": span.end_time_unix_nano,
                            "attributes": {pair.key: value(pair.value) for pair in span.attributes},
                        }
                    )
    return read


def hexadecimal_ids(line):
    """OTLP's JSON has ids in hexadecimal digits, where the JSON of protobuf has base64."""
    import base64

    def ids(fields):
        return {
            key: base64.b64encode(bytes.fromhex(value)).decode() if key in ("traceId", "spanId", "parentSpanId") else value
            for key, value in fields.items()
        }

    return json.dumps(json.loads(line, object_hook=ids))


def langfuse(path):
    from langfuse.api.scores.types.create_score_request import CreateScoreRequest

    return [json.loads(CreateScoreRequest(**line).model_dump_json(by_alias=True, exclude_none=True)) for line in lines(path)]


def mlflow(path):
    from google.protobuf.json_format import ParseDict
    from mlflow.entities import Assessment
    from mlflow.protos.service_pb2 import CreateAssessment

    read = []
    for line in lines(path):
        assessment = Assessment.from_proto(ParseDict(line, CreateAssessment()).assessment)
        error = assessment.feedback.error
        read.append(
            {
                "trace_id": assessment.trace_id,
                "span_id": assessment.span_id,
                "name": assessment.name,
                "value": assessment.feedback.value,
                "error": error and [error.error_code, error.error_message],
                "source": [assessment.source.source_type, assessment.source.source_id],
                "rationale": assessment.rationale,
                "metadata": assessment.metadata,
            }
        )
    return read


READERS = {"run.eval": inspect, "eee": every_eval_ever, "spans.jsonl": spans, "scores.jsonl": langfuse, "assessments.jsonl": mlflow}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]).resolve()
    print(json.dumps({name: read(folder / name) for name, read in READERS.items() if (folder / name).exists()}))
