//! The comparison of two runs: its figures, its verdict, and its counts of rows.

use dsrs_metrics::contract::{Direction, ScoreKind};
use dsrs_metrics::results::{Comparison, DifferenceTest, MetricComparison, Results, Verdict};
use dsrs_metrics::stats::{PairedShares, mcnemar_exact, permutation_test};
use serde_json::{Value, json};

use super::{run, with_attributes};

/// Runs over rows `0`, `1` and so on.
fn runs(scores: &[(&str, &str)]) -> [Results; 2] {
    let ids: Vec<String> = (0..scores.len()).map(|id| id.to_string()).collect();
    let a: Vec<_> = ids
        .iter()
        .zip(scores)
        .map(|(id, (a, _))| (&**id, *a))
        .collect();
    let b: Vec<_> = ids
        .iter()
        .zip(scores)
        .map(|(id, (_, b))| (&**id, *b))
        .collect();
    [run("a.jsonl", &a), run("b.jsonl", &b)]
}

fn compare(scores: &[(&str, &str)]) -> Comparison {
    let [a, b] = runs(scores);
    Comparison::of(&a, &b).unwrap()
}

fn only_metric(comparison: Comparison) -> MetricComparison {
    assert_eq!(comparison.metrics.len(), 1);
    comparison.metrics.into_iter().next().unwrap()
}

#[test]
fn pass_or_fail_is_tested_with_the_rows_that_flipped() {
    let scores = [("false", "true"); 8]
        .into_iter()
        .chain([("true", "false")]);
    let scores: Vec<_> = scores.chain([("true", "true"); 11]).collect();
    let metric = only_metric(compare(&scores));
    let it = &metric.overall;
    assert_eq!(
        (metric.kind, it.test),
        (ScoreKind::Bool, DifferenceTest::McnemarExact)
    );
    assert_eq!((it.n, it.wins, it.losses, it.ties), (20, 8, 1, 11));
    assert_eq!(
        (it.a, it.b, it.difference),
        (Some(0.6), Some(0.95), Some(0.35))
    );
    assert_eq!(it.p_value, Some(mcnemar_exact(8, 1)));
    assert_eq!(
        it.ci95,
        PairedShares {
            wins: 8,
            losses: 1,
            rows: 20
        }
        .tango()
    );
    assert_eq!(metric.verdict, Verdict::Better);
    assert_eq!(
        (metric.better_rows.len(), &*metric.worse_rows),
        (8, &["8".to_owned()][..])
    );
    assert_eq!(
        metric.sentence(),
        "m: B is better by 35.00 percentage points [6.60, 58.45] (p = 0.039, 20 rows); the true difference is probably smaller (power below 80%)"
    );
}

#[test]
fn very_many_scores_are_tested_by_the_normal_limit() {
    let scores = |better| {
        [
            vec![("0.5", "0.75"); better],
            vec![("0.5", "0.25"); 60_000 - better],
        ]
        .concat()
    };
    for better in [30_000, 30_100, 30_240, 30_400] {
        let it = only_metric(compare(&scores(better))).overall;
        let exact = mcnemar_exact(better as u64, 60_000 - better as u64);
        assert_eq!(it.test, DifferenceTest::PermutationLimit);
        let error = (it.p_value.unwrap() - exact).abs();
        let is_near_level = (0.04..0.06).contains(&exact);
        assert!(
            error < if is_near_level { 6e-4 } else { 0.004 },
            "{exact}: {error}"
        );
    }
    assert!(
        only_metric(compare(&scores(60_000)))
            .overall
            .p_value
            .unwrap()
            > 0.0
    );
    let few = only_metric(compare(&scores(30_240)[..100]));
    assert_eq!(few.overall.test, DifferenceTest::Permutation(100_000));
}

