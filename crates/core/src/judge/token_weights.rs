//! The probabilities of the values of an output, from the log probabilities of the tokens of a reply.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::json_object::object_text;
use super::output_spec::OutputSpec;
use super::weighed_values::values;
use crate::lm::{LmReply, TokenLogprob, TokenLogprobs};

/// The least sum of the probabilities of an output's values. The rest are other strings, and tokens beyond the alternatives that a
/// model returns.
const LEAST_COVERED: f64 = 0.5;

/// The largest sum of the probabilities of one token's alternatives, which exceeds 1 by rounding.
const MAX_SUM: f64 = 1.01;

/// The values of an output with their probabilities, all above 0; together they may have less than 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weights(pub(super) Vec<(Value, f64)>);

impl Weights {
    /// Returns the mean of the scores of the values, weighted by their probabilities: `sum(p * score) / sum(p)`.
    pub(super) fn mean<E>(&self, score: impl Fn(&Value) -> Result<f64, E>) -> Result<f64, E> {
        let (mut sum, mut total) = (0.0, 0.0);
        for (value, probability) in &self.0 {
            sum += probability * score(value)?;
            total += probability;
        }
        Ok(sum / total)
    }

    /// Returns the probabilities, by the values as strings.
    pub(super) fn by_text(&self) -> Map<String, Value> {
        let text = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        self.0
            .iter()
            .map(|(value, probability)| (text(value), (*probability).into()))
            .collect()
    }
}

/// Returns the probabilities of the values of an output.
///
/// # Errors
/// Why the reply has none.
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
            "the values of `{}` have together a probability of {covered:.2} at the place of its answer, and at least {LEAST_COVERED} is required",
            output.name
        ));
    }
    let weighed = values
        .into_iter()
        .zip(probabilities)
        .filter(|(_, probability)| *probability > 0.0);
    Ok(Weights(weighed.collect()))
}

/// The tokens from the one on in which the value begins, and the bytes of that one before the value.
type AtValue<'r> = (&'r [TokenLogprobs], usize);

/// Finds the value of a field in the tokens of a reply, which end as its text does.
fn at_value<'r>(name: &str, reply: &'r LmReply) -> Result<AtValue<'r>, String> {
    let from_end = bytes_from_value(name, &reply.text);
    let from_end = from_end.ok_or_else(|| format!("`{name}` is not in the text of the reply"))?;
    let joined: String = reply.logprobs.iter().map(|token| &*token.token).collect();
    let (tail, text) = (joined.trim_end(), reply.text.trim_end());
    if !tail.ends_with(text) && !text.ends_with(tail) {
        return Err("the tokens of the reply are not its text".to_owned());
    }
    let start = tail.len().checked_sub(from_end);
    let start = start.ok_or_else(|| format!("the tokens of the reply begin after `{name}`"))?;
    let mut end = 0;
    let is_before = |token: &&TokenLogprobs| {
        end += token.token.len();
        end <= start
    };
    let before: Vec<_> = reply.logprobs.iter().take_while(is_before).collect();
    let skipped: usize = before.iter().map(|token| token.token.len()).sum();
    Ok((&reply.logprobs[before.len()..], start - skipped))
}

/// Returns the number of bytes from the start of the value of a field to the end of the text, without white space there.
fn bytes_from_value(name: &str, text: &str) -> Option<usize> {
    let object = object_text(text).ok()?;
    let fields: HashMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    let value = fields.get(name)?.get();
    // The value is a part of the text.
    let at = (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    text.trim_end().len().checked_sub(at)
}

/// Adds up the probability of each value: the probabilities of the tokens with which only this value can begin.
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
        let sum: f64 = alternatives()
            .map(|alternative| alternative.logprob.exp())
            .sum();
        // Also if one is not a number.
        if sum.is_nan() || sum > MAX_SUM {
            return Err(format!(
                "expected log probabilities whose probabilities have a sum of at most 1, found {sum:.2}"
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

/// Returns the part of a token that belongs to the value. Between the name of a field and its value there may be white space.
fn without_lead<'t>(token: &'t str, lead: &str, is_first: bool) -> Option<&'t str> {
    match token.strip_prefix(lead) {
        Some(rest) if is_first => Some(rest.trim_start()),
        Some(rest) => Some(rest),
        None if lead.trim().is_empty() => Some(token.trim_start()),
        None => None,
    }
}

/// Whether a string is the beginning of a value, or the value with what follows it in the reply.
fn fits(text: &str, value: &str) -> bool {
    if value.starts_with(text) {
        return true;
    }
    let Some(rest) = text.strip_prefix(value) else {
        return false;
    };
    // `5.0` is an integer for JSON schema, and `5.` may go on as `5.5`.
    let fraction = rest
        .strip_prefix('.')
        .filter(|fraction| fraction.starts_with('0'));
    let rest = fraction.map_or(rest, |fraction| fraction.trim_start_matches('0'));
    value.ends_with('"') || !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.')
}
