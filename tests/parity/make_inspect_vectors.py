"""Writes tests/parity/inspect_vectors.jsonl.gz: outputs and targets, and the verdicts of the scorers of inspect_ai.

Run with the versions in .ci/peers.txt:

    python tests/parity/make_inspect_vectors.py            # writes the vectors
    python tests/parity/make_inspect_vectors.py --check    # compares the committed ones with what the peer computes now

The seed is fixed. Vectors with "plain" consist of plain words and whole numbers; the library agrees on all of them. The
others are written by hand; tests/text/parity/inspect.rs lists those where the library differs, with the reason.
"""

import asyncio
import gzip
import json
import pathlib
import random
import sys

from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target, choice, includes, match, pattern
from inspect_ai.solver import TaskState
from inspect_ai.solver._multiple_choice import parse_answers, set_choices_based_on_generated_response

SEED = 20261122
OUT = pathlib.Path(__file__).with_name("inspect_vectors.jsonl.gz")
LOCATIONS = ["begin", "end", "any", "exact"]

# Outputs with a target, for `includes` and `match` at every location, with and without `numeric`.
PAIRS = [
    ("Paris", "Paris"), ("paris.", "Paris"), ("It is Paris.", "Paris"), ("Paris it is", "Paris"),
    ("Well: Paris, of course", "Paris"), ("Parisian", "Paris"), ("a comparison", "Paris"), ("", "Paris"), ("  \n", "Paris"),
    ("world hello", "hello world"), ("Hello, world!", "hello world"), ("hello  world", "hello world"),
    ("25", "5"), ("The answer is 25", "5"), ("52 is it", "5"), ("1.5", "5"), ("5", "5"), ("5.0", "5"), ("5.", "5"),
    ("5 apples and 3 pears", "5"), ("3 apples and 5 pears", "5"), ("2 and 5 and 7", "5"), ("(5)", "5"), ("**5**", "5"),
    ("five", "5"), ("-5", "5"), ("5", "-5"), ("The result is -5.", "-5"), ("10 - 5", "5"),
    ("$1,300", "1300"), ("She earns $1,300.00.", "1300"), ("1300", "$1,300"), ("1,300", "1,300"), ("€20", "20"),
    ("\\$20", "20"), ("60%", "60"), ("60%", "60%"), ("60", "60%"), ("about 60 percent", "60"),
    ("123456", "123457"), ("0.1234567", "0.1234568"), ("1e3", "1000"), ("1.5e3 units", "1500"), ("1/2", "0.5"),
    ("½", "0.5"), ("6½", "6.5"), ("5²", "25"), ("３", "3"), ("−5", "-5"), ("~42", "42"), ("<42", "42"), ("42!", "42"),
    ("42;", "42"), ("x42", "42"), ("42km", "42"), ("42 km", "42"), ("10-12", "12"), ("COVID-19", "19"), ("v1.2.3", "3"),
    ("C++", "C"), ("C", "C++"), ("C#", "C#"), ("I use C++.", "C++"), ("A", "A"), ("an A", "A"), ("A+", "A"), ("the", "the"),
    ("Caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9"), ("cafe\u0301", "cafe"), ("STRASSE", "stra\u00dfe"),
    ("\u6771\u4eac\u90fd", "\u6771\u4eac"), ("\u7b54\u3048\u306f\u6771\u4eac\u3002", "\u6771\u4eac"),
    ("\u201cParis\u201d", "Paris"), ("\u00abParis\u00bb", "Paris"), ("Paris", "\"Paris\""), ("`Paris`", "Paris"),
    ("anything", "."), ("", "."), ("a.b", "."), ("...", "."), ("#1", "1"), ("a_b", "b"), ("a-b", "b"), ("don't", "t"),
    ("yes or no", "no"), ("I know", "no"), ("no", "No"), ("line one\nParis", "Paris"), ("\tParis\t", "Paris"), ("12 and 25", "12 25"), ("12", "12 25"),
]

# Output, targets, pattern, ignore_case, match_all.
PATTERNS = [
    ("ANSWER: yes", ["yes"], r"ANSWER:\s*(\w+)", True, False),
    ("answer: YES", ["yes"], r"ANSWER:\s*(\w+)", True, False),
    ("answer: YES", ["yes"], r"ANSWER:\s*(\w+)", False, False),
    ("ANSWER: YES", ["yes"], r"ANSWER:\s*(\w+)", False, False),
    ("no answer", ["yes"], r"ANSWER:\s*(\w+)", True, False),
    ("ANSWER: a ANSWER: b", ["b"], r"ANSWER:\s*(\w+)", True, False),
    ("ANSWER: a ANSWER: b", ["b"], r"(?s).*ANSWER:\s*(\w+)", True, False),
    ("2026-11-22", ["2026"], r"(\d{4})-(\d{2})", True, False),
    ("2026-11-22", ["11"], r"(\d{4})-(\d{2})", True, False),
    ("2026-11-22", ["2026"], r"(\d{4})-(\d{2})", True, True),
    ("2026-11-22", ["2026", "11"], r"(\d{4})-(\d{2})", True, True),
    ("yes", ["yes"], r"yes|no", True, False),
    ("NO", ["no"], r"yes|no", True, False),
    ("b", ["b"], r"(a)|(b)", True, False),
    ("b", ["b"], r"(a)|(b)", True, True),
    ("c", ["c"], r"(a)?c", True, True),
    ("c", ["c"], r"(a)?c", True, False),
    ("ANSWER: two words \nrest", ["two words"], r"ANSWER:([^\n]+)", True, False),
    ("ANSWER: two words", ["two words"], r"ANSWER: ([^\n]+)", True, False),
    ("", ["x"], r"(.*)", True, False),
    ("STRASSE", ["stra\u00dfe"], r"(\w+)", True, False),
    ("\u00c9T\u00c9", ["\u00e9t\u00e9"], r"(\w+)", True, False),
    ("x = 42;", ["42"], r"x\s*=\s*(\d+)", True, False),
    ("x = 420;", ["42"], r"x\s*=\s*(\d+)", True, False),
    ("first\nsecond", ["second"], r"(?m)^s(\w+)$", True, False),
    ("first\nsecond", ["second"], r"(?m)^(s\w+)$", True, False),
]

