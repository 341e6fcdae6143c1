//! Charts: the bars of a histogram, and the scale on which an interval is drawn.

use serde_json::{Value, json};

use super::labels::plural;
use super::run::ReportRun;
use crate::contract::ScoreKind;
use crate::results::figures::Figures;
use crate::results::thousands;
use crate::stats::decimals::decimals;

/// The size of the drawing, which the page stretches.
const WIDTH: f64 = 100.0;
const HEIGHT: f64 = 40.0;
const HIGHEST_BAR: f64 = 38.0;
/// The minimum height of a bar, which keeps even few rows visible.
const LOWEST_BAR: f64 = 0.7;
/// The share of a bin's width that its bars fill.
const FILLED: f64 = 0.86;

const BINS: usize = 20;
/// The maximum range in which whole numbers get a bin each.
const MAX_WHOLE: f64 = 20.0;
/// The maximum number of bins that are all labelled.
const MAX_LABELS: usize = 11;

/// Equal bins starting at `low`. The last one includes its upper end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bins {
    low: f64,
    width: f64,
    count: usize,
    kind: BinKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BinKind {
    Bool,
    Whole,
    Range,
}

impl Bins {
    /// Chooses bins for these values; `None` without values, or if the range is not finite.
    pub(super) fn of(kind: ScoreKind, values: &[f64]) -> Option<Self> {
        let least = values.iter().copied().reduce(f64::min)?;
        let most = values.iter().copied().reduce(f64::max)?;
        let range = most - least;
        if kind == ScoreKind::Bool {
            return Some(Self {
                low: -0.5,
                width: 1.0,
                count: 2,
                kind: BinKind::Bool,
            });
        }
        if !range.is_finite() {
            return None;
        }
        let is_whole = values.iter().all(|value| value.fract() == 0.0);
        if is_whole && range <= MAX_WHOLE && (least < 0.0 || most > 1.0) {
            let count = range as usize + 1;
            return Some(Self {
                low: least - 0.5,
                width: 1.0,
                count,
                kind: BinKind::Whole,
            });
        }
        if (0.0..=1.0).contains(&least) && most <= 1.0 {
            return Some(Self {
                low: 0.0,
                width: 0.05,
                count: BINS,
                kind: BinKind::Range,
            });
        }
        let width = round_up(range / BINS as f64).unwrap_or_else(|| least.abs().max(1.0) / 10.0);
        let low = (least / width).floor() * width;
        let count = (((most - low) / width).ceil() as usize).clamp(1, BINS + 2);
        Some(Self {
            low,
            width,
            count,
            kind: BinKind::Range,
        })
    }

    fn bin(&self, value: f64) -> usize {
        // A value on an edge belongs to the upper bin, even though 0.15 / 0.05 is less than 3.
        let place = (value - self.low) / self.width + 1e-9;
        (place.max(0.0) as usize).min(self.count - 1)
    }

    fn edge(&self, bin: usize) -> String {
        short(self.low + bin as f64 * self.width)
    }

    fn label(&self, bin: usize) -> String {
        match self.kind {
            BinKind::Bool => ["false", "true"][bin.min(1)].to_owned(),
            BinKind::Whole => short(self.low + 0.5 + bin as f64),
            BinKind::Range => format!("{} to {}", self.edge(bin), self.edge(bin + 1)),
        }
    }

    fn fill(&self, values: &[f64]) -> Vec<Filled> {
        let mut bins = vec![Filled::default(); self.count];
        values
            .iter()
            .for_each(|value| bins[self.bin(*value)].record(*value));
        bins
    }
}

/// The rows of one run in one bin. Bins do not overlap: a row belongs here if its value is from `least` to `most`.
#[derive(Debug, Clone, Copy)]
struct Filled {
    rows: u64,
    least: f64,
    most: f64,
}