#[test]
fn scores_are_tested_by_permutation() {
    let scores = [
        ("0.5", "0.75"),
        ("0.25", "0.5"),
        ("0.5", "0.5"),
        ("1", "0"),
        ("0", "0.5"),
    ];
    let scores = scores.repeat(6);
    let metric = only_metric(compare(&scores));
    let it = &metric.overall;
    let differences = [0.25, 0.25, 0.0, -1.0, 0.5].repeat(6);
    let expected = permutation_test(&differences, 100_000, 0);
    assert_eq!(
        (it.p_value, it.test),
        (Some(expected.p_value), DifferenceTest::Permutation(100_000))
    );
    assert_eq!((it.wins, it.losses, it.ties), (18, 6, 6));
    assert_eq!(metric.verdict, Verdict::NoDifference);
    assert_eq!(metric.worse_rows[0], "3", "the largest difference is first");
    assert_eq!(metric.better_rows[0], "4");
    let few = only_metric(compare(&scores[..6]));
    assert_eq!(few.overall.test, DifferenceTest::PermutationExact);
    assert_eq!(few.overall.p_value, Some(1.0));
}

#[test]
fn ids_of_rows_are_listed_up_to_a_limit_and_all_are_counted() {
    let [a, b] = runs(&[vec![("0", "0.5"); 5], vec![("1", "0"); 2]].concat());
    let listed = |limit| Comparison::builder().listed_rows(limit).of(&a, &b).unwrap();
    let (none, one) = (listed(0), listed(1));
    let metric = &one.metrics[0];
    assert_eq!(
        (&*metric.better_rows, &*metric.worse_rows),
        (&["0".to_owned()][..], &["5".to_owned()][..])
    );
    assert_eq!(
        metric.overall,
        Comparison::of(&a, &b).unwrap().metrics[0].overall
    );
    assert!(
        one.to_string()
            .contains("  B is better in 5 rows: `0` and 4 more\n"),
        "{one}"
    );
    assert!(!none.to_string().contains("better in"), "{none}");
}

#[test]
fn a_lower_score_can_be_the_better_one() {
    let [a, b] = runs(&[("3", "1"); 7]);
    let builder = Comparison::builder().lower_is_better(["m"]);
    let metric = only_metric(builder.of(&a, &b).unwrap());
    assert_eq!(
        (metric.direction, metric.verdict),
        (Direction::LowerIsBetter, Verdict::Better)
    );
    assert_eq!(
        (metric.overall.difference, metric.overall.wins),
        (Some(-2.0), 7)
    );
    assert_eq!(metric.overall.ci95, None, "all differences are equal");
    assert_eq!(
        metric.sentence(),
        "m: B is better by 2.0000 (p = 0.016, 7 rows) (lower is better)"
    );
    let metric = only_metric(builder.of(&b, &a).unwrap());
    assert_eq!((metric.verdict, metric.overall.losses), (Verdict::Worse, 7));
    let metric = only_metric(Comparison::of(&a, &b).unwrap());
    assert_eq!(metric.verdict, Verdict::Worse);
}

#[test]
fn the_seed_decides_every_digit() {
    let scores = [
        ("0.1", "0.4"),
        ("0.7", "0.2"),
        ("0.3", "0.6"),
        ("0.5", "0.9"),
    ]
    .repeat(6);
    let [a, b] = runs(&scores);
    let p = |seed| {
        let comparison = Comparison::builder().seed(seed).of(&a, &b).unwrap();
        only_metric(comparison).overall.p_value.unwrap()
    };
    assert_eq!(p(1).to_bits(), p(1).to_bits());
    assert_ne!(p(1), p(2));
    assert!((p(1) - p(2)).abs() < 0.01, "{} {}", p(1), p(2));
}

#[test]
fn a_failed_row_counts_and_never_raises_the_mean() {
    let scored = [("0.5", "0.75"); 8];
    let before = only_metric(compare(&scored));
    for outcome in ["metric_failed", "program_failed"] {
        let mut failing = scored.to_vec();
        failing[3].1 = outcome;
        let after = only_metric(compare(&failing));
        assert_eq!((after.overall.n, after.failed.a, after.failed.b), (8, 0, 1));
        assert!(after.overall.b < before.overall.b, "{:?}", after.overall);
        assert_eq!(after.overall.b, Some(0.75 * 7.0 / 8.0));
        let both = after.scored_in_both.as_ref().unwrap();
        assert_eq!((both.n, both.difference), (7, Some(0.25)));
        assert_eq!(
            after.sentence(),
            "m: no significant difference: B - A = +0.1562 [-0.2429, 0.5101] (p = 0.234, 8 rows); \
             0 rows failed in A and 1 in B, counted as 0, \
             B - A = +0.2500 over the 7 scored in both"
        );
    }
    let pass = only_metric(compare(
        &[("true", "program_failed"), ("true", "true")].repeat(6),
    ));
    assert_eq!(
        (pass.kind, pass.overall.losses, pass.verdict),
        (ScoreKind::Bool, 6, Verdict::Worse)
    );
}

