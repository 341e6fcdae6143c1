//! The data of the page as JSON.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::table_rows::Metric;
use super::view::View;
use crate::messages::escape;
use crate::results::{ResultRow, ResultScore, ResultsError};

/// The maximum number of characters in a string. The rest is counted.
const MAX_CHARACTERS: usize = 20_000;

/// Returns the data of the page as JSON without characters that are special in HTML.
pub(super) fn json(view: &View<'_>) -> Result<String, ResultsError> {
    let (table, runs) = (&view.table.rows, view.runs);
    let mut of_runs: Vec<HashMap<usize, [Value; 2]>> = Vec::new();
    for (run, results) in runs.iter().enumerate() {
        let places: Vec<usize> = table.iter().filter_map(|row| row[run]).collect();
        of_runs.push(results.map_rows(&places, |row| row_json(row, &view.metrics))?);
    }
    let row = |places: &[Option<usize>; 2]| {
        let rows = of_runs.iter().zip(places);
        let rows: Vec<_> = rows.map(|(rows, place)| rows.get(&(*place)?)).collect();
        let mut ids = runs.iter().zip(places);
        let id = ids.find_map(|(run, place)| Some(run.scores.rows.id((*place)?)));
        // The gold row is the same in each run that has it.
        let mut golds = rows.iter().flatten().map(|[gold, _]| gold);
        json!({
            "id": shown(id.unwrap_or_default()),
            "gold": golds.find(|gold| !gold.is_null()),
            "runs": rows.iter().map(|row| row.map(|[_, run]| run)).collect::<Vec<_>>(),
        })
    };
    let mut data = bounded(view.data());
    data["rows"] = table.iter().map(row).collect();
    Ok(script_safe(&data.to_string()))
}

/// Returns the gold row, and one run's data for the row.
fn row_json(row: &ResultRow, metrics: &[Metric<'_>]) -> [Value; 2] {
    let scores = metrics.iter().map(|metric| row.scores.get(metric.name));
    let mut run = json!({
        "pred": row.pred,
        "latency_s": row.latency_s,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost_msats": row.cost_msats,
        "traceback": row.traceback,
        "scores": scores.map(|score| score.map(score_json)).collect::<Vec<_>>(),
        "attributes": pairs(row.attributes.iter()),
    });
    retain(&mut run, |_, value| !value.is_null());
    [row.gold.clone().unwrap_or_default(), run].map(bounded)
}

/// Returns a score without the values that most rows share: the outcome `scored`, a confidence of 1, a cost of 0.
fn score_json(score: &ResultScore) -> Value {
    let mut json = json!(score);
    json["parts"] = pairs(score.parts.iter());
    json["metadata"] = pairs(score.metadata.iter());
    let components = score.components.iter();
    json["components"] = pairs(components.map(|(name, it)| (name, score_json(it))));
    json["corpus"] = Value::Null;
    json["judged_offline"] = score.is_judged_offline.then_some(true).into();
    retain(&mut json, |name, value| match name {
        "outcome" => value != "scored",
        "confidence" => value.as_f64().is_some_and(|confidence| confidence < 1.0),
        "cost_msats" => value != 0,
        _ => !value.is_null(),
    });
    json
}

/// Returns names and values in their order, which an object might not keep. Returns null if there are none.
fn pairs(entries: impl Iterator<Item = (impl Serialize, impl Serialize)>) -> Value {
    let pairs: Vec<_> = entries.map(|pair| json!(pair)).collect();
    Some(pairs).filter(|pairs| !pairs.is_empty()).into()
}

fn retain(object: &mut Value, is_kept: impl Fn(&str, &Value) -> bool) {
    if let Value::Object(fields) = object {
        fields.retain(|name, value| is_kept(name, value));
    }
}

/// Returns a string, shortened if it is long. Characters that would hide or reverse others are escaped, as on the
/// terminal.
fn shown(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_CHARACTERS) else {
        return escape::escaped_lines(text).into_owned();
    };
    let more = text[end..].chars().count();
    let shortened = format!("{} … ({more} more characters)", &text[..end]);
    escape::escaped_lines(&shortened).into_owned()
}

/// Returns a value with its strings shortened.
fn bounded(value: Value) -> Value {
    match value {
        Value::String(text) => shown(&text).into(),
        Value::Array(items) => items.into_iter().map(bounded).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, it)| (shown(&name), bounded(it)))
                .collect()
        }
        other => other,
    }
}

/// Escapes what would end the script element or start a comment in it, and JavaScript's line ends. In JSON, these
/// characters occur only in strings, where `\u` can replace them.
fn script_safe(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    let mut rest = json;
    let is_special = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    while let Some(at) = rest.find(is_special) {
        let mut characters = rest[at..].chars();
        let special = characters.next().unwrap_or_default();
        safe.push_str(&rest[..at]);
        safe.push_str(&format!("\\u{:04x}", u32::from(special)));
        rest = characters.as_str();
    }
    safe.push_str(rest);
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_script_has_the_same_value_without_characters_of_html() {
        let hostile = json!({
            "</script><script>alert(1)</script>": "<!-- <style></style> & &amp; \u{2028}\u{2029} é \\ \" \u{0}",
        });
        let safe = script_safe(&hostile.to_string());
        assert_eq!(serde_json::from_str::<Value>(&safe).unwrap(), hostile);
        assert!(
            !safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']),
            "{safe}"
        );
        assert!(
            safe.starts_with(r#"{"\u003c/script\u003e\u003cscript\u003e"#),
            "{safe}"
        );
    }

    #[test]
    fn long_strings_are_shortened_at_any_depth_and_the_rest_is_counted() {
        let long = "é".repeat(MAX_CHARACTERS + 7);
        let value = json!({"steps": [{"text": long}], "short": "é".repeat(MAX_CHARACTERS)});
        let shown = bounded(value.clone());
        let text = shown["steps"][0]["text"].as_str().unwrap();
        assert!(
            text.ends_with("é … (7 more characters)"),
            "{}",
            &text[text.len() - 40..]
        );
        assert_eq!(text.chars().filter(|c| *c == 'é').count(), MAX_CHARACTERS);
        assert_eq!(shown["short"], value["short"]);
    }
}
