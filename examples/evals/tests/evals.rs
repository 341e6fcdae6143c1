//! The evals of the programs.

use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;
use dsrs_metrics_evals::{Routed, capital_of, reply, route};

/// Questions about capitals, and whether the answer names the capital.
#[eval(
    devset = "evals/capitals.jsonl",
    metrics(F1, contains),
    gate(
        contains >= 0.7,
        lower(contains) >= 0.4,
        each("region", contains >= 0.5),
        failed <= 0.2,
        contains.no_worse(by = 0.02),
    ),
    baseline,
)]
async fn capitals(question: String) -> Result<Prediction, String> {
    capital_of(&question).await
}

/// Passes if the answer contains the capital.
#[metric]
fn contains(#[gold("answer")] capital: &str, #[pred] answer: &str) -> bool {
    answer.contains(capital)
}

/// Passes if the message is routed to the expected queue.
#[metric]
fn right_queue(#[gold] queue: &str, #[pred("queue")] routed: &str) -> bool {
    queue == routed
}

/// Messages to a shop, routed by a function without a model.
#[eval(
    devset = "evals/messages.csv",
    metrics(right_queue),
    gate(right_queue >= 0.75, right_queue.no_worse(by = 0.05)),
    baseline,
    flavor = "current_thread"
)]
fn routing(#[input("message")] text: &str, late: Option<bool>) -> Routed {
    route(text, late)
}

/// Decide whether the reply to the customer is polite.
#[judge(cost = "100 msat")]
struct Polite {
    #[input(pred)]
    reply: String,
    #[output]
    polite: bool,
}

/// A model that a test scripts: replies are polite but for one.
fn scripted() -> ScriptedLm {
    ScriptedLm::new()
        .when("manual", r#"{ "reasoning": "curt", "polite": false }"#)
        .otherwise(r#"{ "reasoning": "friendly", "polite": true }"#)
}

/// The replies that were given to three messages.
#[eval(metrics(PoliteJudge::default().with_lm(scripted())), gate(polite >= 0.6), budget = "1 sat")]
fn politeness() -> Vec<dsrs_metrics::rows::Pair> {
    let queues = ["refund", "delivery", "other"];
    let row = |queue: &str| {
        dsrs_metrics::rows::Pair::new(queue, example! {}, prediction! { "reply" => reply(queue) })
    };
    queues.map(row).into()
}
