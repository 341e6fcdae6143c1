//! A figure with its row count and its interval, or with a note that says why it has no interval. Also formats
//! [`Agreement`] as a text table, one figure per line.

use std::fmt::{self, Formatter};

use indexmap::IndexMap;
use serde::Serialize;

use super::rating::{LabelSample, LabelledRows};
use super::statistics::Agreement;
use crate::messages::escape;
use crate::stats::decimals;
use crate::stats::{Bootstrap, Interval, Proportion};

/// The maximum length of class names in the confusion matrix. Longer names are truncated.
const MAX_NAME: usize = 16;

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.counts(f)?;
        let lines = self.lines();
        let known = lines.iter().filter_map(|(name, show, figure)| {
            let estimate = estimate(*show, figure.value?, figure);
            Some((name, estimate, remarks(*show, figure)))
        });
        let known: Vec<_> = known.collect();
        let widths = known.iter().map(|(_, estimate, _)| estimate.len());
        let width = widths.max().unwrap_or(0).max(20);
        for (name, estimate, remarks) in &known {
            writeln!(f, "{name:<18}  {estimate:<width$}  {remarks}")?;
        }
        self.matrix(f)?;
        if let Some(labelled) = &self.labelled {
            writeln!(f, "labels: {}", self.about_labels(labelled))?;
        }
        let mut end = Vec::from_iter(self.methods());
        end.extend(missing_figures(&lines));
        f.write_str(&end.join("\n"))
    }
}

type Show = fn(f64) -> String;

/// A figure with its name, and how its values are shown.
type Line<'a> = (&'static str, Show, &'a Figure);

fn percent(value: f64) -> String {
    format!("{}%", decimals(100.0 * value, 2))
}

fn number(value: f64) -> String {
    decimals(value, 4)
}

impl Agreement {
    fn counts(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let unscored: u64 = self.without_score.values().sum();
        let (rows, compared, without_label) = (self.rows, self.compared, self.without_label);
        let why = self.without_score.iter();
        let why = why.map(|(why, count)| format!("{count} {}", escape::name(why)));
        let why = match Vec::from_iter(why).join(", ") {
            none if none.is_empty() => none,
            why => format!(" ({why})"),
        };
        writeln!(
            f,
            "{rows} rows: {compared} compared, {without_label} without a label, {unscored} without a score{why}"
        )
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let (percent, number): (Show, Show) = (percent, number);
        let mut lines = vec![
            ("accuracy", percent, &self.accuracy),
            ("Cohen's kappa", number, &self.kappa),
        ];
        // With two classes there is only one distance, so weights make no difference.
        if self.kappa.value.is_some() && self.classes.len() > 2 {
            lines.push(("kappa, linear", number, &self.kappa_linear));
            lines.push(("kappa, quadratic", number, &self.kappa_quadratic));
        }
        lines.extend([
            ("Spearman", number, &self.spearman),
            ("sensitivity", percent, &self.sensitivity),
            ("specificity", percent, &self.specificity),
            ("passed", percent, &self.passed),
            ("passed, corrected", percent, &self.corrected),
        ]);
        lines
    }

