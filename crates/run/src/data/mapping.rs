//! Field mappings, such as `gold.answer=answers`, for rows with a different shape. Also converts fields from other
//! notations and, for messages, guesses from its name which column holds a field.
//!
//! The file is long because each form of a mapping is documented with an example.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::contract::{Fields, Side};
use crate::messages::escape;

/// A mapping from a field to the path of its value in the row.
///
/// Each segment of the path is a key or a list index. For example, `messages.-1.content` and `messages[-1].content`
/// both select the last message's content.
///
/// Quote keys that contain dots, as in `meta."a.b".c`. An unquoted key with dots matches only if it is the whole path.
///
/// If the path continues into a string, the string is parsed as JSON or as a Python literal.
///
/// If the row has no value at the path, the field is absent. This is true even if the row has a field with the same
/// name.
///
/// An id can span several columns, as in `id=task,language`.
///
/// If you map `repeat=COLUMN`, rows with the same id are samples of one row. The column holds each sample's number.
///
/// ```
/// use dsrs_metrics::data::Mapping;
///
/// let mapping: Mapping = "pred.answer=choices.0.text".parse().unwrap();
/// assert_eq!(mapping.to_string(), "pred.answer=choices.0.text");
///
/// let error = "answer=answers".parse::<Mapping>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "invalid mapping `answer=answers`: expected `gold.FIELD`, `pred.FIELD`, `id` or `repeat` before `=`, found `answer`",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    target: Target,
    path: String,
}

/// The target of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Id,
    /// The sample's number among rows with the same id.
    Repeat,
    Field(Side, String),
}

impl Mapping {
    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the name of the field that the mapping sets.
    ///
    /// The name is `gold.NAME`, `pred.NAME`, `id` or `repeat`.
    pub fn field(&self) -> String {
        match &self.target {
            Target::Id => "id".to_owned(),
            Target::Repeat => "repeat".to_owned(),
            Target::Field(side, field) => format!("{side}.{field}"),
        }
    }

    /// Returns the dotted path into the row.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the paths. Only an id can have more than one, if it spans several columns.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let is_several = self.target == Target::Id && !self.path.contains('"');
        self.path
            .split(move |separator| is_several && separator == ',')
    }

    /// Returns `true` if the mapping sets the given field.
    pub fn sets(&self, side: Side, field: &str) -> bool {
        matches!(&self.target, Target::Field(its, name) if *its == side && name == field)
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.field(), self.path)
    }
}

impl FromStr for Mapping {
    type Err = MappingError;

    fn from_str(text: &str) -> Result<Self, MappingError> {
        let invalid =
            |reason: &str| MappingError::from(format!("invalid mapping `{text}`: {reason}"));
        let Some((field, path)) = text.split_once('=') else {
            return Err(invalid("expected FIELD=PATH, as in gold.answer=answers"));
        };
        if path.is_empty() || !path.contains('"') && path.split('.').any(str::is_empty) {
            let reason = format!("empty segment in the path `{path}`; remove the extra dot");
            return Err(invalid(&reason));
        }
        let target = match field.split_once('.') {
            _ if field == "id" => Target::Id,
            _ if field == "repeat" => Target::Repeat,
            Some(("gold", name)) if !name.is_empty() => Target::Field(Side::Gold, name.to_owned()),
            Some(("pred", name)) if !name.is_empty() => Target::Field(Side::Pred, name.to_owned()),
            _ => {
                let expected = "expected `gold.FIELD`, `pred.FIELD`, `id` or `repeat` before `=`";
                return Err(invalid(&format!("{expected}, found `{field}`")));
            }
        };
        Ok(Self {
            target,
            path: path.to_owned(),
        })
    }
}

dsrs_metrics_values::message_errors! {
    /// An error returned when a string is not a valid mapping, conversion or join.
    pub struct MappingError;
}

/// A conversion for a field that metrics cannot read as is.
///
/// For example, a conversion can split a delimited list or parse a number with a decimal comma.
///
/// ```
/// use dsrs_metrics::data::{Conversion, DataReader, Format};
///
/// let file = br#"{"gold": {"answer": "Rome|Roma"}, "pred": {"answer": "Roma"}}"#;
/// let reader = DataReader::new().with_conversion(Conversion::split("gold.answer=|")?);
/// let row = reader.read_from("rows.jsonl", Format::Jsonl, &file[..]).next().unwrap()?;
/// assert_eq!(row.gold.get("answer").unwrap()[1], "Roma");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    side: Side,
    name: String,
    /// The separator of a list's elements, or `None` for a number with a decimal comma.
    separator: Option<String>,
}

