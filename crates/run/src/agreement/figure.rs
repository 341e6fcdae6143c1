//! A figure with its number of rows and its interval, or with a note that says why it has no interval. [`Agreement`] as a
//! text table, one figure per line.

use std::borrow::Cow;
use std::fmt::{self, Formatter};

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use super::rating::{LabelSample, LabelledRows};
use super::statistics::Agreement;
use crate::messages::escape;
use crate::stats::decimals;
use crate::stats::{Bootstrap, Interval, NotDefined, Proportion};

/// The length at which class names are truncated in the confusion matrix.
const MAX_NAME: usize = 16;

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.counts(f)?;
        let lines = self.lines();
        let known = lines.iter().filter_map(|(name, form, figure)| {
            let estimate = estimate(*form, figure.value?, figure);
            Some((name, estimate, remarks(*form, figure)))
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

#[derive(Clone, Copy)]
enum Form {
    Percent,
    Number,
}

impl Form {
    fn show(self, value: f64) -> String {
        match self {
            Self::Percent => format!("{}%", decimals(100.0 * value, 2)),
            Self::Number => decimals(value, 4),
        }
    }
}

impl Agreement {
    fn counts(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let unscored: u64 = self.without_score.values().sum();
        let (rows, compared, without_label) = (self.rows, self.compared, self.without_label);
        write!(
            f,
            "{rows} rows: {compared} compared, {without_label} without a label"
        )?;
        let why = self.without_score.iter();
        let why = why.map(|(why, count)| format!("{count} {}", escape::name(why)));
        match Vec::from_iter(why).join(", ") {
            none if none.is_empty() => writeln!(f, ", {unscored} without a score"),
            why => writeln!(f, ", {unscored} without a score ({why})"),
        }
    }

    fn lines(&self) -> Vec<(&'static str, Form, &Figure)> {
        use Form::{Number, Percent};
        let mut lines = vec![
            ("accuracy", Percent, &self.accuracy),
            ("Cohen's kappa", Number, &self.kappa),
        ];
        // With two classes there is only one distance, so weights make no difference.
        if self.kappa.value.is_some() && self.classes.len() > 2 {
            lines.push(("kappa, linear", Number, &self.kappa_linear));
            lines.push(("kappa, quadratic", Number, &self.kappa_quadratic));
        }
        lines.extend([
            ("Spearman", Number, &self.spearman),
            ("sensitivity", Percent, &self.sensitivity),
            ("specificity", Percent, &self.specificity),
            ("passed", Percent, &self.passed),
            ("passed, corrected", Percent, &self.corrected),
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

    /// Which rows have a label, and what that means for the figures.
    fn about_labels(&self, labelled: &LabelledRows) -> String {
        let (some, all) = (labelled.passed.trials, self.passed.n);
        let share = |share: &Figure| estimate(Form::Percent, share.value.unwrap_or(0.0), share);
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

    /// Returns the methods behind the intervals that are shown.
    fn methods(&self) -> Option<String> {
        let mut methods = Vec::new();
        if self.accuracy.ci95.is_some() {
            methods.push("Wilson for shares".to_owned());
        }
        if self.kappa.ci95.is_some() {
            methods.push("Fleiss, Cohen and Everitt for kappa".to_owned());
        }
        if self.spearman.ci95.is_some() {
            let Bootstrap { resamples, seed } = self.bootstrap;
            let sample = format!("{resamples} resamples, seed {seed}");
            methods.push(format!("bootstrap for Spearman ({sample})"));
        }
        if self.corrected.ci95.is_some() {
            methods.push(self.correction().to_owned());
        }
        (!methods.is_empty()).then(|| format!("intervals: {}", methods.join("; ")))
    }

    /// Returns the method behind the corrected rate.
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

/// Writes a line for each reason why figures are missing, with the names of these figures.
fn missing_figures(lines: &[(&'static str, Form, &Figure)]) -> Vec<String> {
    let mut reasons: IndexMap<(String, u64), Vec<&str>> = IndexMap::new();
    for (name, _, figure) in lines {
        if let (None, Some(note)) = (figure.value, &figure.note) {
            reasons
                .entry((note.to_string(), figure.n))
                .or_default()
                .push(name);
        }
    }
    let reason = |((note, rows), names): (&(String, u64), &Vec<&str>)| {
        format!("{} ({rows} rows): {note}", names.join("; "))
    };
    reasons.iter().map(reason).collect()
}

/// Formats the estimate and its number of rows.
fn estimate(form: Form, value: f64, figure: &Figure) -> String {
    match figure.successes {
        Some(count) => format!("{} ({count}/{})", form.show(value), figure.n),
        None => format!("{} ({} rows)", form.show(value), figure.n),
    }
}

/// Formats the interval and the note.
fn remarks(form: Form, figure: &Figure) -> String {
    let interval = figure
        .ci95
        .map(|it| [it.low, it.high].map(|end| form.show(end)));
    let interval = interval.map(|[low, high]| format!("95% interval {low} to {high}"));
    let note = figure.note.as_ref().map(ToString::to_string);
    Vec::from_iter(interval.into_iter().chain(note)).join("; ")
}

/// The minimum number of rows for asymptotic and bootstrapped intervals to be reliable.
pub(super) const MIN_ROWS_FOR_INTERVAL: u64 = 10;

/// A statistic computed over rows, with its 95% interval.
///
/// A figure serializes as `{"value", "ci95", "n"}`. The keys `successes` and `note` are added if they have a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    pub note: Option<Note>,
}

/// A note about a figure.
///
/// The note explains why the value or interval is missing, or describes a limitation.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Note(Cow<'static, str>);

impl Note {
    pub(super) const NO_VERDICT: Self =
        Self::new("undefined: the scores have no verdict; set a threshold");
    pub(super) const NO_POSITIVE: Self =
        Self::new("undefined: the labels are not verdicts; name the passing labels (positive)");
    pub(super) const NO_CLASSES: Self =
        Self::new("undefined: the scores and labels do not share a scale with few values");
    pub(super) const NO_ORDER: Self =
        Self::new("undefined: the classes have no order; set a scale");
    const TOO_LITTLE_VARIATION: Self =
        Self::new("no interval: the rows vary too little to estimate one; add rows that differ");

    const fn new(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// There are fewer rows than the figure needs.
    pub(super) fn not_enough_rows(needed: u64) -> Self {
        Self(format!("not enough rows: needs {needed}").into())
    }

    /// All compared `labels`, `scores`, or `labels and scores` are the same.
    pub(super) fn one_value(side: &str) -> Self {
        Self(format!("undefined: all {side} are the same").into())
    }

    pub(super) fn not_correctable(why: &NotDefined) -> Self {
        Self(why.to_string().into())
    }

    /// The estimate was outside [0, 1].
    pub(super) fn clamped(estimate: f64) -> Self {
        let estimate = decimals(estimate, 4);
        Self(
            format!(
                "the estimate {estimate} was clamped to [0, 1]: the observed share of passes is impossible at these error rates"
            )
            .into(),
        )
    }
}

dsrs_metrics_values::debug_as_display!(Note);

impl Figure {
    pub(super) fn of(value: Option<f64>, n: u64, note: Option<Note>) -> Self {
        Self {
            value,
            ci95: None,
            n,
            successes: None,
            note,
        }
    }

    pub(super) fn unknown(n: u64, note: Note) -> Self {
        Self::of(None, n, Some(note))
    }

    /// Creates a share, with Wilson's interval.
    pub(super) fn share(share: Proportion) -> Self {
        if share.trials == 0 {
            return Self::unknown(0, Note::not_enough_rows(1));
        }
        Self {
            ci95: share.wilson(),
            successes: Some(share.successes),
            ..Self::of(share.rate(), share.trials, None)
        }
    }

    /// Creates an estimate whose interval needs a minimum number of rows.
    pub(super) fn estimate(
        value: f64,
        n: u64,
        interval: impl FnOnce() -> Option<Interval>,
    ) -> Self {
        let mut figure = Self::of(Some(value), n, None);
        if n < MIN_ROWS_FOR_INTERVAL {
            let needed = MIN_ROWS_FOR_INTERVAL;
            let note = format!("not enough rows for an interval: needs {needed}");
            figure.note = Some(Note(note.into()));
        } else {
            figure.ci95 = interval();
            figure.note = figure.ci95.is_none().then_some(Note::TOO_LITTLE_VARIATION);
        }
        figure
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
