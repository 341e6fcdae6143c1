//! Computes a judge's score from replies: from one answer, from several, or from the log probabilities of an answer's
//! tokens.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::json_object::object_text;
use super::{JudgeError, OutputSpec, Scoring, Signature};
use crate::lm::{LmReply, TokenLogprob, TokenLogprobs};

/// The maximum number of values that an output can have, because a model returns at most this many alternatives for a
/// token.
const MAX_VALUES: usize = 20;

/// Checks that the first token of the weighed output determines its value.
pub(super) fn check(signature: &Signature) -> Result<(), JudgeError> {
    let Scoring::Logprobs(output) = signature.scoring else {
        return Ok(());
    };
    let invalid = |message: String| Err(JudgeError::new(message));
    let Some(values) = signature.output_spec(output).and_then(values) else {
        return invalid(format!(
            "`scoring(by = logprobs)` needs an output with at most {MAX_VALUES} values, but `{output}` has more; make it a `bool`, an integer with `range = 0..=9`, a string with `labels`, or an enum without fields"
        ));
    };
    let values: Vec<String> = values.iter().map(shown).collect();
    let first = |value: &str| value.chars().next();
    for (index, value) in values.iter().enumerate() {
        let mut earlier = values[..index].iter();
        if let Some(same) = earlier.find(|earlier| first(earlier) == first(value)) {
            return invalid(format!(
                "`scoring(by = logprobs)` needs values of `{output}` that begin differently, because the first token decides: `{same}` and `{value}` begin alike; rename one"
            ));
        }
    }
    Ok(())
}

/// Returns a value as the model writes it, without quotation marks.
fn shown(value: &Value) -> String {
    let text = value.as_str();
    text.map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns all possible values of an output, or `None` if there are too many.
pub(super) fn values(output: &OutputSpec) -> Option<Vec<Value>> {
    let values = match (&output.range, output.labels) {
        (_, labels @ [_, ..]) => labels.iter().map(|label| json!(label)).collect(),
        (Some(range), _) if output.schema["type"] == "integer" => {
            let span = range.max.floor() - range.min.ceil();
            // Few integers, so the conversion is exact.
            (span < MAX_VALUES as f64)
                .then(|| (range.min.ceil() as i64..=range.max.floor() as i64).map(|n| json!(n)))?
                .collect()
        }
        _ => of_schema(&output.schema)?,
    };
    (values.len() <= MAX_VALUES && !values.is_empty()).then_some(values)
}

/// Returns the values that a schema lists.
fn of_schema(schema: &Value) -> Option<Vec<Value>> {
    if schema["type"] == "boolean" {
        return Some(vec![json!(true), json!(false)]);
    }
    if let Some(value) = schema.get("const") {
        return Some(vec![value.clone()]);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().all(Value::is_string).then(|| values.clone());
    }
    let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    let values: Option<Vec<_>> = branches?.as_array()?.iter().map(of_schema).collect();
    Some(values?.into_iter().flatten().collect())
}

/// The minimum accepted total probability of an output's values. The rest belongs to other strings, and to tokens that
/// are not among the alternatives that a model returns.
const LEAST_COVERED: f64 = 0.5;

/// The maximum accepted total probability of a token's alternatives. Rounding can raise the total above 1.
const MAX_SUM: f64 = 1.01;

/// An output's values with their probabilities, which are all above 0. The probabilities can sum to less than 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weights(pub(super) Vec<(Value, f64)>);

impl Weights {
    /// Returns the mean score over the values, weighted by their probabilities: `sum(p * score) / sum(p)`.
    pub(super) fn mean<E>(&self, score: impl Fn(&Value) -> Result<f64, E>) -> Result<f64, E> {
        let (mut sum, mut total) = (0.0, 0.0);
        for (value, probability) in &self.0 {
            sum += probability * score(value)?;
            total += probability;
        }
        Ok(sum / total)
    }

    /// Returns the probabilities, keyed by the values as strings.
    pub(super) fn by_text(&self) -> Map<String, Value> {
        let weights = self.0.iter();
        weights
            .map(|(value, weight)| (shown(value), (*weight).into()))
            .collect()
    }
}

/// Returns the probabilities of an output's values.
///
/// # Errors
/// Returns the reason if the reply has none.
pub(super) fn weights(output: &OutputSpec, reply: &LmReply) -> Result<Weights, String> {
    if reply.logprobs.is_empty() {
        return Err("the reply has no log probabilities".to_owned());
    }
    let values = values(output).unwrap_or_default();
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let mut probabilities = vec![0.0; values.len()];
    decide(&mut probabilities, &texts, at_value(output.name, reply)?)?;
    let covered: f64 = probabilities.iter().sum();
    if covered < LEAST_COVERED {
        return Err(format!(
            "expected the values of `{}` to have a total probability of at least {LEAST_COVERED}, found {covered:.2}",
            output.name
        ));
    }
    let weighed = values.into_iter().zip(probabilities);
    Ok(Weights(
        weighed.filter(|(_, weight)| *weight > 0.0).collect(),
    ))
}

/// The tokens, starting with the one that contains the beginning of the value, and the number of bytes before the value
/// in that token.
type AtValue<'r> = (&'r [TokenLogprobs], usize);

