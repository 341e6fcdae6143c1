//! The table fits the terminal.

use super::{saying, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, rows::Pair, runs::EvaluationResult};
use unicode_width::UnicodeWidthStr;

async fn wide() -> EvaluationResult {
    let pair = |row: usize| {
        let text = "東京は日本の首都です。".repeat(30);
        let gold = example! { "question" => text, "answer" => "two\nlines\tand a tab" };
        let pred = prediction! {
            "answer" => "word ".repeat(200), "sources" => [1, 2, 3], "intent" => "x", "confidence" => 0.5,
            "say" => if row == 1 { "fail" } else { "0.123456" }
        };
        Pair::new(format!("row{row}"), gold, pred)
    };
    let always = metric_fn("always", |_, _| true);
    let evaluate = Evaluate::builder()
        .metric(metric_fn("said", super::said))
        .metric(always);
    evaluate
        .build()
        .unwrap()
        .score((0..5).map(pair))
        .await
        .unwrap()
}

#[tokio::test]
async fn the_table_is_never_wider_than_the_terminal() {
    let result = wide().await;
    for width in [40, 60, 80, 120, 200, 300] {
        let table = result.table(Some(3)).with_width(width).to_string();
        let widest = table.lines().map(UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= usize::from(width), "{widest} > {width}\n{table}");
        assert!(table.contains("row0") && !table.contains("row3"), "{table}");
        assert!(
            table.contains("0.1235") && table.contains("true"),
            "{table}"
        );
        assert!(table.contains("(2 more rows"), "{table}");
        // Borders, a header, and one line for each of three rows.
        assert_eq!(table.lines().count(), 4 + 3 + 1, "{table}");
    }
    let narrow = result.table(None).with_width(40).to_string();
    assert!(narrow.ends_with("more columns)"), "{narrow}");
}

#[tokio::test]
async fn the_table_shows_all_rows_on_request() {
    let result = scoring()
        .build()
        .unwrap()
        .score(saying(&["1"; 30]))
        .await
        .unwrap();
    let table = result.table(None).with_width(80).to_string();
    assert!(
        table.contains("row29") && !table.contains("more"),
        "{table}"
    );
}

#[metric(threshold = 0.5)]
fn closeness(#[gold] year: f64, #[pred] guess: f64) -> f64 {
    1.0 - (year - guess).abs() / 100.0
}

#[tokio::test]
async fn a_narrow_table_shows_what_the_first_metric_reads() {
    let gold = example! { "question" => "When?", "hint" => "later", "note" => "n", "year" => 1889 };
    let pred = prediction! { "thoughts" => "hm", "guess" => 1889, "sources" => ["a"] };
    let evaluate = Evaluate::builder().metric(Closeness).build().unwrap();
    let result = evaluate.score([Pair::new("r", gold, pred)]).await.unwrap();
    let header = |width: u16| {
        let table = result.table(None).with_width(width).to_string();
        let line = table.lines().nth(1).unwrap();
        let names = line.split(['┆', '│']).map(|name| name.trim().to_owned());
        names.filter(|name| !name.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(header(64), ["id", "gold.year", "pred.guess", "closeness"]);
    assert_eq!(
        header(84),
        [
            "id",
            "gold.year",
            "pred.guess",
            "gold.question",
            "closeness"
        ]
    );
    assert_eq!(
        header(300)[1..5],
        ["gold.year", "pred.guess", "gold.question", "gold.hint"]
    );
    // A number is shown as a number even where it is 1.
    assert!(result.table(None).to_string().contains("1.0000"));
}
