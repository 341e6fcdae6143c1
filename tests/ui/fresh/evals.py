"""Mistakes in `#[eval]`, rows, and derives."""

from forms import Mistake, camel, evaluation, form, pair

KEYS, GATE, PROGRAM, ROWS = "eval: keys", "eval: gates", "eval: programs", "rows and derives"
BASE = "devset = rows(), metrics(f1), gate(f1 >= 0.8)"


@form(KEYS, 5)
def key_in_another_form(w):
    bad, good = w.choice(
        [
            ("timeout = 30", 'timeout = "30 s"'),
            ('timeout = "30"', 'timeout = "30 s"'),
            ('timeout = "30 seconds"', 'timeout = "30 s"'),
            ("timeout = Duration::from_secs(30)", 'timeout = "30 s"'),
            ('repeats = "3"', "repeats = 3"),
            ("repeats(3)", "repeats = 3"),
            ("repeats: 3", "repeats = 3"),
            ("repeats = 0", "repeats = 1"),
            ("concurrency = 0", "concurrency = 1"),
            ('concurrency = "8"', "concurrency = 8"),
            ('budget = "50"', 'budget = "50 msat"'),
            ("budget = 50", 'budget = "50 msat"'),
            ("group = topic", 'group = "topic"'),
            ('limit = "200"', "limit = 200"),
            ('seed = "7"', "seed = 7"),
            ("baseline = true", "baseline"),
            ('baseline("evals/x.jsonl")', 'baseline = "evals/x.jsonl"'),
            ("strict = true", "strict"),
            ("store = true", "store"),
            ("flavor = current_thread", 'flavor = "current_thread"'),
            ('flavor = "single"', 'flavor = "current_thread"'),
            ("baselin", "baseline"),
            ("repeat = 3", "repeats = 3"),
            ("runs = 3", "repeats = 3"),
            ("epochs = 3", "repeats = 3"),
            ("workers = 8", "concurrency = 8"),
            ("max_concurrency = 8", "concurrency = 8"),
            ("threads = 8", "concurrency = 8"),
            ("sample = 200", "limit = 200"),
            ("max_rows = 200", "limit = 200"),
            ("group_by = \"topic\"", 'group = "topic"'),
            ("rescore", "baseline, baseline_rows, rescore"),
            ("baseline_rows", "baseline, baseline_rows"),
        ]
    )
    fixes = [good]
    word = good.split(" ")[0]
    if bad.split(" ")[0].strip('"') not in (word,) and word != good:
        fixes.append(f"`{word}`")
    if good == bad.split(" ")[0]:
        fixes = [f"`{good}`"]
    if bad.endswith("= 0"):
        fixes = ["at least 1", good]
    fixes += ["50 msat"] if "budget" in bad else []
    return pair(KEYS, evaluation(w, BASE + ", @@"), bad, good, fixes, at=bad)


@form(KEYS, 3)
def devset_in_another_form(w):
    bad, fix = w.choice(
        [
            ('devset = "evals/missing.jsonl"', "evals/missing.jsonl"),
            ('devset = "missing/questions.csv"', "missing/questions.csv"),
            ('devset = "evals/questions.txt"', ".jsonl"),
            ('devset = "/tmp/questions.jsonl"', "path in the package"),
            ('devset = "../questions.jsonl"', "path in the package"),
            ("devset = evals/questions.jsonl", 'devset = "evals/questions.jsonl"'),
            ('devset("evals/questions.jsonl")', 'devset = "evals/questions.jsonl"'),
            ('dataset = "evals/questions.jsonl"', "devset ="),
            ('data = "evals/questions.jsonl"', "devset ="),
            ('rows = "evals/questions.jsonl"', "devset ="),
            ('devst = "evals/questions.jsonl"', "`devset`"),
            ("devset = rows", "rows()"),
            ('trainset = "evals/questions.jsonl"', "devset"),
            ('file = "evals/questions.jsonl"', "devset"),
            ('path = "evals/questions.jsonl"', "devset"),
        ]
    )
    return pair(KEYS, evaluation(w, "@@, metrics(f1), gate(f1 >= 0.8)"), bad, "devset = rows()", [fix], at=bad)


