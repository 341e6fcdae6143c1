//! What the notes of the traits say to write, each above the code that does so. A test compares the notes with these
//! comments, in both directions, so a new note needs code here. The file is long because each note has its code.

use dsrs_metrics::prelude::*;

// note: a row cannot have both types: remove a component, or let it read fields (`#[gold] name: T`, `#[pred] name:
// T`) of any row instead of whole rows of one type
mod rows_of_one_type {
    use dsrs_metrics::prelude::*;

    #[metric]
    fn named(#[gold] name: String, #[pred("name")] found: String) -> bool {
        name == found
    }

    #[metric]
    fn short(#[pred] name: &str) -> bool {
        name.len() < 9
    }

    #[metric(all(Named, Short))]
    pub struct Both;
}

// note: refer to a component by its `#[metric]` function or struct; the judge of `struct Polite` is `polite_judge`;
// add a metric written by hand with `Composite::builder(..)`
mod components {
    use dsrs_metrics::composite::{Composite, component, weighted};
    use dsrs_metrics::prelude::*;

    #[metric]
    fn short(#[pred] answer: &str) -> bool {
        answer.len() < 9
    }

    /// Is the answer polite?
    #[judge(cost = "1 msat")]
    struct Polite {
        #[input(pred)]
        answer: String,
        #[output]
        polite: bool,
    }

    #[metric(all(short, polite_judge))]
    pub struct Both;

    pub fn by_hand(half: super::Half) {
        let parts = weighted([(component(half), 0.5), (component(Short), 0.5)]);
        let _ = Composite::builder("both", parts).build();
    }
}

// note: write an expression over the outputs that returns a number, as in `score = harmonic_mean(precision,
// recall)`; mark a function that returns a `bool` as a verdict: `score = is_good(grade) as bool`
mod scores {
    use dsrs_metrics::prelude::*;

    fn is_good(grade: u8) -> bool {
        grade > 3
    }

    /// Grade the answer.
    #[judge(cost = "1 msat", score = harmonic_mean(precision, recall))]
    pub struct Grade {
        #[input(pred)]
        answer: String,
        #[output(range = 0.0..=1.0)]
        precision: f64,
        #[output(range = 0.0..=1.0)]
        recall: f64,
    }

    /// Grade the answer.
    #[judge(cost = "1 msat", score = is_good(grade) as bool)]
    pub struct Good {
        #[input(pred)]
        answer: String,
        #[output(range = 1..=5)]
        grade: u8,
    }
}

// note: each branch is a variant of the enum that the judge answers with: write `#[judge_output]` above the enum,
// and remove the fields of its variants
mod trees {
    use dsrs_metrics::prelude::*;

    #[judge_output]
    pub enum Tone {
        Kind,
        Rude,
    }

    /// Judge the tone.
    #[judge(cost = "1 msat", score = tone == Tone::Kind)]
    pub struct OfReply {
        #[input(pred)]
        answer: String,
        #[output]
        tone: Tone,
    }

    #[metric(tree(of_reply_judge { Kind => 1.0, Rude => 0.0 }))]
    pub struct Polite;
}

// note: each branch is a variant of the enum in the judge's only output; write `yes => ..` and `no => ..` for a
// metric that returns a `bool`, and no branches for a metric whose score is the tree's score
mod branches {
    use dsrs_metrics::metrics::F1;
    use dsrs_metrics::prelude::*;

    #[metric]
    fn short(#[pred] answer: &str) -> bool {
        answer.len() < 9
    }

    #[metric(tree(short { yes => F1, no => 0.0 }))]
    pub struct ShortOrNone;
}

// note: write `fn name(inputs: &[Option<&str>]) -> serde_json::Map<String, serde_json::Value>`: the inputs as
// strings, in the order of the struct, and the outputs by name
mod offline {
    use dsrs_metrics::prelude::*;

    fn name(inputs: &[Option<&str>]) -> serde_json::Map<String, serde_json::Value> {
        serde_json::Map::from_iter([("polite".to_owned(), inputs[0].is_some().into())])
    }

    /// Is the answer polite?
    #[judge(cost = "1 msat", offline = name)]
    pub struct Polite {
        #[input(pred)]
        answer: String,
        #[output]
        polite: bool,
    }
}

// note: an output is `bool`, a number, `String`, `Vec<_>`, an `Option` of these, or your own type: write
// `#[judge_output]` above it, or derive `serde::Deserialize` and `schemars::JsonSchema`
mod outputs {
    use dsrs_metrics::judge::schemars;
    use dsrs_metrics::prelude::*;

    #[judge_output]
    pub struct Claim {
        text: String,
        is_true: bool,
    }

    #[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
    #[schemars(crate = "dsrs_metrics::judge::schemars")]
    pub struct Topic {
        name: String,
    }

