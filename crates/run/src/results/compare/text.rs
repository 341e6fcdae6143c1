//! A comparison as text: the runs, a table of the metrics, and a sentence for each metric.

use std::fmt;

use super::Comparison;
use super::difference::PairedDifference;
use super::metric::{GroupComparison, MetricComparison, Verdict};
use super::pairs::RunTotals;
use crate::contract::{Direction, ScoreKind};
use crate::messages::escape;
use crate::results::error::{first_ids, first_of};
use crate::results::figures::{Unit, p_equals};
use crate::results::markdown;

/// The maximum number of groups in the text. The JSON output has all groups.
const SHOWN_GROUPS: usize = 20;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "A: {}", self.a)?;
        writeln!(f, "B: {}", self.b)?;
        let by_position = match self.paired_by_position {
            true => ", paired by position",
            false => "",
        };
        write!(f, "{} in both{by_position}", rows(self.paired))?;
        for (ids, run) in [(&self.only_in_a, "A"), (&self.only_in_b, "B")] {
            if !ids.is_empty() {
                write!(
                    f,
                    ", {} only in {run}, not compared ({})",
                    ids.len(),
                    first_ids(ids)
                )?;
            }
        }
        if let (Some(field), 1..) = (&self.group, self.without_group) {
            let (field, lack) = (escape::name(field), self.without_group);
            write!(
                f,
                "\n{lack} of {} lack `{field}`; each is a group of its own",
                rows(self.paired)
            )?;
        }
        write!(f, "\n{}", self.identity)?;
        writeln!(f)?;
        f.write_str(&aligned(&table_cells("metric", &self.lines()), 1))?;
        if let count @ 2.. = self.tests() {
            writeln!(
                f,
                "verdicts use p-values adjusted for {count} metrics (Holm)"
            )?;
        }
        for metric in &self.metrics {
            writeln!(f, "\n{}", metric.sentence())?;
            metric.write_rows(f)?;
            if let Some(field) = self.group.as_ref().filter(|_| !metric.groups.is_empty()) {
                metric.write_groups(field, f)?;
            }
        }
        Ok(())
    }
}

/// Writes `a.jsonl, 1190 rows; 0.52 s a row, 1200 tokens in, 310 out, 24 msat; metrics 0 msat`.
impl fmt::Display for RunTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", escape::name(&self.name), rows(self.rows))?;
        for (number, file) in self.data.iter().enumerate() {
            let of = if number == 0 { " of " } else { ", " };
            write!(f, "{of}{}", escape::name(file))?;
        }
        if let Some(label) = &self.label {
            write!(f, "; label {}", escape::name(label))?;
        }
        if let Some(latency) = self.latency_s {
            write!(f, "; {latency:.3} s per row")?;
            if self.latency_rows < self.rows {
                write!(f, " (mean of {})", self.latency_rows)?;
            }
        }
        if let (Some(input), Some(output)) = (self.input_tokens, self.output_tokens) {
            write!(f, "; {input} tokens in, {output} tokens out")?;
        }
        if let Some(cost) = self.cost_msats {
            write!(f, "; {cost} msat")?;
        }
        if self.metric_cost_msats > 0 {
            write!(f, "; metrics {} msat", self.metric_cost_msats)?;
        }
        Ok(())
    }
}

/// A line of a table: the name, the difference and the adjusted p-value of a metric or a group, and its kind.
type Line<'a> = (&'a str, &'a PairedDifference, Option<f64>, ScoreKind);

impl Comparison {
    fn lines(&self) -> Vec<Line<'_>> {
        let metrics = self.metrics.iter();
        metrics
            .map(|it| (&*it.name, &it.overall, it.p_adjusted, it.kind))
            .collect()
    }

    /// Returns the comparison as Markdown.
    ///
    /// The text contains a list of the runs, a table of the metrics, and a sentence for each metric.
    ///
    /// Metric and file names are escaped.
    pub fn markdown(&self) -> String {
        let mut rows = table_cells("metric", &self.lines()).into_iter();
        let header = rows.next().unwrap_or_default();
        let mut text = format!(
            "A: {}<br>\nB: {}\n\n{}\n",
            markdown::escaped(&self.a.to_string()),
            markdown::escaped(&self.b.to_string()),
            markdown::table(header.iter().map(String::as_str), rows)
        );
        if self.paired_by_position {
            text.push_str("- rows have no ids and are paired by position\n");
        }
        let identity = self.identity.to_string();
        let sentences = self.metrics.iter().map(MetricComparison::sentence);
        for line in identity.lines().map(str::to_owned).chain(sentences) {
            text.push_str(&format!("- {}\n", markdown::escaped(&line)));
        }
        text
    }
}

