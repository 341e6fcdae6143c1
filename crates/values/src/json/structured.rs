//! Compares structured values field by field, for extraction tasks.
//!
//! A field's path is a JSON pointer (RFC 6901) in which `*` matches any index of a list: `/items/*/price`. The row
//! metric `dsrs_metrics::metrics::json_field_accuracy` uses this module.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::stats::share;
use crate::text::NormalForm;

/// Options for comparing structured values field by field.
///
/// ```
/// use dsrs_metrics::structured::FieldOptions;
/// use serde_json::json;
///
/// let options = FieldOptions { rel_tolerance: 0.01, ..FieldOptions::default() };
/// let report = options.compare(
///     &json!({"name": "Louvre", "address": {}, "area": 72_700.0, "stars": 5}),
///     &json!({"name": "Louvre", "address": {"city": "Paris"}, "area": 72_735, "closed": null}),
/// );
/// let counts = report.counts;
/// assert_eq!((counts.correct, counts.expected, counts.predicted), (2, 3, 3));
/// assert_eq!(counts.accuracy(), 2.0 / 4.0); // 3 expected fields and an extra one
/// let wrong: Vec<_> = report.fields().filter(|(_, share)| *share < 1.0).collect();
/// assert_eq!(wrong, [("/address/city", 0.0)]);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FieldOptions {
    /// The largest absolute difference between two numbers that count as equal.
    pub abs_tolerance: f64,
    /// The largest relative difference between two numbers that count as equal.
    ///
    /// The difference is a fraction of the gold number: 0.01 is one percent.
    pub rel_tolerance: f64,
    /// `true` to ignore case and surrounding whitespace when comparing strings.
    pub ignore_case: bool,
    /// How the items of two lists are compared.
    pub lists: ListOrder,
    /// The Unicode normal form applied to strings before they are compared.
    pub form: NormalForm,
}

/// The counts of correct, expected, predicted and extra fields.
///
/// Only leaves count as fields: strings, numbers, booleans and empty lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FieldCounts {
    /// The number of fields that have the same value in the prediction and the gold value.
    pub correct: u64,
    /// The number of fields in the gold value.
    pub expected: u64,
    /// The number of fields in the prediction.
    pub predicted: u64,
    /// The number of predicted fields that are not in the gold value.
    pub extra: u64,
}

impl FieldCounts {
    /// Returns the number of correct fields divided by the number of expected and extra fields.
    ///
    /// The result is in [0, 1]. It is 1 if there are no expected or extra fields.
    pub fn accuracy(self) -> f64 {
        share(self.correct, self.expected + self.extra)
    }

    /// Returns the fraction of predicted fields that are correct, in [0, 1].
    ///
    /// Returns 1 if no fields are predicted.
    pub fn precision(self) -> f64 {
        share(self.correct, self.predicted)
    }

    /// Returns the fraction of expected fields that are correct, in [0, 1].
    ///
    /// Returns 1 if no fields are expected.
    pub fn recall(self) -> f64 {
        share(self.correct, self.expected)
    }
}

/// The result of comparing a prediction with the gold value, field by field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldReport {
    /// The counts of correct, expected, predicted and extra fields.
    pub counts: FieldCounts,
    /// For each path, how often the field is correct and how often it is expected.
    fields: IndexMap<String, (u64, u64)>,
}

impl FieldReport {
    /// Returns an iterator over the expected fields and how well they match.
    ///
    /// Each item is the path of a field and the fraction of its values that are correct. Only a path inside a list can
    /// have several values. The paths are in the order of the gold value's keys.
    pub fn fields(&self) -> impl Iterator<Item = (&str, f64)> {
        self.fields
            .iter()
            .map(|(path, (correct, all))| (&**path, share(*correct, *all)))
    }

    fn expect(&mut self, path: &str, is_correct: bool) {
        let field = self.fields.entry(path.to_owned()).or_default();
        field.0 += u64::from(is_correct);
        field.1 += 1;
        self.counts.expected += 1;
        self.counts.correct += u64::from(is_correct);
    }
}

impl FieldOptions {
    /// Compares a prediction with the gold value.
    ///
    /// A field that is `null` or `{}` is treated as missing, but `[]` is not.
    ///
    /// Numbers are compared by value, so 1 equals 1.0. A number never equals a string. If one side is an object and the
    /// other is not, every field below it counts as wrong.
    ///
    /// This method is recursive, so a value with far more than 127 levels can overflow the stack. `serde_json` never
    /// parses that deeply.
    pub fn compare(&self, pred: &Value, gold: &Value) -> FieldReport {
        self.compare_at(pred, gold, &[String::new()])
    }

    /// Compares a prediction with the gold value, but only at the given paths.
    ///
    /// Paths are JSON pointers, such as `/address/city`. An empty path is the whole value. Values are compared in the
    /// same way as in [`compare`](Self::compare).
    pub fn compare_at(&self, pred: &Value, gold: &Value, fields: &[String]) -> FieldReport {
        let mut report = FieldReport::default();
        for path in fields {
            let pred = pred.pointer(path);
            report.counts.predicted += pred.map_or(0, count_leaves);
            self.walk(pred, gold.pointer(path), path, &mut report);
        }
        report
    }

