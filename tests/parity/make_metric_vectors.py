"""Writes tests/parity/metric_vectors.jsonl.gz: texts and rankings, and what the reference packages make of them.

Run in an environment that holds what `.ci/peers.txt` names:

    python tests/parity/make_metric_vectors.py            # writes the file
    python tests/parity/make_metric_vectors.py --check    # says whether the packages still reply so

The seed is fixed and the output is the same on every run with the same versions. Packages: sacrebleu, rouge-score,
jiwer, rapidfuzz, and pytrec-eval-terrier, the maintained successor of pytrec_eval (same module name; the original
fetches its C sources from elsewhere while it builds).
"""

import gzip
import json
import pathlib
import random
import sys

import jiwer
import pytrec_eval
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel, Levenshtein
from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU, CHRF

SEED = 20261121
OUT = pathlib.Path(__file__).with_name("metric_vectors.jsonl.gz")

WORDS = """the a cat cats sat on mat dog barks 1,000 3.14 -5 10-20 U.S. e.g. it's don't (hello) "quoted" state-of-the-art
mother-in-law $5.00 50% a/b x=y end. stop, wait; what? no! <b> &amp; &quot;hi&quot; &lt;skipped&gt; <skipped> tab- co-
Straße STRASSE naïve café cafe\u0301 e\u0301 é İstanbul ΟΔΟΣ Σ σς ŉ ﬁne Ａ１ ２０ Ⅷ x² ½""".split()
SCRIPTS = """東京都 日本語のテスト 中文，测试。 你好！ 한국어 각 각 ภาษาไทย ที่ हिन्दी क्षि عربى עברית русский 𠀀𠀁 カタカナ ｶﾀｶﾅ
。 、 「引用」 ！ ？ — – … “ ” ‘ ’ « » € £ ☃ 😀 👩‍👩‍👧 🇫🇷 𝐀𝐁 𐐀""".split()
HOSTILE = ["\u0301", "\u0323", "\u200d", "\u200b", "\ufeff", "\u00ad", "\u202e", "\x00", "\x07", "\x1b", "\x7f", "\ufffd"]
SPACES = [" ", " ", " ", " ", " ", "  ", "\t", "\n", "\r\n", "-\n", "\x0b", "\x1c", "\x1f", "\x85", "\xa0", "\u2003", "\u2028", "\u3000"]
ENDS = ["", "", "", "", ".", " .", "!", "\n", "  ", "\u3000"]


def text(rng, longest=12, plain=0.5):
    """Words of a small vocabulary, so that texts share n-grams; now and then anything at all."""
    simple = rng.random() < plain
    out = []
    for _ in range(rng.randint(0, longest)):
        draw = rng.random()
        if simple or draw < 0.6:
            out.append(rng.choice(WORDS[: 8 if rng.random() < 0.6 else None]))
        elif draw < 0.85:
            out.append(rng.choice(SCRIPTS))
        elif draw < 0.95:
            out.append(rng.choice(HOSTILE))
        else:
            out.append(chr(rng.choice([rng.randrange(0x20, 0x250), rng.randrange(0x3000, 0x9FFF)])))
        out.append(" " if simple else rng.choice(SPACES + [""]))
    return "".join(out) + rng.choice(ENDS)


def changed(rng, base):
    """A text not far from another one."""
    pieces = base.split(" ") if rng.random() < 0.7 else list(base)
    for _ in range(rng.randint(0, 3)):
        at = rng.randint(0, len(pieces))
        draw = rng.random()
        if draw < 0.35 and pieces:
            del pieces[min(at, len(pieces) - 1)]
        elif draw < 0.7:
            pieces.insert(at, rng.choice(WORDS + SCRIPTS))
        else:
            rng.shuffle(pieces)
    return (" " if " " in base else "").join(pieces)


