//! How often the gates of `#[eval]` are right and wrong, by their verdict on every possible count of rows that changed.
//!
//! `cargo test -p dsrs-metrics-tests --test harness gate_rates -- --nocapture` prints the tables.

use std::collections::BTreeMap;

use dsrs_metrics::Evaluate;
use dsrs_metrics::evals::{Condition, verdicts};
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::runs::EvaluationResult;
use dsrs_metrics::stats::{PairedShares, holm, mcnemar_exact, mcnemar_mid_p, rows_for_power};

use crate::agree::coverage::Random;

/// What a gate did with a number of rows that are better and a number that are worse.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Verdict {
    Passed,
    Unchanged,
    Warned,
    Red,
}

fn run(passes: impl Iterator<Item = bool>) -> EvaluationResult {
    run_with_abstentions(passes.map(Some))
}

/// Rows that pass, fail or are abstained from.
fn run_with_abstentions(passes: impl Iterator<Item = Option<bool>>) -> EvaluationResult {
    let score = |_: &Example, pred: &Prediction| pred.get("passes").unwrap().as_bool();
    let row = |(row, passes): (usize, Option<bool>)| {
        Pair::new(
            row.to_string(),
            example! {},
            prediction! { "passes" => passes },
        )
    };
    let evaluate = Evaluate::builder()
        .metric(metric_fn("same", score))
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let rows: Vec<Pair> = passes.enumerate().map(row).collect();
    runtime.block_on(evaluate.score(rows)).unwrap()
}

/// The verdicts of `no_worse(by)`, by the number of better and of worse rows.
fn no_worse(rows: u64, by: f64) -> BTreeMap<(u64, u64), Verdict> {
    let mut found = BTreeMap::new();
    for wins in 0..=rows {
        for losses in 0..=rows - wins {
            let old = run((0..rows).map(|row| row >= wins));
            let new = run((0..rows).map(|row| row < rows - losses));
            let gate = [("same.no_worse(..)", Condition::NoWorse("same", by))];
            let (name, sentence) = verdicts(&gate, &old, &new, None).unwrap().remove(0);
            let verdict = match name {
                "passed" => Verdict::Passed,
                "unchanged" => Verdict::Unchanged,
                "undecided" if !sentence.contains("beyond the margin") => Verdict::Warned,
                _ => Verdict::Red,
            };
            found.insert((wins, losses), verdict);
        }
    }
    found
}

/// The verdicts by the rule of the gate, for more rows than are worth a run for each count.
fn by_rule(rows: u64, by: f64) -> BTreeMap<(u64, u64), Verdict> {
    let counts = (0..=rows).flat_map(|wins| (0..=rows - wins).map(move |losses| (wins, losses)));
    let verdict = |(wins, losses)| {
        let pairs = PairedShares { wins, losses, rows };
        let (gain, gains) = (pairs.difference().unwrap(), pairs.tango().unwrap());
        let verdict = match () {
            () if gains.low > -by => Verdict::Passed,
            () if wins + losses == 0 => Verdict::Unchanged,
            () if gain < -by => Verdict::Red,
            () => Verdict::Warned,
        };
        ((wins, losses), verdict)
    };
    counts.map(verdict).collect()
}

/// The probability of these verdicts if a row is better, and worse, with these probabilities.
fn probability(
    verdicts: &BTreeMap<(u64, u64), Verdict>,
    rows: u64,
    (win, loss): (f64, f64),
    of: &[Verdict],
) -> f64 {
    let factorials: Vec<f64> = (0..=rows)
        .scan(0.0, |sum, n| {
            *sum += (n.max(1) as f64).ln();
            Some(*sum)
        })
        .collect();
    let log = |n: u64| factorials[n as usize];
    let power = |base: f64, exponent: u64| {
        if exponent == 0 {
            0.0
        } else {
            exponent as f64 * base.ln()
        }
    };
    let counts = verdicts.iter().filter(|(_, verdict)| of.contains(verdict));
    let chances = counts.map(|((wins, losses), _)| {
        let equal = rows - wins - losses;
        let ways = log(rows) - log(*wins) - log(*losses) - log(equal);
        (ways + power(win, *wins) + power(loss, *losses) + power(1.0 - win - loss, equal)).exp()
    });
    chances.sum()
}

