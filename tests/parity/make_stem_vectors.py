"""Writes tests/parity/stem_vectors.tsv.gz: words, and what the stemmer of rouge-score makes of them.

Run in an environment that holds what `.ci/peers.txt` names:

    python tests/parity/make_stem_vectors.py WORDS    # writes the file, from a list of words, one a line
    python tests/parity/make_stem_vectors.py --check  # says whether the stemmer still replies so

The committed file was made from Debian's `wamerican` 2020.12.07 (`/usr/share/dict/american-english`): every third of its
words, what roots and pairs of suffixes give so that each rule meets words on both sides of its condition, and letters at
random. nltk has no vocabulary of Porter's with it. The seed is fixed.
"""

import gzip
import pathlib
import random
import sys

from nltk.stem.porter import PorterStemmer

SEED = 20261121
OUT = pathlib.Path(__file__).with_name("stem_vectors.tsv.gz")

ROOTS = """a e o y by fly try toy tree tri oat hop hope fil fall fizz hiss tann play enjoy happ plast rel relat condit ration
val hesit digit conform radic differ vil analog vietnam predic oper feud decis hope callous form sensit sensib geo theo
archaeo philo triplic elect electr good reviv allow infer airlin gyroscop adjust defens irrit replac adopt homolog commun
activ angular effect bowdler prob rat ceas contr roll nation sky syzyg queue eye""".split()
SUFFIXES = """s es ies ied sses ss ed eed ing ings at bl iz y ly ily ational tional enci ency anci ancy izer bli ably alli ally
entli ently eli ely ousli ously ization ation ator alism iveness fulness ousness aliti ality iviti ivity biliti bility fulli
fully logi logy icate ative alize iciti icity ical ful ness al ance ence er ic able ible ant ement ment ent ion sion tion ou
ism ate iti ous ive ize e ll l le""".split()
ALPHABET = "aeiouyyllsstzbdnrgmwxc19"


def drawn(rng):
    """Letters at random, with an ending more often than not."""
    letters = "".join(rng.choice(ALPHABET) for _ in range(rng.randint(1, 6)))
    return letters + rng.choice(SUFFIXES + [""] * 20)


def words(path):
    rng = random.Random(SEED)
    listed = pathlib.Path(path).read_text().lower().replace("'", "").split()
    found = set(sorted(set(listed))[::3])
    found |= {root + suffix for root in ROOTS for suffix in SUFFIXES}
    found |= {rng.choice(ROOTS) + rng.choice(SUFFIXES) + rng.choice(SUFFIXES) for _ in range(4000)}
    found |= {drawn(rng) for _ in range(4000)}
    return sorted(word for word in found if len(word) > 3)


def main(argument):
    old = argument == "--check" and gzip.decompress(OUT.read_bytes()).decode()
    stemmer = PorterStemmer()
    chosen = [line.split("\t")[0] for line in old.splitlines()] if old else words(argument)
    lines = [f"{word}\t{stemmer.stem(word)}\n" for word in chosen]
    if old:
        differ = sum(a != b for a, b in zip(old.splitlines(True), lines))
        print(f"{len(lines)} words, {f'{differ} of them differ' if differ else 'as committed'}")
        sys.exit(bool(differ))
    with OUT.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write("".join(lines).encode())
    print(f"{len(lines)} words, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