impl Conversion {
    /// Creates a conversion that splits a string field into a list.
    ///
    /// For example, `gold.answer=|` splits the field `gold.answer` at each `|`. An empty string becomes an empty list.
    ///
    /// # Errors
    /// Returns a [`MappingError`] if `text` is not of the form FIELD=SEPARATOR.
    pub fn split(text: &str) -> Result<Self, MappingError> {
        let invalid = || {
            MappingError::from(format!(
                "invalid separator `{text}`: expected FIELD=SEPARATOR, as in gold.answer=|"
            ))
        };
        let (field, separator) = text.split_once('=').ok_or_else(invalid)?;
        match separator {
            "" => Err(invalid()),
            separator => Self::of(field, Some(separator.to_owned())),
        }
    }

    /// Creates a conversion that reads a field as a number with a decimal comma.
    ///
    /// For example, the field can be `pred.score`.
    ///
    /// # Errors
    /// Returns a [`MappingError`] if `field` is not of the form `gold.FIELD` or `pred.FIELD`.
    pub fn decimal_comma(field: &str) -> Result<Self, MappingError> {
        Self::of(field, None)
    }

    fn of(field: &str, separator: Option<String>) -> Result<Self, MappingError> {
        match format!("{field}=value").parse::<Mapping>()?.target {
            Target::Field(side, name) => Ok(Self {
                side,
                name,
                separator,
            }),
            Target::Id | Target::Repeat => Err(MappingError::from(format!(
                "expected gold.FIELD or pred.FIELD, found `{field}`"
            ))),
        }
    }

    pub(super) fn side(&self) -> Side {
        self.side
    }

    /// Converts the field, if it is a string.
    pub(super) fn apply(&self, fields: &mut Fields) {
        let Some(value) = fields.get_mut(&self.name) else {
            return;
        };
        let Value::String(text) = &*value else {
            return;
        };
        match &self.separator {
            Some(_) if text.is_empty() => *value = Value::Array(Vec::new()),
            Some(separator) => {
                let items = text.split(separator).map(|item| item.trim().into());
                *value = Value::Array(items.collect());
            }
            None => {
                let number = text.trim().replace(',', ".");
                if let Ok(number @ Value::Number(_)) = serde_json::from_str(&number) {
                    *value = number;
                }
            }
        }
    }
}

/// Words that mark a column of labels, even next to a word from [`PREDICTED`].
const LABELLED: &str = "gold golden ground truth reference ref expected target correct ideal true solution example label human";

/// Words that mark a column of predictions.
const PREDICTED: &str = "pred prediction predicted actual generated generation completion hypothesis hyp candidate retrieved model llm guess output response reply out result";

/// Groups of words with the same meaning.
const ALIKE: [&str; 4] = [
    "answer text response output completion prediction reply value",
    "question query input prompt instruction problem",
    "context document doc passage source chunk evidence",
    "label class category intent target",
];

/// Words that end the names of id columns.
const IDS: &str = "id ids qid uid guid uuid";

/// Suggests mappings for the id and for fields such as `gold.answer`.
///
/// Each suggestion is ready to paste.
///
/// Fields without a similar column are skipped.
#[doc(hidden)]
pub fn guess_mappings<'a>(
    fields: impl IntoIterator<Item = &'a str>,
    columns: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let fields: Vec<&str> = fields.into_iter().collect();
    let columns: Vec<&str> = columns.into_iter().collect();
    let mut fits: Vec<(u8, &str, &str)> = Vec::new();
    for field in &fields {
        let others = columns.iter().filter(|column| !is_id(column));
        fits.extend(others.map(|column| (similarity(field, column), *field, *column)));
    }
    fits.sort_by_key(|(score, ..)| std::cmp::Reverse(*score));
    let mut chosen: Vec<(&str, &str)> = Vec::new();
    for (_, field, column) in fits.into_iter().filter(|(score, ..)| *score > 0) {
        if chosen.iter().all(|it| it.0 != field && it.1 != column) {
            chosen.push((field, column));
        }
    }
    chosen.sort_by_key(|(field, _)| fields.iter().position(|other| other == field));
    let id = columns.iter().find(|column| is_id(column));
    let id = id.filter(|_| !columns.contains(&"id") && !chosen.is_empty());
    chosen.extend(id.map(|column| ("id", *column)));
    let mappings = chosen.into_iter();
    mappings
        .map(|(field, column)| mapping(field, column))
        .collect()
}