#[test]
fn no_worse_passes_a_loss_of_the_margin_in_at_most_2_5_percent() {
    for by in [0.02, 0.05] {
        let mut tables: Vec<_> = [5, 10, 20, 40]
            .map(|rows| (rows, no_worse(rows, by)))
            .into();
        assert_eq!(tables[2].1, by_rule(20, by), "the rule is that of the gate");
        tables.extend([100, 200].map(|rows| (rows, by_rule(rows, by))));
        for (loss, win) in [
            (by, 0.0),
            (by + 0.02, 0.02),
            (by + 0.1, 0.1),
            (0.1, 0.0),
            (0.2, 0.0),
        ] {
            let passes = tables.iter().map(|(rows, table)| {
                (
                    rows,
                    probability(table, *rows, (win, loss), &[Verdict::Passed]),
                )
            });
            let passes: Vec<_> = passes.collect();
            println!("no_worse(by = {by}), {loss:.2} worse, {win:.2} better, passes: {passes:.4?}");
            // Tango's test is approximate: with 25% of 20 rows changed, 2.59% pass.
            let limit = if loss > by + 0.05 && win > 0.0 {
                0.026
            } else {
                0.025
            };
            assert!(
                passes.iter().all(|(_, passes)| *passes <= limit),
                "{passes:?}"
            );
        }
    }
}

#[test]
fn more_rows_fail_less_often_inside_the_margin() {
    let by = 0.05;
    for (win, loss) in [(0.05, 0.05), (0.04, 0.07), (0.0, 0.03)] {
        let red = [20, 50, 100, 200].map(|rows| {
            (
                rows,
                probability(&by_rule(rows, by), rows, (win, loss), &[Verdict::Red]),
            )
        });
        println!("no_worse(by = {by}), {win} better, {loss} worse, red: {red:.3?}");
        // The last one has ten times the rows of the first one.
        assert!(red[3].1 < red[0].1.max(0.02), "{red:?}");
    }
}

#[test]
fn the_default_rule_is_between_the_two_others() {
    let green = [Verdict::Passed, Verdict::Unchanged];
    let by = 0.05;
    println!(
        "no_worse(by = {by}), 10% of verdicts flip; green by default / strict / if undecided is green"
    );
    for rows in [20, 40, 50, 200] {
        let table = if rows <= 20 {
            no_worse(rows, by)
        } else {
            by_rule(rows, by)
        };
        // Tango's interval of these counts is below the margin.
        let fails = |wins, losses| PairedShares { wins, losses, rows }.tango().unwrap().high < -by;
        for drop in [0.0, 0.1, 0.2] {
            let chances = (0.05, 0.05 + drop);
            let of = |verdicts: &[Verdict]| probability(&table, rows, chances, verdicts);
            let default = of(&[&green[..], &[Verdict::Warned]].concat());
            let strict = of(&green);
            let certain: BTreeMap<_, _> = table
                .iter()
                .filter(|((w, l), _)| fails(*w, *l))
                .map(|(k, v)| (*k, *v))
                .collect();
            let lenient = 1.0 - probability(&certain, rows, chances, &[Verdict::Red]);
            println!("  {rows} rows, loss {drop}: {default:.2} / {strict:.2} / {lenient:.2}");
            assert!(strict <= default && default <= lenient);
            match (rows, drop) {
                (_, 0.0) => assert!(default > 0.85, "{default}"),
                (40.., 0.2) => assert!(default < 0.05, "{default}"),
                (200, 0.1) => assert!(default < 0.1, "{default}"),
                _ => {}
            }
        }
    }
}

#[test]
fn five_gates_that_want_a_gain_are_red_in_at_most_2_5_percent_of_runs_without_a_change() {
    const STUDIES: u64 = 4_000;
    for rows in [50, 200] {
        let mut red = 0;
        for seed in 0..STUDIES {
            let mut random = Random::new(seed);
            let mut count = || {
                let mut counts = (0, 0);
                for _ in 0..rows {
                    let place = random.unit();
                    counts.0 += u64::from(place < 0.05);
                    counts.1 += u64::from(place >= 0.95);
                }
                counts
            };
            let counts: Vec<(u64, u64)> = (0..5).map(|_| count()).collect();
            let p: Vec<f64> = counts
                .iter()
                .map(|(wins, losses)| mcnemar_exact(*wins, *losses))
                .collect();
            let is_red = holm(&p)
                .iter()
                .zip(&counts)
                .any(|(p, (wins, losses))| *p < 0.05 && losses > wins);
            red += u32::from(is_red);
        }
        let share = f64::from(red) / STUDIES as f64;
        println!("5 x better(), {rows} rows, no change: red in {share:.4}");
        assert!(share <= 0.025 + 2.0 * 0.002_5, "{share}");
    }
}

