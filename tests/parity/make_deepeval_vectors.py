"""Writes what deepeval computes from the replies of a scripted model, and from log probabilities of tokens:
tests/parity/deepeval_vectors.jsonl.gz and tests/parity/geval_vectors.jsonl.gz.

Run with the version in PEER, in a virtual environment of its own:

    pip install deepeval==4.3.1
    python tests/parity/make_deepeval_vectors.py            # writes the vectors
    python tests/parity/make_deepeval_vectors.py --check    # compares the committed ones with what deepeval computes now

The seed is fixed. The scripted model replies with a string of JSON, as a model without structured output. Scores are rounded to 12 digits.

A row of deepeval_vectors.jsonl.gz has the verdicts that a model may give. A verdict is a letter: "y" yes, "n" no, "b" borderline,
"?" a word that is none of them.

- "turns": the messages of a conversation. A message of the user is "f" if it states a fact, else "u". A message of the assistant is
  [whether it has text, whether it retains what the user said, whether it is in its role, whether it is relevant, a verdict on each of
  its claims]; without text it calls a tool.
- "listed": messages, from 0, that the model adds to the list of those out of their role: a second time, or one of the user.
- "intentions", "reference", "context_statements": a verdict on each intention of the user, statement of the reference, and statement
  of each context.
- "claims", "contexts", "statements", "calls": [the number of items, the verdicts on them], whose number may be another one.
- "topics": for each question whether it was answered, and whether its topic is allowed.
- "completion": the grade of a task.
- "scores": deepeval's scores. "faithfulness_strict" is faithfulness with `penalize_ambiguous_claims`.

A line of geval_vectors.jsonl.gz is a reply of a model that grades from 0 to 10, for `calculate_weighted_summed_score` of G-Eval:

- "raw": the score in the reply, an integer, or rarely a float or a string.
- "tokens": the tokens of the reply, in order, each [token, log probability, alternatives]. An alternative is [token, log probability];
  there are at most 20, the most probable first, as OpenAI's `top_logprobs` has them. Joined, the tokens are the reply, a JSON object
  with "reason" and "score" in either order.
- "score": deepeval's score. null is its `AttributeError`: no token equals the raw score; its caller then uses "raw".

deepeval takes the alternatives of the last token that equals the raw score, also if that token is in the reason. It drops alternatives
with a probability under 0.01, and those that are not only decimal digits; digits of any script count, and numbers beyond 10. The score is
the mean of the remaining numbers, weighted by their probabilities, or the raw score if none remains.
"""

import gzip
import importlib.metadata
import json
import math
import os
import pathlib
import random
import re
import sys
from types import SimpleNamespace as Namespace

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"

from deepeval import metrics
from deepeval.metrics.g_eval.utils import calculate_weighted_summed_score
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import ConversationalTestCase, LLMTestCase, ToolCall, Turn

SEED = 20261130
ROWS = 500
REPLIES = 2000
PEER = "4.3.1"
HERE = pathlib.Path(__file__).parent
WORDS = {"y": "yes", "n": "no", "b": "borderline", "?": "maybe"}


class Scripted(DeepEvalBaseLLM):
    """A model whose reply is a function of the name of the schema and of the prompt."""

    def __init__(self, reply):
        self.reply = reply
        super().__init__("scripted")

    def load_model(self):
        return self

    def get_model_name(self):
        return "scripted"

    def generate(self, prompt, schema=None):
        return json.dumps(self.reply(schema.__name__, prompt))

    async def a_generate(self, prompt, schema=None):
        return self.generate(prompt, schema)


def verdicts(letters):
    return {"verdicts": [{"verdict": WORDS[letter], "reason": "r", "statement": "s"} for letter in letters]}


def score(metric, case, reply, **settings):
    if metric is not metrics.TaskCompletionMetric:
        settings["include_reason"] = False
    metric = metric(model=Scripted(reply), async_mode=False, **settings)
    return round(float(metric.measure(case, _show_indicator=False)), 12)