@form(KEYS, 3)
def metrics_in_another_form(w):
    bad, good, fix = w.choice(
        [
            ("metrics = [f1]", "metrics(f1)", "metrics(f1)"),
            ("metrics = f1", "metrics(f1)", "metrics(f1)"),
            ("metric = f1", "metrics(f1)", "metrics("),
            ("metric(f1)", "metrics(f1)", "metrics("),
            ('metrics("f1")', "metrics(f1)", "f1"),
            ("metrics(f1 >= 0.8)", "metrics(f1)", "gate("),
            ("metrics(f1 = 0.5)", "metrics(f1)", "name alone"),
            ("metrics([f1])", "metrics(f1)", "`f1`"),
            ("metrics(&F1)", "metrics(F1)", "F1"),
            ("metrics(f1())", "metrics(f1)", "f1"),
            ("metrics[f1]", "metrics(f1)", "metrics("),
            ("metrics()", "metrics(f1)", "metrics("),
            ("", "metrics(f1)", "metrics("),
            ("metrics(F2)", "metrics(F1)", "F1"),
            ("metrics(f1(threshold = 0.5))", "metrics(F1::default().with_threshold(0.5))", "F1::default()"),
        ]
    )
    return pair(KEYS, evaluation(w, "devset = rows(), @@, gate(f1 >= 0.8)").replace("rows(), , gate", "rows(), gate"), bad, good, [fix], at=bad or "fn ")


@form(GATE, 5)
def gate_in_another_form(w):
    bad, good, fix = w.choice(
        [
            ("f1 > 0.8", "f1 >= 0.8", "f1 >= 0.8"),
            ("f1 == 0.8", "f1 >= 0.8", "f1 >= 0.8"),
            ("f1 >= 80", "f1 >= 0.8", "0.8"),
            ("f1 >= 80%", "f1 >= 0.8", "0.8"),
            ('f1 >= "0.8"', "f1 >= 0.8", "f1 >= 0.8"),
            ("f1 = 0.8", "f1 >= 0.8", "f1 >= 0.8"),
            ("f1: 0.8", "f1 >= 0.8", "f1 >= 0.8"),
            ("0.8 <= f1", "f1 >= 0.8", "f1 >= 0.8"),
            ("f1", "f1 >= 0.8", "f1 >= 0.8"),
            ("f1 <= 0.8", "f1 >= 0.8", "f1 >= 0.8"),
            ("F1 >= 0.8", "f1 >= 0.8", "`f1`"),
            ("F1::default() >= 0.8", "f1 >= 0.8", "f1 >= 0.8"),
            ('"f1 >= 0.8"', "f1 >= 0.8", "f1 >= 0.8"),
            ("f1 >= 0.8 && failed <= 0.1", "f1 >= 0.8, failed <= 0.1", "comma"),
            ("f2 >= 0.8", "f1 >= 0.8", "f1"),
            ("min(f1) >= 0.8", "f1 >= 0.8", "lower(f1)"),
            ("mean(f1) >= 0.8", "f1 >= 0.8", "f1 >= 0.8"),
            ("f1.mean() >= 0.8", "f1 >= 0.8", "f1 >= 0.8"),
            ("f1.lower() >= 0.8", "lower(f1) >= 0.8", "lower(f1)"),
            ("lower_bound(f1) >= 0.8", "lower(f1) >= 0.8", "lower(f1)"),
            ("failed >= 0.1, f1 >= 0.8", "failed <= 0.1, f1 >= 0.8", "failed <= 0.1"),
            ("errors <= 0.1, f1 >= 0.8", "failed <= 0.1, f1 >= 0.8", "failed"),
            ("f1.no_worse(0.02)", "f1 >= 0.8", "by = 0.02"),
            ("f1.passed_at(3) >= 0.9", "f1 >= 0.8", "repeats"),
            ("f1.better", "f1 >= 0.8", "better()"),
            ("f1.no_worse(by = 0.02)", "f1 >= 0.8", "baseline"),
            ("each(topic, f1 >= 0.7)", 'each("topic", f1 >= 0.7)', '"topic"'),
            ("each(f1 >= 0.7)", 'each("topic", f1 >= 0.7)', 'each("'),
            ("", "f1 >= 0.8", "gate(f1 >= 0.8)"),
            ("f1 >= threshold", "f1 >= 0.8", "`threshold`"),
            ("f1 => 0.8", "f1 >= 0.8", "f1 >= 0.8"),
            ("f1 ≥ 0.8", "f1 >= 0.8", "f1 >= 0.8"),
        ]
    )
    if "≥" in bad:
        bad = "f1 >== 0.8"
    return pair(GATE, evaluation(w, "devset = rows(), metrics(f1), gate(@@)"), bad, good, [fix], at="gate")


