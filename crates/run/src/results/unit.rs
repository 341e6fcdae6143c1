//! How figures and differences are written.

use super::thousands;
use crate::contract::ScoreKind;
use crate::stats::Interval;
use crate::stats::decimals::decimals;

/// The unit of a metric's figures: percent for pass or fail.
#[derive(Clone, Copy)]
pub(crate) struct Unit(pub(crate) ScoreKind);

impl Unit {
    pub(super) fn number(self, value: f64) -> String {
        match self.0 {
            ScoreKind::Bool => decimals(100.0 * value, 2),
            ScoreKind::Number | ScoreKind::Corpus => number(value),
        }
    }

    /// The unit of a difference.
    pub(super) fn points(self) -> &'static str {
        match self.0 {
            ScoreKind::Bool => " percentage points",
            ScoreKind::Number | ScoreKind::Corpus => "",
        }
    }

    pub(crate) fn figure(self, value: f64) -> String {
        let percent = if self.0 == ScoreKind::Bool { "%" } else { "" };
        format!("{}{percent}", self.number(value))
    }

    /// Formats a difference with its sign.
    pub(super) fn change(self, value: f64) -> String {
        let sign = if value > 0.0 { "+" } else { "" };
        format!("{sign}{}", self.number(value))
    }

    pub(crate) fn change_with_unit(self, value: f64) -> String {
        format!("{}{}", self.change(value), self.points())
    }

    /// Formats the size of a difference with its unit.
    pub(crate) fn size(self, value: f64) -> String {
        format!("{}{}", self.number(value), self.points())
    }

    pub(crate) fn interval(self, Interval { low, high }: Interval) -> String {
        format!("[{}, {}]", self.number(low), self.number(high))
    }

    /// Formats an interval after the figure that it is of; empty without an interval. With the sign -1, the figure is the
    /// difference the other way round.
    pub(super) fn interval_after(self, interval: Option<Interval>, sign: f64) -> String {
        interval.map_or(String::new(), |Interval { low, high }| {
            let (low, high) = (sign * low, sign * high);
            let (low, high) = (low.min(high), low.max(high));
            format!(" {}", self.interval(Interval { low, high }))
        })
    }
}

/// Formats with four decimals, or with three significant digits if the number would be shown as 0.
pub(super) fn number(value: f64) -> String {
    match value == 0.0 || value.abs() >= 0.000_05 {
        true if value.abs() < 1e9 => decimals(value, 4),
        _ => format!("{value:.2e}"),
    }
}

/// `= 0.012`
pub(crate) fn p_equals(p: f64) -> String {
    match p < 0.001 {
        true => "< 0.001".to_owned(),
        false => format!("= {p:.3}"),
    }
}

/// Formats a number of rows with two significant digits and thousands separators.
pub(crate) fn about(rows: u64) -> String {
    let step = 10_u64.pow(rows.max(1).ilog10().saturating_sub(1));
    thousands(rows.div_ceil(step).saturating_mul(step))
}
