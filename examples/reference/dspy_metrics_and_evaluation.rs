//! "Metrics and evaluation" of DSPy. The document has no code blocks; each statement about an API is an example here.

use std::sync::atomic::{AtomicUsize, Ordering};

use dsrs_metrics::judge::shipped::{CompleteAndGrounded, DecompositionalSemanticF1, SemanticF1};
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::metrics::{AnswerExactMatch, AnswerPassageMatch};
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::{em, f1, hotpot_f1, normalize_text};
use dsrs_metrics::{
    Evaluate,
    rows::TraceStep,
    runs::{Module, ProgramError},
};
use serde_json::json;

use crate::{Result, passed};

pub(crate) async fn run() -> Result {
    a_metric_is_any_callable().await?;
    the_full_signature_has_five_arguments().await?;
    the_return_type_is_bool_float_or_a_score_with_feedback().await?;
    the_trace_turns_a_score_into_a_verdict().await?;
    string_metrics()?;
    semantic_f1().await?;
    complete_and_grounded().await?;
    the_general_judge_pattern().await?;
    evaluate().await?;
    one_executor_serves_batches().await?;
    passed("dspy_metrics_and_evaluation", "10 examples");
    Ok(())
}

fn row() -> (Example, Prediction) {
    (
        example! { "answer" => "Paris" },
        prediction! { "answer" => "paris" },
    )
}

/// Design decision 1: "an existing scoring function from any NLP or QA library wraps as a DSPy metric in one line".
async fn a_metric_is_any_callable() -> Result {
    fn from_a_library(reference: &str, hypothesis: &str) -> f64 {
        f64::from(reference.eq_ignore_ascii_case(hypothesis))
    }
    let text = |value: Option<&serde_json::Value>| {
        value.and_then(|it| it.as_str()).unwrap_or("").to_owned()
    };
    let metric = metric_fn("wrapped", move |gold, pred| {
        from_a_library(&text(gold.get("answer")), &text(pred.get("answer")))
    });
    let (gold, pred) = row();
    assert_eq!(metric.evaluate(&gold, &pred).await?.value, 1.0);
    Ok(())
}

/// Design decision 2: `(gold, pred, trace=None, pred_name=None, pred_trace=None)`; "a metric written today against
/// `(gold, pred)` keeps working".
#[metric]
fn steps(
    pred: &Prediction,
    trace: Option<&Trace>,
    pred_name: Option<&str>,
    pred_trace: Option<&Trace>,
) -> FeedbackMetric {
    let count = |trace: Option<&Trace>| trace.map_or(0, |trace| trace.steps.len());
    let feedback = format!(
        "{} of {} steps in {}",
        count(pred_trace),
        count(trace),
        pred_name.unwrap_or("no predictor")
    );
    FeedbackMetric::new(
        if pred.get("answer").is_some() {
            1.0
        } else {
            0.0
        },
        feedback,
    )
}

/// Passes if the answer is the expected one.
#[metric]
fn same(#[gold] answer: &str, #[pred("answer")] guess: &str) -> bool {
    answer.eq_ignore_ascii_case(guess)
}

async fn the_full_signature_has_five_arguments() -> Result {
    let (gold, pred) = row();
    let step = |predictor: &str| TraceStep {
        predictor: predictor.to_owned(),
        inputs: example! {},
        outputs: prediction! {},
    };
    let trace = Trace {
        steps: vec![step("search"), step("answer")],
    };
    let pred_trace = Trace {
        steps: vec![step("answer")],
    };
    let call = MetricCall::new(&gold, &pred)
        .with_trace(&trace)
        .with_predictor("answer", &pred_trace);
    assert_eq!(
        Steps.feedback_of(call).await?.feedback,
        "1 of 2 steps in answer"
    );
    assert_eq!(
        Steps.feedback_metric(&gold, &pred).await?.feedback,
        "0 of 0 steps in no predictor"
    );
    assert_eq!(Same.grade(call).await?, Grade::Verdict(true));
    Ok(())
}

