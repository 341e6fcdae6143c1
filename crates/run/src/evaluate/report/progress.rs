//! Progress on standard error while an evaluation runs. The running score is passed in and never recomputed, so each
//! update costs the same.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Determines where progress is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProgressDisplay {
    /// Never shows progress.
    #[default]
    Off,
    /// Shows progress on standard error if it is a terminal.
    Terminal,
    /// Always shows progress on standard error.
    ///
    /// If standard error is not a terminal, progress is written as plain lines.
    Always,
}

impl From<bool> for ProgressDisplay {
    fn from(display: bool) -> Self {
        if display { Self::Terminal } else { Self::Off }
    }
}

pub(crate) struct Progress {
    shown: Shown,
    /// When progress was last shown, or when the run started.
    last: Instant,
    started: Instant,
    total: Option<u64>,
}

enum Shown {
    Nothing,
    Lines,
    #[cfg(feature = "report")]
    Bar(indicatif::ProgressBar),
}

impl Progress {
    pub(crate) fn new(display: ProgressDisplay, total: Option<u64>) -> Self {
        let now = Instant::now();
        Self {
            shown: Shown::new(display, total, std::io::stderr().is_terminal()),
            last: now,
            started: now,
            total,
        }
    }

    /// Records a finished row; `describe` is called only when the display is due for an update.
    pub(crate) fn row_done(&mut self, rows: u64, describe: impl FnOnce() -> String) {
        let every = match self.shown {
            Shown::Nothing => return,
            Shown::Lines => Duration::from_secs(1),
            #[cfg(feature = "report")]
            Shown::Bar(_) => Duration::from_millis(100),
        };
        let now = Instant::now();
        if now.duration_since(self.last) < every {
            return;
        }
        self.last = now;
        self.show(rows, &describe());
    }

    /// Shows the final state and ends the line.
    pub(crate) fn finish(&mut self, rows: u64, describe: impl FnOnce() -> String) {
        if !matches!(self.shown, Shown::Nothing) {
            self.show(rows, &describe());
        }
        self.shown = Shown::Nothing;
    }

    /// Removes the line if the output goes elsewhere.
    #[cfg(feature = "html")]
    pub(crate) fn clear(self) {
        #[cfg(feature = "report")]
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    fn show(&self, rows: u64, message: &str) {
        match &self.shown {
            Shown::Nothing => {}
            // A closed standard error must not end the run.
            Shown::Lines => _ = writeln!(std::io::stderr(), "{}", self.line(rows, message)),
            #[cfg(feature = "report")]
            Shown::Bar(bar) => {
                bar.set_position(rows);
                bar.set_message(message.to_owned());
            }
        }
    }

    /// Formats progress as `120/1190 rows, 31.5/s, 34 s left: 74.17% (89/120, 0 failed)`.
    fn line(&self, rows: u64, message: &str) -> String {
        #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
        let rate = rows as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        #[expect(clippy::cast_precision_loss, reason = "shown in seconds")]
        let left = |total: u64| total.saturating_sub(rows) as f64 / rate;
        match self.total {
            Some(total) => {
                let left = left(total);
                format!("{rows}/{total} rows, {rate:.1}/s, {left:.0} s left: {message}")
            }
            None => format!("{rows} rows, {rate:.1}/s: {message}"),
        }
    }
}

impl Shown {
    fn new(display: ProgressDisplay, total: Option<u64>, terminal: bool) -> Self {
        match (display, terminal) {
            (ProgressDisplay::Off, _) | (ProgressDisplay::Terminal, false) => Self::Nothing,
            (ProgressDisplay::Always, false) => Self::Lines,
            (_, true) => Self::on_terminal(total),
        }
    }

    #[cfg(feature = "report")]
    fn on_terminal(total: Option<u64>) -> Self {
        let (bar, template) = match total {
            Some(total) => (
                indicatif::ProgressBar::new(total),
                "{wide_bar} {human_pos}/{human_len} {per_sec} eta {eta} {msg}",
            ),
            None => (
                indicatif::ProgressBar::new_spinner(),
                "{spinner} {human_pos} rows {per_sec} {msg}",
            ),
        };
        // The last state stays on the terminal.
        let bar = bar.with_finish(indicatif::ProgressFinish::Abandon);
        let style = indicatif::ProgressStyle::with_template(template);
        Self::Bar(match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    #[cfg(not(feature = "report"))]
    fn on_terminal(_: Option<u64>) -> Self {
        Self::Lines
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, ProgressDisplay, Shown};

    #[test]
    fn progress_is_hidden_off_a_terminal_unless_always() {
        let shown = |display, terminal| Shown::new(display, Some(1), terminal);
        assert!(matches!(shown(ProgressDisplay::Off, true), Shown::Nothing));
        assert!(matches!(shown(true.into(), false), Shown::Nothing));
        assert!(matches!(
            shown(ProgressDisplay::Always, false),
            Shown::Lines
        ));
        assert!(!matches!(shown(true.into(), true), Shown::Nothing));
    }

    #[test]
    fn the_running_score_is_not_described_for_every_row() {
        let mut progress = Progress {
            shown: Shown::Lines,
            last: std::time::Instant::now(),
            started: std::time::Instant::now(),
            total: None,
        };
        // The last update lies an hour in the future, so no update is due.
        progress.last += std::time::Duration::from_secs(3600);
        let mut described = 0;
        for rows in 0..100_000 {
            progress.row_done(rows, || {
                described += 1;
                String::new()
            });
        }
        assert_eq!(described, 0);
    }
}
