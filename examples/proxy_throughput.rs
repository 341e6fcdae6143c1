//! Rows per second of each proxy and of `diff` on one thread, over rows of about 600 characters; and the
//! time of each relative to a loop that counts the words of the same row. The last column is the time that an
//! explanation adds to a row if it is read.
//!
//! `cargo run --release -p dsrs-metrics-examples --features proxies --example proxy_throughput`

mod word_baseline;

use std::time::Duration;

use dsrs_metrics::metrics::{
    Diff, DiffStrictness, Format, Keyword, Length, Syntax, ToolParamsSchema, ToolSchemas,
    WasRepeated,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::syntax::Language;

const PYTHON: &str = "def has_close(numbers: list, threshold: float) -> bool:\n    \"\"\"Are two numbers closer than the threshold? (They may be equal.)\"\"\"\n    for i, a in enumerate(numbers):\n        for j, b in enumerate(numbers):\n            if i != j and abs(a - b) < threshold:  # closer :-)\n                return True\n    return False\n\n\ndef main():\n    data = {'a': [1.0, 2.0, 3.9], 'b': [5, 6, 7]}\n    for name, numbers in data.items():\n        print(f\"{name}: {has_close(numbers, 0.3)}\")\n    print('it\\'s (done')\n\n\nif __name__ == '__main__':\n    main()\n";

fn measure(name: &str, metric: &impl Metric, gold: &Example, pred: &Prediction) {
    let (rows, time) = (
        vec![(gold.clone(), pred.clone()); 64],
        Duration::from_secs(1),
    );
    let loops = word_baseline::of_words(&rows, time);
    println!(
        "{}",
        word_baseline::measured(name, "", metric, &rows, time, loops)
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", word_baseline::head());
    let items: Vec<_> = (0..20)
        .map(|n| format!("{{\"id\": {n}, \"name\": \"item\"}}"))
        .collect();
    let json = format!("{{\"items\": [{}]}}", items.join(", "));
    let (gold, code) = (
        example! { "answer" => PYTHON },
        prediction! { "answer" => PYTHON },
    );
    let text = prediction! { "answer" => json };
    measure(
        "format (JSON)",
        &Format::builder().require_valid_json(true).build(),
        &gold,
        &text,
    );
    let keyword = Keyword::builder()
        .required(["def", "return"])
        .forbidden(["TODO"]);
    measure("keyword", &keyword.build(), &gold, &code);
    let words = Keyword::builder()
        .required(["def", "return"])
        .whole_words(true);
    measure("keyword (whole words)", &words.build(), &gold, &code);
    measure(
        "length (characters)",
        &Length::builder().max_chars(1000).build(),
        &gold,
        &code,
    );
    measure(
        "length (tokens)",
        &Length::builder().max_tokens(1000).build(),
        &gold,
        &code,
    );
    measure("syntax (balance)", &Syntax::default(), &gold, &code);
    let python = Syntax::builder().language(Language::Python).build();
    measure("syntax (Python)", &python, &gold, &code);
    let schema = serde_json::json!({ "type": "object", "properties": { "items": { "type": "array", "items": { "required": ["id", "name"], "properties": { "id": { "type": "integer" } } } } } });
    let schema = ToolParamsSchema::builder()
        .schemas(ToolSchemas::new([("t", &schema)])?)
        .build();
    let params: serde_json::Value = serde_json::from_str(&json)?;
    let call = prediction! { "tool" => "t", "params" => params };
    measure("tool_params_schema", &schema, &gold, &call);
    let history: Vec<_> = (0..10)
        .map(|n| serde_json::json!({ "tool": "t", "params": { "items": [n] } }))
        .collect();
    let history = example! { "execution_history" => history };
    measure("was_repeated (10 calls)", &WasRepeated, &history, &call);
    measure("diff (white space)", &Diff::default(), &gold, &code);
    let trees = Diff::builder()
        .strictness(DiffStrictness::AstEquivalent)
        .language(Language::Python);
    measure("diff (trees, Python)", &trees.build(), &gold, &code);
    Ok(())
}
