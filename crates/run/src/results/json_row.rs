//! A line of a result file that has only the keys of one, each once. The reader of any row, `parse.rs`, reads all other lines, and
//! names what is wrong with them.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::core::rows::pair::Origin;
use crate::core::score::corpus::record;
use crate::data::{parse_hash, row_hash};
use crate::evaluate::report::{
    ResultOutcome, ResultRow, ResultScore, are_verdicts, is_judged_offline,
};
use crate::json::numbers::inexact_number;
use crate::json::size::MAX_VALUES;
use crate::json::unique_keys::{UniqueKeys, unique_entries};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JsonRow {
    id: String,
    gold: Option<UniqueKeys>,
    pred: Option<UniqueKeys>,
    #[serde(default, deserialize_with = "unique_entries")]
    attributes: IndexMap<String, UniqueKeys>,
    latency_s: Option<f64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cost_msats: Option<u64>,
    traceback: Option<String>,
    manifest: Option<String>,
    gold_hash: Option<String>,
    pred_hash: Option<String>,
    #[serde(default)]
    positional: bool,
    #[serde(deserialize_with = "unique_entries")]
    scores: IndexMap<String, ResultScore>,
    #[serde(default)]
    repeats: Vec<Repeat>,
}

#[derive(Deserialize)]
struct Repeat {
    #[serde(deserialize_with = "unique_entries")]
    scores: IndexMap<String, RepeatScore>,
}

#[derive(Deserialize)]
struct RepeatScore {
    value: Option<f64>,
    passed: Option<bool>,
}

/// Reads a line; `None` if another reader has to.
pub(super) fn read(text: &str, at: &dyn Fn() -> Origin) -> Option<ResultRow> {
    // More bytes may be more values than the limit.
    if text.len() > 2 * MAX_VALUES {
        return None;
    }
    let row: JsonRow = serde_json::from_str(text).ok()?;
    if inexact_number(text).is_some() {
        return None;
    }
    row.into_row(Some(at()))
}

impl JsonRow {
    /// Checks the row; `None` if a value is not valid.
    pub(crate) fn into_row(mut self, origin: Option<Origin>) -> Option<ResultRow> {
        for (name, score) in &mut self.scores {
            finish(score)?;
            let repeats = self.repeats.iter().filter_map(|it| it.scores.get(name));
            let mut repeats = repeats.map(|it| (it.value, it.passed)).peekable();
            if repeats.peek().is_some() {
                score.is_share = score.value.is_some() && are_verdicts(repeats);
            }
        }
        let (gold, pred) = (self.gold.and_then(side), self.pred.and_then(side));
        let hash = |hash: Option<String>| match hash {
            Some(text) => parse_hash(&text).map(Some),
            None => Some(None),
        };
        Some(ResultRow {
            id: Some(self.id).filter(|id| !id.is_empty())?,
            origin,
            gold_hash: hash(self.gold_hash)?.or_else(|| row_hash(gold.as_ref()?)),
            pred_hash: hash(self.pred_hash)?,
            gold,
            pred,
            attributes: self
                .attributes
                .into_iter()
                .map(|(name, UniqueKeys(value))| (name, value))
                .collect(),
            latency_s: self.latency_s,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cost_msats: self.cost_msats,
            traceback: self.traceback,
            is_positional: self.positional,
            manifest: self.manifest.filter(|it| !it.is_empty()),
            scores: self.scores,
            is_flat: false,
        })
    }
}

/// A gold row or prediction that has any value.
fn side(UniqueKeys(value): UniqueKeys) -> Option<Value> {
    let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty);
    Some(value).filter(|_| !is_empty)
}

/// Checks a score: only the outcome `scored` has a value.
fn finish(score: &mut ResultScore) -> Option<()> {
    match score.outcome {
        ResultOutcome::Scored => score.value = Some(score.value?),
        _ => (score.value, score.passed) = (None, None),
    }
    score.components.values_mut().try_for_each(finish)?;
    score.corpus = match score.written_corpus.take() {
        Some(corpus) => Some(record::restore(&corpus)?),
        None => None,
    };
    score.is_judged_offline = is_judged_offline(&score.metadata, &score.components);
    Some(())
}

