use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    r#type: String,
    r#match: bool,
}

#[metric]
fn r#match(#[pred] r#type: &str, #[pred] r#match: bool, #[param(default = 2)] r#loop: u8) -> bool {
    r#match && r#type == "a" && r#loop == 2
}

struct Row {
    r#fn: String,
}

#[metric(pred = Row)]
fn r#async(#[pred] r#fn: &str, #[pred("fn")] again: &str) -> bool {
    r#fn == again
}

/// Runs the items above.
pub fn main() {
    let answer = Answer { r#type: "a".to_owned(), r#match: true };
    let metric = Match::builder().r#loop(2).build();
    assert_eq!(metric.score(&example! {}, &answer).unwrap().value, 1.0);
    assert_eq!((Match::SPEC.name, Match::SPEC.params[0].name), ("match", "loop"));
    assert_eq!(Match::SPEC.pred[0].name, "type");
    assert_eq!(Async.score(&example! {}, &Row { r#fn: "x".to_owned() }).unwrap().value, 1.0);
}
