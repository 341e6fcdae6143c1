//= attribute/unknown_key | answered | did you mean `threshold`?
//= attribute/colon_for_equals | answered | write `threshold = 0.5`
//= attribute/key_without_value | answered | write `threshold = 0.5`
//= attribute/value_in_parentheses | answered | write `threshold = 0.5`
//= attribute/missing_comma | answered | write `,` before it
//= attribute/flag_with_value | answered | write `strict` alone
//= attribute/literal_for_key | answered | did you mean `name = "overlap"`?
//= attribute/duplicate_key | answered | keep one
//= value/threshold_in_quotes | answered | write `threshold = 0.5`
//= value/threshold_is_a_percentage | answered | write `threshold = 0.8`
//= value/range_half_open | answered | write `range = 0.0..=1.0`
//= value/range_as_tuple | answered | write `range = 0.0..=1.0`
//= value/range_empty | answered | write `range = 0.0..=1.0`
//= value/tier_unknown | answered | expected `proxy` (cheap, runs first) or `truth`
//= value/tier_in_quotes | answered | write `tier = proxy`
//= value/cost_number | answered | write `cost = "100 msat"`
//= value/cost_without_unit | answered | write `cost = "100 msat"`
//= value/name_with_spaces | answered | write `name = "word_overlap"`
//= value/name_from_camel_case_function | answered | rename the function to `word_overlap`
//= value/struct_in_quotes | answered | write `struct = WordOverlap`
//= value/gold_in_quotes | answered | write `gold = Gold`
//= value/threshold_not_constant | answered | function `limit` is not const
//= value/threshold_constant_of_other_type | understandable | rustc shows both types, and proposes `.into()`, which is not constant
//= value/threshold_nan | answered | write a finite number
//= value/crate_unknown | understandable | rustc names the path that does not exist
//= verdict/bool_with_threshold | answered | remove it, or return a number
//= verdict/bool_with_range | answered | remove it, or return a number
//= verdict/bool_with_lower_is_better | answered | negate the returned value
//= verdict/threshold_outside_range | answered | write a threshold within it
//= verdict/threshold_can_never_fail | answered | write a larger threshold
//= verdict/strict_without_threshold | answered | add `threshold = 0.5`
//= verdict/corpus_with_threshold | answered | remove it, and compare the score of all rows
//= item/struct | answered | write `#[metric] fn name(
//= item/method | answered | remove `self`
//= item/unsafe_function | answered | remove `unsafe`
//= returns/unit | answered | return `bool`, `f64`
//= returns/tuple | answered | return `bool`, `f64`
//= returns/nothing | answered | write `-> bool` or `-> f64`
//= returns/string | answered | return `bool`, `f64`
//= returns/error_without_display | answered | with `E: Display`
//= returns/counts_without_corpus | answered | a `#[metric(corpus)]` returns
//= returns/corpus_returns_a_number | answered | return `CorpusCounts`
//= returns/unknown_type | answered | a struct with a similar name exists
//= names/clash_with_a_struct | understandable | rustc reports two types of one name; it does not name `struct = ..`
//= explain/without_score | answered | expected fn pointer `for<'a, 'b> fn(&'a str, &'b str, f64) -> _`

//# braces_in_threshold | accepted
#[metric(range = 0.0..=1.0, threshold = { 0.5 })]
fn share(#[pred] share: f64) -> f64 { share }

//# braces_in_range | accepted
struct Scale { most: f64 }
#[metric(range = 0.0..=Scale { most: 5.0 }.most, threshold = if true { 0.5 } else { 0.6 })]
fn share(#[pred] share: f64) -> f64 { share }

//# braces_outside | answered | write a threshold within it
#[metric(range = 0.0..={ 1.0 }, threshold = { 2.0 })]
fn share(#[pred] share: f64) -> f64 { share }

//# struct_named_g | answered | did you mean `threshold`?
#[metric(treshold = 0.5)]
fn g(#[pred] share: f64) -> f64 { share }

//# struct_named_p | answered | did you mean `threshold`?
#[metric(treshold = 0.5)]
fn p(#[pred] share: f64) -> f64 { share }

//# reads_nothing | answered | write a parameter such as `#[pred] answer: &str`
#[metric]
fn constant() -> bool { true }

//# reads_only_configuration | answered | write a parameter such as `#[pred] answer: &str`
#[metric]
fn constant(#[param(default = 3)] most: u8) -> bool { most == 3 }

//# in_an_impl | misleading 5 | the macro does not see the `impl`; rustc proposes a nearby module for the struct
struct Checker;
impl Checker {
    #[metric]
    fn same(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool { answer == other }
}

//# in_a_trait | misleading 5 | the macro does not see the `trait`; rustc proposes a nearby module for the struct
trait Checker {
    #[metric]
    fn same(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool { answer == other }
}

//# in_an_impl_with_self | answered | expected a free function
struct Checker;
impl Checker {
    #[metric]
    fn same(&self, #[gold] answer: &str) -> bool { answer.is_empty() }
}

//# in_an_impl_with_self_type | answered 2 | move the function out of the `impl` or `trait`
struct Checker;
impl Checker {
    #[metric]
    fn same(#[gold] answer: &str, checker: &Self) -> bool { answer.is_empty() }
}

//# without_prelude | misleading | rustc does not resolve `#[diagnostic::..]` in a crate without a prelude
#![no_implicit_prelude]
use ::dsrs_metrics::metric;
#[metric]
fn same(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool { answer.len() == other.len() }
fn main() {}

//# result_without_display | answered | with `E: Display`
struct Broken;
#[metric]
fn share(#[pred] share: f64) -> Result<f64, Broken> { Ok(share) }

//# corpus_returns_f64 | answered | return `CorpusCounts`
#[metric(corpus)]
fn share(#[pred] share: f64) -> f64 { share }

//# name_of_the_prelude | answered | write `#[metric(struct = SomeMetric)]`
#[metric]
fn some(#[pred] answer: &str) -> bool { answer.is_empty() }

//# attribute_with_unit | answered | write `cost = "100 usd"`
#[metric(cost = "100 EUR")]
fn share(#[pred] share: f64) -> f64 { share }

//# another_error_of_question_mark | answered | `Broken` needs to implement `From<ParseFloatError>`
#[derive(Debug)]
struct Broken;
fn parse(_: &str) -> Result<f64, std::num::ParseFloatError> { Ok(1.0) }
impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("broken") }
}
#[metric]
fn share(#[pred] share: &str) -> Result<f64, Broken> { Ok(parse(share)?) }

//# question_mark_without_result | answered | this function should return `Result` or `Option` to accept `?`
#[metric]
fn share(#[pred] share: &str) -> f64 { share.parse::<f64>()? }

//# private_type | accepted
mod metrics {
    use dsrs_metrics::prelude::*;
    #[derive(serde::Deserialize, Clone, Debug)]
    struct Hidden;
    #[metric]
    pub fn same(#[pred] answer: Hidden, #[param] other: Hidden) -> bool { let _ = (answer, other); true }
}

//# own_names | accepted
struct Vec;
struct Some;
type Result = u8;
#[metric]
fn same(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool { answer == other }

//# raw_identifier | accepted
#[metric]
fn r#type(#[gold] r#match: &str, #[pred("match")] other: &str) -> bool { r#match == other }
