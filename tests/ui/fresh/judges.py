"""Mistakes in `#[judge]` and `#[judge_output]`."""

from forms import GRADED, Mistake, form, judge, pair

KEYS, FIELDS, SCORE, OUTPUT = "judge: keys", "judge: fields", "judge: score", "judge_output"
CONVERSATION = "    #[input(pred)]\n    conversation: Trajectory,\n"


@form(KEYS, 5)
def key_outside_of_its_group(w):
    bad, good, conversation = w.choice(
        [
            ("models([default; 3])", "panel(models = [default; 3])", False),
            ('models = ["openai:gpt-6-luna"]', 'panel(models = ["openai:gpt-6-luna"])', False),
            ("aggregation = majority", "panel(aggregation = majority)", False),
            ("quorum = 2", "panel(quorum = 2)", False),
            ("max_concurrent_judges = 2", "panel(max_concurrent = 2)", False),
            ("max_concurrent = 2", "panel(max_concurrent = 2)", False),
            ("temperature = 0.5", "scoring(temperature = 0.5)", False),
            ("max_tokens = 300", "scoring(max_tokens = 300)", False),
            ("scoring = logprobs", "scoring(by = logprobs)", False),
            ("scoring = draws(20)", "scoring(by = draws(20))", False),
            ("draws = 20", "scoring(by = draws(20))", False),
            ("turns = assistant", "turns(of = assistant)", True),
            ("window = 10", "turns(of = assistant, window = 10)", True),
            ("turns = user, max_turns = 5", "turns(of = user, max = 5)", True),
            ("logprobs", "scoring(by = logprobs)", False),
            ("models([default; 3]), quorum = 2", "panel(models = [default; 3], quorum = 2)", False),
        ]
    )
    return pair(KEYS, judge(w, "@@", CONVERSATION if conversation else ""), bad, good, [good])


@form(KEYS, 5)
def key_in_another_form(w):
    bad, good, conversation = w.choice(
        [
            ('panel(["openai:gpt-6-luna"])', 'panel(models = ["openai:gpt-6-luna"])', False),
            ("panel(3)", "panel(models = [default; 3])", False),
            ('panel(models = "openai:gpt-6-luna")', 'panel(models = ["openai:gpt-6-luna"])', False),
            ('panel(models = ["gpt-6-luna"])', 'panel(models = ["openai:gpt-6-luna"])', False),
            ("panel(models = [openai::gpt; 3])", "panel(models = [default; 3])", False),
            ("panel(model = [default; 3])", "panel(models = [default; 3])", False),
            ("panel(models = 3)", "panel(models = [default; 3])", False),
            ('panel(aggregation = "majority")', "panel(aggregation = majority)", False),
            ("panel(aggregation = Aggregation::Majority)", "panel(aggregation = majority)", False),
            ("panel(aggregation = vote)", "panel(aggregation = majority)", False),
            ("panel(aggregation = Majority)", "panel(aggregation = majority)", False),
            ('panel(quorum = "2")', "panel(quorum = 2)", False),
            ("panel(quorum: 2)", "panel(quorum = 2)", False),
            ("turns(assistant)", "turns(of = assistant)", True),
            ('turns(of = "assistant")', "turns(of = assistant)", True),
            ("turns(of = bot)", "turns(of = assistant)", True),
            ("turns(of = Role::Assistant)", "turns(of = assistant)", True),
            ("turns(window = 5)", "turns(of = assistant, window = 5)", True),
            ("turns(of = assistant, windw = 5)", "turns(of = assistant, window = 5)", True),
            ("turns(of = assistant, max_turns = 5)", "turns(of = assistant, max = 5)", True),
            ("turns(of = assistant, reduce = average)", "turns(of = assistant, reduce = mean)", True),
            ("scoring(logprobs)", "scoring(by = logprobs)", False),
            ("scoring(draws(20))", "scoring(by = draws(20))", False),
            ("scoring(draws = 20)", "scoring(by = draws(20))", False),
            ('scoring(by = "logprobs")', "scoring(by = logprobs)", False),
            ("scoring(by = logprob)", "scoring(by = logprobs)", False),
            ("scoring(by = draws)", "scoring(by = draws(20))", False),
            ('scoring(temperature = "0.5")', "scoring(temperature = 0.5)", False),
            ("scoring(temprature = 0.5)", "scoring(temperature = 0.5)", False),
            ("scoring(max_tokens = 300.0)", "scoring(max_tokens = 300)", False),
        ]
    )
    fixes = [good, good.split("(", 1)[1][:-1]] + [part.strip(" )") for part in good.split("(", 1)[1].split(",")]
    if "windw" in bad or "max_turns" in bad or "temprature" in bad or "model =" in bad:
        fixes.append("`" + {"windw": "window", "max_t": "max", "tempr": "temperature", "model": "models"}[next(k for k in ("windw", "max_t", "tempr", "model") if k in bad)] + "`")
    fixes += ['write `"openai:gpt-6-luna"`'] if '["gpt-6-luna"]' in bad else []
    fixes = [fix for fix in fixes if fix not in ("of = assistant", "models = [default; 3]") or len(good.split(",")) == 1 or "window = 5)" == bad[-11:]]
    return pair(KEYS, judge(w, "@@", CONVERSATION if conversation else ""), bad, good, fixes or [good], at=bad.split("(")[0])