/// Design decisions 3 and 4: "`Evaluate` aggregates booleans into a percentage and floats into a mean"; "`Evaluate`
/// ignores" the feedback.
async fn the_return_type_is_bool_float_or_a_score_with_feedback() -> Result {
    let evaluate = Evaluate::builder().devset((0..4).map(|row| example! { "row" => row }));
    let evaluate = evaluate.inputs(["row"]).metric(Same).build()?;
    let program = |inputs: Example| async move {
        prediction! { "row" => inputs.get("row").cloned() }
    };
    let number = |pred: &Prediction| pred.get("row").and_then(|row| row.as_f64()).unwrap_or(0.0);

    let bools = metric_fn("bools", move |_, pred| number(pred) > 0.0);
    let result = evaluate.to_builder().metric(bools).run(program).await?;
    assert_eq!(result.percent(), Some(75.0));
    assert_eq!(
        result.to_string(),
        "bools  75.00% [30.06, 95.44] (3/4, 0 failed)"
    );

    let floats = metric_fn("floats", move |_, pred| number(pred) / 4.0).with_range(0.0, 1.0);
    let result = evaluate.to_builder().metric(floats).run(program).await?;
    assert_eq!(result.score, Some(0.375));

    let scored = metric_fn("scored", move |_, pred| {
        FeedbackMetric::new(number(pred), "why")
    });
    let result = evaluate.to_builder().metric(scored).run(program).await?;
    assert_eq!(result.score, Some(1.5));
    Ok(())
}

/// Design decision 5: "the raw F1 when `trace is None` (evaluation) and a binarized `score >= threshold` when
/// `trace is not None`".
async fn the_trace_turns_a_score_into_a_verdict() -> Result {
    let judge = SemanticF1::builder()
        .threshold(0.66)
        .with_lm(replies(0.5, 1.0))
        .build();
    let (gold, pred) = (
        example! { "question" => "?", "response" => "a" },
        prediction! { "response" => "b" },
    );
    let trace = Trace::default();
    let evaluated = judge.grade(MetricCall::new(&gold, &pred)).await?;
    let Grade::Score(score) = evaluated else {
        return Err("expected a score".into());
    };
    assert_eq!(score.value, 2.0 / 3.0);
    assert_eq!(
        judge
            .grade(MetricCall::new(&gold, &pred).with_trace(&trace))
            .await?,
        Grade::Verdict(true)
    );
    Ok(())
}

/// A model that replies with this recall and precision.
fn replies(recall: f64, precision: f64) -> ScriptedLm {
    let reasoning = "Compared idea by idea.";
    ScriptedLm::new()
        .otherwise(json!({ "reasoning": reasoning, "recall": recall, "precision": precision }))
}

/// "Built-in metrics for strings and tokens".
fn string_metrics() -> Result {
    // normalize_text: NFD, lowercase, articles, punctuation, white space.
    assert_eq!(normalize_text("The  Caf\u{e9}, a bar!"), "cafe\u{301} bar");

    // EM(prediction, answers_list) -> bool; "raises if `answers_list` isn't a list".
    assert!(em("The Eiffel Tower", &["Louvre", "eiffel tower"])?);
    assert!(
        em("Paris", &[] as &[&str]).is_err_and(|error| error.to_string().contains("reference"))
    );

    // answer_exact_match(example, pred, trace=None, frac=1.0)
    let (gold, pred) = (
        example! { "answer" => "the capital, Paris" },
        prediction! { "answer" => "Paris" },
    );
    assert_eq!(AnswerExactMatch::default().score(&gold, &pred)?.value, 0.0);
    assert_eq!(
        AnswerExactMatch::builder()
            .frac(0.5)
            .build()
            .score(&gold, &pred)?
            .value,
        1.0
    );

    // answer_passage_match(example, pred, trace=None): "any passage in `pred.context` contains any reference".
    let passages =
        prediction! { "context" => ["Lyon is a city.", "Paris is the capital of France."] };
    assert_eq!(
        AnswerPassageMatch::default()
            .score(&example! { "answer" => ["Paris"] }, &passages)?
            .value,
        1.0
    );

    // F1 takes "the max across references"; HotPotF1 is 0 if one side is yes, no or noanswer and they disagree.
    assert_eq!(f1("the Eiffel Tower", &["Eiffel", "Louvre"])?, 2.0 / 3.0);
    assert_eq!(
        (
            f1("yes it is", &["yes"])?,
            hotpot_f1("yes it is", &["yes"])?
        ),
        (0.5, 0.0)
    );
    Ok(())
}

