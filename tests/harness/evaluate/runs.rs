//! What a program returns about its run: it reaches the metrics, the row's result, the totals and the result files.

use std::sync::Arc;
use std::time::Duration;

use super::files::read;
use dsrs_metrics::metrics::{Cost, Latency, Tokens};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::{Pair, TraceStep},
    runs::{Module, ProgramError, ProgramOutput, ProgramRun, ProgramUsage},
};
use serde_json::{Value, json};

fn devset(rows: usize) -> Vec<Example> {
    (0..rows).map(|row| example! { "n" => row }).collect()
}

fn trace(steps: usize) -> Trace {
    let step = |step| TraceStep {
        predictor: format!("step{step}"),
        inputs: example! { "n" => step },
        outputs: prediction! {},
    };
    Trace {
        steps: (0..steps).map(step).collect(),
    }
}

/// A row `n` has `n` steps, `10 n` and `n` tokens, and costs `n` msat.
fn output(inputs: &Example) -> ProgramOutput {
    let n = inputs.get("n").and_then(Value::as_u64).unwrap();
    let usage = ProgramUsage::new(10 * n, n).with_cost_msats(n);
    let trace = trace(usize::try_from(n).unwrap());
    ProgramOutput::new(prediction! { "answer" => n })
        .with_trace(trace)
        .with_usage(usage)
}

async fn program(inputs: Example) -> ProgramOutput {
    tokio::task::yield_now().await;
    output(&inputs).with_latency(Duration::from_millis(1500))
}

/// Returns nothing about its run from `forward`, and everything from `forward_traced`.
struct Traced;

#[async_trait]
impl Module for Traced {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        Ok(output(&inputs).prediction)
    }

    async fn forward_traced(&self, inputs: Example) -> Result<ProgramOutput, ProgramError> {
        match inputs.get("n").and_then(Value::as_u64) {
            Some(3) => Err("no three".into()),
            _ => Ok(program(inputs).await),
        }
    }
}

/// The number of steps; a verdict if an optimizer runs.
#[metric(threshold = 2.0, range = 0.0..=10.0)]
fn steps(#[trace] steps: Option<&Trace>) -> Option<usize> {
    steps.map(|trace| trace.steps.len())
}

#[metric]
fn is_optimizing(trace: Option<&Trace>) -> bool {
    trace.is_some()
}

#[metric]
fn longest_step(#[trace] steps: &Trace) -> usize {
    steps
        .steps
        .iter()
        .map(|step| step.predictor.len())
        .max()
        .unwrap_or(0)
}

#[tokio::test]
async fn every_kind_of_program_may_return_its_run() {
    let evaluate = Evaluate::builder()
        .devset(devset(3))
        .inputs(["n"])
        .metric(Steps)
        .build()
        .unwrap();
    let fallible = |inputs: Example| async move { Ok::<_, String>(output(&inputs)) };
    let results = [
        evaluate.run(program).await,
        evaluate.run(fallible).await,
        evaluate.run(Traced).await,
        evaluate.run(&Traced).await,
        evaluate.run(Arc::new(Traced) as Arc<dyn Module>).await,
        evaluate.run(Box::new(Traced) as Box<dyn Module>).await,
    ];
    for result in results {
        let result = result.unwrap();
        assert_eq!((result.score, result.failed_rows), (Some(1.0), 0));
        let runs = result.results.iter().map(|row| row.run.as_deref().unwrap());
        let steps: Vec<_> = runs
            .clone()
            .map(|run| run.trace.as_ref().unwrap().steps.len())
            .collect();
        assert_eq!(steps, [0, 1, 2]);
        let tokens: Vec<_> = runs.map(|run| run.usage.unwrap().tokens()).collect();
        assert_eq!(tokens, [0, 11, 22]);
        assert_eq!(
            result.results[2].outcomes[0].scored().unwrap().score.value,
            2.0
        );
    }
    let bare = |inputs: Example| async move { output(&inputs).prediction };
    let result = evaluate.run(bare).await.unwrap();
    assert_eq!((result.score, result.metrics[0].abstained), (None, 3));
    let run = result.results[0].run.as_deref().unwrap();
    assert_eq!(
        (run.trace.as_ref(), run.usage, run.returned_latency()),
        (None, None, None)
    );
    assert!(run.latency.is_some(), "the harness measured it");
}