/// Returns the header and cells of a table. Adjusted p-values get a column if there are several.
fn table_cells(first: &str, lines: &[Line<'_>]) -> Vec<Vec<String>> {
    let is_adjusted = lines.iter().filter(|line| line.2.is_some()).count() > 1;
    let adjusted = is_adjusted.then_some("adjusted p");
    let header = [first, "n", "A", "B", "B - A", "95% interval", "p"]
        .into_iter()
        .chain(adjusted);
    let header = header
        .chain(["B better", "A better", "equal"])
        .map(str::to_owned)
        .collect();
    std::iter::once(header)
        .chain(lines.iter().map(|line| cells(*line, is_adjusted)))
        .collect()
}

/// Returns rows as lines with aligned columns. The first `left` columns are aligned on the left, the others on the
/// right.
#[doc(hidden)]
pub fn aligned(rows: &[Vec<String>], left: usize) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let columns = 0..rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = columns.filter_map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column < left {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

fn cells((name, it, p_adjusted, kind): Line<'_>, is_adjusted: bool) -> Vec<String> {
    let unit = Unit(kind);
    let figure = |value: Option<f64>| value.map_or("-".to_owned(), |value| unit.figure(value));
    let p = |value: Option<f64>| value.map_or("-".to_owned(), p_value);
    let mut cells = vec![
        escape::name(name).into_owned(),
        it.n.to_string(),
        figure(it.a),
        figure(it.b),
        it.difference.map_or("-".to_owned(), |it| unit.change(it)),
        it.ci95.map_or("-".to_owned(), |it| unit.interval(it)),
        p(it.p_value),
    ];
    cells.extend(is_adjusted.then(|| p(p_adjusted)));
    // A single row has no corpus score, so neither run is better on any row.
    let of_rows = |count: u64| match kind {
        ScoreKind::Corpus => "-".to_owned(),
        ScoreKind::Bool | ScoreKind::Number => count.to_string(),
    };
    cells.extend([of_rows(it.wins), of_rows(it.losses), it.ties.to_string()]);
    cells
}

/// Formats a count as `1 row` or `12 rows`.
pub(super) fn rows(count: u64) -> String {
    if count == 1 {
        "1 row".to_owned()
    } else {
        format!("{count} rows")
    }
}

fn p_value(p: f64) -> String {
    let shown = p_equals(p);
    shown.strip_prefix("= ").unwrap_or(&shown).to_owned()
}

impl MetricComparison {
    /// Returns a sentence that says which run is better and by how much.
    ///
    /// If there is no significant difference, the sentence says so.
    ///
    /// ```
    /// use dsrs_metrics::results::{Comparison, Results};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-sentence-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let [old, new] = ["old.jsonl", "new.jsonl"].map(|name| folder.join(name));
    /// let file = |scores: [f64; 8]| -> String {
    ///     let row = |(id, score)| format!(
    ///         "{{\"id\": {id}, \"scores\": {{\"f1\": {{\"outcome\": \"scored\", \"value\": {score}}}}}}}\n"
    ///     );
    ///     scores.into_iter().enumerate().map(row).collect()
    /// };
    /// std::fs::write(&old, file([0.5, 0.25, 0.5, 0.5, 0.75, 0.5, 0.25, 0.0]))?;
    /// std::fs::write(&new, file([0.7, 0.55, 1.0, 0.8, 1.0, 0.65, 0.4, 0.0]))?;
    ///
    /// let comparison = Comparison::of(&Results::read(&old)?, &Results::read(&new)?)?;
    /// assert_eq!(
    ///     comparison.metrics[0].sentence(),
    ///     "f1: B is better by 0.2313 [0.1063, 0.3490] (p = 0.016, 8 rows)"
    /// );
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn sentence(&self) -> String {
        let mut text = format!("{}: {}", escape::name(&self.name), self.finding());
        let failed = [self.failed.a, self.failed.b];
        if failed != [0, 0] {
            let ([a, b], score) = (failed, self.failure_score);
            text.push_str(&format!(
                "; {} failed in A and {b} in B, counted as {score}",
                rows(a)
            ));
        }
        if let Some(both) = &self.scored_in_both {
            let scored = match both
                .difference
                .map(|it| Unit(self.kind).change_with_unit(it))
            {
                Some(change) => format!("B - A = {change} over the {} scored in both", both.n),
                None if both.n == 0 => "no row is scored in both".to_owned(),
                None => format!("no difference over the {} scored in both", both.n),
            };
            text.push_str(&format!(", {scored}"));
        }
        if self.not_compared > 0 {
            let sides = [("A", &self.without_score.a), ("B", &self.without_score.b)];
            let sides = sides.into_iter().filter(|(_, counts)| !counts.is_empty());
            let sides = sides.map(|(run, counts)| {
                let counts = counts.iter().map(|(name, n)| format!("{n} {name}"));
                format!("{run}: {}", counts.collect::<Vec<_>>().join(", "))
            });
            let sides = sides.collect::<Vec<_>>().join("; ");
            let rows = rows(self.not_compared);
            text.push_str(&format!("; not compared: {rows} without a score ({sides})"));
        }
        text
    }

    fn finding(&self) -> String {
        let (it, unit) = (&self.overall, Unit(self.kind));
        if let Some(reason) = &self.not_tested {
            return format!("{reason} ({})", rows(it.n));
        }
        let (Some(difference), Some(p)) = (it.difference, self.p_adjusted) else {
            return "no row is scored in both runs".to_owned();
        };
        let found = match it.clusters {
            _ if let Some(sampled) = &self.sampled => sampled.found(it.n),
            Some(1) => format!("{} in 1 group", rows(it.n)),
            Some(clusters) => format!("{} in {clusters} groups", rows(it.n)),
            None => rows(it.n),
        };
        let p = self.p_text(p);
        let better = |run: &str| {
            let size = unit.size(difference.abs());
            let interval = unit.interval_after(it.ci95, difference.signum());
            let lower = match self.direction {
                Direction::HigherIsBetter => "",
                Direction::LowerIsBetter => " (lower is better)",
            };
            let smaller = match it.has_low_power() {
                true => "; the true difference is probably smaller (power below 80%)",
                false => "",
            };
            format!("{run} is better by {size}{interval} ({p}, {found}){lower}{smaller}")
        };
        match self.verdict {
            Verdict::Better => better("B"),
            Verdict::Worse => better("A"),
            Verdict::NotEnoughRows { needed } => {
                let units = match it.clusters {
                    Some(_) => "groups",
                    None => "rows",
                };
                format!(
                    "not enough rows: found {found}, a test at 5% needs at least {needed} {units}"
                )
            }
            Verdict::Unchanged => {
                let possible = it.ci95.map(|it| unit.size(it.high));
                let possible = possible.map_or(String::new(), |size| {
                    format!("; a difference of up to {size} is still possible")
                });
                format!("equal in all {found}{possible}")
            }
            Verdict::NoDifference | Verdict::NotTested => {
                let interval = unit.interval_after(it.ci95, 1.0);
                let change = unit.change_with_unit(difference);
                format!("no significant difference: B - A = {change}{interval} ({p}, {found})")
            }
        }
    }

    /// Formats a p-value as `p = 0.012` or `adjusted p < 0.001`.
    pub(super) fn p_text(&self, p: f64) -> String {
        let is_adjusted = self.overall.p_value != Some(p);
        let adjusted = if is_adjusted { "adjusted " } else { "" };
        format!("{adjusted}p {}", p_equals(p))
    }

    fn write_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (better, worse) = (self.overall.wins, self.overall.losses);
        for (ids, all, run) in [
            (&self.better_rows, better, "B"),
            (&self.worse_rows, worse, "A"),
        ] {
            if !ids.is_empty() {
                writeln!(
                    f,
                    "  {run} is better in {}: {}",
                    rows(all),
                    first_of(ids, all)
                )?;
            }
        }
        Ok(())
    }

    /// Writes the groups with the smallest p-values.
    fn write_groups(&self, field: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut groups: Vec<(&String, &GroupComparison)> = self.groups.iter().collect();
        let p = |group: &GroupComparison| group.difference.p_value.unwrap_or(2.0);
        groups.sort_by(|a, b| p(a.1).total_cmp(&p(b.1)));
        let shown = groups.iter().take(SHOWN_GROUPS);
        let lines: Vec<Line<'_>> = shown
            .map(|(name, it)| (&***name, &it.difference, it.p_adjusted, self.kind))
            .collect();
        f.write_str(&aligned(&table_cells(&escape::name(field), &lines), 1))?;
        if groups.len() > SHOWN_GROUPS {
            writeln!(f, "and {} more groups", groups.len() - SHOWN_GROUPS)?;
        }
        let shows = |run: &str, verdict: Verdict| {
            let groups = groups.iter().filter(|(_, group)| group.verdict == verdict);
            let names: Vec<String> = groups.map(|(name, _)| (*name).clone()).collect();
            (!names.is_empty()).then(|| format!("{run} is better in {}", first_ids(&names)))
        };
        let found = [shows("B", Verdict::Better), shows("A", Verdict::Worse)];
        let found: Vec<String> = found.into_iter().flatten().collect();
        let found = match found.is_empty() {
            true => "no significant difference in any group".to_owned(),
            false => found.join("; "),
        };
        let tested = groups
            .iter()
            .filter(|(_, group)| group.p_adjusted.is_some())
            .count();
        let groups = if tested == 1 { "group" } else { "groups" };
        writeln!(f, "{found} (p-values adjusted for {tested} {groups}, Holm)")
    }
}

#[cfg(test)]
mod tests;
