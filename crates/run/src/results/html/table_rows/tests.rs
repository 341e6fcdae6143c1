use super::*;
use crate::contract::Outcome;
use crate::results::{ResultOutcome, ResultRow, ResultScore, Results};

/// A run with one line per row: `METRIC=VALUE ..`, where `true` and `false` are verdicts and other words are outcomes.
fn run(rows: impl IntoIterator<Item = impl AsRef<str>>) -> Results {
    let mut results = Results::new("run".to_owned());
    for (id, line) in rows.into_iter().enumerate() {
        let scores = line.as_ref().split(' ').map(|score| {
            let (name, value) = score.split_once('=').unwrap();
            (name.to_owned(), parsed(value))
        });
        let row = ResultRow {
            id: id.to_string(),
            scores: scores.collect(),
            ..ResultRow::default()
        };
        results.add(row).unwrap();
    }
    results
}

fn parsed(value: &str) -> ResultScore {
    let mut score = ResultScore::of(&Outcome::Abstained);
    let passed = value.parse::<bool>().ok();
    let number = passed
        .map(|it| f64::from(u8::from(it)))
        .or_else(|| value.parse().ok());
    score.outcome = match number {
        Some(_) => ResultOutcome::Scored,
        None => serde_json::from_value::<ResultOutcome>(value.into()).unwrap(),
    };
    (score.value, score.passed) = (number, passed);
    score
}

/// A metric that is compared, where higher is better.
fn metric(name: &str) -> Metric<'_> {
    Metric {
        name,
        kind: crate::contract::spec::ScoreKind::Number,
        is_compared: true,
        is_lower_better: false,
    }
}