#[test]
fn a_failure_score_that_is_better_than_a_score_is_an_error() {
    let [a, b] = runs(&[("3", "metric_failed"), ("2", "5")]);
    let builder = Comparison::builder().lower_is_better(["m"]);
    assert_eq!(
        builder.of(&a, &b).unwrap_err().to_string(),
        "`m`: 1 rows failed and would count as 0, which is better than the score 5; set --failure-score to 5 \
         or a worse value"
    );
    let [a, b] = [a, b].map(|run| run.with_failure_score(5.0));
    assert_eq!(
        only_metric(builder.of(&a, &b).unwrap()).overall.b,
        Some(5.0)
    );
    let negative = runs(&[("-3", "metric_failed"), ("-2", "-1")]);
    let error = Comparison::of(&negative[0], &negative[1])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("would count as 0, which is better than the score -3"),
        "{error}"
    );
    let error = Comparison::of(&a, &negative[1]).unwrap_err().to_string();
    assert_eq!(
        error,
        "failed rows count as 5 in one run and as 0 in the other; set the same failure score"
    );
}

#[test]
fn rows_without_a_score_are_not_compared_and_counted() {
    let mut scores = vec![("true", "true"); 6];
    scores.extend([
        ("gated", "true"),
        ("true", "abstained"),
        ("skipped", "skipped"),
    ]);
    scores.push(("metric_failed", "abstained"));
    let metric = only_metric(compare(&scores));
    assert_eq!(
        (
            metric.overall.n,
            metric.not_compared,
            metric.scored_in_one()
        ),
        (6, 4, 3)
    );
    assert_eq!(
        (metric.failed.a, metric.failed.b),
        (0, 0),
        "failed rows that are not compared"
    );
    assert_eq!(
        serde_json::to_value(&metric.without_score).unwrap(),
        json!({"a": {"gated": 1, "skipped": 1}, "b": {"abstained": 2, "skipped": 1}})
    );
    assert_eq!(
        metric.sentence(),
        "m: equal in all 6 rows; a difference of up to 39.03 percentage points is still possible; not compared: 4 rows without a score (A: 1 gated, 1 skipped; \
         B: 2 abstained, 1 skipped)"
    );
}

#[test]
fn a_comparison_of_nothing_has_no_figures() {
    let comparison = compare(&[("gated", "true"), ("true", "abstained")]);
    let report = dsrs_metrics_tests::schema::to_value(&comparison);
    let m = &report["metrics"]["m"];
    for key in [
        "a",
        "b",
        "difference",
        "stderr",
        "ci95",
        "p_value",
        "p_adjusted",
    ] {
        assert_eq!(m[key], Value::Null, "{key}");
    }
    assert_eq!(
        (&m["n"], &m["verdict"]),
        (&json!(0), &json!("not_enough_rows"))
    );
    assert_eq!(
        only_metric(comparison).sentence(),
        "m: no row is scored in both runs; not compared: 2 rows without a score (A: 1 gated; B: 1 abstained)"
    );
}

#[test]
fn a_test_that_cannot_fail_is_not_enough_rows() {
    let five = only_metric(compare(&[("true", "false"); 5]));
    assert_eq!(five.overall.p_value, Some(mcnemar_exact(0, 5)));
    assert_eq!(five.verdict, Verdict::NotEnoughRows { needed: 6 });
    assert_eq!(
        five.sentence(),
        "m: not enough rows: found 5 rows, a test at 5% needs at least 6 rows"
    );
    assert_eq!(
        only_metric(compare(&[("true", "false"); 6])).verdict,
        Verdict::Worse
    );
    let two = compare(&[("a:true b:true", "a:false b:true"); 6]);
    assert_eq!(
        two.metrics[0].verdict,
        Verdict::NotEnoughRows { needed: 7 },
        "of two metrics"
    );
}

