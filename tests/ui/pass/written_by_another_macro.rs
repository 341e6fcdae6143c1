//! Types and names arrive in invisible groups.
use dsrs_metrics::prelude::*;

macro_rules! same {
    ($name:ident, $struct:ident, $ty:ty, $field:ident, $limit:expr, $doc:literal) => {
        #[doc = $doc]
        #[metric(struct = $struct, threshold = $limit, range = 0.0..=$limit * 2.0)]
        fn $name(
            #[gold] $field: $ty,
            #[pred($doc)] given: $ty,
            #[param(default = $limit)] one: f64,
        ) -> f64 {
            if $field == given { one } else { 0.0 }
        }
    };
}

same!(same_text, SameText, &str, answer, 0.5, "text");
same!(same_number, SameNumber, Option<i64>, number, 0.5, "number");
same!(same_list, SameList, &[String], list, 0.5, "list");

macro_rules! over_row {
    ($row:ty, $score:ty) => {
        #[metric(gold = $row)]
        fn over_row(gold: &$row, pred: &Prediction) -> $score {
            pred.get("n").is_some() && gold.n > 0
        }
    };
}

struct Gold {
    n: u8,
}

over_row!(Gold, bool);

macro_rules! record {
    ($name:ident { $($field:ident: $ty:ty),* }) => {
        #[derive(Record)]
        struct $name { $($field: $ty),* }
    };
}

record!(Answer { answer: String, number: Option<i64>, list: Vec<String> });

/// Runs the items above.
pub fn main() {
    let answer = Answer { answer: "a".to_owned(), number: Some(1), list: Vec::new() };
    let pred = prediction! { "text" => "a", "number" => 1, "list" => Vec::<String>::new() };
    assert_eq!(SameText::default().score(&answer, &pred).unwrap().value, 0.5);
    assert_eq!(SameNumber::default().score(&answer, &pred).unwrap().value, 0.5);
    assert_eq!(SameList::default().score(&answer, &pred).unwrap().value, 0.5);
    assert_eq!(OverRow.score(&Gold { n: 1 }, &prediction! { "n" => 1 }).unwrap().value, 1.0);
}
