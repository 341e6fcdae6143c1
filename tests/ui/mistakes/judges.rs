//= judge/input_as_in_metric | answered | write `#[input(pred)]`
//= judge/input_alone | answered | write `#[input(gold)]`
//= judge/input_borrowed | answered | write `String`
//= judge/input_with_equals | answered | write `#[input(gold)]`
//= judge/field_without_a_role | answered | or `#[output]` before it
//= judge/input_and_output | answered | write two fields
//= judge/key_model | answered | write `panel(models = ["openai:gpt-6-luna"])`
//= judge/key_instruction | answered | as the struct's doc comment
//= judge/key_unknown | answered | did you mean `threshold`?
//= judge/key_tier | answered | remove `tier`
//= judge/model_without_provider | answered | write `"openai:gpt-6-luna"`
//= judge/item_enum | answered | expected a struct with named fields
//= judge/item_function | answered | write `#[metric]` for a function
//= judge/item_unit_struct | answered | write `struct Name {
//= judge/item_with_lifetime | answered | write owned types
//= judge/field_in_camel_case | answered | rename the field
//= judge/max_tokens_zero | answered | write `max_tokens = 1024`
//= judge/aggregation_by_another_name | answered | write `aggregation = average`
//= judge/output_without_schema | answered | write `#[judge_output]`
//= judge/output_not_clone | answered | #[derive(Clone)]
//= judge/score_expression_is_text | answered | write an expression over the outputs
//= judge/score_of_an_unknown_output | answered | write an expression over `polite`
//= judge/score_reads_an_input | answered | write an expression over `polite`
//= judge/input_default_of_another_type | answered | write `default = "5"`
//= judge/score_of_unknown_values | answered | did you mean `grade`?
//= judge/score_of_an_unknown_function | understandable | rustc does not find the function
//= judge/input_not_serialize | answered | `serde::Serialize`
//= judge/no_language_model | answered | pass a name such as `"openai:gpt-6-luna"`
//= judge/param_not_given | answered | write `.criteria(..)` before `.build()`
//= judge/raw_interpolation | answered | declare it as an `#[input(..)]`

//# enum_output | answered | write `#[judge_output]` above it
enum Tone { Polite, Rude }
/// How polite is the answer?
#[judge(score = tone == Tone::Polite)]
struct Polite { #[input(pred)] answer: String, #[output] tone: Tone }

//# list_of_enum_output | answered | write `#[judge_output]` above it
enum Tone { Polite, Rude }
/// How polite is the answer?
#[judge(score = tones.len() > 1)]
struct Polite { #[input(pred)] answer: String, #[output] tones: Vec<Tone> }

//# braces_in_range | accepted
/// How polite is the answer?
#[judge(score = grade, threshold = { 0.5 })]
struct Polite { #[input(pred)] answer: String, #[output(range = 0.0..={ 1.0 })] grade: f64 }

//# rescale_of_integers | accepted
/// How polite is the answer?
#[judge(score = rescale(grade, 1..=5), range = 0.0..=1.0)]
struct Polite { #[input(pred)] answer: String, #[output(range = 1..=5)] grade: u8 }

//# without_instruction | answered | write what to judge in the struct's doc comment
#[judge]
struct Polite { #[input(pred)] answer: String, #[output] polite: bool }

//# without_input | answered | write `#[input(gold)]` or `#[input(pred)]`
/// Is it polite?
#[judge]
struct Polite { #[output] polite: bool }

//# without_output | answered | write `#[output]` before a field
/// Is it polite?
#[judge]
struct Polite { #[input(pred)] answer: String }

//# two_outputs_without_score | answered | score =
/// Is it polite?
#[judge]
struct Polite { #[input(pred)] answer: String, #[output] polite: f64, #[output] short: f64 }

//# integer_division | answered | write `f64::from(grade)`
/// How polite is the answer?
#[judge(score = grade / 5)]
struct Polite { #[input(pred)] answer: String, #[output(range = 1..=5)] grade: u8 }

//# range_of_a_string | answered | remove `range`
/// How polite is the answer?
#[judge(score = grade == "good")]
struct Polite { #[input(pred)] answer: String, #[output(range = 1..=5)] grade: String }

//# one_label | answered | write `labels = ["good", "bad"]`
/// How polite is the answer?
#[judge(score = grade == "good")]
struct Polite { #[input(pred)] answer: String, #[output(labels = ["good"])] grade: String }

//# score_in_quotes | answered | write an expression over the outputs
/// How polite is the answer?
#[judge(score = "grade")]
struct Polite { #[input(pred)] answer: String, #[output] grade: f64 }

//# judge_output_on_a_judge_without_judge | answered | expected an enum or a struct
#[judge_output]
fn polite() {}

//# default_of_a_judge_without_model | answered | write `PoliteJudge`
/// Is it polite?
#[judge]
struct Polite { #[input(pred)] answer: String, #[output] polite: bool }
fn main() { let _ = Polite::default().with_lm("openai:gpt-6-luna"); }

//# scored_at_once | answered | write `.evaluate(&gold, &pred).await`
/// Is it polite?
#[judge]
struct Polite { #[input(pred)] answer: String, #[output] polite: bool }
fn main() { let _ = PoliteJudge::default().score(&example! {}, &prediction! { "answer" => "a" }); }

//# temperature_as_text | answered | write `temperature = 0`
/// Is it polite?
#[judge(scoring(temperature = "0"))]
struct Polite { #[input(pred)] answer: String, #[output] polite: bool }