@form(GATE)
def gates_key(w):
    bad, fix = w.choice([("gates(f1 >= 0.8)", "gate("), ("gate = f1 >= 0.8", "gate(f1 >= 0.8)"), ("gate[f1 >= 0.8]", "gate("), ("threshold = 0.8", "gate("), ("assert(f1 >= 0.8)", "gate"), ("", "gate("), ("gate f1 >= 0.8", "gate("), ("min_score = 0.8", "gate"), ("expect(f1 >= 0.8)", "gate")])
    return pair(GATE, evaluation(w, "devset = rows(), metrics(f1), @@"), bad, "gate(f1 >= 0.8)", [fix], at=bad or "fn ")


@form(PROGRAM, 5)
def program_in_another_form(w):
    good = ("question: String", "Prediction", 'prediction! { "answer" => question }')
    bad, fix = w.choice(
        [
            (("question: String", "String", "question"), "Prediction"),
            (("question: String", "bool", "question.is_empty()"), "Prediction"),
            (("question: String", "()", "drop(question)"), "Prediction"),
            (("question: String", "Option<Prediction>", "None"), "Prediction"),
            (("question: String", "Result<String, String>", "Ok(question)"), "Prediction"),
            (("question: String", "f64", "1.0"), "Prediction"),
            (("question: String", "Vec<String>", "vec![question]"), "Prediction"),
            (("question: String", "Example", "example! {}"), "Prediction"),
            (("question: String", "serde_json::Value", "serde_json::Value::Null"), "Prediction"),
            (("#[gold] question: String", *good[1:]), "remove `#[gold]`"),
            (("#[pred] question: String", *good[1:]), "remove `#[pred]`"),
            (('#[gold("q")] question: String', *good[1:]), '#[input("q")]'),
            (("#[input(question)] q: String", "Prediction", 'prediction! { "answer" => q }'), '#[input("question")]'),
            (('#[input = "question"] q: String', "Prediction", 'prediction! { "answer" => q }'), '#[input("question")]'),
            (("example: Example", "Prediction", "prediction! {}"), "inputs("),
            (("example: &Example", "Prediction", "prediction! {}"), "inputs("),
            (("question: str", "Prediction", "prediction! {}"), "&str"),
            (("question: &mut str", "Prediction", "prediction! {}"), "mut"),
            (("question: impl Into<String>", "Prediction", "prediction! {}"), "String"),
            (("&self, question: String", *good[1:]), "self"),
            (("question", *good[1:]), "String"),
        ]
    )
    return Mistake(PROGRAM, evaluation(w, BASE, *bad), evaluation(w, BASE, *good), [fix], bad[1] if bad[0] == good[0] else bad[0])


@form(PROGRAM, 2)
def eval_on_another_item(w):
    good = evaluation(w, BASE)
    bad, fix = w.choice([("struct Answers;", "function"), ("fn answers<T>(question: T) -> Prediction { prediction! {} }", "generic"), ("const X: u8 = 1;", "function"), ("mod answers {}", "function"), ("fn answers() -> Prediction { prediction! {} }", "Vec<Pair>"), ("impl Answers {}", "function")])
    extra = "struct Answers;\n" if bad.startswith("impl") else ""
    return Mistake(PROGRAM, f"use dsrs_metrics::metrics::*;\nfn rows() -> Vec<Example> {{ Vec::new() }}\n{extra}#[eval({BASE})]\n{bad}\n", good, [fix, "remove it"], bad.split(" ")[0])


@form(ROWS, 4)
def record(w):
    field = w.field()
    good = f"#[derive(Record)]\nstruct Row {{\n    {field}: String,\n}}\n"
    bad, fix = w.choice(
        [
            (f"#[derive(Record)]\nstruct Row(String);\n", "named fields"),
            (f"#[derive(Record)]\nstruct Row;\n", "named fields"),
            (f"#[derive(Record)]\nenum Row {{ A }}\n", "struct"),
            (f"#[derive(Record)]\nstruct Row {{\n    #[record(name = \"x\")]\n    {field}: String,\n}}\n", "rename"),
            (f"#[derive(Record)]\nstruct Row {{\n    #[record(\"x\")]\n    {field}: String,\n}}\n", "rename"),
            (f"#[derive(Record)]\nstruct Row {{\n    #[record(rename = x)]\n    {field}: String,\n}}\n", 'rename = "x"'),
            (f"#[derive(Record)]\nstruct Row {{\n    #[record(skip)]\n    {field}: String,\n}}\n", "rename"),
            (f"#[derive(Record)]\nstruct Row {{\n    #[record = \"x\"]\n    {field}: String,\n}}\n", "rename"),
            (f"#[derive(Record)]\nstruct Row {{\n    #[record(renam = \"x\")]\n    {field}: String,\n}}\n", "rename"),
            (f"#[derive(Records)]\nstruct Row {{\n    {field}: String,\n}}\n", "Record"),
            (f"#[record]\nstruct Row {{\n    {field}: String,\n}}\n", "derive(Record)"),
            (f"struct Row {{\n    {field}: String,\n}}\n", "Record"),
        ]
    )
    use = f"/// Passes.\n#[metric]\nfn long(#[gold] {field}: &str) -> bool {{ {field}.len() > 3 }}\nfn score(row: &Row) {{ let _ = Long.score(row, row); }}\n"
    is_alone = bad.startswith(("struct", "#[record]"))
    return Mistake(ROWS, bad + (use if is_alone else ""), good + use, [fix], "Row" if is_alone else "ecord")


