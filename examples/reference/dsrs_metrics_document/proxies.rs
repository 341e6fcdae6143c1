//! "Proxy Metrics": format, keywords, length, syntax.

use dsrs_metrics::metrics::{Format, Keyword, Length, Syntax};
use dsrs_metrics::prelude::*;

use crate::Result;

pub(super) async fn run() -> Result {
    format().await?;
    keyword().await?;
    length().await?;
    syntax().await
}

/// "FormatMetric": `score.value` is "1.0 if valid, 0.0 if not".
async fn format() -> Result {
    let metric = Format::builder()
        .require_non_empty(true)
        .require_valid_json(true)
        .field("answer") // Check specific field
        .build();

    let input = example! {};
    let score = metric
        .evaluate(&input, &prediction! { "answer" => "{\"a\": 1}" })
        .await?;
    assert_eq!((score.value, score.cost_msats), (1.0, 0));
    let score = metric
        .evaluate(&input, &prediction! { "answer" => "{\"a\": 1" })
        .await?;
    assert_eq!(score.value, 0.0);
    let score = metric
        .evaluate(&input, &prediction! { "answer" => "" })
        .await?;
    assert_eq!(score.value, 0.0);
    Ok(())
}

/// "KeywordMetric": all required keywords, none of the forbidden ones.
async fn keyword() -> Result {
    let metric = Keyword::builder()
        .required(vec!["function", "return"]) // Must have ALL
        .forbidden(vec!["TODO", "FIXME"]) // Must have NONE
        .field("code") // Check specific field
        .build();

    let input = example! {};
    let score = metric
        .evaluate(
            &input,
            &prediction! { "code" => "function f() { return 1 }" },
        )
        .await?;
    assert_eq!(score.value, 1.0);
    let score = metric
        .evaluate(
            &input,
            &prediction! { "code" => "function f() { return 1 } // TODO" },
        )
        .await?;
    assert_eq!(score.value, 0.0);
    let score = metric
        .evaluate(&input, &prediction! { "code" => "function f() {}" })
        .await?;
    assert_eq!(score.value, 0.5);
    Ok(())
}

/// "LengthMetric": "Partial credit for close-to-bounds".
async fn length() -> Result {
    let metric = Length::builder()
        .min_chars(10)
        .max_chars(1000)
        .field("summary")
        .build();

    let input = example! {};
    let score = metric
        .evaluate(&input, &prediction! { "summary" => "Ten chars." })
        .await?;
    assert_eq!(score.value, 1.0);
    let score = metric
        .evaluate(&input, &prediction! { "summary" => "Nine char" })
        .await?;
    assert_eq!(score.value, 0.9);
    Ok(())
}

/// "SyntaxMetric": balanced brackets and quotes, "Language-specific validation (optional)".
async fn syntax() -> Result {
    let metric = Syntax::builder()
        .check_balanced_brackets(true)
        .check_balanced_quotes(true)
        .language(Some("rust"))
        .field("code")
        .build();

    let input = example! {};
    let score = metric
        .evaluate(&input, &prediction! { "code" => "fn f() -> u8 { 1 }" })
        .await?;
    assert_eq!(score.value, 1.0);
    let score = metric
        .evaluate(&input, &prediction! { "code" => "fn f() -> u8 { 1" })
        .await?;
    assert_eq!(score.value, 0.0);
    Ok(())
}