def named(prompt, prefix):
    """The numbers of the messages, claims or intentions that a prompt shows."""
    return [int(number) for number in re.findall(rf"{prefix}-(\d+)-", prompt)]


def message(at, turn):
    # A message without text has its name also, because deepeval shows its content only.
    if isinstance(turn, str):
        return Turn(role="user", content=f"message-{at}-")
    calls = None if turn[0] else [ToolCall(name="search")]
    return Turn(role="assistant", content=f"message-{at}-", tools_called=calls)


def conversation_scores(row):
    turns = row["turns"]
    case = ConversationalTestCase(turns=[message(at, turn) for at, turn in enumerate(turns)], chatbot_role="a guide")
    last = lambda prompt: turns[max(named(prompt, "message"))]

    def retention(schema, prompt):
        if schema == "Knowledge":
            return {"data": {"city": "Rome"} if last(prompt) == "f" else None}
        # deepeval asks whether something was forgotten.
        return {"verdict": {"y": "no", "n": "yes", "?": "maybe"}[last(prompt)[1]]}

    def role(schema, prompt):
        out = [at for at, turn in enumerate(turns) if not isinstance(turn, str) and not turn[2]]
        return {"verdicts": [{"index": at, "reason": "r"} for at in out + row["listed"]]}

    def faithfulness(schema, prompt):
        if schema == "Truths":
            return {"truths": ["t"]}
        if schema == "Claims":
            replies = [at for at in named(prompt, "message") if not isinstance(turns[at], str)]
            return {"claims": [f"claim-{at}-{number}" for at in replies for number in range(len(turns[at][4]))]}
        found = re.findall(r"claim-(\d+)-(\d+)", prompt)
        return verdicts(turns[int(at)][4][int(number)] for at, number in found)

    return {
        "knowledge_retention": score(metrics.KnowledgeRetentionMetric, case, retention),
        "role_adherence": score(metrics.RoleAdherenceMetric, case, role),
        "turn_relevancy": score(metrics.TurnRelevancyMetric, case, lambda schema, prompt: {"verdict": WORDS[last(prompt)[3]]}),
        "conversational_faithfulness": score(metrics.TurnFaithfulnessMetric, case, faithfulness),
    }


def scores(row):
    talk = ConversationalTestCase(turns=[Turn(role="user", content="u"), Turn(role="assistant", content="a")])
    (claims, of_claims), (contexts, of_contexts) = row["claims"], row["contexts"]
    (statements, of_statements), (calls, of_calls) = row["statements"], row["calls"]
    texts = [f"context-{at}-" for at in range(len(row["context_statements"]))]
    case = LLMTestCase(
        input="q", actual_output="a", expected_output="r", retrieval_context=["c"] * contexts,
        tools_called=[ToolCall(name="search", input_parameters={"city": "Rome"}) for _ in range(calls)],
    )
    listed = lambda letters: lambda schema, prompt: verdicts(letters)

    def completeness(schema, prompt):
        if schema == "UserIntentions":
            return {"intentions": [f"intention-{at}-" for at in range(len(row["intentions"]))]}
        return {"verdict": WORDS[row["intentions"][named(prompt, "intention")[0]]]}

    def faithfulness(schema, prompt):
        replies = {"Truths": {"truths": ["t"]}, "Claims": {"claims": ["c"] * claims}, "Verdicts": verdicts(of_claims)}
        return replies[schema]

    def relevancy(schema, prompt):
        return {"statements": ["s"] * statements} if schema == "Statements" else verdicts(of_statements)

    def topics(schema, prompt):
        if schema == "QAPairs":
            return {"qa_pairs": [{"question": f"question-{at}-", "response": "a"} for at in range(len(row["topics"]))]}
        answered, allowed = row["topics"][named(prompt, "question")[0]]
        return {"verdict": {(True, True): "TP", (True, False): "FP", (False, True): "FN", (False, False): "TN"}[answered, allowed], "reason": "r"}

    def completion(schema, prompt):
        if schema == "TaskAndOutcome":
            return {"task": "t", "outcome": "o"}
        return {"verdict": row["completion"], "reason": "r"}

    context_case = LLMTestCase(input="q", actual_output="a", retrieval_context=texts)
    of_context = lambda schema, prompt: verdicts(row["context_statements"][named(prompt, "context")[0]])
    return conversation_scores(row) | {
        "conversation_completeness": score(metrics.ConversationCompletenessMetric, talk, completeness),
        "topic_adherence": score(metrics.TopicAdherenceMetric, talk, topics, relevant_topics=["t"]),
        "task_completion": score(metrics.TaskCompletionMetric, case, completion, task="t"),
        "argument_correctness": score(metrics.ArgumentCorrectnessMetric, case, listed(of_calls)),
        "faithfulness": score(metrics.FaithfulnessMetric, case, faithfulness),
        "faithfulness_strict": score(metrics.FaithfulnessMetric, case, faithfulness, penalize_ambiguous_claims=True),
        "context_precision": score(metrics.ContextualPrecisionMetric, case, listed(of_contexts)),
        "context_recall": score(metrics.ContextualRecallMetric, case, listed(row["reference"])),
        "context_relevancy": score(metrics.ContextualRelevancyMetric, context_case, of_context),
        "answer_relevancy": score(metrics.AnswerRelevancyMetric, case, relevancy),
    }


