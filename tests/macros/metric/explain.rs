//! `explain`: which calls explain a score, and the fields that the explaining function reads.

use std::sync::{Mutex, PoisonError};

use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, rows::Pair, runs::Observer};

/// How often a score was explained, on any thread.
static EXPLAINED: Mutex<u32> = Mutex::new(0);

/// Returns how often scores were explained meanwhile.
fn explained(run: impl FnOnce()) -> u32 {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    *EXPLAINED.lock().unwrap() = 0;
    run();
    *EXPLAINED.lock().unwrap()
}

/// Whether the answer is the expected one.
#[metric(explain = explain_same)]
fn same(#[gold] answer: &str, #[pred("answer")] guess: &str) -> bool {
    answer == guess
}

fn explain_same(answer: &str, guess: &str, score: f64) -> String {
    *EXPLAINED.lock().unwrap() += 1;
    format!("expected {answer}, found {guess}: {score}")
}

const WHY: &str = "expected Paris, found Lyon: 0";

fn row() -> (Example, Prediction) {
    (
        example! { "answer" => "Paris" },
        prediction! { "answer" => "Lyon" },
    )
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

#[test]
fn the_score_and_the_feedback_have_the_explanation() {
    let count = explained(the_explanation_is_returned);
    assert_eq!(count, 7);
}

fn the_explanation_is_returned() {
    let (gold, pred) = row();
    assert_eq!(
        Same.score(&gold, &pred).unwrap().details.as_deref(),
        Some(WHY)
    );
    let score = block_on(Same.evaluate(&gold, &pred)).unwrap();
    assert_eq!(score.details.as_deref(), Some(WHY));
    let scores = block_on(Same.evaluate_batch(&[(gold.clone(), pred.clone())]));
    assert_eq!(scores[0].as_ref().unwrap().details.as_deref(), Some(WHY));
    assert_eq!(
        block_on(Same.feedback_metric(&gold, &pred))
            .unwrap()
            .feedback,
        WHY
    );
    let objectives = block_on(Same.multi_objective_metric(&gold, &pred)).unwrap();
    assert_eq!(
        (
            objectives[0].feedback.as_str(),
            &objectives[0].metadata["details"]
        ),
        (WHY, &WHY.into())
    );
    let scored = Same
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap();
    assert_eq!(
        (scored.score.details.as_deref(), scored.feedback()),
        (Some(WHY), None)
    );
    let with_threshold = Same.with_cost_msats(5).score(&gold, &pred).unwrap();
    assert_eq!(
        (with_threshold.cost_msats, with_threshold.details.as_deref()),
        (5, Some(WHY))
    );
}

#[test]
fn nothing_is_explained_where_nobody_reads_it() {
    let (gold, pred) = row();
    let call = MetricCall::new(&gold, &pred).without_explanation();
    let count = explained(|| {
        let scored = Same.answer(call).ready().unwrap().unwrap();
        assert_eq!(
            (scored.passed, scored.score.details, call.is_explained()),
            (Some(false), None, false)
        );
    });
    assert_eq!(count, 0);
    let trace = Trace::default();
    let count = explained(|| assert!(!block_on(Same.accepts(&gold, &pred, &trace)).unwrap()));
    assert_eq!(count, 0);
}

struct Reader;

impl Observer for Reader {}

fn runs(evaluate: dsrs_metrics::runs::EvaluateBuilder<Example, Prediction>, rows: usize) -> u32 {
    let (gold, pred) = row();
    let pairs = (0..rows).map(|row| Pair::new(row.to_string(), gold.clone(), pred.clone()));
    let pairs: Vec<_> = pairs.collect();
    explained(|| {
        let result = block_on(evaluate.metric(Same).concurrency(1).score(pairs)).unwrap();
        assert_eq!((result.rows, result.score), (rows as u64, Some(0.0)));
    })
}

#[test]
fn a_run_explains_the_rows_that_it_keeps_writes_or_passes_to_an_observer() {
    let without_rows = || Evaluate::builder().keep_results(false);
    assert_eq!(runs(Evaluate::builder(), 3), 3);
    assert_eq!(runs(without_rows(), 3), 0);
    assert_eq!(runs(without_rows().observer(Reader), 3), 3);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.jsonl");
    assert_eq!(runs(without_rows().files(|files| files.jsonl(&file)), 1), 1);
    dsrs_metrics_tests::schema::validate_file(&file);
    let line: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let score = &line["scores"]["same"];
    // The text is written once.
    assert_eq!(
        (score["details"].as_str(), score["feedback"].as_str()),
        (Some(WHY), None)
    );
}

/// Whether the guess is short.
#[metric]
fn short(#[pred("answer")] guess: &str) -> bool {
    guess.len() < 5
}

/// Both.
#[metric(all(same, short))]
struct Both;

#[test]
fn a_composite_passes_it_on_to_its_components() {
    let (gold, pred) = row();
    let count = explained(|| {
        let details = Both.score(&gold, &pred).unwrap().details;
        assert_eq!(details.unwrap(), format!("same (0): {WHY}"));
    });
    assert_eq!(count, 1);
    let call = MetricCall::new(&gold, &pred).without_explanation();
    let count = explained(|| {
        let scored = Both.answer(call).ready().unwrap().unwrap();
        assert_eq!(
            (scored.score.value, scored.into_score().details),
            (0.0, None)
        );
    });
    assert_eq!(count, 0);
}

/// Every kind of parameter.
#[metric(explain = explain_all::<T, N>, threshold = 0.5, strict)]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "every kind of parameter"
)]
fn all<T: Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + Sync, const N: usize>(
    gold: &Example,
    trace: Option<&Trace>,
    pred_name: Option<&str>,
    #[pred] owned: Vec<String>,
    #[pred(default = 2)] absent: u32,
    #[pred] optional: Option<&str>,
    #[pred(named_by = field)] named: &str,
    #[param(default = "named")] field: &str,
    #[param(default)] words: &[String],
    #[gold] generic: T,
) -> f64 {
    let _ = (
        gold, trace, pred_name, absent, optional, named, field, words, generic,
    );
    if owned.len() == N { 0.75 } else { 0.25 }
}

