//! The rows as JSON within the page.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

use super::labels::Metric;
use super::view::View;
use crate::contract::ScoreKind;
use crate::messages::escape;
use crate::results::{ResultOutcome, ResultRow, ResultScore, ResultsError, ResultsErrorKind};

/// The maximum number of characters of a string; the rest is counted.
const MAX_CHARACTERS: usize = 20_000;

/// The data for the script, without the rows. Its fields are named like those of a result file.
#[derive(Serialize)]
struct Data<'a> {
    runs: Vec<Text<'a>>,
    metrics: Vec<MetricData<'a>>,
}

#[derive(Serialize)]
struct MetricData<'a> {
    name: Text<'a>,
    kind: &'static str,
    lower_is_better: bool,
    /// `true` if the metric compares the rows of two runs.
    is_compared: bool,
}

/// A row of one run, as JSON with HTML's special characters escaped.
struct RowJson {
    gold: Option<String>,
    run: String,
}

/// A row of one run. Keys without a value are omitted.
struct RunData<'a> {
    row: &'a ResultRow,
    metrics: &'a [Metric<'a>],
}

impl Serialize for RunData<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { row, metrics } = self;
        let mut keys = Keys(to.serialize_map(None)?);
        keys.add("pred", row.pred.as_ref().map(Bounded))?;
        keys.add("attributes", object(row.attributes.iter(), Bounded))?;
        keys.add("latency_s", row.latency_s)?;
        keys.add("input_tokens", row.input_tokens)?;
        keys.add("output_tokens", row.output_tokens)?;
        keys.add("cost_msats", row.cost_msats)?;
        keys.add("traceback", row.traceback.as_deref().map(Text))?;
        let scores = metrics
            .iter()
            .map(|metric| row.scores.get(metric.name).map(ScoreData));
        keys.add("scores", Some(scores.collect::<Vec<_>>()))?;
        keys.0.end()
    }
}

/// A score. Values that most rows share are omitted: the outcome `scored`, a confidence of 1, a cost of 0.
struct ScoreData<'a>(&'a ResultScore);

impl Serialize for ScoreData<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(score) = self;
        let mut keys = Keys(to.serialize_map(None)?);
        let missing: Vec<_> = score.missing.iter().map(|field| Text(field)).collect();
        keys.add(
            "outcome",
            Some(score.outcome).filter(|it| *it != ResultOutcome::Scored),
        )?;
        keys.add("value", score.value)?;
        keys.add("passed", score.passed)?;
        keys.add(
            "confidence",
            score.confidence.filter(|confidence| *confidence < 1.0),
        )?;
        keys.add("details", score.details.as_deref().map(Text))?;
        keys.add("feedback", score.feedback.as_deref().map(Text))?;
        keys.add("error", score.error.as_deref().map(Text))?;
        keys.add(
            "cost_msats",
            Some(score.cost_msats).filter(|cost| *cost > 0),
        )?;
        keys.add("missing", Some(missing).filter(|fields| !fields.is_empty()))?;
        keys.add("gated_by", score.gated_by.as_deref().map(Text))?;
        keys.add("budget_msats", score.budget_msats)?;
        keys.add("probability", score.probability)?;
        keys.add("parts", object(score.parts.iter(), |value| value))?;
        keys.add("metadata", object(score.metadata.iter(), Bounded))?;
        keys.add("components", object(score.components.iter(), ScoreData))?;
        keys.add("judged_offline", score.is_judged_offline.then_some(true))?;
        keys.0.end()
    }
}

/// The keys of an object.
struct Keys<M>(M);

impl<M: SerializeMap> Keys<M> {
    /// Adds a key, unless it has no value.
    fn add(&mut self, key: &str, value: Option<impl Serialize>) -> Result<(), M::Error> {
        value.map_or(Ok(()), |value| self.0.serialize_entry(key, &value))
    }
}

/// Returns names and values as an object in their order; `None` if there are none.
fn object<'a, V: 'a, T>(
    entries: impl Iterator<Item = (&'a (impl AsRef<str> + ?Sized + 'a), &'a V)>,
    value: impl Fn(&'a V) -> T,
) -> Option<IndexMap<Text<'a>, T>> {
    let entries: IndexMap<_, _> = entries
        .map(|(name, it)| (Text(name.as_ref()), value(it)))
        .collect();
    Some(entries).filter(|entries| !entries.is_empty())
}