#[tokio::test]
async fn programs_over_rows_of_any_type_may_return_their_run() {
    let near = typed_metric_fn("near", |gold: &u32, pred: &u32| gold == pred);
    let evaluate = Evaluate::typed()
        .devset([1, 2])
        .metric(near)
        .build()
        .unwrap();
    let program = |n: u32| async move {
        match n {
            1 => Ok(ProgramOutput::new(n).with_usage(ProgramUsage::new(5, 1))),
            _ => Err("no two"),
        }
    };
    let result = evaluate.run(program).await.unwrap();
    assert_eq!((result.score, result.failed_rows), (Some(0.5), 1));
    assert_eq!(result.program.usage, Some(ProgramUsage::new(5, 1)));
    assert_eq!(
        (result.program.usage_rows, result.program.latency_rows),
        (1, 1)
    );
    assert_eq!(
        result.results[1].run, None,
        "a program that fails returns nothing"
    );
}

#[tokio::test]
async fn the_trace_of_a_program_informs_and_that_of_an_optimizer_decides() {
    let evaluate = Evaluate::builder()
        .devset(devset(3))
        .inputs(["n"])
        .metric(IsOptimizing)
        .metric(Steps);
    let result = evaluate.run(program).await.unwrap();
    assert_eq!(result.score, Some(0.0), "no optimizer runs");
    let (gold, pred) = (example! {}, prediction! {});
    let (_, run) = ProgramOutput::new(()).with_trace(trace(1)).into_parts();
    let call = MetricCall::new(&gold, &pred).with_run(&run);
    assert_eq!(
        Steps.grade(call).await.unwrap(),
        Grade::Score(MetricScore::new(1.0))
    );
    assert_eq!(call.program_trace(), Some(&trace(1)));
    let longer = trace(3);
    let call = call.with_trace(&longer);
    assert_eq!(Steps.grade(call).await.unwrap(), Grade::Verdict(true));
    assert_eq!(
        IsOptimizing.grade(call).await.unwrap(),
        Grade::Verdict(true)
    );
    assert_eq!(LongestStep.answer(call).await.unwrap().score.value, 5.0);
}

#[tokio::test]
async fn a_metric_that_requires_a_trace_names_what_to_return() {
    let error = LongestStep
        .score(&example! {}, &prediction! {})
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `longest_step`: expected the program's trace, found none; return a `ProgramOutput` with a trace from the program, or declare the metric's trace as an `Option`"
    );
}

#[tokio::test]
async fn composites_and_equal_metrics_receive_the_run() {
    use dsrs_metrics::composite::{Composite, component, max};
    let steps = |name: &str| {
        Composite::builder(name, max([component(Steps), component(IsOptimizing)]))
            .build()
            .unwrap()
    };
    let evaluate = Evaluate::builder().metrics([steps("one"), steps("two")]);
    let result = evaluate
        .devset(devset(4))
        .inputs(["n"])
        .run(program)
        .await
        .unwrap();
    let means: Vec<_> = result
        .metrics
        .iter()
        .filter(|it| ["one", "two"].contains(&&*it.name))
        .map(|it| it.mean)
        .collect();
    assert_eq!(means, [Some(1.5), Some(1.5)]);
}

#[tokio::test]
async fn latency_tokens_and_cost_are_metrics() {
    let evaluate = Evaluate::builder()
        .metric(Latency)
        .metric(Tokens)
        .metric(Cost);
    let result = evaluate
        .devset(devset(3))
        .inputs(["n"])
        .run(program)
        .await
        .unwrap();
    let means: Vec<_> = result.metrics.iter().map(|metric| metric.mean).collect();
    assert_eq!(means, [Some(1.5), Some(11.0), Some(1.0)]);
    assert_eq!(result.program.mean_latency_s(), Some(1.5));
    for metric in [Latency::SPEC, Tokens::SPEC, Cost::SPEC] {
        assert!(!metric.higher_is_better(), "{}", metric.name);
    }
}

