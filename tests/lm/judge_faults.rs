//! 5,000 rows with a judge whose server has every kind of fault: each row has the right outcome, no
//! row is lost or judged twice, and no failure counts as a score.

use std::sync::Arc;
use std::time::Duration;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, Outcome, rows::Pair};

use crate::fault_table::{ATTEMPTS, GradedJudge, Seen, answer, expected, score};
use crate::server::Server;
use crate::{plain, quick};

const ROWS: usize = 5000;

fn check(row: usize, outcome: &Outcome, attempts: [u32; 2]) {
    let (fault, tries) = expected(row);
    assert_eq!(
        attempts, tries,
        "row {row}: attempts; it ended in {outcome:?}"
    );
    match (outcome, fault) {
        (Outcome::Scored(scored), None) => assert_eq!(scored.score.value, score(row), "row {row}"),
        (Outcome::MetricFailed { error }, Some(fault)) => {
            let error = error.to_string();
            assert!(
                error.contains(fault.message()),
                "row {row}: {fault:?} became {error}"
            );
        }
        (outcome, fault) => panic!("row {row}: {fault:?} became {outcome:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_judged_rows_with_every_kind_of_fault() {
    let seen: Arc<Seen> = Arc::default();
    let shared = Arc::clone(&seen);
    let server = Server::without_recording(move |received| answer(&shared, received)).await;
    // A long timeout, so that a busy machine causes no timeouts of its own.
    let lm = plain("openai:judge-faults", &server.url("/v1")).timeout(Duration::from_secs(60));
    let lm = lm.retry(quick(ATTEMPTS)).build().unwrap();
    let judge = GradedJudge::default().with_lm(lm.clone());
    let evaluate = Evaluate::builder()
        .metric(judge)
        .concurrency(200)
        .build()
        .unwrap();
    let rows = (0..ROWS).map(|row| {
        let pred = prediction! { "answer" => format!("answer {row}") };
        Pair::new(row.to_string(), example! {}, pred)
    });
    let result = evaluate.score(rows).await.unwrap();

    let seen = seen.lock().unwrap();
    assert_eq!(
        (result.results.len(), seen.len()),
        (ROWS, ROWS),
        "no row is lost"
    );
    for (row, judged) in result.results.iter().enumerate() {
        assert_eq!(judged.id, row.to_string(), "no row is judged twice");
        check(row, &judged.outcomes[0], seen[&row]);
    }
    let expected_scores: Vec<f64> = (0..ROWS)
        .filter(|row| expected(*row).0.is_none())
        .map(score)
        .collect();
    let summary = &result.metrics[0];
    let (scored, failed) = (
        expected_scores.len() as u64,
        (ROWS - expected_scores.len()) as u64,
    );
    assert_eq!((summary.scored, summary.failed), (scored, failed));
    assert!(failed > 200, "some rows fail: {failed}");
    let mean = expected_scores.iter().sum::<f64>() / expected_scores.len() as f64;
    assert!((summary.mean_scored.unwrap() - mean).abs() < 1e-12);
    let calls = (0..ROWS).map(|row| expected(row).1.iter().filter(|tries| **tries > 0).count());
    assert_eq!(
        lm.ledger().total().calls,
        1 + calls.sum::<usize>() as u64,
        "one per request, and the probe"
    );
}