def pair(rng, most=1):
    base = text(rng)
    references = [changed(rng, base) if rng.random() < 0.7 else text(rng) for _ in range(rng.randint(1, most))]
    return (changed(rng, base) if rng.random() < 0.8 else text(rng)), references


def edge_cases():
    for prediction, references in [("", [""]), ("", ["a"]), ("a", [""]), (" ", ["\n"]), ("a", ["a"]), ("a b", ["", "a b"]),
                                   ("東京", ["東京"]), ("é", ["e\u0301"]), (".", ["."]), ("...", [". . ."]), ("-\n", ["-"])]:
        yield prediction, references


def rows(rng, count, most=1):
    cases = [case for case in edge_cases() if len(case[1]) <= most]
    return cases + [pair(rng, most) for _ in range(count - len(cases))]


def bleus(rng):
    options = [{}, {}, {"tokenize": "none"}, {"tokenize": "char"}, {"tokenize": "zh"}, {"lowercase": True},
               {"smooth_method": "none"}, {"smooth_method": "floor"}, {"smooth_method": "add-k"}, {"max_ngram_order": 2}]
    for option in options:
        sentence = BLEU(effective_order=True, **option)
        corpus = BLEU(**option)
        cases = rows(rng, 150, 4)
        for prediction, references in cases:
            score = sentence.sentence_score(prediction, references).score
            yield {"of": "bleu", "options": option, "prediction": prediction, "references": references, "score": score}
        for size in (1, 2, 40, len(cases)):
            chosen = rng.sample(cases, size)
            yield {"of": "bleu_corpus", "options": option, "rows": chosen, "score": over(corpus, chosen)}


def over(metric, cases):
    """sacrebleu wants as many references for each row; where there are fewer it takes None."""
    most = max(len(references) for _, references in cases)
    streams = [[references[at] if at < len(references) else None for _, references in cases] for at in range(most)]
    return metric.corpus_score([prediction for prediction, _ in cases], streams).score


def chrfs(rng):
    options = [{}, {}, {"word_order": 2}, {"word_order": 2, "lowercase": True}, {"char_order": 3}, {"beta": 1}, {"whitespace": True}]
    for option in options:
        metric = CHRF(**option)
        cases = rows(rng, 150, 3)
        for prediction, references in cases:
            score = metric.sentence_score(prediction, references).score
            yield {"of": "chrf", "options": option, "prediction": prediction, "references": references, "score": score}
        for size in (1, 2, 40, len(cases)):
            chosen = rng.sample(cases, size)
            yield {"of": "chrf_corpus", "options": option, "rows": chosen, "score": over(metric, chosen)}


def rouges(rng):
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"])
    cases = rows(rng, 800, 3)
    for _ in range(400):
        lines = [row for row in rows(rng, rng.randint(1, 5))]
        prediction = "\n".join(prediction for prediction, _ in rng.sample(lines, len(lines)))
        cases.append((prediction, ["\n".join(references[0] for _, references in lines)]))
    for prediction, references in cases:
        scores = scorer.score_multi(references, prediction)
        scores = {name: [score.precision, score.recall, score.fmeasure] for name, score in scores.items()}
        yield {"of": "rouge", "prediction": prediction, "references": references, **scores}


INFLECTED = """run runs running runner ran nation nations national nationally nationalize relate related relation relational
easy easily happiness happily happier fly flies flying flied die dies dying sky skies hope hopes hoping hopped hopeful
hopefully news new innings conditionally generalizations oscillators triplicate formalize adjustable adjustment agreed feed
controlling rolled yyyy enjoyment geology geologies succeed proceeds as is was the a naïvely""".split()


def stemmed_rouges(rng):
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=True)
    phrase = lambda: "".join(rng.choice(INFLECTED) + rng.choice([" ", " ", " ", ", ", "\n"]) for _ in range(rng.randint(0, 14)))
    cases = [(phrase(), [phrase() for _ in range(rng.randint(1, 3))]) for _ in range(400)] + rows(rng, 100, 3)
    for prediction, references in cases:
        scores = scorer.score_multi(references, prediction)
        scores = {name: [score.precision, score.recall, score.fmeasure] for name, score in scores.items()}
        yield {"of": "rouge", "use_stemmer": True, "prediction": prediction, "references": references, **scores}


