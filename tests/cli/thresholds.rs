//! `--fail-under`, and metrics that fail on every row: exit code 1.

use crate::Folder;
use crate::scores::{ROWS, orders};

#[test]
fn a_metric_worse_than_its_threshold_fails_the_run() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let run = |limit| {
        let ran = folder.run(&["score", "rows.jsonl", "-m", "same_text,f1", "--fail-under", limit]);
        (ran.code, ran.err)
    };
    assert_eq!(run("same_text=75"), (Some(0), String::new()));
    assert_eq!(run("same_text=75.1"), (Some(1), "same_text: 75.00% is below 75.1%\n".to_owned()));
    let percent = "warning: --fail-under same_text=0.8 means 0.8 percent, since `same_text` is a bool \
                   metric; write a percentage from 0 to 100\n";
    assert_eq!(run("same_text=0.8"), (Some(0), percent.to_owned()));
    assert_eq!(run("f1=0.75"), (Some(0), String::new()));
    assert_eq!(run("f1=0.8"), (Some(1), "f1: 0.7500 is below 0.8\n".to_owned()));
}

#[test]
fn a_percent_sign_has_one_meaning_for_all_metrics() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let run = |limit| {
        let ran = folder.run(&["score", "rows.jsonl", "-m", "same_text,f1", "--fail-under", limit]);
        (ran.code, ran.err)
    };
    assert_eq!(run("same_text=75%"), (Some(0), String::new()));
    assert_eq!(run("same_text=0.8%"), (Some(0), String::new()));
    assert_eq!(run("f1=75%"), (Some(0), String::new()));
    assert_eq!(run("f1=80%"), (Some(1), "f1: 0.7500 is below 0.8\n".to_owned()));
    assert_eq!(run("same_text=80%"), (Some(1), "same_text: 75.00% is below 80%\n".to_owned()));
}

#[test]
fn trap_03_a_threshold_that_no_score_reaches_is_refused() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let error = |limit| {
        folder.score_error(&[
            "rows.jsonl",
            "-m",
            "same_text,f1,accuracy,distance",
            "--fail-under",
            limit,
        ])
    };
    assert_eq!(
        error("f1=60"),
        "--fail-under f1=60: expected a mean from 0 to 1, the range of `f1`; write f1=0.6 or f1=60%"
    );
    assert_eq!(
        error("f1=-0.1"),
        "--fail-under f1=-0.1: expected a mean from 0 to 1, the range of `f1`"
    );
    assert_eq!(
        error("accuracy=1.5"),
        "--fail-under accuracy=1.5: expected a score from 0 to 1, the range of `accuracy`; write accuracy=0.015 or accuracy=1.5%"
    );
    assert_eq!(
        error("same_text=150"),
        "--fail-under same_text=150: expected a percentage from 0 to 100, since `same_text` is a bool metric; no score is outside"
    );
    assert_eq!(
        error("distance=50%"),
        "--fail-under distance=50%: expected a number, since the scores of `distance` are not shares; remove the percent sign"
    );
    // A failed row may count as less than any score.
    let ran = folder.run(&[
        "score",
        "rows.jsonl",
        "-m",
        "f1",
        "--failure-score=-1",
        "--fail-under",
        "f1=-0.5",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_lower_is_better_metric_is_worse_above_its_threshold() {
    let folder = Folder::with("rows.csv", "gold.answer,pred.answer\n1,3\n");
    let run = |limit| {
        let ran = folder.run(&["score", "rows.csv", "-m", "distance", "--fail-under", limit]);
        (ran.code, ran.err)
    };
    assert_eq!(run("distance=2"), (Some(0), String::new()));
    let above = "distance: 2.0000 is above 1.9, and lower is better\n".to_owned();
    assert_eq!(run("distance=1.9"), (Some(1), above));
}

#[test]
fn a_metric_without_scores_never_reaches_its_threshold() {
    let folder = orders(&["fail", "fail"]);
    for limit in ["obeys=0", "obeys=-5"] {
        let ran = folder.run(&["score", "rows.jsonl", "-m", "obeys", "-q", "--fail-under", limit]);
        let limit = &limit[6..];
        assert_eq!(ran.err, format!("obeys: no row was scored; expected at least {limit}\n"));
        assert_eq!(ran.code, Some(1));
        assert_eq!(ran.out, "obeys  not enough rows (0/2 scored, 2 failed)\n");
    }
}

#[test]
fn a_metric_that_fails_on_every_row_fails_the_run() {
    let run = |words: &[&str], args: &[&str]| {
        let ran = orders(words).run(&[&["score", "rows.jsonl", "-q", "-m"], args].concat());
        (ran.code, ran.err)
    };
    let all = |line: &str| (Some(1), format!("{line}\n"));
    assert_eq!(run(&["fail", "nan", "panic"], &["obeys"]), all("obeys: all 3 rows failed"));
    assert_eq!(run(&["fail"], &["answer_present,obeys"]), all("obeys: the only row failed"));
    assert_eq!(
        run(&["fail"], &["obeys", "--failure-score", "1"]),
        all("obeys: the only row failed")
    );
    assert_eq!(run(&["fail", "1"], &["obeys"]), (Some(0), String::new()));
    let abstained = ["short_note", "--param", "short_note.limit=3"];
    assert_eq!(run(&["fail"], &abstained), (Some(0), String::new()), "abstaining is not failing");
}
