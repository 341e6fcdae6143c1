"""Writes tests/parity/otel_vectors.jsonl.gz: rows, and the OpenTelemetry events that pydantic-evals emits for them.

Run in an environment of its own:

    pip install pydantic-evals==2.62.0 opentelemetry-sdk==1.45.2
    python tests/parity/make_otel_vectors.py            # writes the vectors
    python tests/parity/make_otel_vectors.py --check    # compares the committed ones with what the peer emits now

The seed is fixed. tests/otel/parity.rs has the same metrics in Rust, and lists where the events of the library differ.
"""

import asyncio
import gzip
import json
import pathlib
import random
import sys
from dataclasses import dataclass

from opentelemetry import context
from opentelemetry._logs import set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from pydantic_evals._otel_emit import build_parent_context, emit_otel_events
from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext, EvaluatorFailure
from pydantic_evals.evaluators._run_evaluator import run_evaluator
from pydantic_evals.online import SpanReference
from pydantic_evals.otel._errors import SpanTreeRecordingError

SEED = 20261128
OUT = pathlib.Path(__file__).with_name("otel_vectors.jsonl.gz")
WORDS = ["Paris", "Rome", "é", "a<b>&\"'", "line\nbreak", "\u202e", "10", "", "ÅÄÖ 🚀"]


@dataclass
class same(Evaluator):
    """Whether the output is the expected output; a bool without a reason."""

    def evaluate(self, ctx):
        return ctx.output == ctx.expected_output


@dataclass
class cited(Evaluator):
    """Whether the output has a letter; a bool with a reason."""

    def evaluate(self, ctx):
        found = "a" in ctx.output
        return EvaluationReason(value=found, reason=None if found else f"no `a` in `{ctx.output}`")


@dataclass
class share(Evaluator):
    """The number of characters divided by `most`; fails without characters."""

    most: float = 8.0

    def get_evaluator_version(self):
        return "3"

    def evaluate(self, ctx):
        if not ctx.output:
            raise ValueError("the output is empty")
        return len(ctx.output) / self.most


def rows():
    rng = random.Random(SEED)
    for number in range(120):
        row = {"id": f"q{number}", "expected": rng.choice(WORDS), "output": rng.choice(WORDS)}
        if number % 3 == 0:
            row["trace_id"], row["span_id"] = f"{rng.getrandbits(128):032x}", f"{rng.getrandbits(64):016x}"
        yield row


async def events(exporter, row):
    ctx = EvaluatorContext(
        name=row["id"], inputs=None, metadata=None, expected_output=row["expected"], output=row["output"],
        duration=0.0, _span_tree=SpanTreeRecordingError("none"), attributes={}, metrics={},
    )
    exporter.clear()
    for evaluator in (same(), cited(), share(most=16.0)):
        results = await run_evaluator(evaluator, ctx)
        results, failures = ([], [results]) if isinstance(results, EvaluatorFailure) else (results, [])
        reference = None
        if "trace_id" in row:
            reference = SpanReference(trace_id=row["trace_id"], span_id=row["span_id"])
        token = context.attach(build_parent_context(reference) or context.Context())
        emit_otel_events(results=results, failures=failures, target="capitals")
        context.detach(token)
    for data in exporter.get_finished_logs():
        record = data.log_record
        yield {
            "event_name": record.event_name,
            "body": record.body,
            "severity": record.severity_number.value if record.severity_number else 0,
            "trace_id": f"{record.trace_id:032x}" if record.trace_id else "",
            "span_id": f"{record.span_id:016x}" if record.span_id else "",
            "attributes": dict(record.attributes),
        }


async def vectors():
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    set_logger_provider(provider)
    return [{"row": row, "events": [event async for event in events(exporter, row)]} for row in rows()]


def main():
    lines = [json.dumps(vector, sort_keys=True) for vector in asyncio.run(vectors())]
    text = "".join(f"{line}\n" for line in lines)
    if "--check" in sys.argv:
        assert gzip.decompress(OUT.read_bytes()).decode() == text
        print(len(lines), "vectors, as committed")
        return
    OUT.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(len(lines), "vectors")


if __name__ == "__main__":
    main()
