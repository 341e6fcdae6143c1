//= uses/score_of_an_async_metric | answered | write `.evaluate(&gold, &pred).await`
//= uses/the_function_for_the_metric | answered | pass its struct (`Overlap` for `fn overlap`)
//= uses/unit_value_of_a_metric_with_parameters | answered | use parentheses to call this function
//= uses/builder_value_missing | answered | write `.words(..)` before `.build()`
//= uses/builder_unknown_parameter | understandable | rustc's E0599 at the setter
//= uses/builder_value_of_another_type | understandable | rustc's E0308 at the value
//= uses/closure_for_a_metric | answered | wrap a closure in `metric_fn("name", |gold, pred| ..)`
//= uses/closure_returns_string | answered | return `bool`, `f64`
//= uses/closure_with_three_arguments | answered | expected to take 2 arguments
//= uses/score_with_one_row | answered | provide the argument
//= uses/private_metric | understandable | rustc's E0603 at the name
//= uses/verdict_of_a_metric_without | answered | `#[metric(threshold = ..)]`
//= uses/over_rows_of_another_type | answered | derive `serde::Deserialize` for `Gold`
//= uses/hand_written_without_name | answered | implement the missing item: `fn name
//= uses/future_that_is_not_send | answered | drop what is not `Send` before `.await`

//= uses/inputs_that_are_no_names | answered | write `.inputs("question")` for one input
//= uses/devset_that_is_no_list | answered | `.devset("dev.jsonl")` for a file
//= uses/devset_file_of_rows_that_are_not_read | answered | `#[derive(serde::Deserialize)]`
//= uses/program_returns_a_string | answered | write `prediction! { "answer" => answer }`
//= uses/program_returns_a_bool | answered | write `prediction! { "answer" => answer }`
//= uses/program_that_is_not_async | answered | pass a closure `|row: dsrs_metrics::Example| async move { .. }`
//= uses/program_that_was_called | answered | the name (without `()`)
//= uses/program_that_runs_once | answered | called for each row: clone what it moves
//= uses/program_that_is_not_send | answered | has type `Rc<&str>` which is not `Send`
//= uses/builder_that_is_not_built | answered | end a builder with `.build()`
//= uses/one_metric_as_a_list | answered | write `.metric(..)` once for each metric
//= uses/score_of_any_metric | answered | write `.evaluate(&gold, &pred).await`
//= uses/score_of_a_trait_object | answered | write `.evaluate(&gold, &pred).await`
//= uses/hand_written_without_async_trait | answered | write `#[async_trait]` above `impl Metric`
//= uses/async_closure_as_metric | answered | write `|gold, pred| { let answer = ..; async move { .. } }`
//= uses/parquet_without_its_feature | answered | add `features = ["parquet"]`

//= uses/main_without_its_feature | answered | add `features = ["cli"]`
//= uses/builtin_without_its_feature | answered | the item is gated behind the `sparql` feature
//= uses/default_of_a_metric_that_requires_a_value | answered | write `Short::builder()`

