//! What the prelude gives may mean something else where a metric is written.
#![allow(dead_code, non_camel_case_types)]

use dsrs_metrics::{Record, example, metric, prediction};

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
struct u64;
struct usize;
trait Default {}
trait Clone {}
trait Copy {}
trait Send {}
trait Sync {}
trait Sized {}
trait ToString {}
trait ToOwned {}
trait From {}
trait Into {}
trait Iterator {}
trait Deref {}
macro_rules! panic {
    () => {};
}
macro_rules! unreachable {
    () => {};
}
macro_rules! vec {
    () => {};
}
macro_rules! concat {
    () => {};
}

type Text = ::std::string::String;
type Number = ::core::primitive::f64;

#[derive(Record)]
struct Answer {
    given: Text,
    known: ::std::vec::Vec<Text>,
}

#[metric(threshold = 0.5, range = 0.0..=1.0)]
fn share(
    #[gold] expected: &Text,
    #[pred] given: &::core::primitive::str,
    #[pred] known: &[Text],
    #[pred("known")] again: ::core::option::Option<&[Text]>,
    #[param(default = 1.0)] weight: Number,
    #[param] limit: ::core::option::Option<u8>,
) -> ::core::result::Result<Number, Text> {
    let found = expected == given && limit.is_none() && again.is_some_and(|again| again == known);
    ::core::result::Result::Ok(if found { weight } else { 0.0 })
}

#[metric]
async fn later(#[pred(default = "none")] given: &::core::primitive::str) -> bool {
    given == "none"
}

/// Runs the items above.
pub fn main() {
    let given = || ::std::string::ToString::to_string("a");
    let answer = Answer { given: given(), known: ::std::vec![given()] };
    let share = <Share as ::core::default::Default>::default();
    ::core::assert!(share.score(&example! { "expected" => "a" }, &answer).unwrap().value == 1.0);
    let _ = ::dsrs_metrics::Metric::evaluate(&Later, &example! {}, &prediction! {});
}
