//! The bins of a histogram. The script draws them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::contract::ScoreKind;

const BINS: usize = 20;
/// The maximum range for which each whole number gets its own bin.
const MAX_WHOLE: f64 = 20.0;

/// Equal bins starting at `low`. The last one includes its upper end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Bins {
    low: f64,
    width: f64,
    count: usize,
    kind: BinKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum BinKind {
    Bool,
    Whole,
    Range,
}

impl Bins {
    /// Chooses bins for these values. Returns `None` if there are no values or their range is not finite.
    fn of(kind: ScoreKind, values: &[f64]) -> Option<Self> {
        let least = values.iter().copied().reduce(f64::min)?;
        let most = values.iter().copied().reduce(f64::max)?;
        let range = most - least;
        let is_whole = || values.iter().all(|value| value.fract() == 0.0);
        let (low, width, count, kind) = if kind == ScoreKind::Bool {
            (-0.5, 1.0, 2, BinKind::Bool)
        } else if !range.is_finite() {
            return None;
        } else if range <= MAX_WHOLE && (least < 0.0 || most > 1.0) && is_whole() {
            (least - 0.5, 1.0, range as usize + 1, BinKind::Whole)
        } else if least >= 0.0 && most <= 1.0 {
            (0.0, 0.05, BINS, BinKind::Range)
        } else {
            let width =
                round_up(range / BINS as f64).unwrap_or_else(|| least.abs().max(1.0) / 10.0);
            let low = (least / width).floor() * width;
            let count = ((most - low) / width).ceil() as usize;
            (low, width, count.clamp(1, BINS + 2), BinKind::Range)
        };
        Some(Self {
            low,
            width,
            count,
            kind,
        })
    }

    fn bin(&self, value: f64) -> usize {
        // A value on an edge belongs to the upper bin, even though 0.15 / 0.05 is less than 3.
        let place = (value - self.low) / self.width + 1e-9;
        (place.max(0.0) as usize).min(self.count - 1)
    }
}

/// Rounds up to 1, 2, 2.5 or 5 times a power of ten. Returns `None` for 0.
fn round_up(step: f64) -> Option<f64> {
    let power = 10_f64.powf(step.log10().floor());
    let rounded = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .find(|it| it * power >= step)?;
    Some(rounded * power).filter(|it| it.is_normal())
}

/// The rows of one run in one bin. Bins do not overlap: a row belongs here if its value is from `least` to `most`.
#[derive(Debug, Clone, Copy, Serialize)]
struct Bar {
    bin: usize,
    run: usize,
    rows: u64,
    least: f64,
    most: f64,
}

/// Returns the bins of each run's values, and a bar for each run in each bin that is not empty.
pub(super) fn histogram(kind: ScoreKind, runs: &[Vec<f64>]) -> Option<Value> {
    let bins = Bins::of(kind, &runs.concat())?;
    Some(json!({"bins": bins, "bars": bars(&bins, runs)}))
}

fn bars(bins: &Bins, runs: &[Vec<f64>]) -> Vec<Bar> {
    let mut bars = BTreeMap::new();
    for (run, values) in runs.iter().enumerate() {
        for value in values {
            let bin = bins.bin(*value);
            let bar = bars.entry((bin, run)).or_insert(Bar {
                bin,
                run,
                rows: 0,
                least: *value,
                most: *value,
            });
            bar.rows += 1;
            bar.least = bar.least.min(*value);
            bar.most = bar.most.max(*value);
        }
    }
    bars.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(values: &[f64]) -> Bins {
        Bins::of(ScoreKind::Number, values).unwrap()
    }

    /// Returns the bins that are not empty, with their row counts.
    fn counts(bins: &Bins, values: &[f64]) -> Vec<(usize, u64)> {
        let bars = bars(bins, &[values.to_vec()]);
        bars.iter().map(|bar| (bar.bin, bar.rows)).collect()
    }

    #[test]
    fn a_value_on_an_edge_belongs_to_the_upper_bin_and_the_last_bin_is_closed() {
        let values: Vec<f64> = (0..=20).map(|step| f64::from(step) / 20.0).collect();
        let mut expected: Vec<_> = (0..20).map(|bin| (bin, 1)).collect();
        expected[19].1 = 2;
        assert_eq!(counts(&bins(&values), &values), expected);
    }

    #[test]
    fn whole_numbers_have_a_bin_each() {
        let values = [1.0, 5.0, 3.0, 5.0];
        let bins = bins(&values);
        assert_eq!((bins.low, bins.count, bins.kind), (0.5, 5, BinKind::Whole));
        assert_eq!(counts(&bins, &values), [(0, 1), (2, 1), (4, 2)]);
    }

    #[test]
    fn bools_have_two_bins() {
        let bins = Bins::of(ScoreKind::Bool, &[1.0, 1.0]).unwrap();
        assert_eq!(counts(&bins, &[1.0, 1.0, 0.0]), [(0, 1), (1, 2)]);
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
            let bins = bins(values);
            let counted: u64 = counts(&bins, values).iter().map(|(_, rows)| rows).sum();
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
    fn empty_bins_have_no_bar_and_a_bar_has_the_values_in_its_bin() {
        let runs = [vec![0.0, 0.5, 1.0, 1.0], vec![0.02; 100]];
        let histogram = histogram(ScoreKind::Number, &runs).unwrap();
        let bar = |bin: usize, run: usize, rows: u64, value: f64| json!({"bin": bin, "run": run, "rows": rows, "least": value, "most": value});
        let bars = [
            bar(0, 0, 1, 0.0),
            bar(0, 1, 100, 0.02),
            bar(10, 0, 1, 0.5),
            bar(19, 0, 2, 1.0),
        ];
        assert_eq!(histogram["bars"], json!(bars));
        let bins = json!({"low": 0.0, "width": 0.05, "count": 20, "kind": "range"});
        assert_eq!(histogram["bins"], bins);
    }
}
