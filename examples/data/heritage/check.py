#!/usr/bin/env python3
"""Checks the heritage data set: the graph, the gold and the two systems' predictions.

Needs Python 3.9+ and rdflib 7 (`pip install "rdflib>=7,<8"`). No arguments, no network, same output every time:

    python examples/data/heritage/check.py

Prints one line a fault, `file id: what is wrong`, and exits 1; or a summary, and exits 0.
"""

import json
import re
import string
import sys
import unicodedata
from pathlib import Path

try:
    from rdflib import Graph, Literal, URIRef
    from rdflib.namespace import RDF
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery
except ImportError:
    sys.exit('check.py needs rdflib: pip install "rdflib>=7,<8"')

HERE = Path(__file__).resolve().parent
H = "https://example.org/heritage/"
SCHEMA = "https://schema.org/"
NAME, ALTERNATE = URIRef(SCHEMA + "name"), URIRef(SCHEMA + "alternateName")
INSTITUTION = URIRef(H + "HeritageInstitution")

SYSTEMS = ("baseline", "tuned")
INTENTS = {"entity_lookup", "statistical", "exploration", "relational", "temporal"}
ENTITY_TYPES = {"institution", "person"}
DIFFICULTIES = {"easy", "medium", "hard"}
REGIONS = {"Africa", "Asia", "Europe", "North America", "Oceania", "South America", "World"}

ROW = {"id": str, "system": str, "region": str, "difficulty": str, "correct": bool, "gold": dict, "pred": dict}
GOLD = {"question": str, "expected_intent": str, "expected_entities": list, "expected_entity_type": str,
        "sparql": str, "result": list, "answer": list, "sources": list}
PRED = {"intent": str, "entities": list, "entity_type": str, "sparql_query": str, "answer": str,
        "sources_used": list, "context": list}

MIN_ROWS, MIN_INTENT_ROWS, MAX_BYTES = 120, 20, 400_000
CORRECT_BAND = {"baseline": (0.55, 0.60), "tuned": (0.80, 0.85)}
REGRESSIONS = range(5, 11)  # rows where baseline is right and tuned is not
MIN_TRAPS = 3  # predicted queries on which the textual check and the parser disagree, each way, each system

# What gold says where the graph has nothing; the first of the list is one of the first two.
UNANSWERABLE = {"The graph does not say.", "None", "not in the graph", "unknown", "no answer",
                "no other institution", "none in the graph"}
NUMBERS = {n: w for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve thirteen "
                                      "fourteen fifteen".split())}
# Words that an answer may hold beside what the graph supports.
GLUE = set("a and at does first in is it no none not of since the yes year years old younger later born opened 年".split())

faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