//# main_with_parameters | answered | set them with `--param short.name=VALUE`
//! features cli
#[metric]
fn short(#[pred] answer: &str, #[param(default = 3)] most: usize) -> bool { answer.len() < most }
dsrs_metrics::main![short(most = 5)];

//# main_with_an_unknown_metric | understandable | rustc does not find the struct of the metric
//! features cli
dsrs_metrics::main![shrt];

//# typed_rows_in_builder | answered | write `Evaluate::typed()` for rows of your own type
#[derive(Record)]
struct Row { answer: String }
#[metric]
fn empty(#[gold] answer: &str) -> bool { answer.is_empty() }
fn main() { let _ = dsrs_metrics::Evaluate::builder().devset([Row { answer: String::new() }]).metric(Empty).build(); }

//# devset_of_values | answered | `Example::from_serialize(&value)` for other values
fn main() { let _ = dsrs_metrics::Evaluate::builder().devset([serde_json::json!({ "answer": 1 })]).build(); }

//# devset_of_references | answered | `.iter().cloned()` for references to rows
fn main() { let _ = dsrs_metrics::Evaluate::builder().devset(&[example! {}]).build(); }

//# metric_is_a_name | answered | annotate a function with `#[metric]`
fn main() { let _ = dsrs_metrics::Evaluate::builder().metric("em").build(); }

//# builder_used_twice | answered | `clone` the value
#[metric]
fn empty(#[gold] answer: &str) -> bool { answer.is_empty() }
fn main() {
    let builder = dsrs_metrics::Evaluate::builder();
    let _ = builder.metric(Empty).build();
    let _ = builder.metric(Empty).build();
}

//# program_is_a_metric | answered | pass a closure `|row: Example| async move { .. }`
#[metric]
fn empty(#[gold] answer: &str) -> bool { answer.is_empty() }
async fn evaluate(evaluate: dsrs_metrics::Evaluate) { let _ = evaluate.run(Empty).await; }

//# program_is_not_async | answered | pass a closure `|row: dsrs_metrics::Example| async move { .. }`
async fn evaluate(evaluate: dsrs_metrics::Evaluate) { let _ = evaluate.run(|row: Example| prediction! {}).await; }

//# program_returns_a_string | answered | write `prediction! { "answer" => answer }`
async fn evaluate(evaluate: dsrs_metrics::Evaluate) { let _ = evaluate.run(|row: Example| async move { String::new() }).await; }

//# program_captures_a_local | answered | use the `move` keyword
async fn evaluate(evaluate: dsrs_metrics::Evaluate) {
    let answer = String::from("Paris");
    let _ = evaluate.run(|row: Example| async { prediction! { "answer" => answer.clone() } }).await;
}

//# program_is_not_send | answered | future created by async block is not `Send`
async fn ask() {}
async fn evaluate(evaluate: dsrs_metrics::Evaluate) {
    let _ = evaluate.run(|row: Example| async move { let held = std::rc::Rc::new(1); ask().await; drop(held); prediction! {} }).await;
}

//# missing_await | answered | consider `await`ing on the `Future`
#[metric]
async fn empty(#[gold] answer: &str) -> bool { answer.is_empty() }
async fn call() { let _ = Empty.evaluate(&example! {}, &prediction! {}).unwrap().value; }

//# capture_of_a_local | answered | use the `|| { ... }` closure form instead
fn main() {
    let limit = 3;
    #[metric]
    fn short(#[pred] answer: &str) -> bool { answer.len() < limit }
}

//# closure_without_name | answered 2 | write `metric_fn("name", |gold, pred| ..)`
fn main() { let _ = metric_fn(|gold: &Example, pred: &Prediction| gold.get("a") == pred.get("a")); }

//# function_called | answered | same(/* &str */, /* &str */)
#[metric]
fn same(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool { answer == other }
fn main() { let _ = same(&example! {}); }

//# score_of_the_type | understandable | rustc's E0061 names the missing `&Same`, but swaps the other two arguments
#[metric]
fn same(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool { answer == other }
fn main() { let _ = Same::score(&example! {}, &prediction! {}); }

//# renamed_crate | understandable | the macro cannot know the name; rustc does not find `dsrs_metrics`
//! extern dm
use dm::prelude::*;
#[metric]
fn same(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool { answer == other }

//# renamed_crate_with_key | accepted
//! extern dm
use dm::prelude::*;
#[metric(crate = ::dm)]
fn same(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool { answer == other }

//# language_model_without_feature | answered | the item is gated behind the `lm` feature
use dsrs_metrics::lm::Lm;

//# built_in_without_import | understandable | rustc does not name the path of an external crate
fn main() { let _ = AnswerExactMatch::default(); }

//# misspelt_built_in | answered | similar name exists
use dsrs_metrics::metrics::AnswerExactMach;

//# value_of_the_score | answered | value
#[metric]
fn empty(#[gold] answer: &str) -> bool { answer.is_empty() }
fn main() { let _: f64 = Empty.score(&example! {}, &prediction! {}).unwrap(); }

//# a_table_without_its_feature | answered | add `features = ["report"]`
use dsrs_metrics::prelude::*;
fn main() {
    let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    let _ = dsrs_metrics::Evaluate::builder().metric(same).display_table(3);
}

//# a_file_format_without_its_feature | answered | the item is gated behind the `html` feature
use dsrs_metrics::results::HtmlReport;
fn main() {}
