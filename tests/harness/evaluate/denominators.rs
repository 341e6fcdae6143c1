//! The denominators of every mean.

use super::{report, saying, score, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, contract::Scores, rows::Pair, runs::EvaluateErrorKind};

#[tokio::test]
async fn a_crashing_metric_cannot_raise_the_mean() {
    let result = score(&["0.5", "0.75", "fail", "nan", "panic"]).await;
    let summary = &result.metrics[0];
    assert_eq!((summary.scored, summary.failed), (2, 3));
    assert_eq!(summary.mean, Some(0.25));
    assert_eq!(summary.mean_scored, Some(0.625));
    assert_eq!(result.score, Some(0.25));
    assert_eq!(
        result.to_string(),
        "said  0.2500 [0.0000, 654231.8905; few rows] (mean of 2/5, 3 failed counted as 0; 0.6250 over the 2 scored)"
    );
}

#[tokio::test]
async fn an_average_over_some_rows_never_looks_like_one_over_all() {
    let result = score(&["1", "abstain", "abstain", "abstain"]).await;
    assert_eq!(
        result.to_string(),
        "said  1.0000 [not enough rows] (mean of 1/4, 0 failed, 3 abstained)"
    );
    assert_eq!(result.metrics[0].rows(), 4);
    let result = score(&["0.5", "nan"]).await;
    assert_eq!(
        result.metrics[0].mean_scored,
        Some(0.5),
        "one NaN does not spoil the others"
    );
}

#[tokio::test]
async fn a_judge_off_its_scale_is_not_averaged() {
    let result = score(&["100", "huge"]).await;
    assert_eq!(
        (result.metrics[0].failed, result.metrics[0].mean_scored),
        (1, Some(100.0))
    );
}

#[tokio::test]
async fn nothing_scored_is_not_a_score_of_zero() {
    for words in [&["abstain", "abstain"][..], &["fail", "nan"]] {
        let result = score(words).await;
        let summary = &result.metrics[0];
        assert_eq!(
            (result.score, summary.mean, summary.mean_scored),
            (None, None, None)
        );
        assert!(
            result
                .to_string()
                .starts_with("said  not enough rows (0/2 scored"),
            "{result}"
        );
        let json = dsrs_metrics_tests::schema::to_value(&result);
        assert!(json["metrics"]["said"]["score"].is_null());
    }
    let error = score(&["fail", "abstain"]).await.try_score().unwrap_err();
    assert_eq!(
        error.to_string(),
        "not enough rows: none of 2 has a score for `said` (1 failed, first error: \
         row `row0`: metric `said`: told to fail)"
    );
}

#[tokio::test]
async fn a_failure_score_enters_the_mean_and_only_the_mean() {
    let evaluate = scoring()
        .failures(|failures| failures.score(0.25))
        .build()
        .unwrap();
    let result = evaluate
        .score(saying(&["1", "fail", "abstain", "0"]))
        .await
        .unwrap();
    let summary = &result.metrics[0];
    assert_eq!(summary.mean, Some(1.25 / 3.0));
    assert_eq!(summary.mean_scored, Some(0.5));
    assert_eq!(
        (summary.scored, summary.failed, summary.abstained),
        (2, 1, 1)
    );
    assert!(
        result
            .to_string()
            .contains("1 failed counted as 0.25, 1 abstained"),
        "{result}"
    );
}

#[tokio::test]
async fn the_headline_of_a_bool_counts_true_rows() {
    let correct = metric_fn("correct", |_, pred: &Prediction| {
        pred.get("ok").and_then(serde_json::Value::as_bool).unwrap()
    });
    let evaluate = Evaluate::builder().metric(correct).build().unwrap();
    let pair = |row: u32| {
        Pair::new(
            row.to_string(),
            example! {},
            prediction! { "ok" => row < 891 },
        )
    };
    let result = evaluate.score((0..1190).map(pair)).await.unwrap();
    assert_eq!(
        result.to_string(),
        "correct  74.87% [72.33, 77.26] (891/1190, 0 failed)"
    );
    assert_eq!(result.score, Some(891.0 / 1190.0));
    assert_eq!(
        result.percent(),
        Some(100.0 * (891.0 / 1190.0)),
        "DSPy's score"
    );
    assert_eq!(result.metrics[0].passed, Some(891));

    let broken = (0..10).map(|row| Pair::new(format!("b{row}"), example! {}, prediction! {}));
    let rows: Vec<_> = (0..1190).map(pair).chain(broken).collect();
    let result = evaluate.score(rows).await.unwrap();
    assert_eq!(
        result.to_string(),
        "correct  74.25% [71.70, 76.64] (891/1200, 10 failed counted as 0; 74.87% of the 1190 scored)"
    );
}