#[test]
fn several_metrics_are_adjusted_together() {
    // Each metric alone has p = 0.03125.
    let one = compare(&[("a:1", "a:2"); 6]);
    assert_eq!(
        (one.metrics[0].p_adjusted, one.metrics[0].verdict),
        (Some(0.03125), Verdict::Better)
    );
    let mut scores = vec![("a:1 b:1 c:1", "a:2 b:2 c:1"); 6];
    scores.extend([("a:1 b:1 c:1", "a:1 b:2 c:2"); 3]);
    let three = compare(&scores);
    let found: Vec<_> = three
        .metrics
        .iter()
        .map(|it| (&*it.name, it.overall.p_value, it.p_adjusted))
        .collect();
    let b = 2.0 / 512.0;
    let expected = [
        ("a", Some(0.03125), Some(0.0625)),
        ("b", Some(b), Some(3.0 * b)),
        ("c", Some(0.25), Some(0.25)),
    ];
    assert_eq!(found, expected);
    let verdicts: Vec<_> = three.metrics.iter().map(|it| it.verdict).collect();
    assert_eq!(
        verdicts,
        [
            Verdict::NoDifference,
            Verdict::Better,
            Verdict::NoDifference
        ]
    );
    let text = three.to_string();
    assert!(
        text.contains("verdicts use p-values adjusted for 3 metrics (Holm)"),
        "{text}"
    );
    assert!(
        text.contains("b: B is better by 1.0000 (adjusted p = 0.012, 9 rows)"),
        "{text}"
    );
}

/// Twelve rows, each with its own group, copied `copies` times.
fn grouped(copies: usize) -> [Results; 2] {
    let scores = [
        "0.5", "0.25", "0.75", "1", "0", "0.5", "0.5", "0.25", "0.5", "0.5", "0.75", "1",
    ];
    let later = [
        "0.75", "0.5", "0.5", "1", "0.25", "0.5", "0.75", "0.5", "0.25", "1", "1", "1",
    ];
    let rows: Vec<(String, usize)> = (0..12 * copies)
        .map(|row| (row.to_string(), row % 12))
        .collect();
    [("a.jsonl", scores), ("b.jsonl", later)].map(|(name, scores)| {
        let groups: Vec<String> = rows
            .iter()
            .map(|(_, group)| format!("{{\"doc\":{group}}}"))
            .collect();
        let lines = rows
            .iter()
            .zip(&groups)
            .map(|((id, row), group)| (&**id, scores[*row], &**group));
        with_attributes(name, lines)
    })
}

#[test]
fn copied_rows_do_not_make_a_difference_significant() {
    let of = |copies: usize, group: bool| {
        let [a, b] = grouped(copies);
        let builder = Comparison::builder();
        let builder = if group { builder.group("doc") } else { builder };
        only_metric(builder.of(&a, &b).unwrap())
    };
    let (once, copied) = (of(1, true), of(5, true));
    assert_eq!((copied.overall.n, copied.overall.clusters), (60, Some(12)));
    let ends = |metric: &MetricComparison| metric.overall.ci95.map(|it| (it.low, it.high)).unwrap();
    let ((low, high), (low_copied, high_copied)) = (ends(&once), ends(&copied));
    assert!((low - low_copied).abs() < 1e-12 && (high - high_copied).abs() < 1e-12);
    assert_eq!(copied.overall.p_value, once.overall.p_value);
    assert_eq!(copied.verdict, Verdict::NoDifference);
    assert_eq!(of(5, false).verdict, Verdict::Better, "without the groups");
    let plain = of(1, false).overall;
    assert_eq!(once.overall.p_value, plain.p_value);
}

