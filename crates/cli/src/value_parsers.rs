//! Parsers for values of options.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::data::Mapping;
use crate::stats::{ErrorRates, Proportion};

/// Parses one of these names, which the help shows with descriptions.
pub(super) fn one_of<F: Copy + Send + Sync + 'static>(
    all: &'static [(F, &'static str, &'static str)],
) -> impl TypedValueParser<Value = F> {
    let names = all
        .iter()
        .map(|(_, name, about)| PossibleValue::new(*name).help(*about));
    PossibleValuesParser::new(names).try_map(|found| {
        let of_name = |(value, name, _): &(F, &str, &str)| (*name == found).then_some(*value);
        all.iter().find_map(of_name).ok_or("unknown format")
    })
}

/// Parses a finite number.
pub(super) fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("expected a finite number, found `{text}`")),
    }
}

/// Parses a time limit.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("a time limit of zero would fail every row".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses the maximum age of a record.
#[cfg(feature = "lm")]
pub(super) fn age(text: &str) -> Result<Duration, &'static str> {
    humantime::parse_duration(text).map_err(|_| "expected a time, as in 30d")
}

/// Parses the size of a store.
#[cfg(feature = "lm")]
pub(super) fn size(text: &str) -> Result<bytesize::ByteSize, &'static str> {
    text.parse().map_err(|_| "expected a size, as in 1GB")
}

/// Says what replaces `--journal DIR`.
pub(super) fn no_journal(_: &str) -> Result<std::convert::Infallible, &'static str> {
    Err(
        "a run resumes on its own, because everything it paid for is in the store (--store DIR); remove the option and the journal",
    )
}

/// Parses the name of a model. Rejects an empty name, which comes from an unset shell variable.
pub(super) fn model(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("expected provider:model, as in openai:gpt-6-luna"),
        id => Ok(id.to_owned()),
    }
}

/// Parses the name of an embedding model.
pub(super) fn embedder(text: &str) -> Result<String, &'static str> {
    let is_whole = |id: &&str| {
        id.split_once(':')
            .is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
    };
    Some(text.trim())
        .filter(is_whole)
        .map(str::to_owned)
        .ok_or("expected provider:model, as in openai:text-embedding-3-small, or static:FOLDER")
}

/// Parses `sensitivity=K/N,specificity=K/N`, in any order.
pub(super) fn error_rates(text: &str) -> Result<ErrorRates, &'static str> {
    let rate = |name: &str| {
        let mut rates = text
            .split(',')
            .filter_map(|rate| rate.trim().strip_prefix(name)?.strip_prefix('='));
        rates.next().and_then(share)
    };
    match (rate("sensitivity"), rate("specificity")) {
        (Some(sensitivity), Some(specificity)) if text.split(',').count() == 2 => Ok(ErrorRates {
            sensitivity,
            specificity,
        }),
        _ => Err("expected counts of rows, as in sensitivity=45/50,specificity=38/40"),
    }
}

/// Parses `K/N`, a share of at least one row.
fn share(text: &str) -> Option<Proportion> {
    let (successes, trials) = text.split_once('/')?;
    let share = Proportion {
        successes: successes.trim().parse().ok()?,
        trials: trials.trim().parse().ok()?,
    };
    (share.trials > 0 && share.successes <= share.trials).then_some(share)
}

/// Parses what separates columns.
pub(super) fn delimiter(text: &str) -> Result<u8, &'static str> {
    match text.as_bytes() {
        _ if matches!(text, "tab" | "\\t") => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err("expected one character, as in ';', or tab"),
    }
}

/// Parses `id=PATH`.
pub(super) fn id_path(text: &str) -> Result<Mapping, &'static str> {
    let is_id = |mapping: &Mapping| mapping.field() == "id";
    let mapping = text.parse::<Mapping>().ok().filter(is_id);
    mapping.ok_or("expected id=PATH, as in id=question or id=task,trial")
}

/// Parses `KEY=VALUE`.
pub(super) fn tag(text: &str) -> Result<(String, String), &'static str> {
    let tag = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = tag.ok_or("expected KEY=VALUE, as in prompt=v2")?;
    Ok((key.to_owned(), value.to_owned()))
}
