//! Decodes the scores in a line of a result file, without explanations and errors, which a comparison does not read.
//!
//! Most lines of a file have the same keys in the same order. So the bytes between two values are compared with the bytes at this
//! place in an earlier line, and keys are not decoded.

use std::sync::LazyLock;

use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::StrDeserializer;
use serde_json::{Map, Value};

use crate::core::rows::pair::Origin;
use crate::core::score::corpus::record;
use crate::core::score::outcome::Outcome;
use crate::data::{GOLD_HASH, POSITIONAL, PRED_HASH, parse_hash, row_hash};
use crate::evaluate::manifest::REFERENCE_KEY;
use crate::evaluate::report::{ResultOutcome, ResultRow, ResultScore, is_judged_offline};
use crate::json::scanner::Scanner;
use crate::json::size::MAX_VALUES;
use crate::results::run::CORPUS;

/// The fields of a result row that are decoded, besides id, gold row, outcomes, values, costs and contributions. A decoded row may
/// have others too.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Reads {
    preds: bool,
    attributes: bool,
    notes: bool,
    explanations: bool,
}

impl Reads {
    /// Everything is read.
    pub const fn all() -> Self {
        Self {
            preds: true,
            attributes: true,
            notes: true,
            explanations: true,
        }
    }

    /// Scores are read, and the value at a path; with `notes` also the parts, components and metadata of scores.
    pub fn scores(path: Option<&str>, notes: bool) -> Self {
        let preds = path.is_some_and(|path| path.starts_with("pred"));
        Self {
            preds,
            attributes: path.is_some(),
            notes,
            explanations: false,
        }
    }
}

/// The bytes between the values of lines that have the same keys in the same order.
pub(super) struct Shape {
    reads: Reads,
    /// The bytes before each value, and the field of the value.
    slots: Vec<(String, Slot)>,
    end: String,
    metrics: Vec<String>,
}

/// A value of a row.
#[derive(Clone, Copy)]
enum Slot {
    Id,
    Gold,
    Pred,
    Attributes,
    Latency,
    InputTokens,
    OutputTokens,
    Cost,
    Manifest,
    GoldHash,
    PredHash,
    Positional,
    /// Any value.
    Skipped,
    /// A value of a score.
    Score(usize, ScoreSlot),
}

/// A value of a score.
#[derive(Clone, Copy, PartialEq)]
enum ScoreSlot {
    Outcome,
    Value,
    Passed,
    Confidence,
    Cost,
    Budget,
    Missing,
    Parts,
    Metadata,
    Components,
    Corpus,
    /// Any value: `details`, `feedback`, `error` and `gated_by`.
    Skipped,
}

impl Shape {
    /// The shape of no line.
    pub(super) fn new(reads: Reads) -> Self {
        Self {
            reads,
            slots: Vec::new(),
            end: String::new(),
            metrics: Vec::new(),
        }
    }

    /// Decodes a line in the memory of another row; `None` if it is not in a common shape, or may be invalid.
    pub(super) fn scan(
        &mut self,
        text: &str,
        at: &dyn Fn() -> Origin,
        row: &mut ResultRow,
    ) -> Option<()> {
        // More bytes may be more values than the limit.
        if self.reads.explanations || text.len() > 2 * MAX_VALUES {
            return None;
        }
        let scanner = Scanner::new(text)?;
        if self.slots.is_empty() || self.read(scanner.clone(), row).is_none() {
            *self = Self::of(scanner.clone(), self.reads)?;
            self.read(scanner, row)?;
        }
        row.origin = Some(at());
        Some(())
    }