@form(KEYS, 3)
def key_of_another_library(w):
    bad, good, fix = w.choice(
        [
            ('prompt = "Is it polite?"', "", "doc comment"),
            ('instructions = "Is it polite?"', "", "doc comment"),
            ('criteria = "Is it polite?"', "", "doc comment"),
            ('rubric = "Is it polite?"', "", "doc comment"),
            ('system_prompt = "Be strict."', "", "doc comment"),
            ('model = "gpt-6-luna"', 'panel(models = ["openai:gpt-6-luna"])', "panel(models ="),
            ('lm = "openai:gpt-6-luna"', 'panel(models = ["openai:gpt-6-luna"])', "panel(models ="),
            ('llm = "openai:gpt-6-luna"', 'panel(models = ["openai:gpt-6-luna"])', "panel(models ="),
            ("tier = truth", "", "remove `tier`"),
            ("chain_of_thought = false", "reasoning = false", "reasoning"),
            ("cot = false", "reasoning = false", "reasoning"),
            ("explain = true", "reasoning = true", "reasoning"),
            ('reasoning = "no"', "reasoning = false", "reasoning = false"),
            ("reasoning", "reasoning = true", "reasoning ="),
            ("no_reasoning", "reasoning = false", "reasoning"),
            ("samples = 5", "scoring(by = draws(5))", "draws(5)"),
            ("n = 5", "panel(models = [default; 5])", "panel"),
            ("votes = 3", "panel(models = [default; 3])", "panel"),
            ("strict_mode = true", "", "strict"),
            ("min_score = 0.5", "", "threshold"),
            ("lower_is_better", "", "score = !"),
            ("threshold = 0.5", "", "remove"),
            ('name = Polite', 'name = "polite"', 'name = "'),
            ("cost = 100", 'cost = "100 msat"', '"100 msat"'),
            ("offline = true", "offline = path::to::function", "path"),
            ("pairwise", "", "pairwise(first, second)"),
        ]
    )
    return pair(KEYS, judge(w, "version = 2@@"), f", {bad}", f", {good}" if good and "path::" not in good else "", [fix], at=bad)


@form(KEYS, 2)
def misspelt_key(w):
    good = w.choice(["score = polite", "reasoning = false", "missing = false", "empty = false", 'cost = "5 msat"', 'name = "kind"', "panel(models = [default; 3])", "scoring(temperature = 0.5)"])
    key = good.split(" ")[0].split("(")[0]
    return pair(KEYS, judge(w, "@@"), good.replace(key, w.typo(key), 1), good, [f"`{key}", "panel("[: len(key) + 1] if key == "panel" else f"`{key}"])