def letters(rng, count, of="yyn"):
    return "".join("?" if rng.random() < 0.02 else rng.choice(of) for _ in range(count))


def items(rng, most, of="yyn"):
    """A number of items, and verdicts on them; one time in twelve fewer or more."""
    count = rng.randint(0, most)
    found = count + (rng.choice([-1, 1]) if count and rng.random() < 0.08 else 0)
    return [count, letters(rng, found, of)]


def turns(rng):
    written = []
    for _ in range(rng.choice([1, 1, 2, 2, 3, 4, 5, 12])):
        for _ in range(rng.choice([0, 1, 1, 1, 1, 1, 2])):
            written.append(rng.choice("uf"))
        for _ in range(rng.choice([0, 1, 1, 1, 1, 1, 2])):
            has_text = rng.random() < 0.9
            claims = "".join(rng.choice("yyynb") for _ in range(rng.choice([0, 1, 2, 3]) if has_text else 0))
            written.append([has_text, letters(rng, 1, "yyyn"), rng.random() < 0.7, letters(rng, 1, "yyyn"), claims])
    return written or ["u"]


def vector(rng):
    row = {"turns": turns(rng)}
    row["listed"] = [rng.randrange(len(row["turns"]))] if rng.random() < 0.1 else []
    # What is in its role is not added: that would be another verdict.
    row["listed"] = [at for at in row["listed"] if isinstance(row["turns"][at], str) or not row["turns"][at][2]]
    row["intentions"] = letters(rng, rng.randint(0, 4))
    row["topics"] = [[rng.random() < 0.6, rng.random() < 0.6] for _ in range(rng.randint(0, 5))]
    row["completion"] = rng.choice([0.0, 0.25, 0.5, 0.6, 0.75, 1.0]) if rng.random() < 0.92 else rng.choice([-0.5, 1.5, 80.0])
    row["calls"] = items(rng, 4)
    row["claims"] = items(rng, 6, "yyynb")
    row["contexts"] = items(rng, 5, "yn")
    row["reference"] = letters(rng, rng.randint(0, 5))
    row["context_statements"] = [letters(rng, rng.randint(0, 3), "yn") for _ in range(rng.randint(1, 3))]
    row["statements"] = items(rng, 5, "yyynb")
    return row | {"scores": scores(row)}


# Tokens that a model gives for a grade, or near it: numbers, also beyond the scale or in two scripts, and other strings.
NUMBERS = [str(number) for number in range(11)]
OTHERS = [" 8", "7.5", "eight", "\"", "null", "-", "N", "\n", "８", "٧", "²", "100", "42", "00", "05", " ", "}", "?", "8.", "score", "high", "<", ".", "_"]


def rounded(logprob):
    """Two digits where they count, and none for improbable tokens, which is a smaller file."""
    return round(logprob, 2) if logprob > -6 else round(logprob)


