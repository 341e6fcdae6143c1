//! Rows of the judges of conversations and agents.

use dsrs_metrics::judge::shipped as judges;
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

use super::contexts::lm;
use crate::explanations::{Case, case};

pub(super) fn cases() -> Vec<Case> {
    let messages = json!([
        { "role": "user", "content": "I need a room." },
        { "role": "assistant", "content": "It costs 40 euros.", "tool_calls": [{ "name": "price", "args": {} }] },
    ]);
    let pred =
        || prediction! { "conversation" => messages.clone(), "trajectory" => messages.clone() };
    let gold = || example! { "role" => "a clerk", "topics" => ["hotels"], "task" => "Book a room.", "goal" => "A room." };
    let case_of = |metric: Box<dyn Metric>, details| Case {
        metric,
        ..case(
            dsrs_metrics::metrics::Em::default(),
            gold(),
            pred(),
            details,
        )
    };
    let verdict =
        |output: &str| ScriptedLm::new().otherwise(json!({ "reasoning": "r", output: false }));
    let items = |verdict: Value| json!({ "verdicts": [verdict] });
    let unfulfilled = items(json!({ "item": 1, "reason": "r", "fulfilled": false }));
    let topic = items(json!({ "item": 1, "reason": "r", "answered": true, "allowed": false }));
    let claim = items(json!({ "item": 1, "reason": "r", "supported": false }));
    let outcome = |last: Value| lm([("step outcome", json!("A price."))], last);
    vec![
        case_of(
            Box::new(judges::KnowledgeRetention::default().with_lm(verdict("retained"))),
            "message 2 (0): r",
        ),
        case_of(
            Box::new(judges::RoleAdherence::default().with_lm(verdict("adheres"))),
            "message 2 (0): r",
        ),
        case_of(
            Box::new(judges::TurnRelevancy::default().with_lm(verdict("relevant"))),
            "message 2 (0): r",
        ),
        case_of(
            Box::new(
                judges::ConversationalFaithfulness::default()
                    .with_lm(lm([("step claims", json!(["It costs 40 euros."]))], claim)),
            ),
            "message 2 (0): 1. \"It costs 40 euros.\" (reason: \"r\", supported: false)",
        ),
        case_of(
            Box::new(
                judges::ConversationCompleteness::default()
                    .with_lm(lm([("step intentions", json!(["A room."]))], unfulfilled)),
            ),
            "1. \"A room.\" (fulfilled: false, reason: \"r\")",
        ),
        case_of(
            Box::new(
                judges::TopicAdherence::default()
                    .with_lm(lm([("step topics", json!(["Prices."]))], topic)),
            ),
            "1. \"Prices.\" (allowed: false, answered: true, reason: \"r\")",
        ),
        case_of(
            Box::new(
                judges::TaskCompletion::default()
                    .with_lm(outcome(json!({ "reasoning": "r", "completion": 0.5 }))),
            ),
            "r",
        ),
        case_of(
            Box::new(judges::ArgumentCorrectness::default().with_lm(lm(
                [],
                items(json!({ "item": 1, "reason": "r", "correct": false })),
            ))),
            "trajectory 1 (correct: false, reason: \"r\")",
        ),
        case_of(
            Box::new(
                judges::GoalAccuracy::default()
                    .with_lm(outcome(json!({ "reasoning": "r", "achieved": false }))),
            ),
            "r",
        ),
    ]
}
