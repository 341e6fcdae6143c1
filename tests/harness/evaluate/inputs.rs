//! A program receives the inputs of a row and never its labels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::InputError,
    runs::{EvaluateBuilder, Evaluator, Module, ProgramError},
    scoring::Scorer,
};

/// Copies the expected answer, if it is visible.
struct Copy(Arc<AtomicU64>);

#[async_trait]
impl Module for Copy {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(prediction! { "answer" => inputs.get("answer") })
    }
}

impl Evaluator for Copy {
    const DISPLAY_PROGRESS: bool = false;

    async fn metric(&self, gold: &Example, pred: &Prediction) -> dsrs_metrics::Result<f64> {
        Ok(f64::from(u8::from(
            gold.get("answer") == pred.get("answer"),
        )))
    }
}

fn copy() -> (Copy, Arc<AtomicU64>) {
    let calls = Arc::default();
    (Copy(Arc::clone(&calls)), calls)
}

fn row(question: &str) -> Example {
    example! { "question" => question, "answer" => "4" }
}

fn builder() -> EvaluateBuilder<Example, Prediction> {
    let same = metric_fn("same", |gold, pred| {
        gold.get("answer") == pred.get("answer")
    });
    Evaluate::builder().metric(same)
}

const UNDECLARED: &str = "the inputs are not declared, so the program would receive the labels too; write `.with_inputs([..])` on each row, or `.inputs([..])` once for the run, with the fields that the program may read (the row has `question`, `answer`)";

#[tokio::test]
async fn a_program_never_runs_without_declared_inputs() {
    let (program, calls) = copy();
    let rows = || [row("a").with_inputs(["question"]), row("b")];
    let error = builder()
        .devset(rows())
        .build()
        .unwrap()
        .run(program)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), format!("row 2: {UNDECLARED}"));
    assert_eq!(
        calls.load(Ordering::SeqCst),
        0,
        "it is an error before the first row"
    );

    let error = Copy(Arc::clone(&calls))
        .evaluate(rows().into())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), format!("row 2: {UNDECLARED}"));
    let scorer = Scorer::builder()
        .metric(metric_fn("any", |_, _| true))
        .build()
        .unwrap();
    let error = scorer
        .run(Copy(Arc::clone(&calls)), [row("a")], 1)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), format!("row 1: {UNDECLARED}"));
    let rollout = scorer.run_row(&Copy(Arc::clone(&calls)), &row("a")).await;
    let reason = format!("no score: the program failed: {UNDECLARED}");
    assert_eq!(rollout.status.to_string(), reason);
    let batch = Copy(Arc::clone(&calls)).batch(vec![row("a")], 1).await;
    assert_eq!(batch[0].as_ref().unwrap_err().to_string(), UNDECLARED);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_expected_answer_does_not_reach_the_program() {
    let devset = || [row("a"), row("b")];
    let evaluate = builder()
        .devset(devset())
        .inputs(["question"])
        .build()
        .unwrap();
    assert_eq!(evaluate.run(copy().0).await.unwrap().score, Some(0.0));
    let closure = |row: Example| async move {
        prediction! { "answer" => row.get("answer") }
    };
    assert_eq!(evaluate.run(closure).await.unwrap().score, Some(0.0));
    let rows = futures_util::stream::iter(devset());
    let streamed = evaluate.to_builder().devset_stream(rows).run(closure).await;
    assert_eq!(streamed.unwrap().score, Some(0.0));

    // The row's own declaration takes precedence, and the answer is an input if somebody names it.
    let cheating = devset().map(|row| row.with_inputs(["answer"]));
    let result = evaluate
        .to_builder()
        .devset(cheating)
        .run(closure)
        .await
        .unwrap();
    assert_eq!(result.score, Some(1.0));

    let same = metric_fn("same", |gold, pred| {
        gold.get("answer") == pred.get("answer")
    });
    let scorer = Scorer::builder()
        .metric(same)
        .inputs(["question"])
        .build()
        .unwrap();
    let result = scorer.run(closure, devset(), 2).await.unwrap();
    assert_eq!(result.summary.mean, Some(0.0));
    let rollout = scorer.run_row(&closure, &row("a")).await;
    assert_eq!(rollout.rollouts[0].outcomes[0].value(), Some(0.0));
}

/// Pointers to examples are rows of another type, and have labels as well.
#[tokio::test]
async fn examples_behind_a_pointer_have_labels() {
    #[metric]
    fn leaks(#[pred] answer: Option<&str>) -> bool {
        answer.is_some()
    }
    fn seen(row: &Example) -> Prediction {
        prediction! { "answer" => row.get("answer") }
    }
    let declared = || row("a").with_inputs(["question"]);
    let shared = |row| {
        Evaluate::<Arc<Example>, Prediction>::typed()
            .metric(Leaks)
            .devset([row])
    };
    let program = |row: Arc<Example>| async move { seen(&row) };
    assert_eq!(
        shared(Arc::new(declared()))
            .run(program)
            .await
            .unwrap()
            .score,
        Some(0.0)
    );
    let error = shared(Arc::new(row("a"))).run(program).await.unwrap_err();
    assert_eq!(error.to_string(), format!("row 1: {UNDECLARED}"));
    let boxed = Evaluate::<Box<Example>, Prediction>::typed().metric(Leaks);
    let result = boxed
        .devset([Box::new(declared())])
        .run(|row: Box<Example>| async move { seen(&row) });
    assert_eq!(result.await.unwrap().score, Some(0.0));
}