    /// Check the answer.
    #[judge(cost = "1 msat", score = (claims.iter().all(|claim| claim.is_true) && topic.is_some() && words > 0) as bool)]
    pub struct Checked {
        #[input(pred)]
        answer: String,
        #[output]
        claims: Vec<Claim>,
        #[output]
        topic: Option<Topic>,
        #[output]
        words: u32,
    }
}

// note: write `{J}`, the metric that `#[judge]` generates
fn the_metric_of_a_judge() {
    let _ = outputs::CheckedJudge::default();
}

// note: declare it as an `#[input(..)]`, which the prompt marks as data, not instructions; use `.get()` in code that
// computes with it
fn what_an_input_contains(input: &outputs::CheckedInput) -> String {
    format!("{} characters", input.answer.get().len())
}

// note: an input is `String`, `bool`, a number, `Vec<_>`, an `Option` of these, or any type that derives
// `serde::Serialize` and `serde::Deserialize`
mod inputs {
    use dsrs_metrics::prelude::*;

    #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
    pub struct Source {
        title: String,
    }

    /// Does the answer follow from the sources?
    #[judge(cost = "1 msat")]
    pub struct Grounded {
        #[input(gold)]
        sources: Vec<Source>,
        #[input(pred)]
        answer: String,
        #[input(pred)]
        count: Option<u64>,
        #[output]
        grounded: bool,
    }
}

// note: write `.evaluate(&gold, &pred).await` instead of `.score(&gold, &pred)`
async fn evaluated<M: Metric>(metric: M) {
    let (gold, pred) = (example! {}, prediction! {});
    let _ = metric.evaluate(&gold, &pred).await;
}

// note: write `metric_fn("name", |gold, pred| ..)`
fn of_a_closure() -> impl Metric {
    metric_fn("name", |gold, pred| gold.get("answer") == pred.get("answer"))
}

// note: return `bool`, `f64`, `f32`, an integer, `MetricScore`, `FeedbackMetric`, `Scores`, `Check` or
// `Breakdown`, or an `Option` of one of these (`None` abstains), or a `Result<_, E>` of one of these with `E:
// Display` (an error fails the row), or a `Send` future of one of these that does not borrow the rows: `async
// move { .. }`
fn of_closures() {
    let _ = metric_fn("share", |_, _| 0.5_f32);
    let _ = metric_fn("count", |_, _| 3_u8).with_range(0.0, 9.0);
    let _ = metric_fn("score", |_, _| MetricScore::new(0.5));
    let _ = metric_fn("explained", |_, _| FeedbackMetric::new(0.5, "half"));
    let _ = metric_fn("maybe", |_, _| Some(true));
    let _ = metric_fn("tried", |_, _| Err::<f64, _>("no answer"));
    let _ = metric_fn("later", |_, pred| {
        let length = pred.data.len();
        async move { length < 3 }
    });
}

// note: annotate a function with `#[metric]` and pass its struct (`Overlap` for `fn overlap`), wrap a closure in
// `metric_fn("name", |gold, pred| ..)`, end a builder with `.build()`, or implement `Metric` by hand; a metric over
// rows of your own type needs `#[derive(Record)]` on them
#[metric]
fn overlap(#[pred] answer: &str, #[param] least: usize) -> bool {
    answer.len() >= least
}

struct Half;

#[async_trait]
impl Metric for Half {
    fn name(&self) -> &str {
        "half"
    }

    async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        Ok(MetricScore::new(0.5))
    }
}

fn metrics() {
    let overlap = Overlap::builder().least(3).build();
    let _ = dsrs_metrics::Evaluate::builder().metric(overlap).metric(Half);
}

// note: a metric has a verdict if it returns `bool` or has a threshold: `#[metric(threshold = ..)]`; a metric
// written by hand needs `impl AcceptanceTest for .. {}`
#[metric(threshold = 0.5)]
fn share(#[pred] share: f64) -> f64 {
    share
}

impl AcceptanceTest for Half {}

fn accepts() -> [Box<dyn AcceptanceTest>; 2] {
    [Box::new(Share), Box::new(Half)]
}

// note: write `#[derive(Debug, Clone, ParamGroup)]` before the struct, or remove `flatten` if this is one
// parameter
#[derive(Debug, Clone, ParamGroup)]
struct Limits {
    #[param(default = 9)]
    most: usize,
}

// note: derive `serde::Deserialize` for `{Self}`, so that a command line can set the parameter
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
enum Mode {
    Strict,
    Lax,
}

#[derive(Debug, Clone, ParamGroup)]
struct Modes {
    #[param(default = Mode::Lax)]
    mode: Mode,
}

// note: write `#[param(flatten)] settings: &{G}` in the metric's function
#[metric]
fn limited(#[pred] answer: &str, #[param(flatten)] settings: &Limits) -> bool {
    answer.len() <= settings.most
}