#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "the parameters of the metric"
)]
fn explain_all<T: std::fmt::Debug, const N: usize>(
    gold: &Example,
    trace: Option<&Trace>,
    pred_name: Option<&str>,
    owned: Vec<String>,
    absent: u32,
    optional: Option<&str>,
    named: &str,
    field: &str,
    words: &[String],
    generic: T,
    score: f64,
) -> Option<String> {
    let (fields, tracing) = (gold.data.len(), trace.is_some());
    Some(format!(
        "{fields} {tracing} {pred_name:?} {owned:?} {absent} {optional:?} {named} {field} {words:?} {generic:?} {N} {score}"
    ))
}

#[test]
fn the_explanation_reads_every_kind_of_parameter() {
    let metric = All::<bool, 2>::builder().words(["w".to_owned()]).build();
    let gold = example! { "generic" => true };
    let pred = prediction! { "owned" => ["a", "b"], "named" => 7 };
    let trace = Trace::default();
    let call = MetricCall::new(&gold, &pred)
        .with_trace(&trace)
        .with_predictor("step", &trace);
    let scored = metric.answer(call).ready().unwrap().unwrap();
    let expected = r#"1 true Some("step") ["a", "b"] 2 None 7 named ["w"] true 2 1"#;
    assert_eq!(
        (scored.score.value, scored.score.details.as_deref()),
        (1.0, Some(expected))
    );
}

struct Question {
    answer: String,
}

struct Reply {
    answer: String,
}

/// Typed rows and a future.
#[metric(gold = Question, pred = Reply, explain = self::explain_later)]
async fn later(#[gold] answer: &str, #[pred("answer")] guess: &str) -> FeedbackMetric {
    FeedbackMetric::new(f64::from(u8::from(answer == guess)), "its own feedback")
}

const fn explain_later(_: &str, _: &str, score: f64) -> Option<&'static str> {
    if score < 1.0 { Some("too late") } else { None }
}

#[test]
fn details_of_the_metric_itself_become_its_feedback() {
    let question = Question {
        answer: "Paris".to_owned(),
    };
    let scored = |answer: &str| {
        let reply = Reply {
            answer: answer.to_owned(),
        };
        let scored = block_on(async { Later.answer(MetricCall::new(&question, &reply)).await });
        let scored = scored.unwrap();
        (scored.feedback().map(String::from), scored.score.details)
    };
    let own = Some("its own feedback".to_owned());
    assert_eq!(scored("Lyon"), (own.clone(), Some("too late".to_owned())));
    assert_eq!(scored("Paris"), (own.clone(), own));
}

/// An error.
#[metric(explain = explain_failure)]
fn failure(#[pred] answer: &str) -> Result<f64, String> {
    answer.parse().map_err(|_| "not a number".to_owned())
}

fn explain_failure(_: &str, score: f64) -> String {
    *EXPLAINED.lock().unwrap() += 1;
    format!("it is {score}")
}

#[test]
fn a_failure_is_not_explained() {
    let count = explained(|| {
        let error = Failure
            .score(&example! {}, &prediction! { "answer" => "six" })
            .unwrap_err();
        assert_eq!(error.to_string(), "metric `failure`: not a number");
    });
    assert_eq!(count, 0);
    let score = Failure
        .score(&example! {}, &prediction! { "answer" => "6" })
        .unwrap();
    assert_eq!(
        (score.value, score.details.as_deref()),
        (6.0, Some("it is 6"))
    );
}