@form(ROWS, 3)
def param_group(w):
    param = w.param()
    bad, good, fix = w.choice(
        [
            (f"#[derive(Debug, Clone, ParamGroup)]\nstruct Settings {{ {param}: usize }}\n", None, "default"),
            (f"#[derive(ParamGroup)]\nstruct Settings {{ #[param(default = 3)] {param}: usize }}\n", None, "Debug"),
            (f"#[derive(Debug, Clone)]\nstruct Settings {{ #[param(default = 3)] {param}: usize }}\n", None, "ParamGroup"),
            (f"#[derive(Debug, Clone, ParamGroup)]\nstruct Settings {{ #[param(default = \"3\")] {param}: usize }}\n", None, "default = 3"),
            (f"#[derive(Debug, Clone, ParamGroup)]\nstruct Settings {{ #[param(3)] {param}: usize }}\n", None, "default = 3"),
            (f"#[derive(Debug, Clone, ParamGroup)]\nstruct Settings {{ #[default = 3] {param}: usize }}\n", None, "param(default"),
            (f"#[derive(Debug, Clone, Default, ParamGroup)]\nstruct Settings {{ #[param(default = 3)] {param}: usize }}\n", None, "Default"),
            (f"#[derive(Debug, Clone, ParamGroup)]\nstruct Settings(usize);\n", None, "named fields"),
        ]
    )
    good = f"#[derive(Debug, Clone, ParamGroup)]\nstruct Settings {{ #[param(default = 3)] {param}: usize }}\n"
    use = "/// Passes.\n#[metric]\nfn near(#[pred] answer: &str, #[param(flatten)] settings: &Settings) -> bool { let _ = (answer, settings); true }\n"
    return Mistake(ROWS, bad + use, good + use, [fix], "Settings")


@form(ROWS, 2)
def flatten(w):
    group = "#[derive(Debug, Clone, ParamGroup)]\nstruct Settings { #[param(default = 3)] limit: usize }\n"
    bad, fix = w.choice([("#[flatten] settings: &Settings", "#[param(flatten)]"), ("#[param(flat)] settings: &Settings", "`flatten`"), ("settings: &Settings", "#[param(flatten)]"), ("#[param(flatten = true)] settings: &Settings", "`flatten` alone"), ("#[pred(flatten)] settings: &Settings", "#[param"), ("#[serde(flatten)] settings: &Settings", "#[param(flatten)]"), ("#[param(flatten)] settings: Option<&Settings>", "&Settings"), ("#[command(flatten)] settings: &Settings", "#[param(flatten)]")])
    template = group + "/// Passes.\n#[metric]\nfn near(#[pred] answer: &str, @@) -> bool { let _ = (answer, settings); true }\n"
    if bad == "#[param(flatten)] settings: Settings":
        fix = "Settings"
    return pair(ROWS, template, bad, "#[param(flatten)] settings: &Settings", [fix], at="settings")


@form(ROWS, 3)
def example_macro(w):
    field = w.field()
    bad, fix = w.choice([(f'example!({{"{field}": 1}})', "=>"), (f'example! {{ "{field}": 1 }}', "=>"), (f"example! {{ {field} => 1 }}", f'"{field}" =>'), (f"example! {{ {field}: 1 }}", f'"{field}" =>'), (f'example! {{ "{field}" = 1 }}', "=>"), (f'example!("{field}", 1)', "=>"), (f'example! {{ "{field}" => 1 "x" => 2 }}', ","), (f'prediction! {{ "{field}" -> 1 }}', "=>"), (f'prediction!("{field}" => )', "value"), (f'Example {{ "{field}": 1 }}', "example!"), (f'Example::new("{field}", 1)', "example!")])
    good = f'example! {{ "{field}" => 1 }}'
    return pair(ROWS, "fn main() {\n    let _ = @@;\n}\n", bad, good, [fix], at=bad)
