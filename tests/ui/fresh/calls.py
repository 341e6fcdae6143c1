"""Mistakes in calls, traits, placement and names, and uses of something that has a mistake."""

from forms import Mistake, bool_metric, camel, form, judge, number_metric, pair, with_param

CALL, PLACE, NAMES, FOLLOW = "calls and traits", "placement", "names", "follow-ups"


@form(CALL, 6)
def call(w):
    name = w.name()
    metric = bool_metric(w, "", name)
    struct = camel(name)
    bad, good, fix = w.choice(
        [
            (f"{struct}.score(&example! {{}})", f"{struct}.score(&example! {{}}, &prediction! {{}})", "argument"),
            (f"{struct}.score(example! {{}}, prediction! {{}})", f"{struct}.score(&example! {{}}, &prediction! {{}})", "&"),
            (f"{name}.score(&example! {{}}, &prediction! {{}})", f"{struct}.score(&example! {{}}, &prediction! {{}})", struct),
            (f"{name}(&example! {{}}, &prediction! {{}})", f"{struct}.score(&example! {{}}, &prediction! {{}})", f"{name}"),
            (f'{struct}.score("a", "b")', f"{struct}.score(&example! {{}}, &prediction! {{}})", "example!"),
            (f"{struct}::new().score(&example! {{}}, &prediction! {{}})", f"{struct}.score(&example! {{}}, &prediction! {{}})", f"`{struct}"),
            (f"{struct} {{}}.scor(&example! {{}}, &prediction! {{}})", f"{struct}.score(&example! {{}}, &prediction! {{}})", "score"),
            (f"{struct}.run(&example! {{}}, &prediction! {{}})", f"{struct}.score(&example! {{}}, &prediction! {{}})", "score"),
            (f"{struct}.builder()", f"{struct}::builder()", f"{struct}::builder()"),
            (f"{struct}.score(&String::new(), &String::new())", f"{struct}.score(&example! {{}}, &prediction! {{}})", "Record"),
            (f"{struct}.score(&example! {{}}, &Some(1))", f"{struct}.score(&example! {{}}, &prediction! {{}})", "prediction!"),
            (f"{struct}.score(&example! {{}}, &std::collections::HashMap::<String, String>::new())", f"{struct}.score(&example! {{}}, &prediction! {{}})", "prediction!"),
            (f"{struct}.score(&example! {{}}, &serde_json::json!({{}}))", f"{struct}.score(&example! {{}}, &prediction! {{}})", "Prediction"),
            (f"{struct}.evaluate(&example! {{}}, &prediction! {{}}).value", f"{struct}.score(&example! {{}}, &prediction! {{}})", "await"),
            (f"{struct}.score(&example! {{}}, &prediction! {{}}).value", f"{struct}.score(&example! {{}}, &prediction! {{}}).unwrap().value", "Result"),
        ]
    )
    return pair(CALL, metric + "fn call() {\n    let _ = @@;\n}\n", bad, good, [fix], at=bad)


@form(CALL, 3)
def builder(w):
    param = w.param()
    metric = with_param(w, f"#[param] {param}: usize", "short")
    good = f"Short::builder().{param}(3).build()"
    bad, fix = w.choice([(f"Short::builder().build()", f".{param}("), (f"Short::default()", "builder"), (f"Short", "builder"), (f"Short::builder().{param}(\"3\").build()", "usize"), (f"Short::builder().{w.typo(param)}(3).build()", f"{param}"), (f"Short::new(3)", "builder"), (f"Short {{ {param}: 3 }}.score(&example! {{}}, &prediction! {{}})", ""), (f"Short::builder().{param}(3).score(&example! {{}}, &prediction! {{}})", "build()"), (f"Short(3)", "builder"), (f"Short::builder({param} = 3)", "builder")])
    if not fix:
        bad, fix = f"Short::with_{param}(3)", "builder"
    return pair(CALL, metric + "fn call() {\n    let _ = @@;\n}\n", bad, good, [fix], at=bad)