fn set() -> Limited {
    Limited::builder().most(3).build()
}

// note: annotate its function with `#[metric]`, and derive `serde::Deserialize` for the type of each `#[param]`
#[metric]
fn moded(#[pred] answer: &str, #[param(default = Mode::Strict)] mode: Mode) -> bool {
    answer.is_empty() || mode == Mode::Lax
}

fn configured<M: dsrs_metrics::contract::Configure>() {}

// note: write `{Self}::builder()`, set the parameters, then `.build()`
fn built() -> Overlap {
    Overlap::builder().least(3).build()
}

// note: pass a reference to a `{T}`; to score the dynamic row `{D}`, derive `serde::Deserialize` for `{T}`
#[derive(Debug, Clone, Record, serde::Deserialize)]
struct Question {
    answer: String,
    context: Option<String>,
}

#[metric(gold = Question)]
fn asked(#[gold] answer: &str, #[gold] context: Option<&str>, #[pred("answer")] found: &str) -> bool {
    answer == found && context.is_none()
}

fn scored(question: &Question) {
    let _ = Asked.score(question, &prediction! { "answer" => "4" });
    let _ = Asked.score(&example! { "answer" => "4" }, &prediction! { "answer" => "4" });
}

// note: write the field's type for the parameter, `{Self}`, or its borrowed form, such as `&str` for `String`
// and `Option<&str>` for `Option<String>`
#[metric(gold = Question)]
fn owned(#[gold] answer: String, #[gold] context: Option<String>) -> bool {
    Some(answer) == context
}

// note: give a `{T}`, or a `Result<{T}, E>` whose error `E` implements `Display` and borrows nothing
fn streams() {
    let rows = [Ok::<_, String>(example! {}), Err("no more".to_owned())];
    let _ = dsrs_metrics::Evaluate::builder().devset_stream(futures_util::stream::iter(rows));
    let _ = dsrs_metrics::Evaluate::builder().devset_stream(futures_util::stream::iter([example! {}]));
}

// note: return a `{P}`, a `ProgramOutput<{P}>`, or a `Result` of one whose error implements `Display` and
// borrows nothing; for dynamic rows, write `prediction! { "answer" => answer }`
async fn programs(evaluate: &dsrs_metrics::Evaluate) {
    use dsrs_metrics::runs::ProgramOutput;
    let _ = evaluate.run(|_: Example| async move { prediction! { "answer" => "4" } }).await;
    let _ = evaluate.run(|_: Example| async move { ProgramOutput::new(prediction! {}) }).await;
    let _ = evaluate.run(|_: Example| async move { Err::<Prediction, _>("no answer".to_owned()) }).await;
}

// note: pass a closure `|row: {G}| async move { .. }`, the name (without `()`) of an `async fn program(row: {G}) -> {P}`,
// or a type that implements `Module`
async fn program(row: Example) -> Prediction {
    prediction! { "count" => row.data.len() }
}

struct Echo;

#[async_trait]
impl dsrs_metrics::runs::Module for Echo {
    async fn forward(&self, _: Example) -> Result<Prediction, dsrs_metrics::runs::ProgramError> {
        Ok(prediction! {})
    }
}

async fn more_programs(evaluate: &dsrs_metrics::Evaluate) {
    let _ = evaluate.run(|row: Example| async move { program(row).await }).await;
    let _ = evaluate.run(program).await;
    let _ = evaluate.run(Echo).await;
}

// note: add `#[derive(Record)]` to the row, or use `Example` and `Prediction`
#[metric]
fn named(#[pred(named_by = field)] text: &str, #[param(default = "answer")] field: String) -> bool {
    text.is_empty()
}

fn by_name(question: &Question) {
    let _ = Named::default().score(question, question);
    let _ = Named::default().score(&example! {}, &prediction! {});
}

// note: a field parameter is `&str`, `String`, `bool`, a number, `&[String]`, `Vec<_>`, `&Value`, or any type
// that derives `serde::Deserialize` (a type parameter: `T: serde::de::DeserializeOwned`); an `Option` of these
// makes the field optional
#[metric]
fn fields<T: serde::de::DeserializeOwned>(
    #[gold] text: &str,
    #[gold] words: &[String],
    #[gold] any: Option<T>,
    #[pred] raw: &serde_json::Value,
    #[pred] mode: Option<Mode>,
    #[pred] share: f64,
) -> bool {
    text.is_empty() && words.is_empty() && any.is_none() && raw.is_null() && mode.is_none() && share > 0.0
}

// note: derive `serde::Deserialize` for `{Self}`, or ask for a metric over its row types: `Metric<Gold, Pred>`
#[derive(Record)]
struct Own {
    answer: String,
}

#[metric(gold = Own, pred = Own)]
fn of_own(#[gold] answer: &str, #[pred("answer")] found: &str) -> bool {
    answer == found
}