@form(FIELDS, 5)
def input_in_another_form(w):
    field = w.field()
    bad, good = w.choice(
        [
            ("#[pred]", "#[input(pred)]"),
            ("#[gold]", "#[input(gold)]"),
            ("#[input]", "#[input(pred)]"),
            ('#[input("pred")]', "#[input(pred)]"),
            (f'#[input("{field}")]', "#[input(pred)]"),
            (f'#[input(pred("{field}"))]', f'#[input(pred = "{field}")]'),
            (f"#[input(pred = {field})]", f'#[input(pred = "{field}")]'),
            (f'#[input(pred, name = "{field}")]', f'#[input(pred = "{field}")]'),
            (f'#[input(pred, rename = "{field}")]', f'#[input(pred = "{field}")]'),
            ("#[input(prediction)]", "#[input(pred)]"),
            ("#[input(prd)]", "#[input(pred)]"),
            ("#[input(golden)]", "#[input(gold)]"),
            ("#[input(example)]", "#[input(gold)]"),
            ("#[input(expected)]", "#[input(gold)]"),
            ("#[input = pred]", "#[input(pred)]"),
            ('#[input = "pred"]', "#[input(pred)]"),
            ("#[inputs(pred)]", "#[input(pred)]"),
            ("#[input(pred, optional)]", "#[input(pred)]"),
            ("#[input(pred, default(3))]", "#[input(pred, default = String::new())]"),
            ("#[input(pred, gold)]", "#[input(pred)]"),
            ("#[input(Pred)]", "#[input(pred)]"),
            ("#[field(pred)]", "#[input(pred)]"),
            ("", "#[input(pred)]"),
        ]
    )
    fixes = [good]
    if "optional" in bad:
        fixes = ["Option<"]
    if bad == f'#[input("{field}")]':
        fixes.append(f'#[input(pred = "{field}")]')
    if "default(3)" in bad:
        fixes = ["default ="]
    if bad == "#[input(pred, gold)]":
        fixes = ["two inputs", "two fields", "keep one", "one of"]
    template = judge(w, "", f"    @@\n    {field}: String,\n")
    return pair(FIELDS, template, bad, good, fixes, at=bad or field)


@form(FIELDS, 5)
def output_in_another_form(w):
    good_field = "grade: u8"
    bad, good, field = w.choice(
        [
            ("#[output(0..=5)]", "#[output(range = 0..=5)]", good_field),
            ("#[output(range = 0..5)]", "#[output(range = 0..=5)]", good_field),
            ("#[output(range = (0, 5))]", "#[output(range = 0..=5)]", good_field),
            ("#[output(min = 0, max = 5)]", "#[output(range = 0..=5)]", good_field),
            ("#[output(range(0..=5))]", "#[output(range = 0..=5)]", good_field),
            ('#[output(range = "0..=5")]', "#[output(range = 0..=5)]", good_field),
            ("#[output(rnge = 0..=5)]", "#[output(range = 0..=5)]", good_field),
            ("#[outputs(range = 0..=5)]", "#[output(range = 0..=5)]", good_field),
            ("#[out(range = 0..=5)]", "#[output(range = 0..=5)]", good_field),
            ("#[output = 0..=5]", "#[output(range = 0..=5)]", good_field),
            ('#[output("how good")]', '#[output(desc = "how good")]', good_field),
            ('#[output(description = "how good")]', '#[output(desc = "how good")]', good_field),
            ('#[output(choices = ["good", "bad"])]', '#[output(labels = ["good", "bad"])]', "label: String"),
            ('#[output(enum = ["good", "bad"])]', '#[output(labels = ["good", "bad"])]', "label: String"),
            ('#[output(values = ["good", "bad"])]', '#[output(labels = ["good", "bad"])]', "label: String"),
            ('#[output(labels("good", "bad"))]', '#[output(labels = ["good", "bad"])]', "label: String"),
            ('#[output(labels = "good", "bad")]', '#[output(labels = ["good", "bad"])]', "label: String"),
            ("#[output(labels = [good, bad])]", '#[output(labels = ["good", "bad"])]', "label: String"),
            ('#[output(labels = ("good", "bad"))]', '#[output(labels = ["good", "bad"])]', "label: String"),
            ('#[output(labels = "good|bad")]', '#[output(labels = ["good", "bad"])]', "label: String"),
        ]
    )
    score = "score = f64::from(grade), range = 0.0..=255.0" if field == good_field else 'score = label == "good"'
    template = judge(w, score, "", f"    @@\n    {field},\n")
    fixes = [good, good[9:-2]] + (["`range`"] if "range" in good else []) + (["`labels`"] if "labels" in good and "labels" not in bad else [])
    return pair(FIELDS, template, bad, good, fixes, at=bad)