#[tokio::test(start_paused = true)]
async fn the_harness_measures_the_latency_of_a_program_that_returns_none() {
    let slow = |_: Example| async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        prediction! {}
    };
    let result = Evaluate::builder()
        .devset(devset(4))
        .inputs(["n"])
        .metric(Latency)
        .run(slow)
        .await
        .unwrap();
    assert_eq!(result.score, Some(3.0));
    assert_eq!(result.program.latency, Some(Duration::from_secs(12)));
    assert_eq!(
        (result.program.latency_rows, result.program.usage),
        (4, None)
    );
    let report = dsrs_metrics_tests::schema::to_value(&result);
    assert_eq!(
        report.get("program"),
        None,
        "a measured latency differs from run to run"
    );
}

#[test]
fn a_metric_of_the_run_names_the_field_to_set_or_to_map() {
    let (gold, pred) = (example! {}, prediction! {});
    let error = |error: dsrs_metrics::Result<MetricScore>| error.unwrap_err().to_string();
    assert_eq!(
        [
            error(Latency.score(&gold, &pred)),
            error(Tokens.score(&gold, &pred)),
            error(Cost.score(&gold, &pred))
        ],
        [
            "metric `latency`: expected the program's latency, found none; set or map the field `pred.latency_s` (seconds), or run the program with `dsrs_metrics::Evaluate`",
            "metric `tokens`: expected the program's token counts, found none; set or map the fields `pred.input_tokens` and `pred.output_tokens`, or run a program that reports its usage",
            "metric `cost`: expected the program's cost, found none; set or map the field `pred.cost_msats` (millisatoshis), or run a program that reports its cost",
        ]
    );
    let backwards = prediction! { "latency_s" => -1.0 };
    assert_eq!(
        error(Latency.score(&gold, &backwards)),
        "metric `latency`: expected a non-negative number of seconds in `pred.latency_s`, found -1"
    );
    let (_, run) = ProgramOutput::new(())
        .with_usage(ProgramUsage::new(1, 1))
        .into_parts();
    let answer = Cost
        .answer(MetricCall::new(&gold, &pred).with_run(&run))
        .ready()
        .unwrap();
    assert_eq!(
        answer.unwrap_err().to_string(),
        "metric `cost`: expected the program's cost, found usage of unknown cost; set or map the field `pred.cost_msats` (millisatoshis), or set `ProgramUsage::with_cost_msats`"
    );
}

#[tokio::test]
async fn finished_predictions_have_no_run_and_may_have_fields() {
    let pred = prediction! { "latency_s" => 2, "output_tokens" => 7, "cost_msats" => 3 };
    let evaluate = Evaluate::builder()
        .metric(Latency)
        .metric(Tokens)
        .metric(Cost)
        .build()
        .unwrap();
    let result = evaluate
        .score([Pair::new("a", example! {}, pred)])
        .await
        .unwrap();
    let means: Vec<_> = result.metrics.iter().map(|metric| metric.mean).collect();
    assert_eq!(means, [Some(2.0), Some(7.0), Some(3.0)]);
    assert_eq!(
        (result.results[0].run.as_deref(), result.program.latency),
        (None::<&ProgramRun>, None)
    );
}