fn over_own() -> Box<dyn Metric<Own, Own>> {
    Box::new(OfOwn)
}

// note: return `String`, `&'static str`, or an `Option` of one of these (`None` leaves the score without
// details)
#[metric(explain = |given, _, _| Some(format!("found {given}")))]
fn explained(#[pred] given: f64, #[gold] wanted: f64) -> bool {
    given == wanted
}

#[metric(explain = |_, _| "compared with nothing")]
fn fixed(#[pred] given: f64) -> bool {
    given > 0.0
}

// note: return `CorpusCounts`, a type from `dsrs_metrics::stats`, or a type that implements `CorpusState`, or an
// `Option` or `Result` of one of these
#[metric(corpus, lower_is_better)]
fn error_rate(#[pred] wrong: u64, #[pred] words: u64) -> dsrs_metrics::contract::CorpusCounts {
    let rate = |counts: &[u64]| (counts[1] > 0).then(|| counts[0] as f64 / counts[1] as f64);
    dsrs_metrics::contract::CorpusCounts::new([wrong, words], rate)
}

// note: return `bool`, `f64`, `f32`, an integer, `MetricScore`, `FeedbackMetric`, `Scores`, `Check` or
// `Breakdown`, or an `Option` of one of these (`None` abstains), or a `Result<_, E>` of one of these with `E:
// Display` (an error fails the row); a `#[metric(corpus)]` returns a type that implements `CorpusState`
#[metric]
fn tried(#[pred] given: &str) -> Result<f64, std::num::ParseFloatError> {
    given.parse()
}

#[metric]
fn maybe(#[pred] given: &str) -> Option<FeedbackMetric> {
    Some(FeedbackMetric::new(0.5, given))
}

// note: implement `EmbeddingModel` for it, or use a `ScriptedEmbedder`; with the `lm` feature, `ProviderEmbedder::from_env()` returns a provider's model
fn embedders() {
    let _ = dsrs_metrics::lm::ScriptedEmbedder::new();
}

// note: pass a name such as `"openai:gpt-6-luna"`, or a value that implements `LanguageModel`, optionally in an `Arc`
fn models(judge: outputs::CheckedJudge) {
    let judge = judge.with_lm("openai:gpt-6-luna");
    let _ = judge.with_lm(std::sync::Arc::new(dsrs_metrics::lm::ScriptedLm::new()));
}

// note: implement `LanguageModel` for it, or use a `ScriptedLm`; with the `lm` feature, `Lm::from_env()` returns a provider's model
fn language_models() -> impl dsrs_metrics::lm::LanguageModel {
    dsrs_metrics::lm::ScriptedLm::new()
}

// note: pass a `&str`, `String`, `serde_json::Value`, `LmReply`, `LmError`, a `Result` of these, or a closure
// `|request: &LmRequest| ..` that returns one
fn scripted() {
    let lm = dsrs_metrics::lm::ScriptedLm::new().otherwise("yes");
    let lm = lm.otherwise(String::from("yes")).otherwise(serde_json::json!({ "good": true }));
    let _ = lm.otherwise(|request: &dsrs_metrics::lm::LmRequest| format!("{}", request.messages.len()));
}

// note: write `.devset(rows)` for a `Vec` or another iterator of rows, `.devset("dev.jsonl")` for a file, whose
// row type needs `#[derive(serde::Deserialize)]`, and `.devset_stream(rows)` for a stream; write
// `Evaluate::typed()` for rows of your own type, `.iter().cloned()` for references to rows, and
// `Example::from_serialize(&value)` for other values
fn devsets(rows: &[Question], values: &[Mode2]) {
    let _ = dsrs_metrics::Evaluate::builder().devset(vec![example! {}]);
    let _ = dsrs_metrics::Evaluate::builder().devset("dev.jsonl");
    let _ = dsrs_metrics::Evaluate::<Question, Question>::typed().devset(rows.iter().cloned());
    let examples = values.iter().filter_map(|value| Example::from_serialize(&value).ok());
    let _ = dsrs_metrics::Evaluate::builder().devset(examples);
}

// note: write `.inputs("question")` for one input, and `.inputs(["question", "context"])` for several
fn inputs_of_programs() {
    let _ = dsrs_metrics::Evaluate::builder().inputs("question");
    let _ = dsrs_metrics::Evaluate::builder().inputs(["question", "context"]);
}

// note: write `.metric(..)` once for each metric; a list of different metrics is a `Vec<Box<dyn Metric>>`
fn lists() {
    let different: Vec<Box<dyn Metric>> = vec![Box::new(Half), Box::new(Share)];
    let _ = dsrs_metrics::Evaluate::builder().metrics(different).metric(Half);
}

#[derive(serde::Serialize)]
struct Mode2 {
    answer: String,
}

pub fn main() {}