@form(CALL, 5)
def evaluate(w):
    name = w.name()
    metric = bool_metric(w, "", name)
    struct = camel(name)
    good = f"Evaluate::builder().metric({struct}).build()"
    bad, fix = w.choice(
        [
            (f"Evaluate::builder().metric({name}).build()", struct),
            (f'Evaluate::builder().metric("{name}").build()', "#[metric]"),
            (f"Evaluate::new().metric({struct}).build()", "builder"),
            (f'Evaluate::builder().devset("x.jsonl").metric({struct}).build()', ""),
            (f"Evaluate::builder().devset(1).metric({struct}).build()", "rows"),
            (f"Evaluate::builder().devset(vec![String::new()]).metric({struct}).build()", "example!"),
            (f"Evaluate::builder().metric(|gold, pred| true).build()", "metric_fn"),
            (f"Evaluate::builder().metric(judge).build()", "judge"),
            (f"Evaluate::builder().metric(metric_fn(|gold, pred| true)).build()", 'metric_fn("'),
            (f'Evaluate::builder().metric(metric_fn("x", |gold| true)).build()', "2 arguments"),
            (f'Evaluate::builder().metric(metric_fn("x", |gold, pred| "yes")).build()', "bool"),
            (f'Evaluate::builder().metric(metric_fn("x", async |gold, pred| true)).build()', "async"),
            (f"Evaluate::builder().concurrency(\"8\").metric({struct}).build()", "expected"),
            (f"Evaluate::builder().metric({struct}).metric().build()", "argument"),
        ]
    )
    if not fix:
        bad, fix = f"Evaluate::builder().metric({struct}()).build()", struct
    return pair(CALL, "use dsrs_metrics::Evaluate;\n" + metric + "fn call() {\n    let _ = @@;\n}\n", bad, good, [fix], at=bad)


@form(CALL, 3)
def hand_written(w):
    good = 'struct Own;\n#[dsrs_metrics::async_trait]\nimpl Metric<Example, Prediction> for Own {\n    fn name(&self) -> &str { "own" }\n    async fn evaluate(&self, gold: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> { let _ = (gold, pred); Ok(MetricScore::new(1.0)) }\n}\n'
    bad, fix = w.choice(
        [
            (good.replace("#[dsrs_metrics::async_trait]\n", ""), "async_trait"),
            (good.replace("async fn evaluate", "fn evaluate"), "async"),
            (good.replace('    fn name(&self) -> &str { "own" }\n', ""), "fn name"),
            (good.replace("fn evaluate", "fn score"), "evaluate"),
            (good.replace("dsrs_metrics::Result<MetricScore>", "f64").replace("Ok(MetricScore::new(1.0))", "1.0"), "MetricScore"),
            (good.replace("MetricScore::new(1.0)", "1.0"), "MetricScore"),
        ]
    )
    return Mistake(CALL, bad, good, [fix], "Own")


@form(PLACE, 5)
def placed(w):
    name = w.name()
    function = f"fn {name}(#[pred] answer: &str) -> bool {{ answer.len() < 9 }}"
    good = f"/// P.\n#[metric]\n{function}\n"
    bad, fix = w.choice(
        [
            (f"struct Own;\nimpl Own {{\n    #[metric]\n    {function}\n}}\n", "out of the `impl`"),
            (f"trait Own {{\n    #[metric]\n    {function}\n}}\n", "trait"),
            (f"trait Own {{\n    #[metric]\n    fn {name}(#[pred] answer: &str) -> bool;\n}}\n", "trait"),
            (f"#[metric]\nstruct Own {{ answer: String }}\n", "combinator"),
            (f"#[metric]\nenum Own {{ A }}\n", "function"),
            (f"#[metric]\nmod own {{}}\n", "function"),
            (f"#[metric]\nimpl Metric<Example, Prediction> for Own {{}}\nstruct Own;\n", "function"),
            (f"#[metric]\nlet x = 1;\n", "function"),
            (f"#[metric]\nconst X: u8 = 1;\n", "function"),
            (f"#[metric]\nunsafe {function}\n", "unsafe"),
            (f"#[metric]\nextern \"C\" {function}\n", "extern"),
            (f"#[metrics]\n{function}\n", "metric"),
            (f"#[metric()]\n#[metric]\n{function}\n", "one"),
            (f"#[derive(Metric)]\nstruct Own;\n", "#[metric]"),
            (f"#[metric]\n#[judge]\n{function}\n", "write `#[metric]`"),
            (f"#[dsrs_metrics::Metric]\n{function}\n", "metric"),
            (f"#[metric]\nfn {name}(#[pred] answer: &str) -> bool\n", "body"),
        ]
    )
    if "let x" in bad or bad.endswith("bool\n"):
        bad, fix = f"#[metric]\nuse std::fmt;\n", "function"
    return Mistake(PLACE, bad, good, [fix], "")


