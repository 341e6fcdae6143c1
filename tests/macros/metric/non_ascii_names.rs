//! Functions, fields and structs with names in other scripts.
#![allow(clippy::float_cmp, reason = "the scores are 0 and 1")]

use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Ответ {
    ответ: String,
    größe: f64,
}

#[metric(name = "exact_match_ru", struct = Совпадение)]
fn совпадение(
    #[gold] ответ: &str,
    #[pred("ответ")] дано: &str,
    #[pred] größe: f64,
) -> bool {
    ответ == дано && größe > 0.0
}

#[metric(struct = Emoji)]
fn emoji(#[pred("🦀 score")] crab: u8, #[pred("C++")] plus: u8, #[pred("C#")] sharp: u8) -> bool {
    crab + plus == sharp
}

#[test]
fn names_need_not_be_ascii() {
    let row = Ответ {
        ответ: "да".to_owned(),
        größe: 1.0,
    };
    assert_eq!(Совпадение.score(&row, &row).unwrap().value, 1.0);
    let pred = prediction! { "🦀 score" => 1, "C++" => 2, "C#" => 3 };
    assert_eq!(Emoji.score(&example! {}, &pred).unwrap().value, 1.0);
}
