//! Describes a file whose format differs from the one that the user named.

use std::fmt;
use std::path::Path;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use super::text::{with_finite_numbers, without_mark};
use crate::messages::escape;
use crate::{FormatError, Input};

/// Another program's file format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    /// An inspect_ai log (`.eval` or `.json`), or a folder of such logs.
    Inspect,
    /// Samples from an lm-eval task (`samples_TASK_DATE.jsonl`), or a folder of such files.
    LmEval,
    /// OpenTelemetry spans in OTLP JSON.
    ///
    /// With the `otel` feature, spans in OTLP protobuf can also be read.
    Otlp,
    /// Trajectories in the Agent Trajectory Interchange Format (ATIF).
    Atif,
    /// Results that promptfoo writes with `promptfoo eval --output results.json`.
    Promptfoo,
    /// A test run or goldens from deepeval, as `.json`, `.jsonl` or `.csv`.
    Deepeval,
    /// Results from ragas, as `.csv`, `.json` or `.jsonl`.
    Ragas,
    /// Berkeley Function Calling Leaderboard results, with their scores and possible answers.
    Bfcl,
    /// Statistics from a HELM run.
    ///
    /// The statistics are in `per_instance_stats.json`, which is read together with `scenario_state.json`.
    Helm,
    /// Predictions for SWE-bench, with the evaluation report.
    Swebench,
    /// Output from the OpenAI batch API.
    OpenaiBatch,
    /// TREC relevance judgements (qrels) and a TREC run.
    Trec,
    /// Speech recognition transcripts, as a reference file and a hypothesis file.
    ///
    /// Each line has the form `TEXT (ID)`.
    Trn,
}

impl ForeignFormat {
    /// All formats, each with its command-line name and a description.
    #[doc(hidden)]
    pub const ALL: [(Self, &str, &str); 13] = [
        (Self::Inspect, "inspect", "A log from inspect_ai"),
        (Self::LmEval, "lm-eval", "Samples from lm-eval"),
        (Self::Otlp, "otlp", "Spans from OpenTelemetry"),
        (Self::Atif, "atif", "Trajectories in ATIF"),
        (Self::Promptfoo, "promptfoo", "Results from promptfoo"),
        (
            Self::Deepeval,
            "deepeval",
            "A test run or goldens from deepeval",
        ),
        (Self::Ragas, "ragas", "Results from ragas"),
        (Self::Bfcl, "bfcl", "Results from BFCL"),
        (Self::Helm, "helm", "A run from HELM"),
        (Self::Swebench, "swebench", "Predictions for SWE-bench"),
        (
            Self::OpenaiBatch,
            "openai-batch",
            "The output of OpenAI's batch API",
        ),
        (Self::Trec, "trec", "Judgements and a run from TREC"),
        (Self::Trn, "trn", "Transcripts of speech recognition"),
    ];

    /// Returns `true` if the format spreads its rows over several files.
    ///
    /// For example, one file can contain the gold labels and another the predictions.
    #[doc(hidden)]
    pub const fn is_joined(self) -> bool {
        matches!(self, Self::Bfcl | Self::Swebench | Self::Trec | Self::Trn)
    }
}

/// The number of bytes used to recognize a format.
const START: u64 = 64 << 10;

/// Maps formats to the keys of their first object, or to the columns of their first line.
const KEYS: [(ForeignFormat, &str); 20] = [
    (ForeignFormat::Inspect, "eval version"),
    (ForeignFormat::Inspect, "eval status"),
    (ForeignFormat::LmEval, "doc_id"),
    (ForeignFormat::Otlp, "resourceSpans"),
    (ForeignFormat::Atif, "schema_version steps"),
    (ForeignFormat::Promptfoo, "evalId results"),
    (ForeignFormat::Promptfoo, "results config shareableUrl"),
    (ForeignFormat::Deepeval, "testCases"),
    (ForeignFormat::Deepeval, "testRunData"),
    (
        ForeignFormat::Deepeval,
        "input actual_output expected_output",
    ),
    (ForeignFormat::Ragas, "user_input response"),
    (ForeignFormat::Ragas, "user_input retrieved_contexts"),
    (
        ForeignFormat::Ragas,
        "question contexts answer ground_truth",
    ),
    (ForeignFormat::Bfcl, "accuracy correct_count total_count"),
    (ForeignFormat::Bfcl, "id result latency"),
    (ForeignFormat::Helm, "instance_id stats"),
    (ForeignFormat::Helm, "adapter_spec request_states"),
    (ForeignFormat::Swebench, "instance_id model_patch"),
    (ForeignFormat::Swebench, "resolved_ids submitted_ids"),
    (ForeignFormat::OpenaiBatch, "custom_id response"),
];

/// Describes a format and the option that imports it: `a log from inspect_ai` and `(`--from inspect`)`.
fn described(format: ForeignFormat) -> (String, String) {
    let mut known = ForeignFormat::ALL.iter().filter(|(it, ..)| *it == format);
    let (_, name, noun) = known.next().unwrap_or(&ForeignFormat::ALL[0]);
    let (first, rest) = noun.split_at(1);
    let noun = format!("{}{rest}", first.to_lowercase());
    (noun, format!("(`--from {name}`)"))
}

