//= params/gold_and_pred_of_one_name | answered | write `#[pred("answer")] pred_answer: &str`
//= params/role_with_identifier | answered | write `#[pred("answer")]`
//= params/role_with_equals | answered | write `#[pred("answer")]`
//= params/role_with_unknown_option | answered | write `#[pred("answer")]`
//= params/two_roles | answered | write two parameters
//= params/mutable_reference | answered | remove `mut`
//= params/wildcard_without_name | answered | write `#[pred("field")]`
//= params/row_by_another_name | answered | write `gold: &Example`
//= params/row_by_value | answered | write `example: &Example`
//= params/rows_swapped | answered | write `gold: &Example`
//= params/row_that_is_a_field_str | answered | write `#[pred]` before it
//= params/trace_by_reference | answered | write `trace: Option<&Trace>`
//= params/option_with_default | answered | remove `default` or the `Option`
//= params/param_with_name | answered | expected `default`, `default = value`, `flatten` or `into`
//= params/trait_object | answered | write a concrete type
//= params/not_deserialize | answered | any type that derives `serde::Deserialize`
//= params/list_of_not_deserialize | answered | any type that derives `serde::Deserialize`
//= params/default_of_other_type | answered | write `default = 0.0`
//= params/param_default_of_other_type | answered | write `default = 0.8`
//= params/param_default_text_for_list | answered | write `default = &["a".to_owned(), "b".to_owned()]`
//= params/default_literals | answered | write `default = vec![1, 2]`
//= params/field_default_without_default | answered | #[derive(Default)]
//= params/param_not_clone | answered | #[derive(Clone)]
//= params/unknown_type | understandable | rustc does not find the type

//# misspelt_default | answered | did you mean `default`?
#[metric]
fn share(#[pred(defualt = 3)] share: u8) -> u8 { share }

//# misspelt_missing | answered | did you mean `missing`?
#[metric]
fn share(#[pred(mising = 0.5)] share: f64) -> f64 { share }

//# misspelt_default_of_param | answered | did you mean `default`?
#[metric]
fn share(#[pred] share: f64, #[param(deafult = 0.5)] least: f64) -> bool { share > least }

//# default_in_parentheses | answered | write `default = 0.5`
#[metric]
fn share(#[pred] share: f64, #[param(default(0.5))] least: f64) -> bool { share > least }

//# without_attribute | answered | write `#[gold]` or `#[pred]` to read a field of a row
#[metric]
fn same(answer: &str, #[pred("answer")] other: &str) -> bool { answer == other }

//# whole_row_in_typed_mode | answered 2 | write `gold: &Ticket`
struct Ticket { kind: String }
struct Reply { kind: String }
#[metric(gold = Ticket, pred = Reply)]
fn same(ticket: &Ticket, reply: &Reply) -> bool { ticket.kind == reply.kind }

//# whole_row_of_another_name | answered 2 | name it `gold` or `pred` if `Ticket` is the type of a whole row
struct Ticket { kind: String }
struct Reply { kind: String }
#[metric]
fn same(ticket: &Ticket, reply: &Reply) -> bool { ticket.kind == reply.kind }

//# unknown_type_of_gold | answered | a struct with a similar name exists
struct Ticket { kind: String }
struct Reply { kind: String }
#[metric(gold = Tickt, pred = Reply)]
fn same(#[gold] kind: &str, #[pred("kind")] other: &str) -> bool { kind == other }

//# field_that_is_not_comparable | answered | consider further restricting type parameter `T` with trait `PartialEq`
#[metric]
fn same<T: serde::de::DeserializeOwned>(#[gold] answer: T, #[pred("answer")] other: T) -> bool { answer == other }

//# field_of_wrong_type_in_typed_mode | answered | write the field's type for the parameter, `String`
struct Ticket { kind: String }
#[metric(gold = Ticket)]
fn same(#[gold] kind: u8, #[pred("kind")] other: u8) -> bool { kind == other }

//# misspelt_field_in_typed_mode | answered | a field with a similar name exists
struct Ticket { kind: String }
#[metric(gold = Ticket)]
fn same(#[gold] knid: &str, #[pred("kind")] other: &str) -> bool { knid == other }

//# typed_field_is_an_option | answered | `Option<&str>` for `Option<String>`
struct Ticket { kind: Option<String> }
#[metric(gold = Ticket)]
fn same(#[gold] kind: &str, #[pred("kind")] other: &str) -> bool { kind == other }

//# owned_list_of_borrowed | answered | cannot live for `'static`
#[metric]
fn count(#[pred] words: &'static str) -> usize { words.len() }

//# async_without_async | answered | this is not `async`
async fn ask() -> f64 { 1.0 }
#[metric]
fn share(#[pred] share: f64) -> f64 { share * ask().await }

//# not_send | answered | drop what is not `Send` before `.await`
#[metric]
async fn share(#[pred] share: f64) -> f64 {
    let held = std::rc::Rc::new(share);
    std::future::ready(()).await;
    *held
}

//# twelve_parameters | accepted
#[metric]
fn many(#[gold] a: u8, #[gold] b: u8, #[gold] c: u8, #[gold] d: u8, #[gold] e: u8, #[gold] f: u8, #[pred] g: u8, #[pred] h: u8, #[pred] i: u8, #[pred] j: u8, #[pred] k: u8, #[param(default = 1)] l: u8) -> bool { a + b + c + d + e + f == g + h + i + j + k + l }
