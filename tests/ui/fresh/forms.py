"""The forms of mistakes: each is a correct program in which one part is replaced by what a person writes instead.

A form is a function of a source of random choices that returns a `Mistake`. The correct program says what was meant:
`generate.py --fixed` compiles it. The fix is the text that a message must contain to be an answer.
"""

import dataclasses
import random

FORMS = []


@dataclasses.dataclass
class Mistake:
    group: str
    bad: str
    good: str
    # Any of these texts in a message is the fix; white space doesn't count.
    fixes: list
    # The part of the source that is wrong: a message that points at another line is about something else.
    at: str = ""
    features: str = ""
    form: str = ""


def form(group, times=1, features=""):
    """Registers a form. `times` says how many programs of 100 it makes, compared with others."""

    def register(function):
        FORMS.append((group, function, times, features))
        return function

    return register


class Words(random.Random):
    """Random names and values, as people write them."""

    def name(self):
        return self.choice(
            "short tidy polite close_enough cites on_topic grounded same_city complete helpful fluent brief relevant "
            "exact_label starts_well no_slang is_json has_sources concise faithful spelled_right in_budget mentions_price".split()
        )

    def two_names(self):
        first = self.name()
        second = self.choice([name for name in ("fluent", "complete", "brief", "relevant", "helpful") if name != first])
        return first, second

    def field(self):
        return self.choice("answer question context summary city label text title reply code intent response body".split())

    def other_field(self, field):
        return self.choice([name for name in ("expected", "topic", "passage", "draft", "claim") if name != field])

    def param(self):
        return self.choice("limit at_least depth floor top_k margin most longest".split())

    def number(self):
        return self.choice(["0.5", "0.66", "0.8", "0.9", "0.75", "0.25", "0.95"])

    def whole(self):
        return str(self.choice([2, 3, 5, 8, 10, 20, 64, 100]))

    def typo(self, word):
        """The word with two letters exchanged, one doubled or one left out."""
        at = self.randrange(1, len(word) - 1)
        made = self.choice([word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:], word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]])
        return made if made != word else word[:at] + word[at + 1 :]


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def pair(group, template, bad, good, fixes=None, at=None, **more):
    """A mistake that replaces `@@` in the template."""
    fixes = [good] if fixes is None else fixes
    return Mistake(group, template.replace("@@", bad), template.replace("@@", good), fixes, bad if at is None else at, **more)


def number_metric(w, attr="@@", name=None):
    name, field = name or w.name(), w.field()
    attr = f"({attr})" if attr else ""
    return f"/// Scores the {field}.\n#[metric{attr}]\nfn {name}(#[pred] {field}: &str) -> f64 {{\n    {field}.len() as f64 / 100.0\n}}\n"


def bool_metric(w, attr="@@", name=None):
    name, field = name or w.name(), w.field()
    attr = f"({attr})" if attr else ""
    return f"/// Passes if the {field} is short.\n#[metric{attr}]\nfn {name}(#[pred] {field}: &str) -> bool {{\n    {field}.len() < {w.whole()}\n}}\n"


def with_param(w, param="@@", name=None):
    name, field = name or w.name(), w.field()
    return f"/// Passes if the {field} is short.\n#[metric]\nfn {name}(#[pred] {field}: &str, {param}) -> bool {{\n    let _ = &{field};\n    true\n}}\n"


def fn_with(params, ret="bool", body="true", attr="", name="short"):
    attr = f"({attr})" if attr else ""
    return f"/// Passes.\n#[metric{attr}]\nfn {name}({params}) -> {ret} {{\n    {body}\n}}\n"


def composite(w, expression="@@", attr=""):
    """Two metrics and a composite; `A` and `B` in the expression are their names."""
    first, second = w.two_names()
    struct = w.choice(["Overall", "Quality", "Accepted", "Checked"])
    metrics = bool_metric(w, "", first) + number_metric(w, f"tier = truth, range = 0.0..=1.0, threshold = {w.number()}", second)
    source = f"{metrics}\n/// Both.\n#[metric({expression}{attr})]\nstruct {struct};\n"
    return source, first, second


def judge(w, attr="", fields="", outputs="    #[output]\n    polite: bool,\n", name=None, doc=True):
    name = name or w.choice(["Polite", "Tone", "Helpful", "Clear", "Grounded"])
    attr = f"({attr})" if attr else ""
    fields = fields or f"    #[input(pred)]\n    {w.choice(EVERY_INPUT)}: String,\n"
    doc = "/// Say whether the text is good.\n" if doc else ""
    return f"{doc}#[judge{attr}]\nstruct {name} {{\n{fields}{outputs}}}\n"


EVERY_INPUT = ["answer", "question", "context", "summary", "text", "reply", "code", "response", "body"]
GRADED = "    #[output(range = 1..=5)]\n    grade: u8,\n"


def evaluation(w, keys="@@", params="question: String", ret="Prediction", body='prediction! { "answer" => question }'):
    name = w.choice(["capitals", "answers", "support", "extraction"])
    return f"use dsrs_metrics::metrics::*;\n/// A program.\n#[eval({keys})]\nasync fn {name}({params}) -> {ret} {{\n    {body}\n}}\nfn rows() -> Vec<Example> {{ Vec::new() }}\n"
