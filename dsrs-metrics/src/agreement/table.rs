//! An agreement as a table of text, a figure a line.

use std::fmt::{self, Formatter};

use super::Agreement;
use super::figure::Figure;

/// Classes whose names are longer are cut in the confusion matrix.
const WIDEST: usize = 16;

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.counts(f)?;
        self.share(f, "accuracy", &self.accuracy)?;
        if self.classes.len() == 2 {
            self.number(f, "Cohen's kappa", &self.kappa)?;
        } else {
            self.number(f, "Cohen's kappa", &self.kappa)?;
            self.number(f, "  linear weights", &self.kappa_linear)?;
            self.number(f, "  quadratic weights", &self.kappa_quadratic)?;
        }
        self.number(f, "Spearman", &self.spearman)?;
        self.share(f, "sensitivity", &self.sensitivity)?;
        self.share(f, "specificity", &self.specificity)?;
        self.share(f, "passed", &self.passed)?;
        self.share(f, "passed, corrected", &self.corrected)?;
        self.matrix(f)?;
        self.methods(f)
    }
}

impl Agreement {
    fn counts(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let unscored: u64 = self.without_score.values().sum();
        write!(
            f,
            "{} rows: {} compared, {} without label, {unscored} without score",
            self.rows, self.compared, self.without_label
        )?;
        let mut separator = " (";
        for (why, count) in &self.without_score {
            write!(f, "{separator}{count} {why}")?;
            separator = ", ";
        }
        f.write_str(if self.without_score.is_empty() { "\n" } else { ")\n" })
    }

    fn share(&self, f: &mut Formatter<'_>, name: &str, figure: &Figure) -> fmt::Result {
        let rows = figure.n;
        let text = match (figure.value, figure.successes) {
            (None, _) => return self.unknown(f, name, figure),
            (Some(value), Some(count)) => format!("{:.2}% ({count}/{rows})", 100.0 * value),
            (Some(value), None) => format!("{:.2}% ({rows} rows)", 100.0 * value),
        };
        let interval = figure.ci95.map(|interval| {
            format!("95% interval {:.2}% to {:.2}%", 100.0 * interval.low, 100.0 * interval.high)
        });
        line(f, name, &text, interval, figure)
    }

    fn number(&self, f: &mut Formatter<'_>, name: &str, figure: &Figure) -> fmt::Result {
        let Some(value) = figure.value else {
            return self.unknown(f, name, figure);
        };
        let text = format!("{value:.4} ({} rows)", figure.n);
        let interval = figure
            .ci95
            .map(|interval| format!("95% interval {:.4} to {:.4}", interval.low, interval.high));
        line(f, name, &text, interval, figure)
    }

    fn unknown(&self, f: &mut Formatter<'_>, name: &str, figure: &Figure) -> fmt::Result {
        line(f, name, &format!("- ({} rows)", figure.n), None, figure)
    }

    fn matrix(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(matrix) = self.confusion.as_ref().filter(|matrix| matrix.total() > 0) else {
            return Ok(());
        };
        let cut = |name: &String| name.chars().take(WIDEST).collect::<String>();
        let names: Vec<String> = self.classes.iter().map(cut).collect();
        let count = matrix.total().to_string().len();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(count);
        write!(f, "{:width$}  given", "label")?;
        f.write_str("\n")?;
        write!(f, "{:width$}", "", width = width.max(5))?;
        for name in &names {
            write!(f, "  {name:>width$}")?;
        }
        f.write_str("\n")?;
        for (label, name) in names.iter().enumerate() {
            write!(f, "{name:width$}", width = width.max(5))?;
            for given in 0..names.len() {
                write!(f, "  {:>width$}", matrix.count(label, given))?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }

    fn methods(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("intervals: Wilson for shares")?;
        if self.kappa.ci95.is_some() {
            f.write_str("; asymptotic (Fleiss, Cohen and Everitt) for kappa")?;
        }
        if self.spearman.ci95.is_some() {
            let (resamples, seed) = (self.bootstrap.resamples, self.bootstrap.seed);
            write!(f, "; bootstrap for Spearman ({resamples} resamples, seed {seed})")?;
        }
        if self.corrected.ci95.is_some() {
            f.write_str("; Lang and Reiczigel for the correction (Rogan and Gladen)")?;
        }
        Ok(())
    }
}

fn line(
    f: &mut Formatter<'_>,
    name: &str,
    text: &str,
    interval: Option<String>,
    figure: &Figure,
) -> fmt::Result {
    let note = figure.note.as_ref().map(ToString::to_string);
    let rest: Vec<String> = interval.into_iter().chain(note).collect();
    writeln!(f, "{name:<20}  {text:<22}  {}", rest.join("; "))
}
