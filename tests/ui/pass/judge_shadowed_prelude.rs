//! What the prelude gives may mean something else where a judge is written.
#![allow(dead_code, non_camel_case_types, unused_macros)]

use dsrs_metrics::{example, judge, prediction};

struct Option;
struct Result;
struct String;
struct Vec;
struct Box;
struct Some;
struct None;
struct Ok;
struct Err;
struct str;
struct f64;
struct u8;
struct usize;
trait Default {}
trait Clone {}
trait Send {}
trait Sync {}
trait Into {}
trait From {}
trait Iterator {}
macro_rules! panic {
    () => {};
}
macro_rules! vec {
    () => {};
}

type Text = ::std::string::String;
type Number = ::core::primitive::f64;

/// Compare.
#[judge(score = share * weight, threshold = 0.5, range = 0.0..=1.0, panel(models = [default; 2], quorum = 1))]
struct Compare {
    #[input(gold)]
    expected: Text,
    #[input(pred)]
    given: ::core::option::Option<::std::vec::Vec<Text>>,
    #[param(default = 1.0)]
    weight: Number,
    #[output(range = 0.0..=1.0)]
    share: Number,
    #[output(labels = ["a", "b"])]
    class: Text,
}

/// Say yes or no.
#[judge]
struct Yes {
    #[input(pred)]
    given: Text,
    #[output]
    yes: ::core::primitive::bool,
}

/// Runs the items above.
pub fn main() {
    let judge = <CompareJudge as ::core::default::Default>::default();
    let _ = ::dsrs_metrics::Metric::evaluate(&judge, &example! { "expected" => "a" }, &prediction! {});
    let _ = <YesJudge as ::core::default::Default>::default();
}
