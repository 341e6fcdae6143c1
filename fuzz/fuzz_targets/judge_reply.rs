//! Replies of a judge's model: parsing, the repair, and the score.
//!
//! The first byte selects the judge. A line with `~` separates the reply from the reply to the repair.
#![no_main]

use dsrs_metrics::judge::shipped::{
    AnswerGroundedness, GEvalCompleteness, LlmJudge, PairwisePreference, SemanticF1,
};
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{contract::MetricErrorKind, optimizers::MetricScore};
use dsrs_metrics_fuzz::{assert_one_line, assert_within, block_on, choice_and_text, parts};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = choice_and_text(data) else {
        return;
    };
    let (first, second) = parts(text);
    match choice % 5 {
        0 => judge(
            LlmJudge::default(),
            LlmJudge::with_lm,
            [first, second],
            |it| number(it, "score"),
        ),
        1 => judge(
            SemanticF1::default(),
            SemanticF1::with_lm,
            [first, second],
            |it| {
                let (recall, precision) = (number(it, "recall")?, number(it, "precision")?);
                Some(dsrs_metrics::stats::harmonic_mean(recall, precision))
            },
        ),
        2 => judge(
            GEvalCompleteness::default(),
            GEvalCompleteness::with_lm,
            [first, second],
            |it| Some((number(it, "score")? - 1.0) / 4.0),
        ),
        3 => judge(
            AnswerGroundedness::default(),
            AnswerGroundedness::with_lm,
            [first, second],
            |_| None,
        ),
        _ => judge(
            PairwisePreference::default(),
            PairwisePreference::with_lm,
            [first, second],
            |_| None,
        ),
    }
});

fn number(reply: &Value, output: &str) -> Option<f64> {
    reply.get(output)?.as_f64()
}

/// Runs the judge. `expected` computes the score from the JSON object of a reply.
fn judge<J: Metric>(
    judge: J,
    with_lm: impl Fn(J, Arc<ScriptedLm>) -> J,
    replies: [&str; 2],
    expected: impl Fn(&Value) -> Option<f64>,
) {
    let lm = Arc::new(
        ScriptedLm::new()
            .replies(replies.map(str::to_owned))
            .otherwise(replies[0]),
    );
    let judge = with_lm(judge, Arc::clone(&lm));
    let gold =
        example! { "question" => "Capital of France?", "response" => "Paris", "answer" => "Paris" };
    let pred = prediction! { "response" => "It is Paris", "answer" => "It is Paris", "context" => "Paris is the capital." };
    let score = block_on(judge.evaluate(&gold, &pred));
    let requests = lm.requests();
    assert!(
        (1..=4).contains(&requests.len()),
        "{} calls",
        requests.len()
    );
    for message in requests.iter().flat_map(|request| &request.messages) {
        assert!(
            message.content.len() < 1 << 15,
            "a prompt of {} bytes",
            message.content.len()
        );
    }
    match score {
        Ok(score) => check(&score, replies, expected),
        Err(error) => {
            assert_one_line(&error);
            assert!(
                matches!(error.kind(), MetricErrorKind::Failed { .. }),
                "{:?}",
                error.kind()
            );
        }
    }
}

/// A score is in range, and is that of a JSON object in a reply.
fn check(score: &MetricScore, replies: [&str; 2], expected: impl Fn(&Value) -> Option<f64>) {
    assert_within(score.value, 0.0..=1.0);
    assert_within(score.confidence, 0.0..=1.0);
    let objects: Vec<Value> = replies.into_iter().filter_map(object).collect();
    assert!(
        !objects.is_empty(),
        "a score {} without an object in a reply",
        score.value
    );
    let scores: Vec<f64> = objects.iter().filter_map(expected).collect();
    assert!(
        scores.is_empty() || scores.iter().any(|it| (it - score.value).abs() < 1e-12),
        "the score {} is none of {scores:?}",
        score.value
    );
}

/// The object of a reply, read without the judge's parser: from the first brace after a thought to the last one.
fn object(reply: &str) -> Option<Value> {
    let reply = reply.trim();
    let thought = reply
        .strip_prefix("<think>")
        .and_then(|rest| rest.split_once("</think>"));
    let reply = thought.map_or(reply, |(_, reply)| reply);
    serde_json::from_str(reply.get(reply.find('{')?..=reply.rfind('}')?)?).ok()
}