#[cfg(test)]
mod tests {
    //! A line that is read is read as by the parser of all rows, and a line that the parser rejects is not read.

    use std::path::Path;

    use super::*;
    use crate::data::ObjectRow;
    use crate::results::ResultsError;
    use crate::results::parse::UncheckedRow;

    const LINES: [&str; 6] = [
        r#"{"id":"q1","scores":{"em":{"outcome":"scored","value":1.0,"passed":true,"confidence":1.0,"details":"a \"b\" é","feedback":null,"cost_msats":0}}}"#,
        r#"{"id":"7","gold":{"answer":"x","n":[1,2.5]},"pred":{},"latency_s":0.25,"input_tokens":10,"output_tokens":2,"cost_msats":5,"scores":{"f1":{"outcome":"scored","value":0.5,"passed":null,"parts":{"precision":0.25,"corpus":1}}},"attributes":{"topic":"a","empty":null}}"#,
        r#"{"id":"a","gold":null,"pred":{"answer":"y"},"scores":{"judge":{"outcome":"scored","value":1,"passed":false,"metadata":{"judge":"offline","judges":[{"judge":"m","replied_by":[]}]},"missing":["answer"],"components":{"c":{"outcome":"gated","value":null,"passed":null}}}},"manifest":"1-abc"}"#,
        r#"{"id":"b","scores":{"em":{"outcome":"metric_failed","value":null,"passed":null,"error":"no answer"},"f1":{"outcome":"gated","gated_by":"em","budget_msats":3}},"repeats":[{"scores":{"em":{"value":1,"passed":true}}}],"traceback":"at"}"#,
        r#"{"id":"c","scores":{"rouge":{"outcome":"counted","value":null,"corpus":{"formula":"edit_rate","counts":[1,4]}},"a.b":{"outcome":"skipped"}},"gold_hash":"00000000000000a1"}"#,
        r#"{ "id" : "d" , "scores" : { "em" : { "value" : 2 , "outcome" : "abstained" } } }"#,
    ];

    fn at() -> Origin {
        Origin {
            file: Path::new("run.jsonl").into(),
            line: 1,
        }
    }

    fn parsed(line: &str) -> Result<ResultRow, ResultsError> {
        UncheckedRow::from(ObjectRow::parse(line, &at())?).check()
    }

    /// Whether a line is read, and then as by the parser.
    fn is_read(line: &str) -> bool {
        let row = read(line, &at);
        if let Some(row) = &row {
            let expected = parsed(line).unwrap_or_else(|error| panic!("{line}\n{error}"));
            assert_eq!(*row, expected, "{line}");
        }
        row.is_some()
    }

    #[test]
    fn lines_of_a_run_are_read() {
        assert_eq!(LINES.map(is_read), [true; 6]);
    }

    #[test]
    fn changed_lines_are_read_as_by_the_parser() {
        let changes = [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", " ", "n", "\u{1}",
        ];
        let additions = [
            "\"",
            "0",
            ",",
            "\"id\":1,",
            "\"value\":3,",
            "null",
            "\\ud800",
            "1e400",
        ];
        let (mut read, mut others) = (0, 0);
        for line in LINES {
            for place in (0..line.len()).filter(|place| line.is_char_boundary(*place)) {
                let (start, end) = line.split_at(place);
                let rest = end
                    .chars()
                    .next()
                    .map_or("", |first| &end[first.len_utf8()..]);
                let changed = changes.iter().map(|with| format!("{start}{with}{rest}"));
                let added = additions.iter().map(|with| format!("{start}{with}{end}"));
                let cut = [start.to_owned(), format!("{start}{rest}")];
                for line in changed.chain(added).chain(cut) {
                    if is_read(&line) {
                        read += 1;
                    } else {
                        others += 1;
                    }
                }
            }
        }
        assert!(read > 3_000 && others > 10_000, "{read} {others}");
    }
}