/// Returns the rows as JSON without characters that are special in HTML.
pub(super) fn json(view: &View<'_>) -> Result<String, ResultsError> {
    let runs = view.runs;
    let metrics = view.metrics.iter().map(|metric| MetricData {
        name: Text(metric.name),
        kind: match metric.kind {
            ScoreKind::Bool => "bool",
            ScoreKind::Number | ScoreKind::Corpus => "number",
        },
        lower_is_better: metric.is_lower_better,
        is_compared: metric.is_compared,
    });
    let data = Data {
        runs: runs.iter().map(|run| Text(run.name())).collect(),
        metrics: metrics.collect(),
    };
    let mut json = safe_json(&data)?;
    // Without the closing brace.
    json.pop();
    json.push_str(",\"rows\":[");
    add_rows(&mut json, view)?;
    json.push_str("]}");
    Ok(json)
}

/// Adds the rows in the table, each with its row in each run.
fn add_rows(json: &mut String, view: &View<'_>) -> Result<(), ResultsError> {
    let (rows, runs) = (&view.table.rows, view.runs);
    let mut of_runs = Vec::new();
    for (run, results) in runs.iter().enumerate() {
        let mut places: Vec<usize> = rows.iter().filter_map(|row| row[run]).collect();
        places.sort_unstable();
        let json = results.map_rows(&places, |row| row_json(row, &view.metrics))?;
        let json = json.into_iter().collect::<Result<Vec<_>, _>>()?;
        of_runs.push((places, json));
    }
    for (position, places) in rows.iter().enumerate() {
        let of_runs: Vec<Option<&RowJson>> = of_runs
            .iter()
            .zip(places)
            .map(|((places, json), place)| Some(&json[places.binary_search(place.as_ref()?).ok()?]))
            .collect();
        let id = runs
            .iter()
            .zip(places)
            .find_map(|(run, place)| Some(run.id((*place)?)));
        if position > 0 {
            json.push(',');
        }
        json.push_str("{\"id\":");
        json.push_str(&safe_json(&Text(id.unwrap_or_default()))?);
        if let Some(gold) = of_runs.iter().flatten().find_map(|row| row.gold.as_deref()) {
            json.push_str(",\"gold\":");
            json.push_str(gold);
        }
        json.push_str(",\"runs\":[");
        for (run, row) in of_runs.iter().enumerate() {
            json.push_str(if run > 0 { "," } else { "" });
            json.push_str(row.map_or("null", |row| &row.run));
        }
        json.push_str("]}");
    }
    Ok(())
}

fn row_json(row: &ResultRow, metrics: &[Metric<'_>]) -> Result<RowJson, ResultsError> {
    let gold = row
        .gold
        .as_ref()
        .map(|gold| safe_json(&Bounded(gold)))
        .transpose()?;
    Ok(RowJson {
        gold,
        run: safe_json(&RunData { row, metrics })?,
    })
}

fn safe_json(value: &impl Serialize) -> Result<String, ResultsError> {
    let json = serde_json::to_string(value).map_err(|error| {
        let message = format!("the rows cannot be written as JSON: {error}");
        ResultsError::new(ResultsErrorKind::Output, message)
    });
    Ok(script_safe(&json?))
}

/// A string, shortened if it is long. Characters that would hide or reverse others are escaped, as on the terminal.
#[derive(PartialEq, Eq, Hash)]
struct Text<'a>(&'a str);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&escape::escaped_lines(&shortened(self.0)))
    }
}

fn shortened(text: &str) -> Cow<'_, str> {
    // A string has at most as many characters as bytes.
    if text.len() <= MAX_CHARACTERS {
        return text.into();
    }
    match text.char_indices().nth(MAX_CHARACTERS) {
        None => text.into(),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{} … ({more} more characters)", &text[..end]).into()
        }
    }
}

/// A value whose strings are shortened.
struct Bounded<'a>(&'a Value);

impl Serialize for Bounded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) => Text(text).serialize(serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Bounded)),
            Value::Object(fields) => {
                serializer.collect_map(fields.iter().map(|(name, it)| (Text(name), Bounded(it))))
            }
            other => other.serialize(serializer),
        }
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
    use serde_json::json;

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
        let shown = serde_json::to_value(Bounded(&value)).unwrap();
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
