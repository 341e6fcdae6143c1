//! The user's names are those that the expansion could use itself.
#![allow(non_camel_case_types, dead_code)]

use dsrs_metrics::{Prediction, Record, example, metric, prediction};

struct Gold;
struct Pred;
struct GoldRow;
struct PredRow;
struct AnyRow;
struct Example;
struct Metric;
struct MetricSpec;
struct MetricCall;
struct Trace;
struct Text;
struct Owned;
struct Value;
struct Side;
struct Name;
struct ReadAs;
struct ReadField;
struct Optional;
struct RowAnswer;
mod core {}
mod std {}

#[metric(threshold = 0.5)]
fn call(
    #[gold] spec: &str,
    #[gold] call: &str,
    #[gold("gold")] gold: &str,
    #[gold("pred")] pred: &str,
    #[gold] held: String,
    #[gold] error: Option<&str>,
    #[gold] self_: &[String],
    #[pred] trace: bool,
    #[pred] pred_name: u8,
    #[pred] score: f64,
    #[pred] evaluate: f64,
    #[pred] row: u8,
    #[param(default = 1.0)] default: f64,
    #[param(default = 2.0)] params: f64,
    #[param(default = 3.0)] name: f64,
    #[param(default = 4.0)] builder: f64,
    #[param(default = 5.0)] value: f64,
) -> f64 {
    assert_eq!((spec, call, gold, pred, held.as_str()), ("a", "b", "c", "d", "e"));
    assert!(error.is_none() && self_.is_empty() && trace && pred_name == 1 && row == 2);
    default + params + name + builder + value + score + evaluate
}

#[metric]
fn over<GoldRow, PredRow, G, P, M, T, R, F, E>(#[gold] a: u8, #[pred] b: u8) -> bool {
    a == b
}

#[metric]
fn lifetimes<'row, 'read, 'a>(#[gold] a: &'row str, #[pred] b: &'read [&'a str]) -> bool {
    b.contains(&a)
}

#[derive(Record)]
struct Row<'row, T> {
    a: &'static str,
    held: T,
    row: std_marker::PhantomData<&'row ()>,
}

use ::core::marker as std_marker;

#[metric]
fn whole(pred: &Prediction) -> bool {
    pred.get("a").is_some()
}

/// Runs the items above.
pub fn main() {
    let gold = example! {
        "spec" => "a", "call" => "b", "gold" => "c", "pred" => "d", "held" => "e",
        "self_" => ::std::vec::Vec::<String>::new(),
    };
    let pred = prediction! {
        "trace" => true, "pred_name" => 1, "score" => 0.5, "evaluate" => 0.5, "row" => 2,
    };
    assert_eq!(Call::default().score(&gold, &pred).unwrap().value, 16.0);
}