@form(NAMES, 5)
def named(w):
    make = lambda name: f"/// P.\n#[metric]\nfn {name}(#[pred] answer: &str) -> bool {{ answer.len() < 9 }}\n"
    bad, fix = w.choice(
        [
            (make("same") + make("same_"), "struct ="),
            (make("option"), "struct ="),
            (make("string"), "struct ="),
            (make("result"), "struct ="),
            (make("trace"), "struct ="),
            (make("prediction"), "struct ="),
            (make("example"), "struct ="),
            (make("metric"), "struct ="),
            (make("Short"), "snake"),
            (make("shortAnswer"), "snake"),
            (make("short") + "struct Short;\n", "struct ="),
            (make("точный"), "snake"),
            (make("vec"), "struct ="),
            (make("short") + "#[metric(struct = Short)]\nfn tidy(#[pred] answer: &str) -> bool { answer.len() < 9 }\n", "struct ="),
            ("/// P.\n#[metric(struct = Short)]\nfn tidy(#[pred] answer: &str) -> bool { answer.len() < 9 }\nstruct Short;\n", "struct ="),
            (make("r#match").replace("r#match", "r#box"), "struct ="),
        ]
    )
    if "метр" in bad:
        fix = "snake"
    return Mistake(NAMES, bad, make("short"), [fix], "")


BROKEN = [
    ("threshold = \"0.5\"", "threshold = 0.5"),
    ("tresold = 0.5", "threshold"),
    ("tier = Truth", "tier = truth"),
    ("range = 0.0..1.0", "range = 0.0..=1.0"),
    ("cost = 5", "5 msat"),
]


@form(FOLLOW, 8)
def use_of_a_broken_metric(w):
    attr, fix = w.choice(BROKEN)
    metric = f"/// Scores.\n#[metric({attr})]\nfn short(#[pred] answer: &str, #[param(default = 9)] limit: usize) -> f64 {{ (answer.len() / limit) as f64 }}\n"
    fluent = bool_metric(w, "", "fluent") + bool_metric(w, "tier = truth", "thorough")
    use = w.choice(
        [
            "#[metric(all(short >= 0.5, fluent))]\nstruct Both;\n",
            "#[metric(all(short(limit = 3), fluent))]\nstruct Both;\n",
            "#[metric(weighted(short = 0.5, fluent = 0.5))]\nstruct Both;\n",
            "#[metric(gate(proxy(short) >= 0.5, truth(thorough)))]\nstruct Both;\n",
            "#[metric(invert(short))]\nstruct Both;\n",
            "#[metric(tree(fluent { yes => short, no => 0.0 }))]\nstruct Both;\n",
            "#[eval(devset = rows(), metrics(short), gate(short >= 0.5))]\nfn program(question: &str) -> Prediction { prediction! { \"answer\" => question } }\nfn rows() -> Vec<Example> { Vec::new() }\n",
            "#[eval(devset = rows(), metrics(short), gate(lower(short) >= 0.5), strict)]\nfn program(question: &str) -> Prediction { prediction! { \"answer\" => question } }\nfn rows() -> Vec<Example> { Vec::new() }\n",
            "dsrs_metrics::main![short];\n",
            "fn call() { let _ = Short::builder().limit(3).build().score(&example! {}, &prediction! {}).unwrap().value; }\n",
            "fn call() { let _ = dsrs_metrics::Evaluate::builder().metric(Short::default()).build(); }\n",
            "async fn call() { let _ = Short::default().evaluate(&example! {}, &prediction! {}).await.unwrap().value; }\n",
            "fn call() -> Box<dyn Metric<Example, Prediction>> { Box::new(Short::default()) }\n",
            "fn call() { let _ = Short::default().with_threshold(0.5); }\n",
        ]
    )
    good = metric.replace(f"({attr})", "(range = 0.0..=1.0, threshold = 0.5)")
    return Mistake(FOLLOW, metric + fluent + use, good + fluent + use, [fix], attr, features="cli" if "main!" in use else "")


