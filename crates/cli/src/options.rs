//! Parses and sets the values of options. Also defines how commands judge scores: limits such as `0.6`, or `60%` for a
//! score in [0, 1]; failed rows; and the direction of metrics.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::output::{Result, err};
use crate::contract::{Direction, ScoreRange};
use crate::data::Mapping;
use crate::evaluate::parse_limit;
use crate::metrics::Registry;
use crate::stats::{ErrorRates, Proportion};

/// Sets a value if the user provided one.
pub(super) fn set<B, V>(builder: B, value: Option<V>, set: impl FnOnce(B, V) -> B) -> B {
    match value {
        Some(value) => set(builder, value),
        None => builder,
    }
}

/// Parses one of these names. The help text lists them with their descriptions.
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

/// Parses a model's name. Rejects an empty name, which comes from an unset shell variable.
pub(super) fn model(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("expected provider:model, as in openai:gpt-6-luna"),
        id => Ok(id.to_owned()),
    }
}

/// Parses an embedding model's name.
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

/// Parses `sensitivity=K/N,specificity=K/N` in any order.
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

/// Parses the character that separates columns.
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

/// Options for `compare` and `report`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The score of a failed row; by default, the score in the run's manifest, or 0 if there is no manifest
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = finite)]
    pub(crate) failure_score: Option<f64>,
    /// The metrics for which lower scores are better, separated by commas; needed only if a file has no manifest, and
    /// not needed for the metrics of `list`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) lower_is_better: Vec<String>,
    /// Exit with code 2 if a file has no manifest, because it is then unknown what was measured
    #[arg(long)]
    pub(crate) require_identity: bool,
}

impl RunArguments {
    /// Returns the metrics for which lower scores are better, according to the registry or because the user named them.
    pub(crate) fn lower_is_better<'a>(
        &'a self,
        registry: &Registry,
        metrics: impl IntoIterator<Item = &'a str>,
    ) -> Vec<&'a str> {
        let is_lower = |name: &&str| {
            let entry = registry.get(name);
            entry.is_some_and(|entry| entry.spec().direction == Direction::LowerIsBetter)
        };
        let named = self.lower_is_better.iter().map(String::as_str);
        metrics.into_iter().filter(is_lower).chain(named).collect()
    }
}

/// Returns the metric's name from `NAME` or `NAME.PART`.
pub(crate) fn metric_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(metric, _)| metric)
}

/// Checks that `-m` names each metric only once.
pub(crate) fn check_unique(metrics: &[String]) -> Result<()> {
    let mut seen = HashSet::new();
    match metrics.iter().find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(name) => Err(err!("duplicate metric `{name}`; list it once")),
    }
}

/// A limit on a score. `60%` means 0.6.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    pub(super) score: f64,
    /// The limit as the user wrote it, for messages.
    text: String,
}

impl Limit {
    /// Checks that the metric's scores can be on both sides of the limit. `range` is the metric's range, and
    /// `reachable` is the score's range; both can be unknown. `option` is the command-line text up to the limit, such
    /// as `--fail-under em=`.
    pub(super) fn check(
        &self,
        option: &str,
        metric: &str,
        range: Option<ScoreRange>,
        reachable: Option<ScoreRange>,
    ) -> Result<()> {
        let is_share = range == Some(ScoreRange::UNIT);
        let invalid = |expected: String| Err(err!("{option}{self}: expected {expected}"));
        if self.percentage().is_some() && !is_share {
            return invalid(format!(
                "a number, because the scores of `{metric}` are not known to be in [0, 1]; remove the percent sign"
            ));
        }
        let Some(ScoreRange { min, max }) = reachable.filter(|it| !it.contains(self.score)) else {
            return Ok(());
        };
        let mut expected = format!("a score from {min} to {max}, the range of `{metric}`");
        let is_percentage = is_share && (2.0..=100.0).contains(&self.score);
        if let (true, Ok(with_sign)) = (is_percentage, format!("{self}%").parse::<Self>()) {
            expected += &format!("; pass {option}{} or {option}{with_sign}", with_sign.score);
        }
        invalid(expected)
    }

    /// Formats a score like the limit, with as many decimals as a headline, or more if necessary to tell it apart from
    /// the limit.
    pub(super) fn written(&self, score: f64) -> String {
        match self.percentage() {
            Some(limit) => format!("{}%", rounded(100.0 * score, limit, 2)),
            None => rounded(score, self.score, 4),
        }
    }

    /// Returns the number before the percent sign.
    fn percentage(&self) -> Option<f64> {
        self.text.strip_suffix('%')?.parse().ok()
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let score = parse_limit(text).ok_or_else(|| {
            format!(
                "expected a finite number such as 0.6, or a percentage such as 60%, found `{text}`"
            )
        })?;
        let text = text.to_owned();
        Ok(Self { score, text })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn rounded(score: f64, limit: f64, decimals: usize) -> String {
    let is_same_side = |text: &String| {
        let rounded = text.parse::<f64>().unwrap_or(score);
        rounded.partial_cmp(&limit) == score.partial_cmp(&limit)
    };
    let mut texts = (decimals..17).map(|decimals| format!("{score:.decimals$}"));
    texts
        .find(is_same_side)
        .unwrap_or_else(|| score.to_string())
}

#[cfg(test)]
mod tests {
    use super::Limit;

    fn limit(text: &str) -> Limit {
        text.parse().unwrap()
    }

    #[test]
    fn a_percentage_is_the_score_with_the_same_digits() {
        for (percentage, number) in [
            ("60%", "0.6"),
            ("66.7%", "0.667"),
            ("57%", "0.57"),
            ("0.1%", "0.001"),
        ] {
            assert_eq!(limit(percentage).score, limit(number).score);
        }
        assert_eq!((limit("-5%").score, limit("1e-1").score), (-0.05, 0.1));
    }

    #[test]
    fn a_limit_is_a_finite_number_or_percentage() {
        for text in [
            "60 %", "%", "", "nan", "inf%", "1e400", "1e1%", "60%%", "0.6 ",
        ] {
            assert_eq!(
                text.parse::<Limit>().unwrap_err(),
                format!(
                    "expected a finite number such as 0.6, or a percentage such as 60%, found `{text}`"
                )
            );
        }
    }

    #[test]
    fn a_score_has_as_many_decimals_as_it_needs_to_differ_from_the_limit() {
        assert_eq!(limit("70%").written(2.0 / 3.0), "66.67%");
        assert_eq!(limit("66.67%").written(2.0 / 3.0), "66.667%");
        assert_eq!(limit("0.6").written(0.5), "0.5000");
        assert_eq!(limit("0.8").written(0.799_999_99), "0.79999999");
        assert_eq!(
            limit("1.9").written(1.9 + f64::EPSILON),
            "1.9000000000000001"
        );
    }
}
