"""What dspy answers: the only source of expected values, for the committed vectors and for the live test.

As a program it answers one JSON request a line on standard input with one JSON reply a line. A request is one of

    {"text": ..}                                  how dspy normalizes it, and its DPR tokens joined by spaces
    {"prediction": .., "answers": [..], "frac"}   what dspy's pair metrics give
    {"answers": [..], "passages": [..]}           whether dspy finds an answer

Floats travel as the hexadecimal digits of their bits, so that not even the last one is lost.
"""

import contextlib
import io
import json
import struct
import sys

import dspy
from dspy.dsp.utils import DPR_normalize
from dspy.evaluate import metrics


def bits(value):
    return struct.pack(">d", float(value)).hex()


def pair(request):
    prediction, answers = request["prediction"], request["answers"]
    example = dspy.Example(answer=answers)
    pred = dspy.Prediction(answer=prediction)
    return {
        "em": metrics.EM(prediction, answers),
        "f1": bits(metrics.F1(prediction, answers)),
        "hotpot_f1": bits(metrics.HotPotF1(prediction, answers)),
        "precision": bits(max(metrics.precision_score(prediction, one) for one in answers)),
        # The recall of a pair is the precision with the sides exchanged; dspy has no function for it.
        "recall": bits(max(metrics.precision_score(one, prediction) for one in answers)),
        "match": metrics.answer_exact_match(example, pred, frac=request["frac"]),
    }


def reply(request):
    try:
        # dspy prints a remark where both sides are empty.
        with contextlib.redirect_stdout(io.StringIO()):
            if "text" in request:
                text = request["text"]
                return {"normalized": metrics.normalize_text(text), "dpr": " ".join(DPR_normalize(text))}
            if "passages" in request:
                example = dspy.Example(answer=request["answers"])
                pred = dspy.Prediction(context=request["passages"])
                return {"found": metrics.answer_passage_match(example, pred)}
            return pair(request)
    except ValueError:
        return {"error": "ValueError"}


def main():
    for line in sys.stdin.buffer:
        # ASCII on the wire: no encoding of the environment can come between.
        print(json.dumps(reply(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