#[tokio::test]
async fn both_means_are_shown_only_where_they_differ() {
    assert_eq!(
        score(&["1", "0"]).await.to_string(),
        "said  0.5000 [0.0031, 81.7142; few rows] (mean of 2/2, 0 failed)"
    );
    let equal = score(&["0", "fail"]).await.to_string();
    assert_eq!(
        equal,
        "said  0.0000 [0.0000, 990794.5889; few rows] (mean of 1/2, 1 failed counted as 0)"
    );
}

#[tokio::test]
async fn feedback_does_not_enter_the_mean() {
    let told = metric_fn("told", |_, pred| {
        let value = if pred.get("say").unwrap() == "good" {
            1.0
        } else {
            0.25
        };
        FeedbackMetric::new(value, "0.5 is better")
    });
    let evaluate = Evaluate::builder().metric(told).build().unwrap();
    let result = evaluate.score(saying(&["good", "bad"])).await.unwrap();
    assert_eq!(
        result.to_string(),
        "told  0.6250 [-4.1398, 5.3898; few rows] (mean of 2/2, 0 failed)"
    );
    let feedback = result.results[1].outcomes[0].scored().unwrap().feedback();
    assert_eq!(
        feedback.as_deref(),
        Some("0.5 is better"),
        "it is kept with the row"
    );
}

#[tokio::test]
async fn named_scores_have_their_own_summaries_in_order_of_first_occurrence() {
    let parts = metric_fn("f1", |_, pred| {
        let precision = pred.get("precision")?.as_f64()?;
        let scores = Scores::new("f1", precision / 2.0).with("precision", precision);
        Some(if precision > 0.5 {
            scores.with("bonus", 1.0)
        } else {
            scores
        })
    });
    let evaluate = Evaluate::builder()
        .metric(parts)
        .concurrency(4)
        .build()
        .unwrap();
    let rows = [0.2, 1.0, 0.6].into_iter().enumerate();
    let pair = |(row, precision)| {
        Pair::new(
            format!("{row}"),
            example! {},
            prediction! { "precision" => precision },
        )
    };
    let result = evaluate
        .score(rows.map(pair).collect::<Vec<_>>())
        .await
        .unwrap();
    let names: Vec<_> = result
        .metrics
        .iter()
        .map(|summary| &*summary.name)
        .collect();
    assert_eq!(names, ["f1", "f1.f1", "f1.precision", "f1.bonus"]);
    assert_eq!(result.metric("f1.precision").unwrap().mean, Some(0.6));
    assert_eq!(result.metric("f1.bonus").unwrap().scored, 2);
}

#[tokio::test]
async fn a_part_of_some_rows_names_all_of_them() {
    let parts = metric_fn("m", |_, pred| {
        let scores = Scores::new("a", 0.5);
        match pred.get("say").unwrap().as_str() {
            Some("b") => Ok(Some(scores.with("b", 1.0))),
            Some("abstain") => Ok(None),
            Some("fail") => Err("told to fail"),
            _ => Ok(Some(scores)),
        }
    });
    let evaluate = Evaluate::builder().metric(parts).build().unwrap();
    let result = evaluate.score(saying(&["b", "", "", ""])).await.unwrap();
    let shown = |name| result.metric(name).unwrap().to_string();
    assert_eq!(
        shown("m.b"),
        "1.0000 [not enough rows] (mean of 1/4, 0 failed, 3 abstained)"
    );
    assert_eq!(
        shown("m.a"),
        "0.5000 [all scores are equal] (mean of 4/4, 0 failed)"
    );
    let result = evaluate
        .score(saying(&["b", "", "abstain", "fail"]))
        .await
        .unwrap();
    for summary in &result.metrics {
        assert_eq!(summary.rows(), 4, "{}", summary.name);
    }
    let part = result.metric("m.b").unwrap();
    assert_eq!((part.scored, part.abstained, part.failed), (1, 2, 1));
}

