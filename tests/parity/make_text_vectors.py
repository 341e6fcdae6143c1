"""Writes tests/parity/text_vectors.jsonl.gz: requests and what dspy 3.4.1 replies to them.

Run with CPython 3.11 in an environment that holds dspy 3.4.1 (and nothing else is needed):

    python tests/parity/make_text_vectors.py

The seed is fixed and the output is the same on every run with the same versions. Every code point that Unicode 14
assigns stands in at least one text, beside letters, beside articles and alone; so do the unassigned ones of the
planes in which later versions assign.
"""

import gzip
import json
import pathlib
import random
import sys
import unicodedata

from reference import reply

SEED = 20260217
OUT = pathlib.Path(__file__).with_name("text_vectors.jsonl.gz")

# Pieces in which something happens: articles, labels, sigmas, quotes, white space, marks, controls.
PIECES = """a an the A AN The THE aan thea yes no noanswer Yes, no! NoAnswer U.S.A. it's don't C++ -5 3.14 $5
ΑΣ ΣΑΣ Σ ας ΌΣΟΣ Σ. Σ's İ ı ẞ ß ſ ﬁ ﬃ K Å Ω Ǆ ǅ ǆ é é ñ ü ệ Ệ क्षि ก็ ที่ 中 文字 日本語 カタカナ が 한국 각 각
١٢٣ १२ Ⅷ ⅷ ½ ² ① ㊀ ﷺ ﷼ ａｂｃ ＴＨＥ ’ ‘ “ ” – — … « » ¿ ¡ € £ ₿ 😀 👩‍👩‍👧 🇫🇷 ☃️ 𝐀 𝒶 𝟘 𐐀 𐐨 𞤀 𞤢 𑢠 Ა ა Ꭰ ꭰ""".split()
PIECES += ["\u0301", "\u0323", "\u0307", "\u0345", "\u05b0", "\u3099", "\u200d", "\u200c", "\u200b", "\ufeff"]
PIECES += ["\u00ad", "\u2060", "\u202e", "\x00", "\x07", "\x1b", "\x7f", "\x9f", "\ufffd", "\uffff", "\U0010ffff"]
PIECES += ["\u0378", "\u0560", "\u1c89", "\u1c8a", "\ua7dc", "\U00011f41", "\U0001e4ee", "\U000105d2", "\ue000"]
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0"]
SPACES += ["\u1680", "\u2003", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u180e", "\u200b"]
WORDS = """paris france eiffel tower is in the a an of city museum louvre river seine Paris, France. "Tower" and
yes no noanswer 42 1,000 2020-01-01 co-founder Émile Zola Zürich naïve ΟΔΟΣ москва Москва 東京 서울""".split()
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def is_text(cp):
    return not 0xD800 <= cp < 0xE000


def code_points(accept, low=0, high=0x110000):
    return [chr(cp) for cp in range(low, high) if is_text(cp) and accept(unicodedata.category(chr(cp)))]


def beside(c):
    """One character in every neighbourhood that could matter to it."""
    return f"{c} A{c}Σ Σ{c}b the{c} {c}an e{c}\u0323.{c}\u0301"


def briefly(c):
    """Alone, as a word character beside an article, between marks and in front of a sigma, in three letters."""
    return f"{c} a{c}\u0323Σ"


def packed(characters, each, size):
    for at in range(0, len(characters), size):
        yield {"text": " ".join(each(c) for c in characters[at : at + size])}


def every_code_point():
    special = code_points(lambda category: category not in ("Lo", "Cn", "Co"))
    yield from packed(special, beside, 4)
    yield from packed(code_points(lambda category: category == "Lo", 0, 0x3100), briefly, 16)
    # Ideographs and syllables by the ten thousand: alone, next to an article, and before a mark.
    yield from packed(code_points(lambda category: category == "Lo", 0x3100), lambda c: f"{c} a{c}\u0323", 48)
    private = code_points(lambda category: category == "Co", 0, 0x10000)
    unassigned = code_points(lambda category: category == "Cn", 0, 0x20000)
    yield from packed(private + unassigned, briefly, 32)
    for plane in range(2, 17):
        start = plane * 0x10000
        sample = [chr(start + step) for step in (*range(0, 0x10000, 997), 0xFFFE, 0xFFFF)]
        yield from packed(sample, beside, 16)


def random_text(rng, longest):
    out = []
    for _ in range(rng.randint(0, longest)):
        draw = rng.random()
        if draw < 0.45:
            out.append(rng.choice(PIECES))
        elif draw < 0.65:
            out.append(rng.choice(SPACES))
        elif draw < 0.75:
            out.append(rng.choice(PUNCTUATION))
        elif draw < 0.9:
            out.append(chr(rng.randrange(0x20, 0x2100)))
        else:
            cp = rng.choice([rng.randrange(0x10000), rng.randrange(0x10000, 0x20000), rng.randrange(0x110000)])
            out.append(chr(cp) if is_text(cp) else "\ufffc")
    return "".join(out)


def random_words(rng, longest):
    words = [rng.choice(WORDS) for _ in range(rng.randint(0, longest))]
    if rng.random() < 0.15:
        words.append(random_text(rng, 3))
    rng.shuffle(words)
    return rng.choice([" ", " ", "  ", "-", "\u00a0"]).join(words)


def pairs(rng, count):
    yield {"prediction": "paris", "answers": [], "frac": 1.0}
    for _ in range(count):
        prediction = random_words(rng, 7)
        answers = [random_words(rng, 6) for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.35:
            words = prediction.split()
            rng.shuffle(words)
            answers[-1] = rng.choice([prediction.upper(), " ".join(words), " ".join(words[1:]), "The " + prediction + "."])
        yield {"prediction": prediction, "answers": answers, "frac": rng.choice([1.0, 0.8, 0.5, 0.66, 0.0, 2.0])}


def passages(rng, count):
    yield {"answers": [], "passages": ["paris"]}
    yield {"answers": ["paris"], "passages": []}
    yield {"answers": ["the"], "passages": [""]}
    for _ in range(count):
        make = rng.choice([random_words, random_text])
        texts = [make(rng, 20) for _ in range(rng.randint(0, 3))]
        answers = [make(rng, 3) for _ in range(rng.randint(0, 3))]
        if texts and rng.random() < 0.6:
            source = rng.choice(texts)
            start = rng.randint(0, len(source))
            answers.append(source[start : start + rng.randint(1, 20)])
        yield {"answers": answers, "passages": texts}


def requests(rng):
    for text in ["", " ", "a", "A", "the", "The the", "a an the", "a.", "t.he", "th\u0065\u0301", "\u0301", "a\u0301!\u0323"]:
        yield {"text": text}
    yield from every_code_point()
    for _ in range(6000):
        yield {"text": random_text(rng, 16)}
    yield from pairs(rng, 7000)
    yield from passages(rng, 4000)


def main():
    assert sys.version_info[:2] == (3, 11), "the reference is CPython 3.11"
    lines = []
    for request in requests(random.Random(SEED)):
        row = {"request": request, "reply": reply(request)}
        lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    with OUT.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write("".join(lines).encode())
    print(f"{len(lines)} vectors, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