/// `SemanticF1(threshold=0.66, decompositional=False)`: "the same instance serves both modes".
async fn semantic_f1() -> Result {
    let gold = example! { "question" => "Capital of France?", "response" => "Paris, on the Seine" };
    let pred = prediction! { "response" => "Paris" };
    let trace = Trace::default();
    let judge = SemanticF1::builder()
        .threshold(0.7)
        .with_lm(replies(0.5, 1.0))
        .build();
    assert_eq!(judge.evaluate(&gold, &pred).await?.value, 2.0 / 3.0);
    assert!(!judge.accepts(&gold, &pred, &trace).await?);
    let ideas = json!({
        "reasoning": "", "ground_truth_key_ideas": ["Paris"], "system_response_key_ideas": ["Paris"],
        "discussion": "The same idea.", "recall": 1.0, "precision": 1.0,
    });
    let judge = DecompositionalSemanticF1::default().with_lm(ScriptedLm::new().otherwise(ideas));
    assert!(judge.accepts(&gold, &pred, &trace).await?);
    assert_eq!(SemanticF1::SPEC.threshold, Some(0.66));
    Ok(())
}

/// `CompleteAndGrounded(threshold=0.66)`: two calls, `f1_score(groundedness, completeness)`.
async fn complete_and_grounded() -> Result {
    let lm = ScriptedLm::new()
        .when(
            "retrieved_context",
            json!({ "reasoning": "", "system_response_claims": ["Paris"], "discussion": "", "groundedness": 1.0 }),
        )
        .otherwise(json!({
            "reasoning": "", "ground_truth_key_ideas": ["Paris", "Seine"], "system_response_key_ideas": ["Paris"],
            "discussion": "", "completeness": 0.5,
        }));
    let judge = CompleteAndGrounded::builder()
        .threshold(0.66)
        .build()
        .with_lm(lm);
    let gold = example! { "question" => "Capital of France?", "response" => "Paris, on the Seine" };
    let pred =
        prediction! { "response" => "Paris", "context" => ["Paris is the capital of France."] };
    let score = judge.evaluate(&gold, &pred).await?;
    assert_eq!(score.value, 2.0 / 3.0);
    assert!(judge.accepts(&gold, &pred, &Trace::default()).await?);
    Ok(())
}

/// "Write a `dspy.Signature` whose outputs include `score: float` (and optionally `feedback: str`)."
#[judge(score = score, threshold = 0.5, cost = "100 msat")]
struct Helpfulness {
    #[input(gold)]
    question: String,
    #[input(pred)]
    answer: String,
    /// how helpful the answer is
    #[output(range = 0.0..=1.0)]
    score: f64,
    /// what to change
    #[output]
    feedback: String,
}

async fn the_general_judge_pattern() -> Result {
    let lm = ScriptedLm::new()
        .otherwise(json!({ "reasoning": "", "score": 0.75, "feedback": "Name the river." }));
    let judge = HelpfulnessJudge::default().with_lm(lm);
    let (gold, pred) = (
        example! { "question" => "Where?" },
        prediction! { "answer" => "Paris" },
    );
    let feedback = judge.feedback_metric(&gold, &pred).await?;
    assert_eq!(
        (feedback.score, feedback.feedback.as_str()),
        (0.75, "Name the river.")
    );
    assert!(judge.accepts(&gold, &pred, &Trace::default()).await?);
    Ok(())
}

/// A program that answers what it knows.
struct Program;

