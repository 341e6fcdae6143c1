//! The kernels that are measured: functions of strings, and calls of metrics, each on fixed inputs.
//!
//! `cargo bench -p dsrs-metrics-kernels` measures their time, `benches/kernels/check.sh` counts
//! their instructions and compares the counts with `counts.txt`.

mod calls;
mod inputs;

use std::hint::black_box;

use dsrs_metrics::text::{em_score, f1_score, normalize_text};

use inputs::{languages, long, reworded, short, spelled_differently};

/// A function with its inputs.
pub struct Kernel {
    /// The function and the kind of its inputs.
    pub name: String,
    /// Bytes that one call reads, for the throughput.
    pub bytes: usize,
    run: Box<dyn Fn()>,
}

impl Kernel {
    /// Calls the function once with all of its inputs.
    pub fn run(&self) {
        (self.run)();
    }

    /// A function of pairs of strings.
    fn pairs<R>(name: String, pairs: Vec<(String, String)>, call: fn(&str, &str) -> R) -> Self
    where
        R: 'static,
    {
        let bytes = pairs
            .iter()
            .map(|(left, right)| left.len() + right.len())
            .sum();
        let run = move || {
            for (left, right) in &pairs {
                black_box(call(black_box(left), black_box(right)));
            }
        };
        Self {
            name,
            bytes,
            run: Box::new(run),
        }
    }

    /// A function of single strings.
    fn strings<R>(name: String, strings: Vec<String>, call: fn(&str) -> R) -> Self
    where
        R: 'static,
    {
        let bytes = strings.iter().map(String::len).sum();
        let run = move || {
            for string in &strings {
                black_box(call(black_box(string)));
            }
        };
        Self {
            name,
            bytes,
            run: Box::new(run),
        }
    }
}

/// Returns all kernels.
#[must_use]
pub fn kernels() -> Vec<Kernel> {
    let mut all = answers();
    all.extend(calls::kernels());
    all
}

/// Normalization, exact match and token F1. A call on short inputs has 16 pairs.
fn answers() -> Vec<Kernel> {
    let left = short()
        .into_iter()
        .map(|(prediction, _)| prediction)
        .collect();
    let mut all = vec![
        Kernel::strings("normalize/short".into(), left, normalize_text),
        Kernel::pairs("em/short".into(), short(), em_score),
        Kernel::pairs("f1/short".into(), short(), f1_score),
    ];
    for (language, text) in languages() {
        let text = long(text);
        let equal = spelled_differently(&text);
        let similar = reworded(&text);
        all.extend([
            Kernel::strings(
                format!("normalize/{language}"),
                vec![text.clone()],
                normalize_text,
            ),
            Kernel::pairs(
                format!("em/{language}"),
                vec![(equal, text.clone())],
                em_score,
            ),
            Kernel::pairs(format!("f1/{language}"), vec![(similar, text)], f1_score),
        ]);
    }
    all
}
