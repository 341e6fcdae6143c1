//! Scores of all rows from result files: the figures of the evaluations in memory, and invalid contributions of rows.

use dsrs_metrics::metrics::Registry;
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::{Comparison, Results};
use dsrs_metrics::{Evaluate, contract::Params, rows::Pair};

use super::corpus::holm;

#[tokio::test]
async fn files_give_the_figures_of_the_evaluations() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "the cat sat on the mat",
        "a dog ran",
        "the dog sat",
        "a cat ran on the mat",
    ];
    let rows = |shift: usize| {
        (0..24).map(move |id: usize| {
            let gold = example! { "answer" => texts[id % 4], "is_true" => id.is_multiple_of(2) };
            let answer = texts[if id % 5 < shift { (id + 1) % 4 } else { id % 4 }];
            Pair::new(
                id.to_string(),
                gold,
                prediction! { "answer" => answer, "probability" => (id % 8 + shift) as f64 / 16.0 },
            )
        })
    };
    let mut comparisons = Vec::new();
    let registry = Registry::builtin();
    let names = [
        "bleu",
        "chrf",
        "wer",
        "accuracy",
        "macro_f1",
        "cohen_kappa",
        "krippendorff_alpha",
    ];
    for extension in ["jsonl", "json", "csv"] {
        let mut runs = Vec::new();
        for (run, shift) in [("A", 3), ("B", 1)] {
            let path = folder.path().join(format!("{run}.{extension}"));
            let builder = Evaluate::builder();
            let builder = match extension {
                "jsonl" => builder.files(|files| files.jsonl(&path)),
                "json" => builder.files(|files| files.json(&path)),
                _ => builder.files(|files| files.csv(&path)),
            };
            let metrics = names.map(|name| registry.create(name, &Params::default()).unwrap());
            let result = builder
                .metrics(metrics)
                .build()
                .unwrap()
                .score(rows(shift))
                .await
                .unwrap();
            dsrs_metrics_tests::schema::validate_file(&path);
            runs.push((Results::of(&result).unwrap(), Results::read(path).unwrap()));
        }
        let of = |[a, b]: [&Results; 2]| {
            let [a, b] = [a.clone().with_name("A"), b.clone().with_name("B")];
            Comparison::builder()
                .lower_is_better(["wer"])
                .of(&a, &b)
                .unwrap()
        };
        comparisons.push(of([&runs[0].0, &runs[1].0]));
        comparisons.push(of([&runs[0].1, &runs[1].1]));
    }
    let found: Vec<&str> = comparisons[0].metrics.iter().map(|it| &*it.name).collect();
    let expected = [
        "bleu",
        "bleu.corpus",
        "chrf",
        "chrf.corpus",
        "wer",
        "wer.corpus",
    ];
    assert_eq!(found[..6], expected);
    assert_eq!(found.len(), 10);
    let p_values: Vec<f64> = comparisons[0]
        .metrics
        .iter()
        .map(|it| it.overall.p_value.unwrap())
        .collect();
    for (metric, p_value) in comparisons[0].metrics.iter().zip(&p_values) {
        let adjusted = holm(*p_value, &p_values);
        assert!(
            (metric.p_adjusted.unwrap() - adjusted).abs() < 1e-12,
            "{}",
            metric.name
        );
    }
    let wer = comparisons[0].metric("wer.corpus").unwrap();
    assert_eq!(wer.verdict, comparisons[0].metric("wer").unwrap().verdict);
    for other in &comparisons[1..] {
        assert_eq!(other, &comparisons[0]);
    }
}

#[tokio::test]
async fn numbers_of_rows_come_back_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut runs = Vec::new();
    for (run, noise) in [("A", 7), ("B", 3)] {
        let rows = (0..20_usize).map(move |id| {
            let probability = (id * noise % 20) as f64 / 20.0;
            Pair::new(
                id.to_string(),
                example! { "answer" => u8::from(id >= 10) },
                prediction! { "answer" => probability, "probability" => probability },
            )
        });
        let path = folder.path().join(format!("{run}.jsonl"));
        let registry = Registry::builtin();
        let names = [
            "auroc",
            "brier_score",
            "expected_calibration_error",
            "spearman_correlation",
        ];
        let metrics = names.map(|name| registry.create(name, &Params::default()).unwrap());
        let evaluate = Evaluate::builder()
            .metrics(metrics)
            .files(|files| files.jsonl(&path))
            .build()
            .unwrap();
        let result = evaluate.score(rows).await.unwrap();
        let scores: Vec<_> = result.metrics.iter().map(|it| it.score.unwrap()).collect();
        dsrs_metrics_tests::schema::validate_file(&path);
        runs.push((scores, Results::read(path).unwrap()));
    }
    let comparison = Comparison::of(&runs[0].1, &runs[1].1).unwrap();
    for (place, metric) in comparison.metrics.iter().enumerate() {
        let (of_a, of_b) = (runs[0].0[place], runs[1].0[place]);
        assert_eq!(
            (metric.overall.a, metric.overall.b),
            (Some(of_a), Some(of_b)),
            "{}",
            metric.name
        );
    }
}

#[test]
fn contributions_of_a_file_are_checked() {
    let read = |corpus: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.jsonl");
        let row =
            format!(r#"{{"id":"1","scores":{{"m":{{"outcome":"counted","corpus":{corpus}}}}}}}"#);
        std::fs::write(&file, row).unwrap();
        Results::read(file)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let bleu = |order: &str, counts: &str| {
        let options = r#""tokens":"13a","smoothing":"exp","lowercase":false,"form":"nfc""#;
        read(&format!(
            r#"{{"formula":{{"bleu":{{{options},"max_order":{order}}}}},"counts":{counts}}}"#
        ))
    };
    assert_eq!(bleu("1", "[3,3,2,3]"), Ok(()));
    assert_eq!(read(r#"{"formula":"accuracy","labels":["x","y"]}"#), Ok(()));
    for invalid in [
        bleu("1", "[3,3,2]"),
        bleu("1", "[3,3,2,18446744073709551615]"),
        bleu("0", "[3,3]"),
        bleu("1000000000000", "[3,3]"),
        read(r#"{"formula":"brier","values":[-1.0]}"#),
        read(r#"{"formula":"auroc","values":[0.5,1]}"#),
        read(r#"{"formula":{"calibration":0},"values":[1,0.5]}"#),
        read(r#"{"formula":"accuracy","labels":["x"]}"#),
        read(r#"{"formula":"unknown","counts":[1]}"#),
        read("7"),
    ] {
        let error = invalid.unwrap_err();
        assert!(
            error
                .contains(":1: `scores.m.corpus`: expected a row's contribution to a corpus score"),
            "{error}"
        );
    }
}