#[async_trait]
impl Module for Program {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        // "runs `program(**example.inputs())`": the label is not visible.
        assert!(inputs.get("answer").is_none());
        match inputs
            .get("question")
            .and_then(|question| question.as_str())
        {
            Some("Capital of France?") => Ok(prediction! { "answer" => "Paris" }),
            Some("broken") => Err("no answer".into()),
            _ => Ok(prediction! { "answer" => "I do not know" }),
        }
    }
}

/// "The Evaluate harness": constructor, `__call__` with overrides, `failure_score`, `EvaluationResult`.
async fn evaluate() -> Result {
    let row =
        |question: &str, answer: &str| example! { "question" => question, "answer" => answer };
    let devset = [
        row("Capital of France?", "Paris"),
        row("Capital of Peru?", "Lima"),
        row("broken", "x"),
    ];
    let folder =
        std::env::temp_dir().join(format!("dsrs-metrics-reference-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;

    let evaluate = Evaluate::builder()
        .devset(devset.clone())
        .inputs(["question"])
        .metric(AnswerExactMatch::default())
        .concurrency(4)
        .display_progress(false)
        .display_table(false)
        .max_errors(10)
        .failures(|failures| failures.provide_traceback(true).score(0.0))
        .files(|files| {
            files
                .csv(folder.join("rows.csv"))
                .json(folder.join("rows.json"))
        })
        .build()?;
    let result = evaluate.run(Program).await?;
    // `percent` is DSPy's score, from 0 to 100; `score` is in the range of the metric.
    assert_eq!(
        result
            .percent()
            .map(|score| format!("{score:.2}"))
            .as_deref(),
        Some("33.33")
    );
    assert_eq!(result.score, Some(1.0 / 3.0));

    // `.results` is "the list of `(example, prediction, score)` triples"; a failure has `failure_score`.
    let scores: Vec<Option<f64>> = result.triples().map(|(_, _, score)| score).collect();
    assert_eq!(scores, [Some(1.0), Some(0.0), Some(0.0)]);
    assert!(result.triples().next().is_some_and(|(example, pred, _)| {
        example.get("answer") == pred.and_then(|pred| pred.get("answer"))
    }));

    // "`save_as_csv` / `save_as_json` write per-example results to disk".
    assert_eq!(
        std::fs::read_to_string(folder.join("rows.csv"))?
            .lines()
            .count(),
        4
    );
    assert!(std::fs::read_to_string(folder.join("rows.json"))?.contains("Capital of Peru?"));
    std::fs::remove_dir_all(folder)?;

    // `Evaluate.__call__(program, metric=None, devset=None, ...)`.
    let evaluate = Evaluate::builder()
        .devset(devset.clone())
        .inputs(["question"])
        .metric(Same)
        .build()?;
    let other = evaluate
        .to_builder()
        .metric(AnswerExactMatch::default())
        .devset(devset.into_iter().take(1))
        .run(Program)
        .await?;
    assert_eq!((other.rows, other.percent()), (1, Some(100.0)));

    // "`repr` shows the score and the result count".
    assert_eq!(
        other.to_string(),
        "answer_exact_match  100.00% [20.65, 100.00] (1/1, 0 failed)"
    );
    Ok(())
}

/// Design decision 8: "The same executor that `dspy.Parallel` and `Module.batch` use".
async fn one_executor_serves_batches() -> Result {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    #[async_trait]
    impl Module for Counted {
        async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
            RUNS.fetch_add(1, Ordering::Relaxed);
            Program.forward(inputs).await
        }
    }
    let examples = ["Capital of France?", "broken"]
        .map(|question| example! { "question" => question }.with_inputs(["question"]));
    let answers = Counted.batch(examples.into(), 2).await;
    assert_eq!(RUNS.load(Ordering::Relaxed), 2);
    assert_eq!(
        answers[0]
            .as_ref()
            .map_err(ToString::to_string)?
            .get("answer"),
        Some(&json!("Paris"))
    );
    assert_eq!(
        answers[1]
            .as_ref()
            .map_err(ToString::to_string)
            .err()
            .as_deref(),
        Some("no answer")
    );
    Ok(())
}