impl Default for Filled {
    fn default() -> Self {
        Self {
            rows: 0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }
}

impl Filled {
    fn record(&mut self, value: f64) {
        self.rows += 1;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }
}

/// Rounds up to 1, 2, 2.5 or 5 times a power of ten; `None` for 0.
fn round_up(step: f64) -> Option<f64> {
    let power = 10_f64.powf(step.log10().floor());
    let rounded = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .find(|it| it * power >= step)?;
    Some(rounded * power).filter(|it| it.is_normal())
}

/// Formats a number with at most four decimals and no trailing zeros.
fn short(value: f64) -> String {
    if value != 0.0 && (value.abs() >= 1e6 || value.abs() < 1e-4) {
        return format!("{value:.2e}");
    }
    let digits = decimals(value, 4);
    digits
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// Returns the histogram of each run's values. With two runs, each bin has two bars, whose heights are shares of that
/// run's rows.
pub(super) fn histogram(metric: &str, kind: ScoreKind, runs: &[Vec<f64>]) -> Option<Value> {
    let bins = Bins::of(kind, &runs.concat())?;
    let filled: Vec<_> = runs.iter().map(|values| bins.fill(values)).collect();
    let share =
        |run: usize, bin: usize| filled[run][bin].rows as f64 / (runs[run].len().max(1) as f64);
    let places = || (0..bins.count).flat_map(|bin| (0..runs.len()).map(move |run| (bin, run)));
    let largest = places()
        .map(|(bin, run)| share(run, bin))
        .fold(f64::MIN_POSITIVE, f64::max);
    let slot = WIDTH / bins.count as f64;
    let width = slot * FILLED / runs.len() as f64;
    let is_single = runs.len() == 1;
    let bar = |(bin, run): (usize, usize)| {
        let Filled { rows, least, most } = filled[run][bin];
        let height = (HIGHEST_BAR * share(run, bin) / largest).max(LOWEST_BAR);
        let of_run = if is_single { "" } else { ["A: ", "B: "][run] };
        let label = bins.label(bin);
        (rows > 0).then(|| {
            json!({
                "x": rounded(slot * (bin as f64 + (1.0 - FILLED) / 2.0) + width * run as f64),
                "y": rounded(HEIGHT - height),
                "width": rounded(width),
                "height": rounded(height),
                "class": if is_single || run == 1 { "b" } else { "a" },
                "title": format!("{of_run}{label}: {}", plural(rows, "row")),
                "run": run,
                "bin": label,
                "least": least,
                "most": most,
            })
        })
    };
    let has_tick_per_bin = bins.kind != BinKind::Range && bins.count <= MAX_LABELS;
    let ticks = match has_tick_per_bin {
        true => (0..bins.count).map(|bin| bins.label(bin)).collect(),
        false => vec![bins.edge(0), bins.edge(bins.count)],
    };
    Some(json!({
        "bars": places().filter_map(bar).collect::<Vec<_>>(),
        "ticks": ticks,
        "has_tick_per_bin": has_tick_per_bin,
        // For screen readers.
        "description": description(metric, &bins, &filled),
    }))
}

/// Describes the histogram: `Distribution of f1: most rows, 812 of 1,190, are in 0.95 to 1`.
fn description(metric: &str, bins: &Bins, filled: &[Vec<Filled>]) -> String {
    let run = |(run, filled): (usize, &Vec<Filled>)| {
        let largest =
            (0..bins.count).max_by_key(|bin| (filled[*bin].rows, std::cmp::Reverse(*bin)));
        let bin = largest.unwrap_or_default();
        let all = filled.iter().map(|bin| bin.rows).sum();
        let (rows, all) = (thousands(filled[bin].rows), thousands(all));
        let run = if run == 0 { "" } else { "; in B" };
        format!(
            "{run} most rows, {rows} of {all}, are in {}",
            bins.label(bin)
        )
    };
    let runs: String = filled.iter().enumerate().map(run).collect();
    format!("Distribution of {metric}:{runs}")
}

/// Rounds to two decimals, which is finer than a pixel.
fn rounded(length: f64) -> f64 {
    (length * 100.0).round() / 100.0
}

/// The range of values across a track, on which a mean and its interval are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// Returns [0, 1] if it contains all values, otherwise the range of the values.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values.fold((0.0_f64, 1.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        Self { low, high }
    }

    /// Returns the range of these intervals, with some room at both ends.
    pub(super) fn around<'a>(all: impl Iterator<Item = &'a Figures>) -> Option<Self> {
        let ends = |figures: &Figures| {
            let (mean, ci95) = (figures.mean?, figures.ci95());
            Some(ci95.map_or((mean, mean), |ci95| (ci95.low, ci95.high)))
        };
        let all = all
            .filter_map(ends)
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (low, high) = all.filter(|(low, high)| low < high)?;
        let room = (high - low) / 20.0;
        Some(Self {
            low: low - room,
            high: high + room,
        })
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        rounded(WIDTH * share.clamp(0.0, 1.0))
    }

    /// Returns a mean and its interval, in percent of the width. The reference is the mean over all groups.
    pub(super) fn track(&self, figures: &Figures, reference: Option<f64>) -> Value {
        let interval = figures.ci95().map(|ci95| {
            let (start, end) = (self.place(ci95.low), self.place(ci95.high));
            json!({"start": start, "width": rounded((end - start).max(0.6))})
        });
        // The point is drawn to the right of its position and must not leave the track.
        let point = figures
            .mean
            .map(|mean| rounded((self.place(mean) - 0.4).clamp(0.0, 99.2)));
        let reference = reference.map(|mean| self.place(mean));
        json!({"point": point, "interval": interval, "reference": reference})
    }
}