# Output, target, number of choices.
CHOICES = [
    ("ANSWER: B", "B", 4), ("ANSWER: b", "B", 4), ("ANSWER: B.", "B", 4), ("ANSWER: (B)", "B", 4), ("ANSWER: **B**", "B", 4),
    ("ANSWER: $B$", "B", 4), ("ANSWER: B) Paris", "B", 4), ("ANSWER: A", "B", 4), ("ANSWER: E", "B", 4), ("ANSWER: A, B", "B", 4),
    ("Let me think.\n\nANSWER: C", "C", 4), ("ANSWER: A\nNo.\nANSWER: C", "C", 4), ("ANSWER: A\nNo.\nANSWER: C", "A", 4),
    ("ANSWER: AC", ["A", "C"], 4), ("ANSWER: A,C", ["A", "C"], 4), ("ANSWER: A, C", ["A", "C"], 4), ("ANSWER: A C", ["A", "C"], 4),
    ("ANSWER: A and C", ["A", "C"], 4), ("ANSWER: C, A", ["A", "C"], 4), ("ANSWER: A, B, and C", ["A", "B", "C"], 4),
    ("ANSWER: A", ["A", "C"], 4), ("ANSWER: (A), (C)", ["A", "C"], 4), ("ANSWER: A,", "A", 4), ("ANSWER: ac", ["A", "C"], 4),
    ("ANSWER: A", "A,C", 4), ("ANSWER: A,C", "A,C", 4), ("ANSWER: AC", "AC", 4), ("ANSWER: D", "D", 3 + 1), ("ANSWER: Z", "Z", 26),
    ("ANSWER: 1", "1", 30), ("ANSWER: 4", "4", 30), ("ANSWER: A dog", "A", 4), ("ANSWER: none", "A", 4), ("ANSWER:", "A", 4),
    ("", "A", 4), ("B", "B", 4), ("(B)", "B", 4), ("The answer is B", "B", 4), ("ANSWER : B", "B", 4), ("**ANSWER: B**", "B", 4),
    ("**ANSWER:** B", "B", 4), ("ANSWER: \\boxed{B}", "B", 4), ("ANSWER: B because it is", "B", 4), ("ANSWER: [B]", "B", 4),
]


def state(output, choices=None):
    return TaskState(
        model="none/none", sample_id=1, epoch=1, input="", messages=[], choices=choices,
        output=ModelOutput.from_content("none", output),
    )


def verdict(scorer, output, target, choices=None):
    of = state(output, choices)
    if choices:
        set_choices_based_on_generated_response(of, parse_answers(of, multiple_correct=True))
    return asyncio.run(scorer(of, Target(target))).value == "C"


def compared(output, target, plain):
    for ignore_case in (True, False):
        yield {
            "of": "includes", "plain": plain, "output": output, "target": target, "ignore_case": ignore_case,
            "correct": verdict(includes(ignore_case=ignore_case), output, target),
        }
    # Not plain: the target "12 25" is a number there, and "5!" is not exactly 5.
    is_one_word = len(target.split()) == 1
    for location in LOCATIONS:
        is_plain_number = is_one_word and location != "exact"
        for numeric in (False, True) if is_plain_number or not plain else (False,):
            yield {
                "of": "match", "plain": plain, "output": output, "target": target, "location": location, "numeric": numeric,
                "correct": verdict(match(location=location, numeric=numeric), output, target),
            }


def vectors():
    for output, target in PAIRS:
        yield from compared(output, target, False)
    for output, target, expression, ignore_case, match_all in PATTERNS:
        yield {
            "of": "pattern", "output": output, "target": target, "pattern": expression, "ignore_case": ignore_case,
            "match_all": match_all, "correct": verdict(pattern(expression, ignore_case, match_all), output, target),
        }
    for output, target, count in CHOICES:
        texts = [f"choice number {at}" for at in range(count)]
        yield {
            "of": "choice", "output": output, "target": target, "choices": count,
            "correct": verdict(choice(), output, target, texts),
        }
    rng = random.Random(SEED)
    words = "paris rome the answer is was 5 25 12 7 300 yes no one two".split()
    for _ in range(250):
        drawn = [rng.choice(words) for _ in range(rng.randint(1, 6))]
        output = rng.choice(["", "**", " ", "("]) + " ".join(drawn) + rng.choice(["", ".", "!", "**", ")."])
        span = rng.randint(0, len(drawn) - 1)
        target = rng.choice([drawn[span], drawn[-1], drawn[0], " ".join(drawn), " ".join(drawn[span:]), rng.choice(words)])
        yield from compared(rng.choice([output, output.upper()]), target, True)


def main():
    lines = [json.dumps(vector) for vector in vectors()]
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