/// The files of a run, and its report.
async fn written(concurrency: usize, program: fn(Example) -> ProgramOutput) -> [String; 3] {
    let folder = tempfile::tempdir().unwrap();
    let [csv, jsonl] = ["out.csv", "out.jsonl"].map(|name| folder.path().join(name));
    let evaluate = Evaluate::builder()
        .devset(devset(40))
        .inputs(["n"])
        .metric(Steps)
        .concurrency(concurrency)
        .files(|files| files.csv(&csv).jsonl(&jsonl));
    let program = move |inputs: Example| async move {
        tokio::task::yield_now().await;
        program(inputs)
    };
    let result = evaluate.run(program).await.unwrap();
    let mut report = dsrs_metrics_tests::schema::to_value(&result);
    report.as_object_mut().unwrap().remove("elapsed_s");
    [read(&csv), read(&jsonl), report.to_string()]
}

#[tokio::test]
async fn files_have_what_the_program_returned_and_are_the_same_at_any_concurrency() {
    let returned = |inputs| output(&inputs).with_latency(Duration::from_millis(250));
    let [csv, jsonl, report] = written(1, returned).await;
    assert_eq!(
        written(16, returned).await,
        [csv.clone(), jsonl.clone(), report.clone()]
    );
    assert!(
        csv.starts_with(
            "id,gold.n,pred.answer,latency_s,input_tokens,output_tokens,cost_msats,steps,"
        ),
        "{csv}"
    );
    assert_eq!(
        csv.lines().nth(3).unwrap().split(",scored").next().unwrap(),
        "2,2,2,0.25,20,2,2,2.0"
    );
    let line: Value = serde_json::from_str(jsonl.lines().nth(2).unwrap()).unwrap();
    let run =
        ["latency_s", "input_tokens", "output_tokens", "cost_msats"].map(|key| line[key].clone());
    assert_eq!(run, [json!(0.25), json!(20), json!(2), json!(2)]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        report["program"],
        json!({ "latency_s": 10.0, "latency_rows": 40, "input_tokens": 7800, "output_tokens": 780, "cost_msats": 780, "usage_rows": 40 })
    );
}

#[tokio::test]
async fn a_measured_latency_is_not_written() {
    let bare = |inputs| ProgramOutput::new(output(&inputs).prediction);
    let [csv, jsonl, report] = written(1, bare).await;
    assert_eq!(
        written(16, bare).await,
        [csv.clone(), jsonl.clone(), report.clone()]
    );
    assert!(csv.starts_with("id,gold.n,pred.answer,steps,"), "{csv}");
    assert!(
        jsonl.starts_with(r#"{"id":"0","gold":{"n":0},"pred":{"answer":0},"scores":{"#),
        "{jsonl}"
    );
    assert!(!report.contains("program"), "{report}");
}

#[tokio::test]
async fn results_compare_equal_whatever_the_measured_latencies_are() {
    let evaluate = Evaluate::builder()
        .devset(devset(20))
        .inputs(["n"])
        .metric(Steps)
        .build()
        .unwrap();
    let bare = |inputs: Example| async move { output(&inputs).prediction };
    let rows = [evaluate.run(bare).await, evaluate.run(bare).await].map(|it| it.unwrap().results);
    assert_eq!(rows[0], rows[1]);
}

#[tokio::test]
async fn without_rows_the_totals_remain() {
    let evaluate = Evaluate::builder()
        .devset(devset(4))
        .inputs(["n"])
        .metric(Steps)
        .keep_results(false);
    let result = evaluate.run(Traced).await.unwrap();
    assert_eq!((result.results.len(), result.failed_rows), (0, 1));
    assert_eq!(
        result.program.usage,
        Some(ProgramUsage::new(30, 3).with_cost_msats(3))
    );
    assert_eq!(
        (result.program.usage_rows, result.program.latency_rows),
        (3, 3)
    );
}

#[test]
fn the_columns_of_a_run_are_reserved() {
    for name in ["latency_s", "input_tokens", "output_tokens", "cost_msats"] {
        let evaluate = Evaluate::builder()
            .metric(metric_fn(name, |_, _| 1.0))
            .build();
        assert_eq!(
            evaluate.unwrap_err().to_string(),
            format!(
                "invalid metric name {name:?}: result files reserve this column name; rename it with \
                 `#[metric(name = \"..\")]`"
            )
        );
    }
}
