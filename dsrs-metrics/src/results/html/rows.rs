//! The rows as JSON within the page.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};

use super::HtmlReport;
use super::view::View;
use crate::core::rows::dynamic::Fields;
use crate::core::spec::ScoreKind;
use crate::results::{ResultOutcome, ResultRow, ResultScore, Results};
use crate::text::shown;

/// The largest number of characters of a string; the rest is counted.
const MAX_CHARACTERS: usize = 20_000;

/// The data of the script. The names of the fields are those of a result file.
#[derive(Serialize)]
struct Data<'a> {
    runs: Vec<Text<'a>>,
    metrics: Vec<MetricData<'a>>,
    rows: Vec<RowData<'a>>,
}

#[derive(Serialize)]
struct MetricData<'a> {
    name: Text<'a>,
    kind: &'static str,
    lower_is_better: bool,
}

#[derive(Serialize)]
struct RowData<'a> {
    id: Text<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gold: Option<Bounded<'a>>,
    /// `None` for a run without the row.
    runs: Vec<Option<RunData<'a>>>,
}

#[derive(Serialize)]
struct RunData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pred: Option<Bounded<'a>>,
    #[serde(skip_serializing_if = "FieldsData::is_empty")]
    attributes: FieldsData<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_msats: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceback: Option<Text<'a>>,
    scores: Vec<Option<ScoreData<'a>>>,
}

/// A score. What most rows have in common is omitted: the outcome `scored`, a confidence of 1, a cost of 0.
#[derive(Serialize)]
struct ScoreData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Text<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    cost_msats: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gated_by: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_msats: Option<u64>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    parts: IndexMap<Text<'a>, f64>,
    #[serde(skip_serializing_if = "BoundedMap::is_empty")]
    metadata: BoundedMap<'a>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    components: IndexMap<Text<'a>, ScoreData<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    judged_offline: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Returns the rows as JSON without a character that HTML gives a meaning to.
pub(super) fn json(view: &View<'_>, report: &HtmlReport<'_>) -> serde_json::Result<String> {
    let metrics = view.kinds.iter().map(|(name, kind)| MetricData {
        name: Text(name),
        kind: match kind {
            ScoreKind::Bool => "bool",
            ScoreKind::Number | ScoreKind::Corpus => "number",
        },
        lower_is_better: report.is_lower_better(name),
    });
    let data = Data {
        runs: report.runs.iter().map(|run| Text(run.name())).collect(),
        metrics: metrics.collect(),
        rows: rows(view, &report.runs),
    };
    Ok(script_safe(&serde_json::to_string(&data)?))
}

/// The rows of the first run, each with the same row of the second one, then the other rows of the second run.
fn rows<'a>(view: &View<'a>, runs: &[&'a Results]) -> Vec<RowData<'a>> {
    let row = |of_runs: Vec<Option<&'a ResultRow>>| {
        let first = of_runs.iter().flatten().next()?;
        let gold = of_runs.iter().flatten().find_map(|row| row.gold.as_ref());
        let runs = of_runs.iter().map(|row| row.map(|row| RunData::new(row, view)));
        Some(RowData { id: Text(&first.id), gold: gold.map(Bounded), runs: runs.collect() })
    };
    let [first, others @ ..] = runs else { return Vec::new() };
    let of_first = first.rows().iter().map(|it| {
        let same = others.iter().map(|run| run.row(&it.id));
        std::iter::once(Some(it)).chain(same).collect()
    });
    let rest = others.iter().flat_map(|run| run.rows());
    let rest = rest.filter(|row| first.row(&row.id).is_none()).map(|it| vec![None, Some(it)]);
    of_first.chain(rest).filter_map(row).collect()
}

impl<'a> RunData<'a> {
    fn new(row: &'a ResultRow, view: &View<'a>) -> Self {
        let score = |(name, _): &(&str, _)| row.scores.get(*name).map(ScoreData::new);
        Self {
            pred: row.pred.as_ref().map(Bounded),
            attributes: FieldsData(&row.attributes),
            latency_s: row.latency_s,
            input_tokens: row.input_tokens,
            output_tokens: row.output_tokens,
            cost_msats: row.cost_msats,
            traceback: row.traceback.as_deref().map(Text),
            scores: view.kinds.iter().map(score).collect(),
        }
    }
}

impl<'a> ScoreData<'a> {
    fn new(score: &'a ResultScore) -> Self {
        let components = score.components.iter();
        Self {
            outcome: (score.outcome != ResultOutcome::Scored).then(|| score.outcome.name()),
            value: score.value,
            passed: score.passed,
            confidence: score.confidence.filter(|confidence| *confidence < 1.0),
            details: score.details.as_deref().map(Text),
            feedback: score.feedback.as_deref().map(Text),
            error: score.error.as_deref().map(Text),
            cost_msats: score.cost_msats,
            missing: score.missing.iter().map(|field| Text(field)).collect(),
            gated_by: score.gated_by.as_deref().map(Text),
            budget_msats: score.budget_msats,
            parts: score.parts.iter().map(|(name, value)| (Text(name), *value)).collect(),
            metadata: BoundedMap(&score.metadata),
            components: components.map(|(name, it)| (Text(name), Self::new(it))).collect(),
            judged_offline: score.is_judged_offline,
        }
    }
}

/// A string, shortened if it is long. Characters that would hide or reverse others are escaped, as on the terminal.
#[derive(PartialEq, Eq, Hash)]
struct Text<'a>(&'a str);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&shown::escaped_lines(&shortened(self.0)))
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
            Value::Array(items) => {
                let mut array = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| array.serialize_element(&Bounded(item)))?;
                array.end()
            }
            Value::Object(fields) => BoundedMap(fields).serialize(serializer),
            other => other.serialize(serializer),
        }
    }
}

struct BoundedMap<'a>(&'a Map<String, Value>);

impl BoundedMap<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for BoundedMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (Text(name), Bounded(value))))
    }
}

struct FieldsData<'a>(&'a Fields);

impl FieldsData<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for FieldsData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(&Text(name), &Bounded(value)))?;
        map.end()
    }
}

/// Escapes what would end the script element or start a comment in it, and the line ends of JavaScript. In JSON these
/// characters occur only in strings, where `\u` may replace them.
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
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{safe}");
        assert!(safe.starts_with(r#"{"\u003c/script\u003e\u003cscript\u003e"#), "{safe}");
    }

    #[test]
    fn long_strings_are_shortened_at_any_depth_and_the_rest_is_counted() {
        let long = "é".repeat(MAX_CHARACTERS + 7);
        let value = json!({"steps": [{"text": long}], "short": "é".repeat(MAX_CHARACTERS)});
        let shown = serde_json::to_value(Bounded(&value)).unwrap();
        let text = shown["steps"][0]["text"].as_str().unwrap();
        assert!(text.ends_with("é … (7 more characters)"), "{}", &text[text.len() - 40..]);
        assert_eq!(text.chars().filter(|c| *c == 'é').count(), MAX_CHARACTERS);
        assert_eq!(shown["short"], value["short"]);
    }
}