    fn matrix(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(matrix) = self.confusion.as_ref().filter(|matrix| matrix.total() > 0) else {
            return Ok(());
        };
        let truncate = |name: &String| {
            let start: String = name.chars().take(MAX_NAME).collect();
            escape::escaped(&start).into_owned()
        };
        let names: Vec<String> = self.classes.iter().map(truncate).collect();
        let count = matrix.total().to_string().len();
        let widths = names.iter().map(|name| name.chars().count());
        let width = widths.max().unwrap_or(0).max(count);
        writeln!(f, "{:width$}  given", "label")?;
        write!(f, "{:width$}", "", width = width.max(5))?;
        for name in &names {
            write!(f, "  {name:>width$}")?;
        }
        f.write_str("\n")?;
        for (label, name) in names.iter().enumerate() {
            write!(f, "{name:width$}", width = width.max(5))?;
            for rated in 0..names.len() {
                write!(f, "  {:>width$}", matrix.count(label, rated))?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }

    /// Describes which rows have a label and what that means for the figures.
    fn about_labels(&self, labelled: &LabelledRows) -> String {
        let (some, all) = (labelled.passed.trials, self.passed.n);
        let share = |share: &Figure| estimate(percent, share.value.unwrap_or(0.0), share);
        let corrects = self.corrected.value.is_some() && self.error_rates.is_none();
        let alone = format!(
            "accuracy, kappa, Spearman, sensitivity and specificity describe only these rows{}",
            if corrects {
                "; `passed, corrected` describes all rows if the labelled rows of each verdict are a random sample"
            } else {
                ""
            }
        );
        match labelled.sample {
            LabelSample::EveryRow => "every row with a verdict has one".to_owned(),
            LabelSample::Random => format!("a random sample of {some} of {all} rows"),
            LabelSample::ByVerdict if labelled.shows_choice() => format!(
                "{some} of {all} rows, apparently chosen by verdict: {} of them passed, but {} of all rows \
                 (Fisher's exact test: p < 0.01). So {alone}",
                share(&Figure::share(labelled.passed)),
                share(&self.passed)
            ),
            LabelSample::ByVerdict => {
                format!("{some} of {all} rows, chosen by verdict. So {alone}")
            }
            LabelSample::Unknown => format!(
                "{some} of {all} rows, chosen in an unknown way. Unless they are a random sample, {alone}"
            ),
        }
    }

    /// Names the methods used to compute the intervals that are shown.
    fn methods(&self) -> Option<String> {
        let Bootstrap { resamples, seed } = self.bootstrap;
        let spearman = format!("bootstrap for Spearman ({resamples} resamples, seed {seed})");
        let methods = [
            (&self.accuracy, "Wilson for shares"),
            (&self.kappa, "Fleiss, Cohen and Everitt for kappa"),
            (&self.spearman, &spearman),
            (&self.corrected, self.correction()),
        ];
        let shown = methods.iter().filter(|(figure, _)| figure.ci95.is_some());
        let shown = Vec::from_iter(shown.map(|(_, method)| *method));
        (!shown.is_empty()).then(|| format!("intervals: {}", shown.join("; ")))
    }

    /// Names the method used to compute the corrected rate.
    fn correction(&self) -> &'static str {
        let sample = self.labelled.map(|labelled| labelled.sample);
        if self.error_rates.is_some() {
            "Lang and Reiczigel for the correction by error rates of other rows (Rogan and Gladen)"
        } else if sample == Some(LabelSample::EveryRow) {
            "corrected: the labels' own share, because every row has a label"
        } else {
            "MOVER for the correction (post-stratification)"
        }
    }
}

/// Writes a line for each reason why figures are missing. Each line names its figures.
fn missing_figures(lines: &[Line<'_>]) -> Vec<String> {
    let mut reasons: IndexMap<(&String, u64), Vec<&str>> = IndexMap::new();
    for (name, _, figure) in lines {
        if let (None, Some(note)) = (figure.value, &figure.note) {
            reasons.entry((note, figure.n)).or_default().push(name);
        }
    }
    let reason = |((note, rows), names): (&(&String, u64), &Vec<&str>)| {
        format!("{} ({rows} rows): {note}", names.join("; "))
    };
    reasons.iter().map(reason).collect()
}

/// Formats the estimate and its number of rows.
fn estimate(show: Show, value: f64, figure: &Figure) -> String {
    match figure.successes {
        Some(count) => format!("{} ({count}/{})", show(value), figure.n),
        None => format!("{} ({} rows)", show(value), figure.n),
    }
}

/// Formats the interval and the note.
fn remarks(show: Show, figure: &Figure) -> String {
    let interval = figure.ci95.map(|it| [it.low, it.high].map(show));
    let interval = interval.map(|[low, high]| format!("95% interval {low} to {high}"));
    Vec::from_iter(interval.into_iter().chain(figure.note.clone())).join("; ")
}

/// The minimum number of rows for asymptotic and bootstrapped intervals to be reliable.
const MIN_ROWS_FOR_INTERVAL: u64 = 10;

const TOO_LITTLE_VARIATION: &str =
    "no interval: the rows vary too little to estimate one; add rows that differ";

/// A statistic computed over rows, with its 95% interval.
///
/// A figure serializes as `{"value", "ci95", "n"}`. The keys `successes` and `note` are added if they have a value.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Figure {
    /// The estimate.
    ///
    /// If this is `None`, the `note` field explains why.
    pub value: Option<f64>,
    /// The 95% interval of the estimate.
    ///
    /// If this is `None`, the `note` field explains why.
    pub ci95: Option<Interval>,
    /// The number of rows used to compute the figure.
    pub n: u64,
    /// The number of rows that count as successes.
    ///
    /// This is `None` unless the figure is a fraction of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successes: Option<u64>,
    /// A note about a missing value or interval, or about a limitation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Figure {
    pub(super) fn unknown(n: u64, note: impl Into<String>) -> Self {
        Self {
            n,
            note: Some(note.into()),
            ..Self::default()
        }
    }

    /// Creates a figure for a share, with Wilson's interval.
    pub(super) fn share(share: Proportion) -> Self {
        if share.trials == 0 {
            return Self::unknown(0, "not enough rows: needs 1");
        }
        Self {
            value: share.rate(),
            ci95: share.wilson(),
            n: share.trials,
            successes: Some(share.successes),
            note: None,
        }
    }

    /// Creates a figure for an estimate that needs a minimum number of rows. Its interval needs more rows. The estimate
    /// is undefined if all values of `side` are the same.
    pub(super) fn estimate(
        (n, needed): (u64, u64),
        value: Option<f64>,
        side: &str,
        interval: impl FnOnce() -> Option<Interval>,
    ) -> Self {
        let note = match value {
            _ if n < needed => format!("not enough rows: needs {needed}"),
            None => format!("undefined: all {side} are the same"),
            Some(_) if n < MIN_ROWS_FOR_INTERVAL => {
                format!("not enough rows for an interval: needs {MIN_ROWS_FOR_INTERVAL}")
            }
            Some(_) => {
                let ci95 = interval();
                let note = ci95.is_none().then(|| TOO_LITTLE_VARIATION.to_owned());
                return Self {
                    value,
                    ci95,
                    n,
                    successes: None,
                    note,
                };
            }
        };
        Self {
            value: value.filter(|_| n >= needed),
            ..Self::unknown(n, note)
        }
    }
}