/// Finds a field's value in a reply's tokens, which end where the reply's text ends.
fn at_value<'r>(name: &str, reply: &'r LmReply) -> Result<AtValue<'r>, String> {
    let from_end = bytes_from_value(name, &reply.text);
    let from_end = from_end.ok_or_else(|| format!("`{name}` is not in the reply's text"))?;
    let joined: String = reply.logprobs.iter().map(|token| &*token.token).collect();
    let (tail, text) = (joined.trim_end(), reply.text.trim_end());
    if !tail.ends_with(text) && !text.ends_with(tail) {
        return Err("the reply's tokens do not match its text".to_owned());
    }
    let start = tail.len().checked_sub(from_end);
    let start = start.ok_or_else(|| format!("the reply's tokens begin after `{name}`"))?;
    let mut end = 0;
    let is_before = |token: &&TokenLogprobs| {
        end += token.token.len();
        end <= start
    };
    let before: Vec<_> = reply.logprobs.iter().take_while(is_before).collect();
    let skipped: usize = before.iter().map(|token| token.token.len()).sum();
    Ok((&reply.logprobs[before.len()..], start - skipped))
}

/// Returns the number of bytes from the start of a field's value to the end of the text, without trailing whitespace.
fn bytes_from_value(name: &str, text: &str) -> Option<usize> {
    let object = object_text(text).ok()?;
    let fields: HashMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    let value = fields.get(name)?.get();
    // The value is part of the text.
    let at = (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    text.trim_end().len().checked_sub(at)
}

/// Adds up each value's probability from the tokens that only this value can begin with.
fn decide(
    probabilities: &mut [f64],
    values: &[String],
    (tokens, mut before): AtValue<'_>,
) -> Result<(), String> {
    let (mut written, mut path) = (String::new(), 1.0);
    for token in tokens {
        let lead = token.token.get(..before).unwrap_or_default();
        let is_own = |other: &TokenLogprob| other.token == token.token;
        let own = TokenLogprob {
            token: token.token.clone(),
            logprob: token.logprob,
        };
        let own = (!token.top.iter().any(is_own)).then_some(own);
        let alternatives = || token.top.iter().chain(&own);
        let sum: f64 = alternatives().map(|it| it.logprob.exp()).sum();
        // The sum is NaN if one of them is NaN.
        if sum.is_nan() || sum > MAX_SUM {
            return Err(format!(
                "expected token probabilities that sum to at most 1, found {sum:.2}"
            ));
        }
        let mut chosen = None;
        for alternative in alternatives() {
            let probability = alternative.logprob.exp().min(1.0);
            let Some(rest) = without_lead(&alternative.token, lead, written.is_empty()) else {
                continue;
            };
            let text = format!("{written}{rest}");
            let mut fitting = (0..values.len()).filter(|index| fits(&text, &values[*index]));
            let only = fitting
                .next()
                .filter(|_| !text.is_empty() && fitting.next().is_none());
            if let Some(index) = only {
                probabilities[index] += path * probability;
            }
            if is_own(alternative) {
                chosen = Some((text, probability, only.is_some()));
            }
        }
        match chosen {
            Some((text, probability, false)) => (written, path) = (text, path * probability),
            _ => return Ok(()),
        }
        before = 0;
    }
    Ok(())
}

/// Returns the part of a token that belongs to the value. Whitespace can separate a field's name from its value.
fn without_lead<'t>(token: &'t str, lead: &str, is_first: bool) -> Option<&'t str> {
    match token.strip_prefix(lead) {
        Some(rest) if is_first => Some(rest.trim_start()),
        Some(rest) => Some(rest),
        None if lead.trim().is_empty() => Some(token.trim_start()),
        None => None,
    }
}

