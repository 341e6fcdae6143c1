#![no_implicit_prelude]

// A metric that reads single fields of rows of any type cannot stand in such a crate: its sentences are
// `#[diagnostic::..]` attributes, and rustc does not resolve `diagnostic` without a prelude.
use ::dsrs_metrics::{Record, metric};

#[derive(Record)]
struct Answer {
    given: ::std::string::String,
}

/// With typed rows and parameters.
#[metric(range = 0.0..=1.0, threshold = 0.5, pred = Answer)]
fn share(
    gold: &::dsrs_metrics::Example,
    #[pred] given: &str,
    #[pred("given")] owned: ::std::string::String,
    #[param(default)] weight: f64,
    #[param(default = "x")] text: &str,
    #[param] limit: ::core::option::Option<u8>,
    trace: ::core::option::Option<&::dsrs_metrics::rows::Trace>,
) -> ::core::option::Option<f64> {
    let _ = (gold, given, owned, weight, text, limit, trace);
    ::core::option::Option::Some(1.0)
}

#[metric]
async fn same(gold: &::dsrs_metrics::Example, pred: &::dsrs_metrics::Prediction) -> bool {
    gold.get("answer") == pred.get("answer")
}

#[metric(max(share) , strict, threshold = 0.5)]
struct Strictly;

/// Runs the items above.
pub fn main() {
    let answer = Answer { given: ::std::string::String::new() };
    let gold = ::dsrs_metrics::example! { "answer" => "a" };
    let share = <Share as ::core::default::Default>::default();
    ::core::assert!(share.score(&gold, &answer).is_ok());
    ::core::assert_eq!(Strictly.score(&gold, &answer).map(|score| score.value), ::core::result::Result::Ok(1.0));
    let _ = ::dsrs_metrics::Metric::evaluate(&Same, &gold, &::dsrs_metrics::prediction! {});
}
