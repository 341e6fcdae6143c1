//! `compare` on real rows: the figures of scipy and statsmodels.

use dsrs_metrics_tests::{Peer, data};
use serde_json::{Value, json};

use crate::Folder;

/// Scores the answers of two models, and returns the folder with `a.jsonl` and `b.jsonl`.
fn two_models() -> Option<Folder> {
    let data = data("qa/xquad-en.bert.jsonl")?;
    let folder = Folder::new();
    for (model, out) in [("bert", "a.jsonl"), ("r-netplus", "b.jsonl")] {
        let rows = data.join(format!("qa/xquad-en.{model}.jsonl"));
        let rows = rows.to_str().unwrap();
        let ran = folder.run(&[
            "score",
            rows,
            "-m",
            "answer_exact_match,f1",
            "--out",
            out,
            "--quiet",
        ]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    Some(folder)
}

#[track_caller]
fn assert_close(found: &Value, expected: &Value, within: f64) {
    let (found, expected) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
    assert!(
        (found - expected).abs() <= within,
        "{found} is not {expected}"
    );
}

/// What scipy 1.17.1 and statsmodels 0.15.0 compute; the next test computes it again.
#[test]
fn two_models_on_real_rows_have_the_figures_of_scipy() {
    let Some(folder) = two_models() else { return };
    let report = folder.compare_json("a.jsonl b.jsonl");
    let exact = &report["metrics"]["answer_exact_match"];
    assert_eq!(
        (&exact["wins"], &exact["losses"], &exact["ties"]),
        (&json!(74), &json!(99), &json!(1017))
    );
    assert_eq!(
        (&exact["verdict"], &exact["test"]),
        (&json!("no_difference"), &json!("mcnemar_exact"))
    );
    assert_close(&exact["p_value"], &json!(0.067_738_462_911_569_18), 1e-9);
    let f1 = &report["metrics"]["f1"];
    assert_eq!((&f1["wins"], &f1["losses"]), (&json!(96), &json!(139)));
    assert_close(&f1["difference"], &json!(-0.029_167_208_278_040_684), 1e-9);
    assert_close(&f1["ci95"][0], &json!(-0.045_162_910_840_276_654), 1e-9);
    assert_close(&f1["ci95"][1], &json!(-0.013_171_505_715_804_71), 1e-9);
    assert_eq!(f1["verdict"], "worse");
}

const PARITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity");

const PEERS: &str = "
import json, sys
import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
sys.path.append(sys.argv.pop(1))
from intervals import tango
runs = [{row['id']: row['scores'] for row in map(json.loads, open(path))} for path in sys.argv[1:]]
report = {}
for metric in ['answer_exact_match', 'f1']:
    a, b = (np.array([run[id][metric]['value'] for id in runs[0]]) for run in runs)
    test = stats.ttest_rel(b, a)
    wins, losses = int((b > a).sum()), int((a > b).sum())
    interval = test.confidence_interval(0.95) if metric == 'f1' else tango(wins, losses, len(a))
    permuted = stats.permutation_test(
        ((b - a)[:150],), np.mean, permutation_type='samples', n_resamples=50_000, rng=1, vectorized=True, batch=5_000
    )
    table = [[0, wins], [losses, 0]]
    report[metric] = {
        'difference': (b - a).mean(), 'ci95': list(map(float, interval)),
        'permutation': permuted.pvalue, 'mcnemar': float(mcnemar(table, exact=True).pvalue),
    }
print(json.dumps(report))
";

#[test]
fn the_peers_compute_the_same_figures() {
    let Some(folder) = two_models() else { return };
    let Some(peer) = Peer::with(&["scipy", "statsmodels"]) else {
        return;
    };
    let [a, b] = ["a.jsonl", "b.jsonl"].map(|name| folder.path(name).to_str().unwrap().to_owned());
    let expected = peer
        .output(&["-c", PEERS, PARITY, &a, &b])
        .unwrap_or_else(|error| panic!("{error}"));
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let report = folder.compare_json("a.jsonl b.jsonl");
    for metric in ["answer_exact_match", "f1"] {
        let (found, expected) = (&report["metrics"][metric], &expected[metric]);
        assert_close(&found["difference"], &expected["difference"], 1e-12);
        assert_close(&found["ci95"][0], &expected["ci95"][0], 1e-9);
        assert_close(&found["ci95"][1], &expected["ci95"][1], 1e-9);
    }
    let exact = &report["metrics"]["answer_exact_match"]["p_value"];
    assert_close(exact, &expected["answer_exact_match"]["mcnemar"], 1e-9);
    // The first 150 rows, in which the difference is less clear: two samples of assignments.
    for run in ["a", "b"] {
        let rows = folder.read(&format!("{run}.jsonl"));
        let first: Vec<_> = rows.lines().take(150).collect();
        folder.write(&format!("{run}150.jsonl"), first.join("\n"));
    }
    let report = folder.compare_json("a150.jsonl b150.jsonl -m f1");
    let (found, expected) = (
        &report["metrics"]["f1"]["p_value"],
        &expected["f1"]["permutation"],
    );
    let p = expected.as_f64().unwrap();
    assert!((0.01..0.99).contains(&p), "{p}");
    let error = (p * (1.0 - p) * (1.0 / 50_000.0 + 1.0 / 100_000.0)).sqrt();
    assert_close(found, expected, 5.0 * error);
}