def alternatives(rng, token, is_grade):
    """The log probability of a token, and its alternatives."""
    if not is_grade:
        logprob = -rng.choice([0, 0, 0, 0.01, 0.5])
        return [token, logprob, [[token, logprob]]]
    # One list in eight has 20 alternatives.
    numbers, others = (10, 9) if rng.random() < 0.125 else (rng.randint(1, 4), rng.randint(0, 2))
    found = [it for it in rng.sample(NUMBERS, numbers) + rng.sample(OTHERS, others) if it != token]
    # The token that was drawn is mostly the most probable one.
    found.insert(rng.choice([0, 0, 0, 0, 1, 2]), token)
    weights = [math.exp(-at * rng.choice([0.5, 1.2, 2.5])) * rng.uniform(0.5, 1.0) for at in range(len(found))]
    if rng.random() < 0.1:
        # The most probable tokens are not numbers.
        found.sort(key=lambda it: it.isdecimal())
    total = sum(weights) * rng.choice([1.0, 1.0, 1.02, 1.3, 60.0])
    pairs = [[it, rounded(math.log(weight / total))] for it, weight in zip(found, weights)]
    logprob = dict(pairs)[token]
    pairs = sorted(pairs, key=lambda pair: -pair[1])[:20]
    if rng.random() < 0.03:
        # A drawn token need not be one of the most probable.
        pairs = [pair for pair in pairs if pair[0] != token]
    return [token, logprob, pairs]


def reply(rng):
    raw = rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 7, 8, 8, 9, 10])
    words = [rng.choice(["good", " but", " long", " of"]) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.2:
        # A number in the reason, which may be the score.
        words.insert(rng.randint(0, len(words)), rng.choice([str(raw), str(rng.randint(0, 10))]))
    kind = rng.random()
    if kind < 0.03:
        raw, grade = raw + 0.5, [str(raw), ".", "5"]
    elif kind < 0.06:
        raw, grade = str(raw), ['"', str(raw), '"']
    elif kind < 0.12:
        grade = list(str(raw))
    elif kind < 0.15:
        # The space belongs to the token, so that no token is the score.
        grade = [f" {raw}"]
    else:
        grade = [" ", str(raw)]
    reason, graded = ['"', "reason", '":', '"', *words, '"'], ['"', "score", '":', *grade]
    first, second = (reason, graded) if rng.random() < 0.75 else (graded, reason)
    tokens = ["{", *first, ",", *second, "}"]
    assert json.loads("".join(tokens))["score"] == raw, tokens
    line = {"raw": raw, "tokens": [alternatives(rng, token, token.strip().isdecimal()) for token in tokens]}
    top = lambda pairs: [Namespace(token=token, logprob=logprob) for token, logprob in pairs]
    content = [Namespace(token=token, logprob=logprob, top_logprobs=top(pairs)) for token, logprob, pairs in line["tokens"]]
    response = Namespace(choices=[Namespace(logprobs=Namespace(content=content))])
    try:
        found = calculate_weighted_summed_score(raw, response)
        line["score"] = round(float(found), 12)
    except AttributeError:
        line["score"] = None
    return line


def main():
    found = importlib.metadata.version("deepeval")
    assert found == PEER, (found, PEER)
    rng = random.Random(SEED)
    rows = [vector(rng) for _ in range(ROWS)]
    rng = random.Random(SEED + 1)
    replies = [reply(rng) for _ in range(REPLIES)]
    for name, written in [("deepeval_vectors.jsonl.gz", rows), ("geval_vectors.jsonl.gz", replies)]:
        lines = [json.dumps(line, separators=(",", ":")) for line in written]
        out = HERE / name
        if "--check" in sys.argv:
            assert gzip.decompress(out.read_bytes()).decode().splitlines() == lines, f"the committed {name} differs"
            print(len(lines), "lines of", name, "as committed")
        else:
            out.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode(), 9, mtime=0))
            print(len(lines), "lines of", name)


if __name__ == "__main__":
    main()