@form(FIELDS, 3)
def type_that_cannot_be(w):
    bad, good, fix = w.choice([("&str", "String", "String"), ("&'static str", "String", "String"), ("str", "String", "String"), ("&String", "String", "String"), ("Vec<&str>", "Vec<String>", "String"), ("T", "String", "`T`"), ("&[String]", "Vec<String>", "Vec<String>"), ("Option<&str>", "Option<String>", "String"), ("Box<dyn std::fmt::Display>", "String", "String"), ("Strin", "String", "String"), ("impl ToString", "String", "String")])
    field = w.field()
    return pair(FIELDS, judge(w, "", f"    #[input(pred)]\n    {field}: @@,\n"), bad, good, [fix], at=f"{field}:")


@form(FIELDS, 3)
def output_type_that_cannot_be(w):
    bad, fix = w.choice([("&str", "String"), ("Score", "Score"), ("Note", "judge_output")])
    extra = "struct Note { text: String }\n" if bad == "Note" else ""
    source = extra + judge(w, "score = polite", "", "    #[output]\n    notes: @@,\n    #[output]\n    polite: bool,\n")
    return pair(FIELDS, source, bad, "Vec<String>", [fix], at="notes:")


@form(FIELDS, 3)
def missing_part(w):
    full = judge(w)
    what, fix = w.choice([("doc", "doc comment"), ("output", "#[output]"), ("input", "#[input(")])
    bad = full
    if what == "doc":
        bad = full.replace("/// Say whether the text is good.\n", "")
    elif what == "output":
        bad = full.replace("    #[output]\n    polite: bool,\n", "")
    else:
        at = full.index("    #[input")
        bad = full[:at] + full[full.index("    #[output]") :]
    return Mistake(FIELDS, bad, full, [fix], "struct")


@form(FIELDS, 2)
def reasoning_after_the_verdict(w):
    reasoning, verdict = "    #[output]\n    reasoning: String,\n", "    #[output]\n    polite: bool,\n"
    return Mistake(FIELDS, judge(w, "", "", verdict + reasoning, "Polite"), judge(w, "", "", reasoning + verdict, "Polite"), ["before"], "reasoning")


@form(FIELDS, 2)
def judge_on_another_item(w):
    bad, fix = w.choice([("fn polite(answer: String) -> bool { true }", "struct"), ("enum Polite { Yes, No }", "struct"), ("struct Polite(String);", "named fields"), ("struct Polite;", "named fields"), ("impl Polite {}", "struct"), ("trait Polite { fn polite(&self) -> bool; }", "struct"), ("type Polite = String;", "struct")])
    extra = "struct Polite;\n" if bad.startswith("impl") else ""
    return Mistake(FIELDS, f"{extra}/// Say whether it is polite.\n#[judge]\n{bad}\n", judge(w), [fix, "fields with names"], "olite")


@form(SCORE, 4)
def score_in_another_form(w):
    bad, good, fix = w.choice(
        [
            ('"grade"', "f64::from(grade)", "score = grade"),
            ("self.grade", "f64::from(grade)", "`grade`"),
            ("self.grade / 5.0", "f64::from(grade) / 5.0", "`grade"),
            ("grade / 5", "f64::from(grade) / 5.0", "f64::from(grade)"),
            ("grade / 5.0", "f64::from(grade) / 5.0", "f64::from(grade)"),
            ("grde", "f64::from(grade)", "`grade`"),
            ("|output| output.grade", "f64::from(grade)", "score = grade"),
            ("mean(grade)", "f64::from(grade)", "grade"),
            ("Self::score", "f64::from(grade)", "expression"),
            ("grade as f32", "f64::from(grade)", "f64"),
            ("{ grade }.to_string()", "f64::from(grade)", "number"),
            ("output.grade", "f64::from(grade)", "`grade`"),
            ("rescale(grade, 1, 5)", "rescale(grade, 1..=5)", "1..=5"),
            ("rescale(grade)", "rescale(grade, 1..=5)", "1..=5"),
            ("normalize(grade)", "rescale(grade, 1..=5)", "rescale"),
            ("grade > 3", "f64::from(grade)", ""),
        ]
    )
    if not fix:
        bad, good, fix = "grade == \"good\"", "grade == 5", "u8"
    source = judge(w, "score = @@, range = 0.0..=5.0" if "==" not in good else "score = @@", "", GRADED)
    return pair(SCORE, source, bad, good, [fix], at="score")