#[tokio::test]
async fn an_input_that_no_row_has_is_an_error_with_the_nearest_name() {
    let (program, calls) = copy();
    let evaluate = builder().devset([row("a"), row("b")]).build().unwrap();
    let run = evaluate
        .to_builder()
        .inputs(["question", "quesion"])
        .run(program);
    let error = run.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no row has the input `quesion`; did you mean `question`?"
    );
    let devset = [
        row("a"),
        row("b").with_inputs(["context"]),
        example! { "context" => 1 },
    ];
    let run = builder().devset(devset.map(|row| match row.input_keys() {
        None => row.with_inputs([""; 0]),
        Some(_) => row,
    }));
    let error = run.run(Copy(Arc::clone(&calls))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no row has the input `context`; the first row has `question`, `answer`",
        "the row that has the field does not declare it"
    );
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_row_that_lacks_an_input_fails_without_a_call() {
    let (program, calls) = copy();
    let devset = || {
        [
            row("a"),
            example! { "questions" => "b", "answer" => "4" },
            example! {},
        ]
    };
    let evaluate = builder()
        .inputs(["question"])
        .repeats(1)
        .devset(devset())
        .build()
        .unwrap();
    let result = evaluate.run(program).await.unwrap();
    assert_eq!((calls.load(Ordering::SeqCst), result.failed_rows), (1, 2));
    let error = |row: usize| result.results[row].outcomes[0].error().unwrap();
    assert_eq!(error(1), "no input `question`; did you mean `questions`?");
    assert_eq!(error(2), "no input `question`; the row has no fields");
    assert!(
        result.results[1].outcomes[0].name() == "program_failed"
            && result.results[1].pred.is_none()
    );

    // A stream is not known before its rows are read, so each row without the input fails.
    let rows = futures_util::stream::iter([row("a"), row("b")]);
    let run = builder()
        .inputs(["quesion"])
        .devset_stream(rows)
        .run(Copy(Arc::clone(&calls)));
    let result = run.await.unwrap();
    assert_eq!(
        result.to_string(),
        "same  not enough rows (0/2 scored, 2 failed)\n\
         first error: row `0`: no input `quesion`; did you mean `question`?"
    );
    let rows = futures_util::stream::iter([row("a").with_inputs(["question"]), row("b")]);
    let error = builder()
        .devset_stream(rows)
        .concurrency(1)
        .run(Copy(Arc::clone(&calls)));
    assert_eq!(
        error.await.unwrap_err().to_string(),
        format!("row 2: {UNDECLARED}")
    );
    assert_eq!(
        calls.load(Ordering::SeqCst),
        2,
        "only the first row of the last stream was run"
    );

    let scorer = Scorer::builder()
        .metric(metric_fn("any", |_, _| true))
        .inputs(["quesion"]);
    let result = scorer
        .build()
        .unwrap()
        .run(Copy(Arc::clone(&calls)), [row("a")], 1)
        .await;
    let failed = "no score: the program failed: no input `quesion`; did you mean `question`?";
    assert_eq!(result.unwrap().rows[0].status.to_string(), failed);
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn rows_without_fields_and_given_predictions_need_no_inputs() {
    let result = builder().devset([example! {}]).run(copy().0).await.unwrap();
    assert_eq!(result.failed_rows, 0);
    let pair = dsrs_metrics::rows::Pair::new("a", row("a"), prediction! { "answer" => "4" });
    let result = builder().score([pair]).await.unwrap();
    assert_eq!(result.score, Some(1.0));
}

#[test]
fn errors_of_inputs_are_values() {
    let undeclared: InputError = row("a").inputs().unwrap_err();
    assert_eq!(
        undeclared.to_string(),
        "the inputs are not declared, so the program would receive the labels too; write `.with_inputs([..])` on each row, or `.inputs([..])` once for the run, with the fields that the program may read (the row has `question`, `answer`)"
    );
    let missing = row("a").with_inputs(["x"]).inputs().unwrap_err();
    assert_eq!(
        missing.to_string(),
        "no input `x`; the row has `question`, `answer`"
    );
    let textual = Example::from(row("a").data.textual()).with_inputs(["question"]);
    assert_eq!(
        textual.inputs().unwrap().data,
        example! { "question" => "a" }.data.textual()
    );
    assert_eq!(
        textual.labels().data,
        example! { "answer" => "4" }.data.textual()
    );
}
