//! Result files: reading them, comparing two runs, and comparing a run with labels.
//!
//! The first byte selects the format of two files, which a line with `~` separates.
#![no_main]

use dsrs_metrics::agreement::{Agreement, Figure, Label, Rating};
use dsrs_metrics::results::{Comparison, PairedDifference, ResultRow, Results};
use dsrs_metrics_fuzz::{assert_lines, assert_one_line, assert_within, choice_and_text, parts};
use libfuzzer_sys::fuzz_target;

const EXTENSIONS: [&str; 3] = ["jsonl", "json", "csv"];

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = choice_and_text(data) else {
        return;
    };
    let extension = EXTENSIONS[usize::from(choice) % EXTENSIONS.len()];
    let (first, second) = parts(text);
    let Some(a) = read(first, extension) else {
        return;
    };
    agree(&a);
    compare(&a, &a, |comparison| {
        for metric in &comparison.metrics {
            assert_eq!(
                (metric.overall.wins, metric.overall.losses),
                (0, 0),
                "of a run with itself"
            );
        }
    });
    if second.is_empty() {
        return;
    }
    let Some(b) = read(second, extension) else {
        return;
    };
    let forth = compare(&a, &b, |_| ());
    let back = compare(&b, &a, |_| ());
    // Which run is the first decides the sign only.
    assert_eq!(
        forth.is_some(),
        back.is_some(),
        "an error in one direction only"
    );
    for (forth, back) in forth.iter().zip(&back) {
        for metric in &forth.metrics {
            let (there, back) = (
                &metric.overall,
                &back.metric(&metric.name).expect("it").overall,
            );
            assert_eq!((there.wins, there.losses), (back.losses, back.wins));
            assert_eq!((there.a, there.b), (back.b, back.a));
            assert_eq!(
                there.difference,
                back.difference.map(|difference| 0.0 - difference)
            );
        }
    }
});

/// Reads a file, twice.
fn read(text: &str, extension: &str) -> Option<Results> {
    let file = dsrs_metrics_fuzz::temporary_file(&format!("results.{extension}"));
    std::fs::write(&file, text).expect("a temporary file");
    let (first, second) = (Results::read(&file), Results::read(&file));
    match (first, second) {
        (Ok(first), Ok(second)) => {
            assert_eq!(first.rows(), second.rows());
            first.rows().iter().for_each(|row| check(row, &first));
            Some(first.with_name("a file"))
        }
        (Err(first), Err(second)) => {
            assert_eq!(first.to_string(), second.to_string());
            assert_one_line(&first);
            None
        }
        _ => panic!("one of two readings failed"),
    }
}

fn check(row: &ResultRow, of: &Results) {
    assert_eq!(of.row(&row.id).map(|row| &row.id), Some(&row.id));
    for (name, score) in &row.scores {
        assert!(
            of.metrics().any(|metric| metric == name),
            "a score of a metric without a name"
        );
        assert!(score.value.is_none_or(f64::is_finite), "{:?}", score.value);
        assert!(
            score.parts.values().all(|part| part.is_finite()),
            "{:?}",
            score.parts
        );
    }
}

fn compare(a: &Results, b: &Results, check: impl Fn(&Comparison)) -> Option<Comparison> {
    let compared = [false, true].map(|only_paired| {
        Comparison::builder()
            .only_paired(only_paired)
            .draws(200)
            .of(a, b)
    });
    for compared in &compared {
        match compared {
            Ok(comparison) => {
                assert_lines(comparison);
                assert_lines(&comparison.markdown());
                for metric in &comparison.metrics {
                    assert_one_line(&metric.sentence());
                    figures(&metric.overall);
                    metric
                        .groups
                        .values()
                        .for_each(|group| figures(&group.difference));
                }
                check(comparison);
            }
            Err(error) => assert_one_line(error),
        }
    }
    let [_, compared] = compared;
    compared.ok()
}

fn figures(of: &PairedDifference) {
    assert_eq!(of.wins + of.losses + of.ties, of.n);
    for number in [of.a, of.b, of.difference, of.stderr].into_iter().flatten() {
        assert!(number.is_finite(), "{number}");
    }
    of.p_value
        .into_iter()
        .for_each(|p| assert_within(p, 0.0..=1.0));
    if let Some(interval) = of.ci95 {
        let difference = of.difference.expect("an interval of a difference");
        assert!(
            interval.low <= difference && difference <= interval.high,
            "{interval:?}"
        );
    }
}

/// Compares the first metric with the second, and with the passed rows of the second.
fn agree(results: &Results) {
    let names: Vec<&str> = results.metrics().collect();
    let (Some(rated), Some(label)) = (names.first(), names.last()) else {
        return;
    };
    let rating = |row: &ResultRow| -> Rating {
        let score = row.scores.get(*rated);
        score
            .and_then(|score| match score.passed {
                Some(passed) => score.value.map(|score| Rating::Verdict { passed, score }),
                None => score.value.map(Rating::Score),
            })
            .into()
    };
    let numbers = |row: &ResultRow| Label::from(row.scores.get(*label).and_then(|it| it.value));
    let verdicts = |row: &ResultRow| Label::from(row.scores.get(*label).and_then(|it| it.passed));
    let words =
        |row: &ResultRow| Label::from(row.scores.get(*label).and_then(|it| it.details.as_deref()));
    let labels: [&dyn Fn(&ResultRow) -> Label; 3] = [&numbers, &verdicts, &words];
    for label in labels {
        let pairs = results.rows().iter().map(|row| (rating(row), label(row)));
        match Agreement::builder().resamples(50).of(pairs) {
            Ok(agreement) => statistics(&agreement, results.rows().len() as u64),
            Err(error) => assert_one_line(&error),
        }
    }
}

fn statistics(of: &Agreement, rows: u64) {
    assert_lines(of);
    let without_score: u64 = of.without_score.values().sum();
    assert_eq!(
        (of.rows, of.compared + of.without_label + without_score),
        (rows, rows)
    );
    let shares = [
        &of.accuracy,
        &of.sensitivity,
        &of.specificity,
        &of.passed,
        &of.corrected,
    ];
    shares.into_iter().for_each(|figure| inside(figure, 0.0));
    let signed = [
        &of.kappa,
        &of.kappa_linear,
        &of.kappa_quadratic,
        &of.spearman,
    ];
    signed.into_iter().for_each(|figure| inside(figure, -1.0));
}

fn inside(figure: &Figure, least: f64) {
    // A correlation of ranks is computed in floating point.
    const ROUNDING: f64 = 1e-9;
    let range = least - ROUNDING..=1.0 + ROUNDING;
    figure
        .value
        .into_iter()
        .for_each(|value| assert_within(value, range.clone()));
    if let Some(interval) = figure.ci95 {
        assert!(interval.low <= interval.high, "{interval:?}");
        assert_within(interval.low, range.clone());
        assert_within(interval.high, range);
    }
    assert!(
        figure
            .successes
            .is_none_or(|successes| successes <= figure.n)
    );
}