/// Returns the option to paste, in quotes if a shell would split or change it.
fn mapping(field: &str, column: &str) -> String {
    let column = escape::name(column);
    let is_plain = |found: char| found.is_alphanumeric() || "_-./:@".contains(found);
    match column.chars().all(is_plain) {
        true => format!("--map {field}={column}"),
        false => format!("--map '{field}={column}'"),
    }
}

/// Returns `true` if `word` is in `list`, whose words are separated by spaces.
fn is_in(word: &str, list: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// Returns `true` if a column is named like an id.
pub(super) fn is_id(column: &str) -> bool {
    let words = words(column);
    words.last().is_some_and(|last| is_in(last, IDS))
}

/// Returns how well a column fits a field, or 0 if it does not fit. The side counts more than the name.
fn similarity(field: &str, column: &str) -> u8 {
    let (side, name) = field.split_once('.').unwrap_or(("", field));
    let (names, words) = (words(name), words(column));
    let of_side = match side_of(&words) {
        Some(other) if other != side => return 0,
        Some(_) => 3,
        None => u8::from(side == "gold"),
    };
    let group = |word: &String| ALIKE.iter().position(|group| is_in(word, group));
    let is_alike = |name: &String| {
        let of_name = group(name);
        let mut words = words.iter();
        words.any(|word| word == name || of_name.is_some() && group(word) == of_name)
    };
    // `ground_truth` says only that the column holds labels.
    let is_side = |word: &String| side_of(std::slice::from_ref(word)).is_some();
    match names.iter().any(is_alike) {
        true => 2 + of_side,
        false if is_in(name, ALIKE[0]) && words.iter().all(is_side) => 1 + of_side,
        false => 0,
    }
}

fn side_of(words: &[String]) -> Option<&'static str> {
    let has = |list| words.iter().any(|word| is_in(word, list));
    if has(LABELLED) {
        return Some("gold");
    }
    has(PREDICTED).then_some("pred")
}

/// Splits a name into lower-case words in the singular: `retrievedContexts` becomes `retrieved` and `context`.
fn words(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut was_lower = false;
    for found in name.chars() {
        if was_lower && found.is_uppercase() {
            spaced.push(' ');
        }
        was_lower = found.is_lowercase();
        spaced.extend(found.to_lowercase());
    }
    let words = spaced.split(|found: char| !found.is_alphanumeric());
    let singular = |word: &str| {
        let singular = word.strip_suffix('s');
        let singular = singular.filter(|it| it.len() > 2 && !it.ends_with(['s', 'i']));
        singular.unwrap_or(word).to_owned()
    };
    let words = words.filter(|word| !word.is_empty());
    words.map(singular).collect()
}

#[cfg(test)]
mod tests {
    use super::guess_mappings;

    #[test]
    fn columns_of_known_programs_are_found() {
        let answer = ["gold.answer", "pred.answer"];
        let context = ["gold.context", "pred.context"];
        for (fields, columns, expected) in [
            (answer, "question answer prediction", "answer prediction"),
            (
                answer,
                "example_answer pred_answer",
                "example_answer pred_answer",
            ),
            (
                answer,
                "input actual_output expected_output",
                "expected_output actual_output",
            ),
            (
                answer,
                "user_input response reference",
                "reference response",
            ),
            (
                answer,
                "question ground_truth answer contexts",
                "ground_truth answer",
            ),
            (answer, "prompt completion ideal", "ideal completion"),
            (
                answer,
                "Question GroundTruth ModelAnswer",
                "GroundTruth ModelAnswer",
            ),
            (
                context,
                "reference_contexts retrieved_contexts",
                "reference_contexts retrieved_contexts",
            ),
        ] {
            let expected: Vec<_> = fields
                .iter()
                .zip(expected.split(' '))
                .map(|(field, column)| format!("--map {field}={column}"))
                .collect();
            assert_eq!(
                guess_mappings(fields, columns.split(' ')),
                expected,
                "{columns}"
            );
        }
    }

    #[test]
    fn an_id_is_found_and_a_name_with_spaces_is_quoted() {
        assert_eq!(
            guess_mappings(
                ["gold.answer", "pred.answer"],
                ["task_id", "Gold answer", "Output"]
            ),
            [
                "--map 'gold.answer=Gold answer'",
                "--map pred.answer=Output",
                "--map id=task_id"
            ]
        );
        assert!(guess_mappings(["gold.answer"], ["user_id", "n", "year"]).is_empty());
    }
}