pub(super) fn scored_values(run: &ReportRun<'_>, name: &str) -> Vec<f64> {
    run.scores
        .column(name)
        .filter_map(|score| score.value())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::figures::Bounds;

    fn numbers(values: &[f64]) -> Figures {
        let values = values.iter().map(|value| (*value, None));
        Figures::of(ScoreKind::Number, values, false, Bounds::UNKNOWN)
    }

    fn counts(bins: &Bins, values: &[f64]) -> Vec<u64> {
        bins.fill(values).iter().map(|bin| bin.rows).collect()
    }

    #[test]
    fn a_value_on_an_edge_belongs_to_the_upper_bin_and_the_last_bin_is_closed() {
        let values: Vec<f64> = (0..=20).map(|step| f64::from(step) / 20.0).collect();
        let bins = Bins::of(ScoreKind::Number, &values).unwrap();
        let mut expected = vec![1; 20];
        expected[19] = 2;
        assert_eq!(counts(&bins, &values), expected);
        assert_eq!(
            (bins.label(0), bins.label(19)),
            ("0 to 0.05".into(), "0.95 to 1".into())
        );
    }

    #[test]
    fn whole_numbers_have_a_bin_each() {
        let bins = Bins::of(ScoreKind::Number, &[1.0, 5.0, 3.0, 5.0]).unwrap();
        assert_eq!(counts(&bins, &[1.0, 5.0, 3.0, 5.0]), [1, 0, 1, 0, 2]);
        assert_eq!(bins.label(4), "5");
    }

    #[test]
    fn bools_have_two_bins() {
        let bins = Bins::of(ScoreKind::Bool, &[1.0, 1.0]).unwrap();
        assert_eq!(counts(&bins, &[1.0, 1.0, 0.0]), [1, 2]);
        assert_eq!(bins.label(1), "true");
    }

    #[test]
    fn every_value_of_any_range_is_in_a_bin() {
        let ranges: [&[f64]; 6] = [
            &[-3.0, 0.25, 17.5],
            &[1e-7, 3e-7],
            &[2.5],
            &[-1e9, 1e9, 0.5],
            &[1_000_000.5, 1_000_000.75],
            &[0.0],
        ];
        for values in ranges {
            let bins = Bins::of(ScoreKind::Number, values).unwrap();
            let counted: u64 = counts(&bins, values).iter().sum();
            assert_eq!(counted, values.len() as u64, "{values:?}");
            assert!(
                bins.count <= BINS + 2 && bins.low <= values[0],
                "{values:?}: {bins:?}"
            );
            let end = bins.low + bins.width * bins.count as f64;
            assert!(
                values.iter().all(|value| *value <= end * 1.000_001 + 1e-12),
                "{values:?}: {bins:?}"
            );
        }
        assert_eq!(Bins::of(ScoreKind::Number, &[]), None);
        assert_eq!(Bins::of(ScoreKind::Number, &[-1e308, 1e308]), None);
    }

    #[test]
    fn bars_stay_within_the_drawing_and_empty_bins_have_none() {
        let runs = [vec![0.0, 0.5, 1.0, 1.0], vec![0.02; 100]];
        let chart = histogram("f1", ScoreKind::Number, &runs).unwrap();
        let bars = chart["bars"].as_array().unwrap();
        assert_eq!(bars.len(), 4);
        for bar in bars {
            let [x, y, width, height] =
                ["x", "y", "width", "height"].map(|name| bar[name].as_f64().unwrap());
            assert!(x >= 0.0 && x + width <= WIDTH, "{bar}");
            assert!((y + height - HEIGHT).abs() < 0.02 && y >= 0.0, "{bar}");
        }
        let expected = "Distribution of f1: most rows, 2 of 4, are in 0.95 to 1; in B most rows, 100 of 100, are in 0 to 0.05";
        assert_eq!(chart["description"], expected);
        assert_eq!(bars[1]["title"], "B: 0 to 0.05: 100 rows");
        assert_eq!(bars[1]["run"], 1);
        assert_eq!(bars[1]["bin"], "0 to 0.05");
        assert_eq!(
            (&bars[1]["least"], &bars[1]["most"]),
            (&json!(0.02), &json!(0.02))
        );
    }

    #[test]
    fn the_range_of_groups_contains_all_intervals() {
        let of = |values: [f64; 2]| numbers(&values);
        let groups = [of([5.0, 5.0]), of([2.0, 4.0]), of([9.0, 9.0])];
        let range = Range::around(groups.iter()).unwrap();
        // Student's t of two values: 3 ± 12.706.
        assert!(range.low < -9.7 && range.high > 15.7, "{range:?}");
        assert_eq!(Range::around(groups[..1].iter()), None);
    }

    #[test]
    fn a_track_shows_mean_and_interval_in_percent_of_the_width() {
        let figures = numbers(&[0.5, 1.0, 0.0, 0.75, 0.25]);
        let track = Range::of([0.2, 0.9].into_iter()).track(&figures, Some(0.25));
        let interval = json!({"start": 14.97, "width": 70.06});
        let expected = json!({"point": 49.6, "interval": interval, "reference": 25.0});
        assert_eq!(track, expected);
    }
}