def normalize(text):
    """Answer normalization of DSPy: NFD, lower case, no ASCII punctuation, no English articles, single spaces."""
    text = unicodedata.normalize("NFD", text).lower()
    text = "".join(c for c in text if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def exact_match(row):
    return normalize(row["pred"]["answer"]) in {normalize(a) for a in row["gold"]["answer"]}


def tokens(text):
    return set(re.findall(r"\d+|[^\W\d_]+", unicodedata.normalize("NFC", text).casefold()))


def squeeze(text):
    return "".join(c for c in unicodedata.normalize("NFC", text).casefold() if c.isalnum())


def parse(query):
    """The query's algebra; raises if it is not SPARQL or uses a prefix that it does not declare."""
    return translateQuery(parseQuery(query))


def parses(query):
    try:
        parse(query)
        return True
    except Exception:
        return False


def looks_like_sparql(query):
    """The usual textual check: SELECT and WHERE occur, braces balance, no placeholder."""
    upper = query.upper()
    return "SELECT" in upper and "WHERE" in upper and query.count("{") == query.count("}") and "???" not in query


def run(graph, query):
    """The values of the only projected variable, or ["true"]/["false"] for ASK."""
    result = graph.query(parse(query))
    if result.type == "ASK":
        return [str(result.askAnswer).lower()]
    if len(result.vars) != 1:
        raise ValueError(f"projects {len(result.vars)} variables, not one")
    return [str(row[0]) for row in result if row[0] is not None]


class Index:
    """Names and literals of the graph, both ways."""

    def __init__(self, graph):
        self.graph = graph
        self.subjects = set(graph.subjects())
        self.names, self.bearers = {}, {}
        for predicate in (NAME, ALTERNATE):
            for subject, name in graph.subject_objects(predicate):
                self.names.setdefault(subject, set()).add(str(name))
                self.bearers.setdefault(str(name), set()).add(subject)

    def names_of(self, value):
        """All names of whatever bears the name `value`, or the value itself."""
        return {value}.union(*(self.names[s] for s in self.bearers.get(value, ())))

    def around(self, sources, depth):
        """The literals of the sources and of what they point to, `depth` steps away."""
        seen, frontier, literals = set(sources), set(sources), set()
        for step in range(depth + 1):
            following = set()
            for subject in frontier:
                for predicate, value in self.graph.predicate_objects(subject):
                    if isinstance(value, Literal):
                        literals.add(str(value))
                    elif predicate != RDF.type and value not in seen:
                        following.add(value)
            seen |= following
            frontier = following
        return literals


def check_graph(graph):
    where = "heritage.ttl"
    subjects = set(graph.subjects())
    for subject, predicate, value in graph:
        if isinstance(value, URIRef) and value.startswith(H) and value not in subjects:
            fault(where, f"{value} is used but not described")
        if predicate in (URIRef(H + p) for p in ("founded", "opened", "born")) and not isinstance(value.toPython(), int):
            fault(where, f"{subject} {predicate} is not an integer")
    for subject in subjects:
        if str(subject).startswith(H) and (subject, RDF.type, None) in graph:
            if len(list(graph.objects(subject, NAME))) != 1:
                fault(where, f"{subject} needs exactly one schema:name")
    institutions = set(graph.subjects(RDF.type, INSTITUTION))
    if len(institutions) < 60:
        fault(where, f"only {len(institutions)} institutions")
    return len(institutions)


def check_shape(where, record, shape, label):
    if list(record) != list(shape):
        fault(where, f"{label} has keys {list(record)}, expected {list(shape)}")
        return False
    sound = True
    for key, kind in shape.items():
        value = record[key]
        if type(value) is not kind:
            fault(where, f"{label}.{key} is {type(value).__name__}, expected {kind.__name__}")
            sound = False
        elif kind is list and not all(isinstance(v, str) and v.strip() for v in value):
            fault(where, f"{label}.{key} holds something other than non-empty strings")
            sound = False
        elif kind is list and len(set(value)) != len(value):
            fault(where, f"{label}.{key} repeats an element")
    return sound


def load(system):
    """The rows of one file that have the right shape."""
    path = HERE / f"heritage.{system}.jsonl"
    data = path.read_bytes()
    where = path.name
    if len(data) > MAX_BYTES:
        fault(where, f"{len(data)} bytes, at most {MAX_BYTES}")
    if b"\r" in data or not data.endswith(b"\n"):
        fault(where, "lines must end in LF, the last one too")
    rows = []
    for number, line in enumerate(data.decode("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError as error:
            fault(f"{where} line {number}", f"not JSON: {error}")
            continue
        here = f"{where} {row.get('id', f'line {number}')}"
        if json.dumps(row, ensure_ascii=False) != line:
            fault(here, "not in the form of json.dumps(row, ensure_ascii=False)")
        sound = check_shape(here, row, ROW, "row")
        sound = sound and check_shape(here, row["gold"], GOLD, "gold") and check_shape(here, row["pred"], PRED, "pred")
        if not sound:
            continue
        for label, value, allowed in (("system", row["system"], {system}), ("region", row["region"], REGIONS),
                                      ("difficulty", row["difficulty"], DIFFICULTIES),
                                      ("expected_intent", row["gold"]["expected_intent"], INTENTS),
                                      ("intent", row["pred"]["intent"], INTENTS),
                                      ("expected_entity_type", row["gold"]["expected_entity_type"], ENTITY_TYPES),
                                      ("entity_type", row["pred"]["entity_type"], ENTITY_TYPES)):
            if value not in allowed:
                fault(here, f"{label} {value!r} is not one of {sorted(allowed)}")
        if row["id"] != f"heritage-{number:03}":
            fault(here, f"line {number} should be heritage-{number:03}")
        rows.append(row)
    return rows


def spelled(value):
    """The ways to write a result value in an answer, beside other names."""
    return {value} | ({NUMBERS[int(value)]} if value.isdigit() and int(value) in NUMBERS else set()) | (
        {"none", "no museums"} if value == "0" else set())


def check_answer(where, index, gold, sources):
    """The acceptable answers say what the result says, and nothing that the graph does not support."""
    result, answers = gold["result"], gold["answer"]
    if not result:
        if not set(answers) <= UNANSWERABLE or answers[0] not in ("The graph does not say.", "None"):
            fault(where, f"empty result, but the answers are {answers}")
        return
    if set(answers) & (UNANSWERABLE - {"None"}):
        fault(where, "the result is not empty, but an answer says that there is none")
    if result in (["true"], ["false"]):
        word = "yes" if result == ["true"] else "no"
        if answers[0].casefold() != word or any(not a.casefold().startswith(word) for a in answers):
            fault(where, f"the query says {result[0]}, the answers are {answers}")
    else:
        for position, answer in enumerate(answers):
            for value in result:
                forms = {value} if position == 0 else spelled(value) | index.names_of(value)
                if not any(squeeze(form) in squeeze(answer) for form in forms):
                    fault(where, f"answer {answer!r} lacks {value!r}")
    supported = GLUE | tokens(gold["question"])
    for text in index.around(sources, 2) | {f for v in result for f in spelled(v) | index.names_of(v)}:
        supported |= tokens(text)
    supported |= set(NUMBERS.values()) if result == ["false"] else set()
    for answer in answers:
        extra = tokens(answer) - supported
        if extra:
            fault(where, f"answer {answer!r} has words that nothing supports: {sorted(extra)}")
    if any(c.isdigit() for c in answers[0]) and len(result) == 1 and result[0].isdigit():
        if re.findall(r"\d+", answers[0]) != result:
            fault(where, f"the number in {answers[0]!r} is not {result[0]}")


def check_sources(where, index, gold, sources):
    """Every value of the result can be found in, or counted or computed from, the sources."""
    result, query = gold["result"], gold["sparql"]
    if not result or result == ["0"]:
        if sources:
            fault(where, "nothing found, so nothing can be a source")
        return
    if not sources:
        fault(where, "an answer without a source")
    if result in (["true"], ["false"]):
        return
    near = index.around(sources, 1)
    integers = {int(v) for v in near if v.isdigit()}
    for value in result:
        counted = "COUNT(" in query and value.isdigit() and len(sources) >= int(value)
        computed = "BIND(" in query and any(a - b == int(value) for a in integers for b in integers)
        if value not in near and not counted and not computed:
            fault(where, f"the sources do not support {value!r}")


def check_gold(where, graph, index, gold):
    for text in [gold["question"], gold["sparql"], *gold["answer"], *gold["expected_entities"], *gold["result"]]:
        if unicodedata.normalize("NFC", text) != text or text != text.strip():
            fault(where, f"gold text is not in NFC, or padded: {text!r}")
    if not gold["answer"]:
        fault(where, "no acceptable answer")
        return
    for answer in gold["answer"]:
        if not normalize(answer):
            fault(where, f"answer {answer!r} normalizes to nothing")
    for entity in gold["expected_entities"]:
        if entity not in index.bearers:
            fault(where, f"entity {entity!r} is no name in the graph")
    sources = [URIRef(s.replace("h:", H, 1)) for s in gold["sources"]]
    for curie, source in zip(gold["sources"], sources):
        if not curie.startswith("h:") or source not in index.subjects:
            fault(where, f"source {curie} is not in the graph")
    try:
        result = run(graph, gold["sparql"])
    except Exception as error:
        fault(where, f"gold query fails: {str(error).splitlines()[0]}")
        return
    ordered = "ORDER BY" in gold["sparql"]
    if (result if ordered else sorted(result)) != gold["result"]:
        fault(where, f"gold query gives {result}, the row says {gold['result']}")
        return
    if "ORDER BY ?year LIMIT 1" in gold["sparql"] or "ORDER BY DESC(?year) LIMIT 1" in gold["sparql"]:
        years = run(graph, gold["sparql"].replace("SELECT ?name", "SELECT ?year").replace("LIMIT 1", "LIMIT 2"))
        if len(set(years)) < len(years):
            fault(where, "the first place is shared")
    check_answer(where, index, gold, sources)
    check_sources(where, index, gold, sources)


def check_pred(where, index, row):
    pred = row["pred"]
    if not 1 <= len(pred["context"]) <= 3:
        fault(where, f"{len(pred['context'])} context sentences, expected 1 to 3")
    for sentence in pred["context"]:
        if not any(name in sentence for name in index.bearers):
            fault(where, f"context names nothing of the graph: {sentence!r}")
    if any(not s.startswith("h:") for s in pred["sources_used"]):
        fault(where, "a source that does not begin with h:")
    if row["correct"] and not pred["answer"]:
        fault(where, "an empty answer is marked correct")
    if exact_match(row) and not row["correct"]:
        fault(where, f"{pred['answer']!r} is an acceptable answer, but marked incorrect")


def check_system(system, rows, index):
    """The faults that the predictions are meant to have are all there; returns the line for the summary."""
    where = f"heritage.{system}.jsonl"
    share = sum(r["correct"] for r in rows) / len(rows)
    low, high = CORRECT_BAND[system]
    if not low <= share <= high:
        fault(where, f"{share:.1%} correct, expected {low:.0%} to {high:.0%}")
    verdicts = [(looks_like_sparql(r["pred"]["sparql_query"]), parses(r["pred"]["sparql_query"])) for r in rows]
    only_text, only_parser = verdicts.count((True, False)), verdicts.count((False, True))
    if min(only_text, only_parser) < MIN_TRAPS:
        fault(where, f"textual check and parser disagree on {only_text} and {only_parser} queries, too few")
    exact = sum(map(exact_match, rows))
    invented = sum(any(URIRef(s.replace("h:", H, 1)) not in index.subjects for s in r["pred"]["sources_used"])
                   for r in rows)
    if not invented and system == "baseline":
        fault(where, "no invented source")
    return (f"{system}: correct {sum(r['correct'] for r in rows)}/{len(rows)} ({share:.1%}), "
            f"normalized exact match {exact}/{len(rows)} ({exact / len(rows):.1%}), "
            f"queries that parse {sum(p for _, p in verdicts)}, that pass the textual check {sum(t for t, _ in verdicts)} "
            f"(only the text {only_text}, only the parser {only_parser}), rows with an invented source {invented}")


def main():
    graph = Graph().parse(HERE / "heritage.ttl", format="turtle")
    index = Index(graph)
    institutions = check_graph(graph)
    files = {system: load(system) for system in SYSTEMS}
    baseline, tuned = (files[system] for system in SYSTEMS)
    summary = [f"graph: {len(graph)} triples, {institutions} institutions"]
    if [r["id"] for r in baseline] != [r["id"] for r in tuned]:
        fault("heritage.*.jsonl", "the files do not hold the same ids in the same order")
    elif len(baseline) < MIN_ROWS:
        fault("heritage.*.jsonl", f"{len(baseline)} rows, at least {MIN_ROWS}")
    else:
        for a, b in zip(baseline, tuned):
            for key in ("region", "difficulty", "gold"):
                if a[key] != b[key]:
                    fault(f"heritage.tuned.jsonl {b['id']}", f"{key} differs from the baseline file")
        for row in baseline:
            check_gold(f"heritage.baseline.jsonl {row['id']}", graph, index, row["gold"])
        questions = [r["gold"]["question"] for r in baseline]
        for question in {q for q in questions if questions.count(q) > 1}:
            fault("heritage.baseline.jsonl", f"asked twice: {question}")
        for intent in sorted(INTENTS):
            count = sum(r["gold"]["expected_intent"] == intent for r in baseline)
            if count < MIN_INTENT_ROWS:
                fault("heritage.baseline.jsonl", f"only {count} rows of intent {intent}")
        worse = sum(a["correct"] and not b["correct"] for a, b in zip(baseline, tuned))
        if worse not in REGRESSIONS:
            fault("heritage.tuned.jsonl", f"worse than baseline on {worse} rows")
        for system, rows in files.items():
            for row in rows:
                check_pred(f"heritage.{system}.jsonl {row['id']}", index, row)
            summary.append(check_system(system, rows, index))
        summary.append(f"{len(baseline)} rows; tuned is wrong where baseline is right on {worse}")
    print("\n".join(faults or summary))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