/// The verdict of `better` needs the adjusted level, also for a failure.
#[test]
fn better_fails_only_where_the_program_is_worse_at_the_adjusted_level() {
    let gate = [("same.better()", Condition::Better("same"))];
    for (wins, losses, expected) in [
        (0, 2, "undecided"),
        (0, 5, "undecided"),
        (0, 6, "failed"),
        (6, 0, "passed"),
        (0, 0, "undecided"),
    ] {
        let old = run((0..40).map(|row| row >= wins));
        let new = run((0..40).map(|row| row < 40 - losses));
        let found = verdicts(&gate, &old, &new, None).unwrap().remove(0);
        assert_eq!(found.0, expected, "{wins} {losses}: {}", found.1);
    }
}

/// Rows that lost their score are no rows that did not change.
#[test]
fn abstentions_make_a_gate_undecided_and_are_named_first() {
    let gate = [("same.no_worse(by = 0.02)", Condition::NoWorse("same", 0.02))];
    let old = run((0..40).map(|row| row < 30));
    let found = |scored: usize| {
        let new = run_with_abstentions((0..40).map(|row| (row < scored).then_some(row < 30)));
        verdicts(&gate, &old, &new, None).unwrap().remove(0)
    };
    assert_eq!(
        found(2),
        (
            "undecided",
            "38 of 40 rows have a score in only one run, more than 5%; counted as failures, they are beyond the margin; no row changed from the baseline (2 rows); a loss of up to 65.76 percentage points is still possible; 38 rows without a score".to_owned()
        )
    );
    // Two of 40 are 5%.
    let (verdict, sentence) = found(38);
    assert_eq!(verdict, "unchanged");
    assert!(sentence.ends_with("; 2 rows without a score"), "{sentence}");
}

#[test]
fn mid_p_exceeds_its_level_slightly_and_finds_more() {
    let rejects = |rows: u64, discordant: f64, p: fn(u64, u64) -> f64| {
        let table: BTreeMap<_, _> = by_rule(rows, 0.0)
            .into_keys()
            .filter(|(wins, losses)| p(*wins, *losses) < 0.05)
            .map(|counts| (counts, Verdict::Red))
            .collect();
        probability(
            &table,
            rows,
            (discordant / 2.0, discordant / 2.0),
            &[Verdict::Red],
        )
    };
    let mut largest = 0.0_f64;
    for rows in [20, 50, 100] {
        for discordant in [0.05, 0.1, 0.2, 0.4, 0.6, 0.8] {
            let (exact, mid) = (
                rejects(rows, discordant, mcnemar_exact),
                rejects(rows, discordant, mcnemar_mid_p),
            );
            println!("{rows} rows, {discordant} discordant: exact {exact:.4}, mid-p {mid:.4}");
            assert!(exact <= mid && exact <= 0.05);
            largest = largest.max(mid);
        }
    }
    assert!((0.05..0.054).contains(&largest), "{largest}");
}

/// "Takes about N rows if both are equally good": with so many rows the gate passes in about 80% of all studies.
#[test]
fn the_number_of_rows_that_a_margin_takes_is_right() {
    let by = 0.05;
    for discordant in [0.1, 0.3] {
        let deviation = f64::sqrt(discordant);
        let rows = rows_for_power(deviation, by).unwrap();
        let mut passed = 0;
        for seed in 0..1_000 {
            let mut random = Random::new(seed);
            let mut pairs = PairedShares {
                rows,
                ..PairedShares::default()
            };
            for _ in 0..rows {
                let place = random.unit();
                pairs.wins += u64::from(place < discordant / 2.0);
                pairs.losses += u64::from(place >= 1.0 - discordant / 2.0);
            }
            passed += u32::from(pairs.tango().unwrap().low > -by);
        }
        println!(
            "{discordant} discordant: {rows} rows, passed in {:.3}",
            f64::from(passed) / 1_000.0
        );
        assert!(
            (750..=870).contains(&passed),
            "{discordant}: {rows} rows, {passed}"
        );
    }
}
