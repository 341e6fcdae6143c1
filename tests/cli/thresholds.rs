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
    assert_eq!(run("same_text=75.1"), (Some(1), "same_text: 75 is below 75.1\n".to_owned()));
    let percent = "warning: --fail-under same_text=0.8 means 0.8 percent, since `same_text` is a bool \
                   metric; write a percentage from 0 to 100\n";
    assert_eq!(run("same_text=0.8"), (Some(0), percent.to_owned()));
    assert_eq!(run("f1=0.75"), (Some(0), String::new()));
    assert_eq!(run("f1=0.8"), (Some(1), "f1: 0.75 is below 0.8\n".to_owned()));
}

#[test]
fn a_lower_is_better_metric_is_worse_above_its_threshold() {
    let folder = Folder::with("rows.csv", "gold.answer,pred.answer\n1,3\n");
    let run = |limit| {
        let ran = folder.run(&["score", "rows.csv", "-m", "distance", "--fail-under", limit]);
        (ran.code, ran.err)
    };
    assert_eq!(run("distance=2"), (Some(0), String::new()));
    let above = "distance: 2 is above 1.9, and lower is better\n".to_owned();
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