#[test]
fn groups_are_compared_on_their_own_and_adjusted_together() {
    let rows = |side: usize| {
        let rows = (0..30).map(move |row: usize| {
            let group = ["hard", "easy", "new"][row % 3];
            let score = match (group, side) {
                ("hard", 1) => "true",
                ("hard", _) => "false",
                ("easy", 1) if row == 1 => "false",
                _ => "true",
            };
            (row.to_string(), score, format!("{{\"topic\":\"{group}\"}}"))
        });
        rows.collect::<Vec<_>>()
    };
    let [a, b] = [("a", 0), ("b", 1)].map(|(name, side)| {
        let rows = rows(side);
        let rows = rows
            .iter()
            .map(|(id, score, group)| (&**id, *score, &**group));
        with_attributes(&format!("{name}.jsonl"), rows)
    });
    let comparison = Comparison::builder().group("topic").of(&a, &b).unwrap();
    let metric = &comparison.metrics[0];
    assert_eq!(
        metric.verdict,
        Verdict::NotEnoughRows { needed: 6 },
        "three groups"
    );
    assert_eq!(
        metric.sentence(),
        "m: not enough rows: found 30 rows in 3 groups, a test at 5% needs at least 6 groups"
    );
    assert_eq!(
        metric.groups.keys().collect::<Vec<_>>(),
        ["hard", "easy", "new"]
    );
    let hard = &metric.groups["hard"];
    assert_eq!(hard.difference.p_value, Some(mcnemar_exact(10, 0)));
    assert_eq!(hard.p_adjusted, Some(3.0 * mcnemar_exact(10, 0)));
    assert_eq!(
        (hard.verdict, hard.difference.clusters),
        (Verdict::Better, None)
    );
    assert_eq!(metric.groups["easy"].difference.losses, 1);
    assert_eq!(metric.groups["easy"].verdict, Verdict::NoDifference);
    let text = comparison.to_string();
    assert!(
        text.contains("B is better in `hard` (p-values adjusted for 3 groups, Holm)"),
        "{text}"
    );
}

#[test]
fn named_scores_and_kinds_that_look_alike_are_compared() {
    // A number with a threshold may be 0 or 1 in every row of one run.
    let strict = [("true", "0.5"), ("false", "0.25"), ("true", "1")];
    let [a, _] = runs(&strict);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("b.jsonl");
    let row = |id: usize, value: f64| {
        format!(
            r#"{{"id":"{id}","scores":{{"m":{{"outcome":"scored","value":{value},"passed":{},"parts":{{"recall":{}}}}}}}}}"#,
            value > 0.4,
            value / 2.0
        )
    };
    let lines: Vec<String> = [0.5, 0.25, 1.0]
        .into_iter()
        .enumerate()
        .map(|(id, it)| row(id, it))
        .collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    let b = Results::read(&file).unwrap();
    let metric = only_metric(Comparison::of(&a, &b).unwrap());
    assert_eq!((metric.kind, metric.overall.losses), (ScoreKind::Number, 1));
    let parts = Comparison::builder()
        .metrics(["m.recall"])
        .of(&b, &b)
        .unwrap();
    assert_eq!(
        (&*parts.metrics[0].name, parts.metrics[0].overall.a),
        ("m.recall", Some(1.75 / 6.0))
    );
}

#[test]
fn scores_that_are_too_large_have_no_difference() {
    let metric = only_metric(compare(&[("1e200", "-1e200"); 6]));
    assert_eq!(
        (metric.overall.difference, metric.overall.p_value),
        (None, None)
    );
    assert_eq!(
        metric.sentence(),
        "m: the scores are too large to compare (6 rows)"
    );
}

#[test]
fn scores_that_differ_by_rounding_are_equal() {
    // The means of 0.2, 0.2, 0.2 and of 0.1, 0.2, 0.3, which a program may compute in any order.
    let scores = [
        ("0.2", "0.20000000000000004"),
        ("0.3", "0.30000000000000004"),
    ];
    let metric = only_metric(compare(&scores.repeat(6)));
    let it = &metric.overall;
    assert_eq!(
        (it.wins, it.losses, it.ties, it.p_value),
        (0, 0, 12, Some(1.0))
    );
    assert_eq!(
        (it.difference, metric.verdict),
        (Some(0.0), Verdict::Unchanged)
    );
    assert!(metric.better_rows.is_empty() && metric.worse_rows.is_empty());
    assert!(
        metric
            .sentence()
            .starts_with("m: equal in all 12 rows; a difference of up to ")
    );
    // Real differences are larger, however small.
    let metric = only_metric(compare(&[("0.2", "0.2000000001"); 12]));
    assert_eq!((metric.overall.wins, metric.verdict), (12, Verdict::Better));
}
