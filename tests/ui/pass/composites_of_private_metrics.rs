#![deny(warnings)]
//! A composite may be more visible than its components and their rows' readers.

use dsrs_metrics::prelude::*;

/// A question.
#[derive(Record)]
pub struct Question {
    expected: f64,
}

/// An answer.
#[derive(Record)]
pub struct Answer {
    given: f64,
}

#[metric(range = 0.0..=1.0)]
fn given(#[pred] given: f64) -> f64 {
    given
}

#[metric(gold = Question, pred = Answer, range = 0.0..=1.0)]
fn near(#[gold] expected: f64, #[pred] given: f64) -> f64 {
    1.0 - (expected - given).abs()
}

#[metric(tier = truth, range = 0.0..=1.0, threshold = 0.5)]
async fn judged(#[pred] given: f64) -> f64 {
    given
}

/// Components of any row and of one.
#[metric(weighted(given = 0.5, near = 0.5), threshold = 0.5)]
pub struct Both;

/// A gate has the score of its only truth.
#[metric(gate(proxy(given) >= 0.25, truth(judged)))]
pub struct Checked;

mod inner {
    /// Nested, from a module within.
    #[dsrs_metrics::metric(min(super::given, super::both))]
    pub struct Deep;
}

pub use inner::Deep;

fn accepts(_: &impl AcceptanceTest<Question, Answer>) {}

/// Runs the items above.
pub fn main() {
    let (gold, pred) = (Question { expected: 1.0 }, Answer { given: 0.5 });
    assert_eq!(Deep.score(&gold, &pred).unwrap().value, 0.5);
    accepts(&Both);
    accepts(&Checked);
}