def spaced(words):
    """jiwer takes one tab between words for a letter; here white space of any kind separates."""
    return " ".join(words.split())


def rates(rng):
    cases = [(prediction, references[0]) for prediction, references in rows(rng, 800)]
    for prediction, reference in cases:
        yield {"of": "rates", "rows": [[prediction, reference]], **rates_of([(prediction, reference)])}
    for size in (2, 3, 10, 100, 800):
        chosen = rng.sample(cases, size)
        yield {"of": "rates", "rows": chosen, **rates_of(chosen)}


def rates_of(cases):
    predictions, references = [list(side) for side in zip(*cases)]
    words = jiwer.wer([spaced(reference) for reference in references], [spaced(prediction) for prediction in predictions])
    return {"wer": words, "cer": jiwer.cer(references, predictions)}


def similarities(rng):
    for prediction, references in rows(rng, 1200):
        a, b = prediction, references[0]
        levenshtein, indel = Levenshtein.normalized_similarity(a, b), Indel.normalized_similarity(a, b)
        assert abs(fuzz.ratio(a, b) / 100 - indel) < 1e-12 or not a or not b
        yield {"of": "similarity", "a": a, "b": b, "levenshtein": levenshtein, "indel": indel}
    for length in (63, 64, 65, 127, 128, 129, 500):
        a = "".join(rng.choice("abcé東") for _ in range(length))
        b = "".join(rng.choice("abcé東") for _ in range(length + rng.randint(-20, 20)))
        yield {"of": "similarity", "a": a, "b": b, "levenshtein": Levenshtein.normalized_similarity(a, b),
               "indel": Indel.normalized_similarity(a, b)}


CUTOFFS = [1, 3, 5, 10, 100]


def rankings(rng):
    measures = {f"{name}_{k}" for name in ("P", "recall", "success", "map_cut", "ndcg_cut") for k in CUTOFFS}
    measures |= {"recip_rank", "map", "ndcg"}
    for _ in range(800):
        documents = [rng.choice(["d", "é", "東", ""]) + str(at) for at in range(rng.randint(1, 40))]
        judged = rng.sample(documents, rng.randint(1, len(documents)))
        grades = {document: rng.choice([0, 0, 1, 1, 2, 3]) for document in judged}
        if not any(grades.values()):
            grades[judged[0]] = 1
        retrieved = rng.sample(documents, rng.randint(1, len(documents)))
        ties = rng.random() < 0.3
        scores = {document: float(rng.randint(0, 5) if ties else len(retrieved) - at) for at, document in enumerate(retrieved)}
        found = pytrec_eval.RelevanceEvaluator({"q": grades}, measures).evaluate({"q": scores})["q"]
        yield {"of": "ranking", "relevant": grades, "retrieved": scores if ties else retrieved, "scores": found}


def vectors():
    for make in (bleus, chrfs, rouges, stemmed_rouges, rates, similarities, rankings):
        yield from make(random.Random(f"{SEED} {make.__name__}"))


def main():
    lines = [json.dumps(vector, ensure_ascii=False, separators=(",", ":")) + "\n" for vector in vectors()]
    if "--check" in sys.argv:
        old = gzip.decompress(OUT.read_bytes()).decode().split("\n")
        new = "".join(lines).split("\n")
        differ = sum(a != b for a, b in zip(old, new)) + abs(len(old) - len(new))
        said = f"{differ} of them differ" if differ else "as committed"
        print(f"{len(lines)} vectors, {said}")
        sys.exit(bool(differ))
    with OUT.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write("".join(lines).encode())
    print(f"{len(lines)} vectors, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