@form(SCORE, 2)
def label_that_does_not_exist(w):
    labels = w.choice([("good", "bad"), ("polite", "rude"), ("correct", "wrong"), ("relevant", "irrelevant")])
    typo = w.typo(labels[0])
    outputs = f'    #[output(labels = ["{labels[0]}", "{labels[1]}"])]\n    label: String,\n'
    template = w.choice(['label == "@@"', '"@@" == label', 'label != "@@"', 'f64::from(u8::from(label == "@@"))'])
    return pair(SCORE, judge(w, f"score = {template}" + (", range = 0.0..=1.0" if "f64" in template else ""), "", outputs), typo, labels[0], [f'"{labels[0]}"', f"`{labels[0]}`"], at="score")


@form(SCORE)
def score_missing(w):
    outputs = "    #[output(range = 1..=5)]\n    style: u8,\n    #[output(range = 1..=5)]\n    facts: u8,\n"
    return pair(SCORE, judge(w, "reasoning = false@@", "", outputs), "", ", score = f64::from(style + facts), range = 0.0..=10.0", ["score ="], at="struct")


@form(OUTPUT, 4)
def output_type(w):
    good = "#[judge_output]\nenum Tone {\n    Kind,\n    Rude,\n}\n"
    bad, fix = w.choice(
        [
            ("#[judge_output]\nenum Tone {}\n", "variant"),
            ("#[serde(rename_all = \"snake_case\")]\n#[judge_output]\nenum Tone {\n    Kind,\n    Rude,\n}\n", "below"),
            ("#[derive(serde::Deserialize)]\nenum Tone {\n    Kind,\n    Rude,\n}\n", "#[judge_output]"),
            ("#[derive(Debug, PartialEq)]\nenum Tone {\n    Kind,\n    Rude,\n}\n", "#[judge_output]"),
            ("enum Tone {\n    Kind,\n    Rude,\n}\n", "#[judge_output]"),
            ("#[judge_output(rename = \"tone\")]\nenum Tone {\n    Kind,\n    Rude,\n}\n", "crate"),
            ("#[output]\nenum Tone {\n    Kind,\n    Rude,\n}\n", "judge_output"),
            ("#[derive(JudgeOutput)]\nenum Tone {\n    Kind,\n    Rude,\n}\n", "judge_output"),
            ("#[judge]\nenum Tone {\n    Kind,\n    Rude,\n}\n", "judge_output"),
        ]
    )
    body = judge(w, "score = tone == Tone::Kind", outputs="    #[output]\n    tone: Tone,\n", name="Voice")
    if "Kind(String)" in bad:
        body = judge(w, "score = matches!(tone, Tone::Rude)", outputs="    #[output]\n    tone: Tone,\n", name="Voice")
    if "enum Tone {}" in bad:
        body = judge(w, "score = polite", outputs="    #[output]\n    tone: Tone,\n    #[output]\n    polite: bool,\n", name="Voice")
    return Mistake(OUTPUT, bad + body, good + judge(w, "score = tone == Tone::Kind", outputs="    #[output]\n    tone: Tone,\n", name="Voice"), [fix], "one")


@form(OUTPUT)
def nested_without_attribute(w):
    name = w.choice(["Claim", "Verdict", "Finding"])
    source = f"@@struct {name} {{\n    text: String,\n    holds: bool,\n}}\n" + judge(w, "score = share(claims, |it| it.holds), range = 0.0..=1.0", outputs=f"    #[output]\n    claims: Vec<{name}>,\n", name="Facts")
    return pair(OUTPUT, source, "", "#[judge_output]\n", ["#[judge_output]"], at=name)