    fn walk(&self, pred: Option<&Value>, gold: Option<&Value>, path: &str, to: &mut FieldReport) {
        let (pred, gold) = (pred.unwrap_or(&Value::Null), gold.unwrap_or(&Value::Null));
        match (pred, gold) {
            (extra, Value::Null) => return to.counts.extra += count_leaves(extra),
            (pred, Value::Object(gold)) => {
                let fields = pred.as_object();
                for (key, value) in gold {
                    let path = format!("{path}/{}", escaped(key));
                    self.walk(fields.and_then(|it| it.get(key)), Some(value), &path, to);
                }
                let fields = fields.into_iter().flatten();
                let extra = fields.filter(|(key, _)| !gold.contains_key(*key));
                to.counts.extra += extra.map(|(_, value)| count_leaves(value)).sum::<u64>();
            }
            (pred, Value::Array(gold)) if !gold.is_empty() => {
                let path = format!("{path}/*");
                let items = pred.as_array().map_or(&[][..], Vec::as_slice);
                for (pred, gold) in pairs(self, items, gold) {
                    self.walk(pred, gold, &path, to);
                }
            }
            (pred, gold) => {
                let is_correct = self.is_same(pred, gold);
                to.expect(path, is_correct);
                // The first leaf replaces the expected one; the others are extra.
                return to.counts.extra += count_leaves(pred).saturating_sub(1);
            }
        }
        if pred.is_object() != gold.is_object() || pred.is_array() != gold.is_array() {
            let in_place = u64::from(is_leaf(pred) && count_leaves(gold) > 0);
            to.counts.extra += count_leaves(pred).saturating_sub(in_place);
        }
    }

    fn is_same(&self, pred: &Value, gold: &Value) -> bool {
        match (pred, gold) {
            (Value::Number(pred), Value::Number(gold)) => self.is_close(pred, gold),
            (Value::String(pred), Value::String(gold)) => self.is_same_text(pred, gold),
            (pred, gold) => pred == gold,
        }
    }

    fn is_close(&self, pred: &Number, gold: &Number) -> bool {
        // Integers beyond 2^53 are compared exactly, unless the tolerance is above 0.
        if gold == pred {
            return true;
        }
        let (Some(exact), Some(other)) = (gold.as_f64(), pred.as_f64()) else {
            return false;
        };
        let both_whole = !gold.is_f64() && !pred.is_f64();
        let tolerance = self.abs_tolerance.max(self.rel_tolerance * exact.abs());
        let difference = (exact - other).abs();
        if tolerance > 0.0 {
            difference <= tolerance
        } else {
            difference == 0.0 && !both_whole
        }
    }

    fn is_same_text(&self, pred: &str, gold: &str) -> bool {
        let (pred, gold) = (self.form.apply(pred), self.form.apply(gold));
        match self.ignore_case {
            true => pred.trim().to_lowercase() == gold.trim().to_lowercase(),
            false => pred == gold,
        }
    }
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Null | Value::Object(_) => false,
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

/// How the items of two lists are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ListOrder {
    /// Compares items by position.
    #[default]
    Ordered,
    /// Compares items regardless of their order.
    ///
    /// Items are paired greedily. The pair with the most correct fields comes first, then the best pair of the
    /// remaining items, and so on. In a tie, the earlier pair wins. The result is optimal for lists of strings, and
    /// nearly always for other lists.
    Unordered,
}

/// An item and the expected item that it is compared with.
type Pair<'a> = (Option<&'a Value>, Option<&'a Value>);

/// Returns the pairs of predicted and gold items, followed by the items without a partner.
fn pairs<'a>(options: &FieldOptions, pred: &'a [Value], gold: &'a [Value]) -> Vec<Pair<'a>> {
    match options.lists {
        ListOrder::Ordered => {
            let all = 0..pred.len().max(gold.len());
            all.map(|at| (pred.get(at), gold.get(at))).collect()
        }
        ListOrder::Unordered => most_alike(options, pred, gold),
    }
}

/// Pairs the items that are most alike.
fn most_alike<'a>(options: &FieldOptions, pred: &'a [Value], gold: &'a [Value]) -> Vec<Pair<'a>> {
    let mut candidates = Vec::new();
    for (at, item) in gold.iter().enumerate() {
        for (other_at, other) in pred.iter().enumerate() {
            let correct = options.compare(other, item).counts.correct;
            let wrong = count_leaves(other).saturating_sub(correct);
            candidates.push((std::cmp::Reverse(correct), wrong, at, other_at));
        }
    }
    candidates.sort_unstable();
    let mut pairs: Vec<Pair<'_>> = gold.iter().map(|item| (None, Some(item))).collect();
    let mut free: Vec<Option<&Value>> = pred.iter().map(Some).collect();
    for (_, _, at, other) in candidates {
        if pairs[at].0.is_none() {
            pairs[at].0 = free[other].take();
        }
    }
    pairs.extend(free.into_iter().flatten().map(|item| (Some(item), None)));
    pairs
}

/// Escapes a key for use in a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the number of leaves, which are values without fields of their own. `null` and an empty object count as
/// absent, but an empty list is a leaf.
fn count_leaves(value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Array(items) if !items.is_empty() => items.iter().map(count_leaves).sum(),
        Value::Object(fields) => fields.values().map(count_leaves).sum(),
        _ => 1,
    }
}