#[tokio::test]
async fn a_bool_that_is_neither_true_nor_false_is_a_failure() {
    struct Half;
    #[async_trait]
    impl Metric for Half {
        fn name(&self) -> &'static str {
            "half"
        }
        fn spec(&self) -> MetricSpec<'_> {
            MetricSpec::new("half")
                .with_kind(dsrs_metrics::contract::ScoreKind::Bool)
                .with_async()
        }
        async fn evaluate(
            &self,
            _: &Example,
            pred: &Prediction,
        ) -> dsrs_metrics::Result<MetricScore> {
            let word = pred
                .get("say")
                .and_then(|word| word.as_str())
                .unwrap_or_default();
            Ok(MetricScore::new(word.parse().unwrap()))
        }
    }
    let evaluate = Evaluate::builder().metric(Half).build().unwrap();
    let result = evaluate
        .score(saying(&["0.5", "1", "0", "1"]))
        .await
        .unwrap();
    assert_eq!(
        result.to_string(),
        "half  50.00% [15.00, 85.00] (2/4, 1 failed counted as 0; 66.67% of the 3 scored)"
    );
    let error = result.results[0].outcomes[0].error().unwrap();
    let said = "metric `half`: expected 0 or 1 from a `bool` metric, found 0.5";
    assert_eq!(error, said);
}

#[tokio::test]
async fn a_named_score_that_is_not_finite_is_reported_by_name() {
    for (place, parts) in [
        ("m.b", Scores::new("a", 0.5).with("b", f64::NAN)),
        ("m.a", Scores::new("a", f64::NAN).with("b", 0.5)),
    ] {
        let evaluate = Evaluate::builder().metric(metric_fn("m", move |_, _| parts.clone()));
        let result = evaluate
            .build()
            .unwrap()
            .score(saying(&["1"]))
            .await
            .unwrap();
        let error = result.results[0].outcomes[0].error().unwrap();
        assert_eq!(
            error,
            format!("metric `{place}`: the score NaN is not a finite number")
        );
    }
}

#[tokio::test]
async fn costs_are_added_up() {
    let dear = metric_fn("dear", |_, _| MetricScore::new(1.0).with_cost_msats(7));
    let evaluate = Evaluate::builder().metric(dear).build().unwrap();
    let result = evaluate.score(saying(&["a", "b", "c"])).await.unwrap();
    assert_eq!(result.metrics[0].cost_msats, 21);
}

#[tokio::test]
async fn several_metrics_share_one_run() {
    let boxed: Box<dyn Metric> = Box::new(metric_fn("length", |_, pred| pred.data.len()));
    let listed: Vec<std::sync::Arc<dyn Metric>> = vec![std::sync::Arc::new(super::SaidLater)];
    let evaluate = scoring().metric(boxed).metrics(listed).build().unwrap();
    let result = evaluate.score(saying(&["0.5", "fail"])).await.unwrap();
    let names: Vec<_> = result.metric_names().collect();
    assert_eq!(names, ["said", "length", "said_later"]);
    let failed: Vec<_> = result
        .metrics
        .iter()
        .map(|summary| summary.failed)
        .collect();
    assert_eq!((failed, result.failed_rows), (vec![1, 0, 1], 1));
    let json = serde_json::to_string(&result).unwrap();
    assert!(json.starts_with(r#"{"format":1,"rows":2,"metrics":{"said":{"score":0.25,"stderr":0.25,"ci95":[0.0015295987092121225,40.858740992203586],"mean":0.25,"mean_scored":0.5,"kind":"number","scored":1,"failed":1,"gated":0,"skipped":0,"abstained":0"#), "{json}");
}

#[tokio::test]
async fn debug_and_display_never_print_rows() {
    let pair = |row| {
        Pair::new(
            format!("secret{row}"),
            example! {},
            prediction! { "say" => "1" },
        )
    };
    let result = scoring()
        .build()
        .unwrap()
        .score((0..500).map(pair))
        .await
        .unwrap();
    let shown = format!("{result:?}{result}");
    assert!(
        !shown.contains("secret") && shown.contains("<500 rows>"),
        "{shown}"
    );
    assert!(report(&result).contains("secret"));
}

#[tokio::test]
async fn no_rows_is_an_error() {
    let evaluate = scoring().build().unwrap();
    let none: Vec<Pair> = Vec::new();
    assert_eq!(
        evaluate.score(none).await.unwrap_err().kind(),
        EvaluateErrorKind::NoRows
    );
    let none = futures_util::stream::empty::<Pair>();
    assert_eq!(
        evaluate.score_stream(none).await.unwrap_err().kind(),
        EvaluateErrorKind::NoRows
    );
}