@form(FOLLOW, 8)
def use_of_a_broken_judge(w):
    attr, fix = w.choice([("temperature = 0.5", "scoring(temperature = 0.5)"), ("models([default; 3])", "panel(models = [default; 3])"), ("tier = truth", "remove `tier`"), ("scor = polite", "score"), ("reasoning = no", "reasoning = false")])
    source = judge(w, attr, name="Polite")
    fluent = bool_metric(w, "", "fluent")
    use = w.choice(
        [
            "#[metric(all(polite_judge, fluent))]\nstruct Both;\n",
            "#[metric(weighted(polite_judge = 0.5, fluent = 0.5))]\nstruct Both;\n",
            "#[metric(gate(proxy(fluent) >= 0.5, truth(polite_judge)))]\nstruct Both;\n",
            "#[metric(tree(polite_judge { yes => 1.0, no => 0.0 }))]\nstruct Both;\n",
            "#[eval(devset = rows(), metrics(PoliteJudge), gate(polite >= 0.5))]\nfn program(question: &str) -> Prediction { prediction! { \"answer\" => question } }\nfn rows() -> Vec<Example> { Vec::new() }\n",
            "dsrs_metrics::main![polite_judge];\n",
            "fn call() { let _ = PoliteJudge::builder().threshold(0.5).build(); }\n",
            "async fn call() { let _ = PoliteJudge::default().with_lm(dsrs_metrics::lm::ScriptedLm::new()).evaluate(&example! {}, &prediction! {}).await.unwrap().value; }\n",
            "fn call() { let _ = dsrs_metrics::Evaluate::builder().metric(PoliteJudge::default()).build(); }\n",
            "fn call() { let _ = PoliteJudge::default().with_instruction(\"x\").with_demos([]).with_context(\"y\"); }\n",
            "fn call() { let _ = PoliteJudge::default().offline(); }\n",
            "fn call() -> usize { PoliteJudge::default().num_judges() }\n",
        ]
    )
    good = source.replace(f"({attr})", "", 1)
    if "threshold(0.5)" in use:
        use = use.replace(".threshold(0.5)", "")
    return Mistake(FOLLOW, source + fluent + use, good + fluent + use, [fix], attr, features="cli" if "main!" in use else "")


@form(FOLLOW, 3)
def use_of_a_broken_composite(w):
    fluent = bool_metric(w, "", "fluent") + bool_metric(w, "", "brief") + bool_metric(w, "tier = truth", "thorough")
    attr, good, fix = w.choice([("weighted(fluent = 0.5, brief = 0.6)", "weighted(fluent = 0.5, brief = 0.5)", "remove 0.1"), ("all(fluent, brief), tresold = 0.5", "all(fluent, brief)", "threshold"), ("weighted(fluent, brief)", "weighted(fluent = 0.5, brief = 0.5)", "weighted(fluent = 0.5, brief = 0.5)"), ("al(fluent, brief)", "all(fluent, brief)", "`all"), ("mean(fluent, brief)", "weighted(fluent = 0.5, brief = 0.5)", "weighted("), ("all(fluent > 0.5, brief)", "all(fluent >= 0.5, brief)", "fluent >= 0.5")])
    use = w.choice(
        [
            "#[metric(all(both >= 0.5, fluent))]\nstruct Outer;\n",
            "#[metric(gate(proxy(both) >= 0.5, truth(thorough)))]\nstruct Outer;\n",
            "#[metric(tree(fluent { yes => both, no => 0.0 }))]\nstruct Outer;\n",
            "dsrs_metrics::main![both];\n",
            "fn call() { let _ = Both.score(&example! {}, &prediction! {}).unwrap().value; }\n",
            "fn call() { let _ = dsrs_metrics::Evaluate::builder().metric(Both).build(); }\n",
            "#[eval(devset = rows(), metrics(Both), gate(both >= 0.5))]\nfn program(question: &str) -> Prediction { prediction! { \"answer\" => question } }\nfn rows() -> Vec<Example> { Vec::new() }\n",
        ]
    )
    make = lambda attr: f"{fluent}/// Both.\n#[metric({attr})]\nstruct Both;\n{use}"
    return Mistake(FOLLOW, make(attr), make(good), [fix], attr, features="cli" if "main!" in use else "")