fn choose(runs: &[&Results], metrics: &[Metric<'_>], limit: usize) -> TableRows {
    let runs: Vec<_> = runs.iter().map(|run| ReportRun::of(run, None)).collect();
    TableRows::choose(&runs.iter().collect::<Vec<_>>(), metrics, limit)
}

fn places(table: &TableRows) -> Vec<usize> {
    table
        .rows
        .iter()
        .filter_map(|row| row[0].or(row[1]))
        .collect()
}

/// `m=0`, `m=1` and so on.
fn ascending(rows: usize) -> Results {
    run((0..rows).map(|row| format!("m={row}")))
}

#[test]
fn a_table_within_the_limit_has_all_rows_and_no_rule() {
    let results = ascending(20);
    let table = choose(&[&results], &[metric("m")], 20);
    assert_eq!((places(&table), table.rule()), ((0..20).collect(), None));
    let table = choose(&[&results], &[metric("m")], 19);
    assert_eq!(table.rows.len(), 19);
    let rule = json!({
        "shown": 19, "all": 20, "changed": [0, 0], "failed": [0, 0], "others": 20, "worst": 9, "sampled": 10, "seed": 0,
    });
    assert_eq!(table.rule().unwrap(), rule);
}

#[test]
fn half_of_the_rows_have_the_worst_scores_and_the_others_are_a_sample_with_a_seed() {
    let results = ascending(1_000);
    let rows = |is_lower_better| {
        let metric = Metric {
            is_lower_better,
            ..metric("m")
        };
        places(&choose(&[&results], &[metric], 40))
    };
    let (higher, lower) = (rows(false), rows(true));
    assert_eq!(higher, rows(false));
    assert_eq!((higher.len(), lower.len()), (40, 40));
    assert!(higher.is_sorted() && lower.is_sorted());
    assert_eq!(higher[..20], (0..20).collect::<Vec<_>>());
    assert_eq!(lower[20..], (980..1_000).collect::<Vec<_>>());
    // The sample covers all other rows: its mean is near 510, and the standard deviation of that mean is 63.
    let mean = higher[20..].iter().sum::<usize>() / 20;
    assert!((300..720).contains(&mean), "{mean}");
}

#[test]
fn each_metric_has_as_many_rows_and_equal_scores_are_sampled() {
    let line = |row: usize| format!("up={row} down={row} same=false none=abstained");
    let results = run((0..300).map(line));
    let down = Metric {
        is_lower_better: true,
        ..metric("down")
    };
    let table = choose(
        &[&results],
        &[metric("up"), down, metric("none"), metric("same")],
        40,
    );
    let rows = places(&table);
    assert_eq!((rows.len(), table.worst, table.sampled), (40, 20, 20));
    assert!(rows.starts_with(&[0, 1, 2, 3, 4]) && rows.ends_with(&[295, 296, 297, 298, 299]));
    // Ties do not favor the first rows.
    assert!(
        rows.iter().filter(|row| (5..50).contains(*row)).count() < 15,
        "{rows:?}"
    );
}

#[test]
fn rows_that_changed_come_first_then_failed_rows() {
    // 3 rows with a changed verdict, 1 with a changed outcome, 2 failed in both runs.
    let line = |row: usize, is_b: bool| match row {
        10 | 20 | 30 => format!("m={is_b} n=1"),
        40 => format!("m=true n={}", if is_b { "metric_failed" } else { "1" }),
        50 | 60 => "m=true n=program_failed".to_owned(),
        // Numbers without a verdict change their value.
        row => format!("m=true n={}", if is_b { row } else { 0 }),
    };
    let [a, b] = [false, true].map(|is_b| run((0..100).map(|row| line(row, is_b))));
    let table = choose(&[&a, &b], &[metric("m"), metric("n")], 12);
    let rows = places(&table);
    for row in [10, 20, 30, 40, 50, 60] {
        assert!(rows.contains(&row), "{row} is not in {rows:?}");
    }
    assert_eq!((rows.len(), table.worst, table.sampled), (12, 3, 3));
    assert_eq!((table.changed, table.failed), ([4, 4], [2, 2]));
    assert_eq!((table.all, table.others), (100, 94));

    // A metric that is not compared never counts as changed.
    let n = Metric {
        is_compared: false,
        ..metric("n")
    };
    let table = choose(&[&a, &b], &[metric("m"), n], 12);
    assert_eq!((table.changed, table.failed), ([3, 3], [3, 3]));
}

#[test]
fn a_category_has_half_of_the_space_that_is_left_unless_the_others_do_not_fill_it() {
    let of = |changed: usize, failed: usize, others: usize| {
        let line = |row: usize, is_b: bool| match row {
            row if row < changed => format!("m={is_b}"),
            row if row < changed + failed => "m=metric_failed".to_owned(),
            _ => "m=true".to_owned(),
        };
        let all = changed + failed + others;
        let [a, b] = [false, true].map(|is_b| run((0..all).map(|row| line(row, is_b))));
        let table = choose(&[&a, &b], &[metric("m")], 40);
        assert_eq!(table.rows.len(), 40);
        let in_table = |from: usize, to: usize| {
            places(&table)
                .into_iter()
                .filter(|row| (from..to).contains(row))
                .count()
        };
        let counted = [in_table(0, changed), in_table(changed, changed + failed)];
        assert_eq!(counted, [table.changed[0], table.failed[0]]);
        assert_eq!([table.changed[1], table.failed[1]], [changed, failed]);
        (counted[0], counted[1], table.worst, table.sampled)
    };
    assert_eq!(of(50, 50, 50), (20, 10, 5, 5));
    assert_eq!(of(50, 0, 0), (40, 0, 0, 0));
    assert_eq!(of(50, 4, 3), (33, 4, 1, 2));
    assert_eq!(of(0, 50, 0), (0, 40, 0, 0));
    assert_eq!(of(5, 50, 50), (5, 17, 9, 9));
}

#[test]
fn rows_of_the_second_run_alone_follow_in_their_order() {
    let (a, b) = (ascending(3), ascending(6));
    let table = choose(&[&a, &b], &[metric("m")], 6);
    let same = |row| [Some(row), Some(row)];
    let alone = |row| [None, Some(row)];
    assert_eq!(
        table.rows,
        [same(0), same(1), same(2), alone(3), alone(4), alone(5)]
    );
}