    /// Returns the shape of a line.
    fn of(mut scanner: Scanner<'_>, reads: Reads) -> Option<Self> {
        let (mut shape, mut end) = (Self::new(reads), 0);
        let mut skip = |shape: &mut Self, scanner: &mut Scanner<'_>, slot| {
            scanner.peek()?;
            shape.slots.push((scanner.text_from(end).to_owned(), slot));
            scanner.skip()?;
            end = scanner.position();
            Some(())
        };
        let (mut has_id, mut has_scores) = (false, false);
        scanner.object(|scanner, key| {
            let slot = match key {
                "id" => {
                    has_id = true;
                    Slot::Id
                }
                "scores" => {
                    has_scores = true;
                    return scanner.object(|scanner, name| {
                        // With a dot, it may be the name of a part too.
                        if !reads.notes && name.contains('.') {
                            return None;
                        }
                        let (metric, mut has_outcome) = (shape.metrics.len(), false);
                        shape.metrics.push(name.to_owned());
                        scanner.object(|scanner, key| {
                            let slot = ScoreSlot::of(key);
                            has_outcome |= slot == ScoreSlot::Outcome;
                            skip(&mut shape, scanner, Slot::Score(metric, slot))
                        })?;
                        has_outcome.then_some(())
                    });
                }
                "gold" => Slot::Gold,
                "pred" if reads.preds => Slot::Pred,
                "attributes" => Slot::Attributes,
                "latency_s" => Slot::Latency,
                "input_tokens" => Slot::InputTokens,
                "output_tokens" => Slot::OutputTokens,
                "cost_msats" => Slot::Cost,
                REFERENCE_KEY => Slot::Manifest,
                GOLD_HASH => Slot::GoldHash,
                PRED_HASH => Slot::PredHash,
                POSITIONAL => Slot::Positional,
                // The shares of repeats that pass are not computed here.
                "repeats" => return None,
                key if may_be_field_twice(key) => return None,
                _ => Slot::Skipped,
            };
            skip(&mut shape, scanner, slot)
        })?;
        shape.end = scanner.text_from(end).to_owned();
        (has_id && has_scores && scanner.is_at_end()).then_some(shape)
    }

    /// Reads a line of this shape.
    fn read(&self, mut scanner: Scanner<'_>, row: &mut ResultRow) -> Option<()> {
        let (id, mut scores) = (std::mem::take(&mut row.id), std::mem::take(&mut row.scores));
        if !scores.keys().eq(&self.metrics) {
            let unknown = |name: &String| (name.clone(), ResultScore::of(&Outcome::Abstained));
            scores = self.metrics.iter().map(unknown).collect();
        }
        *row = ResultRow {
            id,
            scores,
            ..ResultRow::default()
        };
        row.scores
            .values_mut()
            .for_each(|score| *score = ResultScore::of(&Outcome::Abstained));
        for (text, slot) in &self.slots {
            scanner.literal(text)?;
            slot.read(&mut scanner, self.reads, row)?;
        }
        scanner.literal(&self.end)?;
        if !scanner.is_at_end() {
            return None;
        }
        row.gold_hash = row.gold_hash.or_else(|| row_hash(row.gold.as_ref()?));
        for score in row.scores.values_mut() {
            finish(score)?;
        }
        Some(())
    }
}

impl Slot {
    fn read(self, scanner: &mut Scanner<'_>, reads: Reads, row: &mut ResultRow) -> Option<()> {
        match self {
            Self::Id => id_into(scanner, &mut row.id)?,
            Self::Gold => row.gold = side(scanner)?,
            Self::Pred => row.pred = side(scanner)?,
            Self::Attributes => {
                if let Some(attributes) = object(scanner, reads.attributes)? {
                    row.attributes = attributes.into_iter().collect();
                }
            }
            Self::Latency => row.latency_s = scanner.number()?,
            Self::InputTokens => row.input_tokens = scanner.number()?,
            Self::OutputTokens => row.output_tokens = scanner.number()?,
            Self::Cost => row.cost_msats = scanner.number()?,
            Self::Manifest => {
                let reference = scanner.plain_string()?;
                row.manifest = (!reference.is_empty()).then(|| reference.to_owned());
            }
            Self::GoldHash => row.gold_hash = Some(parse_hash(scanner.plain_string()?)?),
            Self::PredHash => row.pred_hash = Some(parse_hash(scanner.plain_string()?)?),
            Self::Positional => row.is_positional = scanner.boolean()?.unwrap_or(false),
            Self::Skipped => scanner.skip()?,
            Self::Score(metric, slot) => slot.read(scanner, reads, &mut row.scores[metric])?,
        }
        Some(())
    }
}

impl ScoreSlot {
    fn of(key: &str) -> Self {
        match key {
            "outcome" => Self::Outcome,
            "value" => Self::Value,
            "passed" => Self::Passed,
            "confidence" => Self::Confidence,
            "cost_msats" => Self::Cost,
            "budget_msats" => Self::Budget,
            "missing" => Self::Missing,
            "parts" => Self::Parts,
            "metadata" => Self::Metadata,
            "components" => Self::Components,
            "corpus" => Self::Corpus,
            _ => Self::Skipped,
        }
    }

