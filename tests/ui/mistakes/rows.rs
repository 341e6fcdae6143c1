//= rows/missing_field | answered | add `#[derive(Record)]` and a field `answer`
//= rows/wrong_field_type | answered | of type `String` or another string type
//= rows/not_a_record | answered | add `#[derive(Record)]`
//= rows/list_of_another_type | answered | a field `answers` of type `Vec<String>`
//= rows/narrowing_number | answered | a field `share` of type `f32`
//= rows/optional_field_where_it_is_required | answered | of type `String`
//= rows/rows_swapped | answered | swap these arguments
//= rows/several_fields_at_once | answered | a field `answers` of type `Vec<String>`
//= record/tuple_struct | answered | write `struct Row { answer: String }`
//= record/enum | answered | write `struct Row { answer: String }`
//= record/unknown_attribute | answered | did you mean `rename`?
//= record/attribute_without_content | answered | write `#[record(rename = "name")]`
//= record/rename_without_quotes | answered | write `rename = "answer"`
//= record/unknown_container_attribute | answered | write `#[record(rename = "name")]` on a field
//= record/duplicate_name | answered | rename one of the fields
//= typed/private_field | understandable | rustc's E0616 at the parameter
//= typed/plain_for_an_optional_field | answered | `Option<&str>` for `Option<String>`
//= typed/scored_over_another_row | answered | pass a reference to a `Gold`

//# row_of_a_built_in | answered 2 | a field `answer` of type `String` or `Vec<String>`
struct Row { answer: u8 }
fn main() { let _ = dsrs_metrics::metrics::AnswerExactMatch::default().score(&Row { answer: 1 }, &Row { answer: 1 }); }

//# field_of_a_built_in | answered 2 | a field `answer` of type `String` or `Vec<String>`
#[derive(Record)]
struct Row { answer: u8 }
fn main() { let _ = dsrs_metrics::metrics::AnswerExactMatch::default().score(&Row { answer: 1 }, &Row { answer: 1 }); }

//# borrowed_row | understandable | rustc's E0597 with `'static`; the guide says that rows own their data
#[derive(Record)]
struct Row<'a> { answer: &'a str }
#[metric]
fn empty(#[pred] answer: &str) -> bool { answer.is_empty() }
fn main() {
    let text = String::from("a");
    let _ = Empty.score(&example! {}, &Row { answer: &text });
}

//# typed_rows_score_dynamic_ones | accepted
#[derive(serde::Deserialize)]
struct Ticket { kind: String }
#[metric(gold = Ticket)]
fn same(#[gold] kind: &str, #[pred("kind")] other: &str) -> bool { kind == other }
fn main() { let _ = Same.score(&example! { "kind" => "a" }, &prediction! { "kind" => "a" }); }

//# typed_rows_without_deserialize | answered 2 | derive `serde::Deserialize` for `Ticket`
struct Ticket { kind: String }
#[metric(gold = Ticket)]
fn same(#[gold] kind: &str, #[pred("kind")] other: &str) -> bool { kind == other }
fn main() { let _ = Same.score(&example! { "kind" => "a" }, &prediction! { "kind" => "a" }); }

//# colon_in_example | answered | write `example! { "answer" => "Paris" }`
fn main() { let _ = example! { "answer": "Paris" }; }

//# name_in_example | answered | write `example! { "answer" => "Paris" }`
fn main() { let _ = example! { answer: "Paris" }; }

//# equals_in_prediction | answered | write `prediction! { "answer" => "Paris" }`
fn main() { let _ = prediction! { "answer" = "Paris" }; }

//# unknown_variable_in_example | understandable | rustc does not find the value
fn main() { let _ = example! { "answer" => answer }; }

//# not_serializable_in_example | answered | #[derive(serde::Serialize)]
struct City;
fn main() { let _ = example! { "answer" => City }; }

//# fields_of_an_example | understandable | rustc's E0609 at the field
fn main() { let row = example! { "answer" => "Paris" }; let _ = row.answer; }

//# unknown_row_type | understandable | rustc does not find the type
#[metric]
fn empty(#[pred] answer: &str) -> bool { answer.is_empty() }
fn main() { let _ = Empty.score(&Question { answer: 1 }, &prediction! {}); }

//# record_without_import | misleading | rustc names no path of an external crate, and proposes the attribute `record`
use dsrs_metrics::metric;
#[derive(Record)]
struct Row { answer: String }

//# generic_record | accepted
#[derive(Record)]
struct Row<T> { answer: T }
#[metric]
fn empty(#[pred] answer: &str) -> bool { answer.is_empty() }
fn main() { let _ = Empty.score(&example! {}, &Row { answer: String::new() }); }
