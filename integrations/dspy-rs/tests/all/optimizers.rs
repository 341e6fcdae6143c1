//! The optimizers of dspy-rs against a metric of dsrs-metrics: the examples, and programs that fail.

use dspy_rs::GEPA;
use dsrs_metrics::metrics::Em;
use dsrs_metrics_dspy_rs::WithMetric;
use tokio::sync::Mutex;

use crate::example::program::{self, Compiled, Qa};
use crate::example::server::Server;
use crate::example::{copro, gepa, mipro, model};

/// dspy-rs has one configuration for the whole process.
pub(crate) static CONFIGURED: Mutex<()> = Mutex::const_new(());

#[tokio::test]
async fn copro_finds_the_instruction_with_the_best_score() {
    let _guard = CONFIGURED.lock().await;
    let compiled = copro::compile().await.unwrap();
    assert_eq!(compiled.instruction, model::SHORT);
    let means = compiled
        .report
        .evaluations
        .iter()
        .map(|it| it.mean(0.0).unwrap() as f32);
    let mut means: Vec<_> = means.collect();
    means.sort_unstable_by(f32::total_cmp);
    // F1 of a sentence of five words; one of them is expected.
    assert_eq!(means, [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0]);
    let proposals = compiled
        .received
        .iter()
        .filter(|it| it.has_output("proposed_instruction"));
    assert!(proposals.count() >= 3);
}

#[tokio::test]
async fn mipro_finds_the_instruction_with_the_best_score() {
    let _guard = CONFIGURED.lock().await;
    let compiled = mipro::compile().await.unwrap();
    assert_eq!(compiled.instruction, model::SHORT);
    assert_eq!(compiled.report.evaluations.len(), 3);
    // Six traces, and four rows for each candidate.
    assert_eq!(compiled.report.calls.scored, 6 + 3 * 4);
    // The scores of the metric are in the prompt for instructions.
    let prompts = compiled
        .received
        .iter()
        .filter(|it| it.prompt().contains("## example_traces ##"));
    let scores: Vec<_> = prompts
        .map(|it| it.prompt().contains("Score: 0.333"))
        .collect();
    assert!(
        !scores.is_empty() && scores.iter().all(|is_there| *is_there),
        "{scores:?}"
    );
}

#[tokio::test]
async fn gepa_reflects_on_the_feedback_of_the_metric() {
    let _guard = CONFIGURED.lock().await;
    let compiled = gepa::compile().await.unwrap();
    let reflections = compiled
        .received
        .iter()
        .filter(|it| it.has_output("reflection"));
    let reflections: Vec<_> = reflections.collect();
    assert_eq!(reflections.len(), 2);
    let feedback = format!(
        "Feedback: {}\"capital\", \"of\", \"france\", \"is\"",
        model::FEEDBACK
    );
    assert!(
        reflections[0].prompt().contains(&feedback),
        "{}",
        reflections[0].prompt()
    );
    // The model of the example proposes the short instruction only after a reflection on this feedback.
    assert_eq!(compiled.instruction, model::SHORT);
    assert_eq!(compiled.report.failures, []);
}

#[tokio::test]
async fn gepa_without_feedback_of_the_metric_does_not_improve() {
    let _guard = CONFIGURED.lock().await;
    let server = program::start().await.unwrap();
    let silent = dsrs_metrics::metric_fn("silent", |_, _| 0.5);
    let mut module = Qa::new().with_metric(silent);
    let optimizer = GEPA::builder().num_iterations(2).minibatch_size(3).build();
    optimizer
        .compile_with_feedback(&mut module, program::trainset())
        .await
        .unwrap();
    let compiled = Compiled::new(module, &server);
    assert_ne!(compiled.instruction, model::SHORT);
}

#[tokio::test]
async fn gepa_continues_after_errors_of_the_program_if_it_may() {
    let _guard = CONFIGURED.lock().await;
    // One question fails in each run.
    let server = Server::start(|number, request| match number {
        1 | 7 => Err((
            500,
            serde_json::json!({ "error": { "message": "overloaded" } }),
        )),
        _ => model::reply(number, request),
    });
    let server = server.await.unwrap();
    program::configure(&server).await.unwrap();
    let optimizer = GEPA::builder().num_iterations(1).minibatch_size(3).build();
    let rows = program::trainset();

    let mut module = Qa::new().with_metric(Em::default());
    let error = optimizer
        .compile_with_feedback(&mut module, rows.clone())
        .await
        .unwrap_err();
    assert!(format!("{error:#}").contains("overloaded"), "{error:#}");

    let mut module = Qa::new()
        .with_metric(Em::default())
        .continue_after_program_errors();
    optimizer
        .compile_with_feedback(&mut module, rows)
        .await
        .unwrap();
    let report = module.report();
    assert_eq!(report.calls.program_failed, 1);
    assert!(
        report.failures[0].message.contains("overloaded"),
        "{}",
        report.failures[0]
    );
    assert!(
        report
            .check()
            .unwrap_err()
            .to_string()
            .starts_with("1 of 15 calls of `em` not scored")
    );
}
