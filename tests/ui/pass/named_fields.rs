//! Fields whose name is a parameter.
#![no_implicit_prelude]
#![forbid(unsafe_code)]
#![deny(warnings, unused)]

use ::dsrs_metrics::{Record, metric};

#[metric]
fn same(
    #[gold(named_by = other)] left: &str,
    #[pred(named_by = field)] right: &str,
    #[param(default = "answer")] field: &str,
    #[param(default = "gold_answer")] other: ::std::string::String,
) -> bool {
    left == right
}

#[metric]
async fn later(#[pred(named_by = r#type)] text: &str, #[param(default = "type")] r#type: &str) -> bool {
    text == "a"
}

#[metric(all(same(other = "question", field = "answer"), later(r#type = "answer")))]
struct Both;

#[derive(Record)]
struct Row<'a, T: ::core::clone::Clone, const N: usize> {
    answer: &'a str,
    all: [T; N],
}

macro_rules! short {
    ($name:ident, $field:literal) => {
        #[metric]
        fn $name(#[pred(named_by = field)] text: &str, #[param(default = $field)] field: &str) -> bool {
            text.is_empty()
        }
    };
}
short!(is_empty, "plan");

/// Runs the items above.
pub fn main() {
    let gold = ::dsrs_metrics::example! { "gold_answer" => "a" };
    let row = Row { answer: "a", all: [1_u8] };
    let _ = row.all;
    let same = <Same as ::core::default::Default>::default();
    ::core::assert_eq!(same.score(&gold, &row).map(|score| score.value), ::core::result::Result::Ok(1.0));
    ::core::assert_eq!(Both::SPEC.pred.len(), 1);
    ::core::assert_eq!(Both::SPEC.gold[0].name, "question");
    ::core::assert_eq!(IsEmpty::SPEC.pred[0].name, "plan");
    let _ = Both.evaluate(&gold, &row);
}
