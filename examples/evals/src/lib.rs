//! Three small programs, which the tests in `tests/evals.rs` evaluate.

use dsrs_metrics::prelude::*;
use serde::{Deserialize, Serialize};

/// Answers a question about a capital. It knows six countries.
pub async fn capital_of(question: &str) -> Result<Prediction, String> {
    let known = [
        ("France", "Paris"),
        ("Japan", "Tokyo"),
        ("Kenya", "Nairobi"),
        ("Peru", "Lima"),
        ("Norway", "Oslo"),
        ("Egypt", "Cairo"),
    ];
    let found = known.iter().find(|(country, _)| question.contains(country));
    match found {
        Some((_, capital)) => Ok(prediction! { "answer" => format!("It is {capital}.") }),
        None => Err(format!("unknown country in {question:?}")),
    }
}

/// The queue for a message to the support of a shop.
#[derive(Debug, Clone, PartialEq, Eq, Record, Serialize, Deserialize)]
pub struct Routed {
    /// `refund`, `delivery` or `other`.
    pub queue: String,
}

/// Routes a message by its words.
#[must_use]
pub fn route(message: &str, is_late: Option<bool>) -> Routed {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let queue = if has(&["refund", "money back", "return"]) {
        "refund"
    } else if has(&["delivery", "parcel", "arrived"]) || is_late == Some(true) {
        "delivery"
    } else {
        "other"
    };
    Routed {
        queue: queue.to_owned(),
    }
}

/// The reply of the shop to a message.
#[must_use]
pub fn reply(queue: &str) -> String {
    match queue {
        "refund" => "We are sorry. Your money is on its way.".to_owned(),
        "delivery" => "Thank you for waiting. The parcel arrives tomorrow.".to_owned(),
        _ => "Read the manual.".to_owned(),
    }
}