/// Returns `true` if a string is the beginning of a value, or the value followed by more of the reply.
fn fits(text: &str, value: &str) -> bool {
    if value.starts_with(text) {
        return true;
    }
    let Some(rest) = text.strip_prefix(value) else {
        return false;
    };
    // `5.0` is an integer in JSON Schema, and `5.` may continue as `5.5`.
    let fraction = rest.strip_prefix('.').filter(|it| it.starts_with('0'));
    let rest = fraction.map_or(rest, |fraction| fraction.trim_start_matches('0'));
    value.ends_with('"') || !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Scoring, values};
    use crate::judge::{OutputSpec, Signature};
    use crate::spec::MetricSpec;

    fn output(schema: Value) -> OutputSpec {
        OutputSpec::new("grade", "", schema)
    }

    #[test]
    fn the_values_of_an_output_are_those_of_its_schema() {
        let integer = || output(json!({ "type": "integer" }));
        assert_eq!(
            values(&integer().in_range(1.0, 3.0)),
            Some(vec![json!(1), json!(2), json!(3)])
        );
        assert_eq!(
            values(&integer().in_range(0.5, 2.5)),
            Some(vec![json!(1), json!(2)])
        );
        assert_eq!(
            values(&integer().in_range(0.0, 19.0)).map(|all| all.len()),
            Some(20)
        );
        assert_eq!(values(&integer().in_range(0.0, 20.0)), None);
        assert_eq!(values(&integer().in_range(-1e300, 1e300)), None);
        assert_eq!(values(&integer()), None);
        assert_eq!(
            values(&output(json!({ "type": "number" })).in_range(0.0, 1.0)),
            None
        );
        assert_eq!(values(&output(json!({ "type": "string" }))), None);
        let bools = values(&output(json!({ "type": "boolean" })));
        assert_eq!(bools, Some(vec![json!(true), json!(false)]));
        let labelled = output(json!({ "type": "string" })).labelled(&["good", "bad"]);
        assert_eq!(values(&labelled), Some(vec![json!("good"), json!("bad")]));
        let documented = json!({ "oneOf": [
            { "type": "string", "enum": ["Good", "Fair"] },
            { "type": "string", "const": "Bad", "description": "unusable" },
        ] });
        assert_eq!(
            values(&output(documented)),
            Some(vec![json!("Good"), json!("Fair"), json!("Bad")])
        );
        let with_fields = json!({ "oneOf": [{ "const": "Good" }, { "type": "object" }] });
        assert_eq!(values(&output(with_fields)), None);
        assert_eq!(values(&output(json!({ "enum": ["a", 1] }))), None);
    }

    #[test]
    fn values_that_begin_alike_are_an_error() {
        let check = |output: OutputSpec| {
            let signature = Signature::new(&MetricSpec::new("tone"), "").output(output);
            let checked = super::check(&signature.scoring(Scoring::Logprobs("grade")));
            checked.map_err(|error| error.to_string())
        };
        let integers = |max: f64| output(json!({ "type": "integer" })).in_range(0.0, max);
        assert_eq!(check(integers(9.0)), Ok(()));
        let error = check(integers(10.0)).unwrap_err();
        assert!(
            error.contains("`1` and `10` begin alike; rename one"),
            "{error}"
        );
        let labels = output(json!({ "type": "string" })).labelled(&["good", "bad", "great"]);
        assert!(
            check(labels)
                .unwrap_err()
                .contains("`good` and `great` begin alike")
        );
        let error = check(output(json!({ "type": "number" }))).unwrap_err();
        assert!(
            error.contains("at most 20 values, but `grade` has more"),
            "{error}"
        );
    }
}
