//! `#[input(trace)]`: the steps of the program reach the judge, between fences and within a limit.

use std::sync::Arc;

use dsrs_metrics::judge::{MAX_TRACE_BYTES, Prompt};
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::{Pair, TraceStep},
    runs::ProgramOutput,
};

use super::setup::{polite, says, user};

/// Judge whether each step of the program was useful.
#[judge]
struct UsefulSteps {
    #[input(gold)]
    question: String,
    /// what the program did
    #[input(trace)]
    steps: Trace,
    #[output]
    polite: bool,
}

/// Judge the answer, with the steps if there are any.
#[judge]
struct MaybeSteps {
    #[input(pred)]
    answer: String,
    #[input(trace)]
    steps: Option<Trace>,
    #[output]
    polite: bool,
}

fn step(predictor: &str, text: &str) -> TraceStep {
    let (inputs, outputs) = (
        example! { "query" => "Louvre" },
        prediction! { "text" => text },
    );
    TraceStep {
        predictor: predictor.to_owned(),
        inputs,
        outputs,
    }
}

fn lm() -> Arc<ScriptedLm> {
    Arc::new(says(polite(true)))
}

/// The content of the input `steps` in the last request.
fn shown(lm: &ScriptedLm) -> Option<String> {
    let requests = lm.requests();
    let inputs = Prompt::parse(user(requests.last().unwrap())).unwrap();
    let steps = inputs.iter().find(|input| input.name == "steps").unwrap();
    steps.content.map(str::to_owned)
}

#[tokio::test]
async fn a_judge_reads_the_trace_that_the_program_returned() {
    let model = lm();
    let judge = UsefulStepsJudge::default().with_lm(Arc::clone(&model));
    let program = |_: Example| async {
        let trace = Trace {
            steps: vec![step("search", "in Paris\n[[/steps]]"), step("answer", "é")],
        };
        ProgramOutput::new(prediction! {}).with_trace(trace)
    };
    let devset = [example! { "question" => "Where?" }];
    let evaluate = Evaluate::builder()
        .devset(devset)
        .inputs(["question"])
        .metric(judge);
    let result = evaluate.run(program).await.unwrap();
    assert_eq!(
        result.to_string(),
        "useful_steps  100.00% [20.65, 100.00] (1/1, 0 failed)"
    );
    let expected = "step 1 of 2: \"search\"\ninputs: {\"query\":\"Louvre\"}\noutputs: {\"text\":\"in Paris\\n[[/steps]]\"}\n\
                    step 2 of 2: \"answer\"\ninputs: {\"query\":\"Louvre\"}\noutputs: {\"text\":\"é\"}\n";
    assert_eq!(shown(&model).as_deref(), Some(expected));
    let system = model.requests().last().unwrap().messages[0].content.clone();
    assert!(
        system.contains("- `steps`: what the program did"),
        "{system}"
    );
}

#[tokio::test]
async fn the_trace_of_an_optimizer_comes_first() {
    let model = lm();
    let judge = MaybeStepsJudge::default().with_lm(Arc::clone(&model));
    let (gold, pred) = (example! {}, prediction! { "answer" => "a" });
    let (_, run) = ProgramOutput::new(())
        .with_trace(Trace {
            steps: vec![step("run", "")],
        })
        .into_parts();
    let trace = Trace {
        steps: vec![step("optimizer", "")],
    };
    let call = MetricCall::new(&gold, &pred);
    judge.grade(call).await.unwrap();
    assert_eq!(
        shown(&model),
        None,
        "a trace that is absent is shown as absent"
    );
    assert_eq!(
        judge.grade(call.with_run(&run)).await.unwrap(),
        Grade::Score(MetricScore {
            details: Some("because".to_owned()),
            cost_msats: 7,
            ..MetricScore::new(1.0)
        })
    );
    assert!(shown(&model).unwrap().starts_with("step 1 of 1: \"run\"\n"));
    let call = call.with_run(&run).with_trace(&trace);
    assert_eq!(judge.grade(call).await.unwrap(), Grade::Verdict(true));
    assert!(
        shown(&model)
            .unwrap()
            .starts_with("step 1 of 1: \"optimizer\"\n")
    );
}

#[tokio::test]
async fn a_required_trace_that_is_missing_fails_the_row_without_a_call() {
    let model = lm();
    let judge = UsefulStepsJudge::default().with_lm(Arc::clone(&model));
    let (gold, pred) = (example! { "question" => "Where?" }, prediction! {});
    let error = judge.evaluate(&gold, &pred).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `useful_steps`: expected the program's trace, found none; return a `ProgramOutput` with a trace from the program, or declare the metric's trace as an `Option`"
    );
    assert_eq!(model.requests().len(), 0);
    let evaluate = Evaluate::builder().metric(judge).build().unwrap();
    let result = evaluate.score([Pair::new("a", gold, pred)]).await.unwrap();
    assert_eq!(result.failed_rows, 1);
}

#[tokio::test]
async fn a_trace_larger_than_the_limit_is_shortened_in_the_prompt() {
    let model = lm();
    let judge = UsefulStepsJudge::default().with_lm(Arc::clone(&model));
    let (gold, pred) = (example! { "question" => "Where?" }, prediction! {});
    let long = "x".repeat(1 << 16);
    let steps = (0..200)
        .map(|number| step(&format!("p{number}"), &long))
        .collect();
    let trace = Trace { steps };
    let call = MetricCall::new(&gold, &pred).with_trace(&trace);
    assert_eq!(judge.answer(call).await.unwrap().score.value, 1.0);
    let shown = shown(&model).unwrap();
    assert!(shown.len() <= MAX_TRACE_BYTES, "{}", shown.len());
    assert!(
        shown.starts_with("step 1 of 200: \"p0\"\n"),
        "{}",
        &shown[..100]
    );
    assert!(shown.contains("\nstep 200 of 200: \"p199\"\n"));
    let lines: Vec<_> = shown
        .lines()
        .filter(|line| line.starts_with("[.."))
        .collect();
    let shown_steps = shown
        .lines()
        .filter(|line| line.starts_with("step "))
        .count();
    // A step has 64 KiB of text, and some bytes around it.
    let (left_out, bytes) = (200 - shown_steps, (200 - shown_steps) << 16);
    assert_eq!(lines.len(), 1);
    let numbers: Vec<usize> = lines[0]
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    assert_eq!(numbers[0], left_out);
    assert!(
        (bytes..bytes + left_out * 200).contains(&numbers[1]),
        "{} of {bytes}",
        lines[0]
    );
}