    fn read(self, scanner: &mut Scanner<'_>, reads: Reads, score: &mut ResultScore) -> Option<()> {
        // A score of all rows does not have the name of a part.
        let is_noted = |name: &str| reads.notes || name == CORPUS;
        match self {
            Self::Outcome => score.outcome = outcome(scanner.plain_string()?)?,
            Self::Value => score.value = scanner.number()?,
            Self::Passed => score.passed = scanner.boolean()?,
            Self::Confidence => score.confidence = scanner.number()?,
            Self::Cost => score.cost_msats = scanner.number()?.unwrap_or(0),
            Self::Budget => score.budget_msats = scanner.number()?,
            Self::Missing => score.missing = scanner.typed::<Option<_>>()?.unwrap_or_default(),
            Self::Parts => members(scanner, |scanner, name| {
                let value = scanner.number()??;
                if is_noted(name) {
                    score.parts.insert(name.to_owned(), value);
                }
                Some(())
            })?,
            Self::Metadata => score.metadata = object(scanner, reads.notes)?.unwrap_or_default(),
            Self::Components => members(scanner, |scanner, name| {
                let component = component(scanner, reads)?;
                if is_noted(name) {
                    score.components.insert(name.to_owned(), component);
                }
                Some(())
            })?,
            Self::Corpus => {
                let value = scanner.value()?;
                score.corpus = if value.is_null() {
                    None
                } else {
                    Some(record::restore(&value)?)
                };
            }
            Self::Skipped => scanner.skip()?,
        }
        Some(())
    }
}

/// Returns the outcome with this name in a result file.
fn outcome(name: &str) -> Option<ResultOutcome> {
    let name: StrDeserializer<'_, serde::de::value::Error> = name.into_deserializer();
    ResultOutcome::deserialize(name).ok()
}

/// Reads the score of a component.
fn component(scanner: &mut Scanner<'_>, reads: Reads) -> Option<ResultScore> {
    let (mut score, mut has_outcome) = (ResultScore::of(&Outcome::Abstained), false);
    scanner.object(|scanner, key| {
        let slot = ScoreSlot::of(key);
        has_outcome |= slot == ScoreSlot::Outcome;
        slot.read(scanner, reads, &mut score)
    })?;
    finish(&mut score)?;
    has_outcome.then_some(score)
}

/// Whether a line that is parsed has sorted names: a feature of `serde_json`, which any package of a program may enable, keeps
/// their order.
static SORTS_KEYS: LazyLock<bool> = LazyLock::new(|| {
    let names = ["b", "a"].map(|name| (name.to_owned(), Value::Null));
    Map::from_iter(names).keys().is_sorted()
});

/// Checks a score: only the outcome `scored` has a value.
fn finish(score: &mut ResultScore) -> Option<()> {
    match score.outcome {
        ResultOutcome::Scored => score.value = Some(score.value.filter(|it| it.is_finite())?),
        _ => (score.value, score.passed) = (None, None),
    }
    score.is_judged_offline = is_judged_offline(&score.metadata, &score.components);
    if *SORTS_KEYS {
        score.parts.sort_unstable_keys();
        score.components.sort_unstable_keys();
    }
    Some(())
}

/// Reads a gold row or prediction that is an object or null; `Some(None)` for null and for an empty object.
fn side(scanner: &mut Scanner<'_>) -> Option<Option<Value>> {
    let fields = object(scanner, true)?.filter(|fields| !fields.is_empty());
    Some(fields.map(Value::Object))
}

/// Reads or skips an object or null; `Some(None)` if it is null or skipped.
fn object(scanner: &mut Scanner<'_>, is_read: bool) -> Option<Option<Map<String, Value>>> {
    match scanner.peek()? {
        b'{' if is_read => match scanner.value()? {
            Value::Object(object) => Some(Some(object)),
            _ => None,
        },
        b'{' | b'n' => scanner.skip().map(|()| None),
        _ => None,
    }
}

/// Reads the members of an object, or null.
fn members<'t>(
    scanner: &mut Scanner<'t>,
    member: impl FnMut(&mut Scanner<'t>, &'t str) -> Option<()>,
) -> Option<()> {
    match scanner.peek()? {
        b'n' => scanner.skip(),
        _ => scanner.object(member),
    }
}

/// Whether a row that has `gold` or `pred` too is invalid.
fn may_be_field_twice(key: &str) -> bool {
    key.starts_with("gold.") || key.starts_with("pred.")
}

/// Reads an id that is written as it is shown, in the memory of another one; other numbers need care.
fn id_into(scanner: &mut Scanner<'_>, text: &mut String) -> Option<()> {
    if scanner.peek()? == b'"' {
        scanner.string_into(text)?;
        return (!text.is_empty()).then_some(());
    }
    let id = scanner.value()?;
    text.clear();
    text.push_str(&id.to_string());
    (id.is_string() || id.is_i64() || id.is_u64()).then_some(())
}

#[cfg(test)]
mod tests;