/// Describes a file that another program wrote, or returns `None` if its format is unknown.
///
/// The description names the command-line option that imports the file. The result is also `None` if the file cannot be
/// read.
pub fn recognize(file: &Path) -> Option<String> {
    if !file.is_file() {
        return None;
    }
    let start = Input { file }.start(START).ok()?;
    Some(describe(without_mark(&start))).filter(|found| found.contains("(`--from "))
}

/// Returns an error for the first file that has a format other than this one, or `own` if there is none.
pub(super) fn or_other_format(
    format: ForeignFormat,
    files: &[&Path],
    own: FormatError,
) -> FormatError {
    let (expected, option) = described(format);
    for file in files.iter().filter(|_| own.may_be_other) {
        let input = Input { file };
        if let Ok(start) = input.start(START)
            && let found = describe(without_mark(&start))
            && !found.ends_with(&option)
        {
            return input.whole(format_args!("expected {expected}, found {found}"));
        }
    }
    own
}

/// Describes a file based on its first bytes.
fn describe(start: &[u8]) -> String {
    if start.trim_ascii().is_empty() {
        return "an empty file".to_owned();
    }
    if start.starts_with(b"PK") {
        return "a ZIP archive, like an inspect_ai log (`--from inspect`)".to_owned();
    }
    if start.starts_with(b"\x1f\x8b") || start.starts_with(b"\x28\xb5\x2f\xfd") {
        return "a compressed file; decompress it".to_owned();
    }
    let keys = first_keys(start);
    let has = |key: &str| keys.iter().any(|found| found == key);
    if has("scores") && has("id") && !has("epoch") {
        return "a result file of this program; leave out --from".to_owned();
    }
    if has("gold") || has("pred") {
        return "rows of gold labels and predictions; leave out --from".to_owned();
    }
    let first_line = start.split(|byte| *byte == b'\n').next();
    let first_line = String::from_utf8_lossy(first_line.unwrap_or_default());
    let columns: Vec<&str> = first_line.trim().split(',').collect();
    let has = |key: &str| keys.iter().any(|found| found == key) || columns.contains(&key);
    let known = |format| {
        let (noun, option) = described(format);
        format!("{noun} {option}")
    };
    if let Some((format, _)) = KEYS.iter().find(|(_, keys)| keys.split(' ').all(has)) {
        return known(*format);
    }
    if has("results") && has("configs") {
        let found = "lm-eval results without samples; pass its samples_TASK_DATE.jsonl, which `--log_samples` saves";
        return found.to_owned();
    }
    let words: Vec<&str> = first_line.split_whitespace().collect();
    match &*words {
        [_, "Q0", _, _, score, _] if score.parse::<f64>().is_ok() => {
            return known(ForeignFormat::Trec);
        }
        [_, "0" | "Q0", _, grade] if grade.parse::<i64>().is_ok() => {
            return known(ForeignFormat::Trec);
        }
        [_, .., id] if id.starts_with('(') && id.ends_with(')') => {
            return known(ForeignFormat::Trn);
        }
        _ => {}
    }
    let is_list = start.trim_ascii_start().starts_with(b"[");
    match () {
        () if is_list => "a list".to_owned(),
        () if !keys.is_empty() => {
            format!(
                "an object with {}",
                escape::names(keys.iter().take(8).map(String::as_str))
            )
        }
        () => "a file without JSON objects".to_owned(),
    }
}

/// Returns the keys of the first JSON object, even if it is in a list, up to the point where the text is cut off.
fn first_keys(start: &[u8]) -> Vec<String> {
    /// Collects an object's keys, even if the object is cut off.
    struct Keys<'k>(&'k mut Vec<String>);

    impl<'de> Visitor<'de> for Keys<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key()? {
                self.0.push(key);
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }

    let mut keys = Vec::new();
    let start = String::from_utf8_lossy(start);
    let text = with_finite_numbers(&start);
    let text = text.trim_start().trim_start_matches('[');
    // Errors in what follows, or at the end, do not matter.
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(Keys(&mut keys));
    keys
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn a_file_is_described_by_its_first_object() {
        for (text, expected) in [
            ("  \n", "an empty file"),
            (
                r#"{"id":"a","scores":{"em":{}}}"#,
                "a result file of this program; leave out --from",
            ),
            (
                r#"{"gold":{"doc_id":1}}"#,
                "rows of gold labels and predictions; leave out --from",
            ),
            (
                r#"{"version":2,"eval":{"#,
                "a log from inspect_ai (`--from inspect`)",
            ),
            (
                r#"{"a":"x\":{","resourceSpans":[]}"#,
                "spans from OpenTelemetry (`--from otlp`)",
            ),
            (
                "{\"x\":[1,{\"doc_id\":2}]}\n{\"doc_id\":1}",
                "an object with `x`",
            ),
            ("[1]", "a list"),
            ("7", "a file without JSON objects"),
        ] {
            assert_eq!(describe(text.as_bytes()), expected, "{text}");
        }
    }
}
