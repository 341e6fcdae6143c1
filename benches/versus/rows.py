"""The rows that both sides score: a prediction and its references each."""

import json
import os
import random
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ANSWERS = "answers"
CONTEXTS = "context sentences"
LONG_ASCII = "12 kB of English"
LONG = [f"12 kB of {language}" for language in ("Russian", "Hindi", "Vietnamese", "Chinese")]
LONG_BYTES = 12_000

# The first article of the Universal Declaration of Human Rights.
SENTENCES = {
    LONG[0]: "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и"
    " должны поступать в отношении друг друга в духе братства.",
    LONG[1]: "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और"
    " अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।",
    LONG[2]: "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được"
    " tạo hóa ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình anh em.",
    LONG[3]: "人人 生而 自由， 在 尊严 和 权利 上 一律 平等。 他们 赋有 理性 和 良心， 并 应 以 兄弟 关系 的 精神 相 对待。",
}


def question_rows():
    """Rows of the folder `DSRS_METRICS_DATA` if it is set, else those of the examples."""
    folder = os.environ.get("DSRS_METRICS_DATA")
    files = sorted(Path(folder, "qa").glob("*.jsonl")) if folder else []
    for file in files or sorted((ROOT / "examples/data/heritage").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            prediction, references = row["pred"].get("answer"), row["gold"].get("answer")
            references = [references] if isinstance(references, str) else references
            if isinstance(prediction, str) and references:
                yield prediction, references, row["pred"].get("context") or []


def distinct(pairs):
    """Each pair once, because a cache would know the others."""
    return [[prediction, list(references)] for prediction, references in dict.fromkeys(pairs)]


def long_pair(words, seed):
    """Shuffled words, and the same in upper case with another mark at the end: equal once both are normalized."""
    chosen, length = [], 0
    shuffled = random.Random(seed)
    while length < LONG_BYTES:
        chosen.append(shuffled.choice(words))
        length += len(chosen[-1].encode()) + 1
    text = " ".join(chosen)
    return [text, [text.upper() + "!"]]


def tables():
    answers, contexts, words = [], [], []
    for prediction, references, context in question_rows():
        answers.append((prediction, tuple(references)))
        contexts += [(a, (b,)) for at, a in enumerate(context) for b in context[at + 1 :]]
        words += [word for text in context for word in text.split() if word.isascii()]
    long = {LONG_ASCII: words} | {name: text.split() for name, text in SENTENCES.items()}
    both = {ANSWERS: distinct(answers), CONTEXTS: distinct(contexts)}
    return both | {name: [long_pair(words, seed) for seed in range(4)] for name, words in long.items()}
