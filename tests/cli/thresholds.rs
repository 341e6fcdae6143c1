//! `--fail-under`, and metrics that fail on every row: exit code 1.

use crate::Folder;
use crate::scores::{ROWS, orders};
use insta::assert_snapshot;

#[test]
fn a_metric_worse_than_its_threshold_fails_the_run() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let run = |limit| {
        let ran = folder.run(&format!(
            "score rows.jsonl -m same_text,f1 --fail-under {limit}"
        ));
        (ran.code, ran.err)
    };
    assert_eq!(run("same_text=0.75"), (Some(0), String::new()));
    let below = "same_text: 0.7500 is below 0.751\n".to_owned();
    assert_eq!(run("same_text=0.751"), (Some(1), below));
    assert_eq!(run("f1=0.75"), (Some(0), String::new()));
    assert_eq!(
        run("f1=0.8"),
        (Some(1), "f1: 0.7500 is below 0.8\n".to_owned())
    );
}

#[test]
fn a_percentage_is_another_form_of_the_same_limit() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let run = |limit| {
        let ran = folder.run(&format!(
            "score rows.jsonl -m same_text,f1 --fail-under {limit}"
        ));
        (ran.code, ran.err)
    };
    assert_eq!(run("same_text=75%"), (Some(0), String::new()));
    assert_eq!(run("same_text=0.8%"), (Some(0), String::new()));
    assert_eq!(run("f1=75%"), (Some(0), String::new()));
    assert_eq!(
        run("f1=80%"),
        (Some(1), "f1: 75.00% is below 80%\n".to_owned())
    );
    let below = "same_text: 75.00% is below 75.1%\n".to_owned();
    assert_eq!(run("same_text=75.1%"), (Some(1), below));
    // 100 * 0.57 is below 57 in floating point.
    let rows = (0..100).map(|row| format!("{},{}\n", row, if row < 57 { row } else { -1 }));
    folder.write(
        "rows.csv",
        format!("gold.answer,pred.answer\n{}", rows.collect::<String>()),
    );
    for limit in ["em=57%", "em=0.57"] {
        folder.printed(&format!("score rows.csv -m em --fail-under {limit}"));
    }
}

#[test]
fn a_limit_is_a_number_or_a_percentage() {
    for limit in ["em=60 %", "em=", "em=%", "em=6e1%"] {
        let args = ["score", "rows.jsonl", "-m", "em", "--fail-under", limit];
        let ran = Folder::with("rows.jsonl", ROWS).run(&args);
        let value = limit.trim_start_matches("em=");
        let expected = format!(
            "invalid value '{limit}' for '--fail-under <NAME=X>': expected a finite number such as 0.6, or a percentage such as 60%, found `{value}`"
        );
        assert_eq!((ran.code, ran.error()), (Some(2), expected));
    }
}

#[test]
fn a_threshold_that_no_score_reaches_is_refused() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let error = |limit| {
        folder.score_error(&format!(
            "rows.jsonl -m em,f1,accuracy,distance --fail-under {limit}"
        ))
    };
    assert_snapshot!(error("em=75"),
        @"--fail-under em=75: expected a score from 0 to 1, the range of `em`; pass --fail-under em=0.75 or --fail-under em=75%");
    assert_snapshot!(error("f1=66.7"),
        @"--fail-under f1=66.7: expected a score from 0 to 1, the range of `f1`; pass --fail-under f1=0.667 or --fail-under f1=66.7%");
    for (limit, name) in [
        ("f1=1.5", "f1"),
        ("f1=-0.1", "f1"),
        ("em=150", "em"),
        ("em=150%", "em"),
        ("accuracy=1.5", "accuracy"),
    ] {
        let expected =
            format!("--fail-under {limit}: expected a score from 0 to 1, the range of `{name}`");
        assert_eq!(error(limit), expected);
    }
    for (limit, name) in [("distance=50%", "distance"), ("f1.recall=50%", "f1.recall")] {
        let expected = format!(
            "--fail-under {limit}: expected a number, because the scores of `{name}` are not known to be in [0, 1]; remove the percent sign"
        );
        assert_eq!(error(limit), expected);
    }
    // A failed row may count as less than any score.
    folder.printed("score rows.jsonl -m f1 --failure-score=-1 --fail-under f1=-0.5");
}

#[test]
fn a_lower_is_better_metric_is_worse_above_its_threshold() {
    let folder = Folder::with("rows.csv", "gold.answer,pred.answer\n1,3\n");
    let run = |limit| {
        let ran = folder.run(&format!("score rows.csv -m distance --fail-under {limit}"));
        (ran.code, ran.err)
    };
    assert_eq!(run("distance=2"), (Some(0), String::new()));
    let above = "distance: 2.0000 is above 1.9, and lower is better\n".to_owned();
    assert_eq!(run("distance=1.9"), (Some(1), above));
}

#[test]
fn a_metric_without_scores_never_reaches_its_threshold() {
    let folder = orders("fail fail");
    for limit in ["obeys=0", "obeys=-5"] {
        let ran = folder.run(&format!(
            "score rows.jsonl -m obeys -q --fail-under {limit}"
        ));
        let limit = &limit[6..];
        assert_eq!(
            ran.err,
            format!("obeys: no row was scored; expected at least {limit}\n")
        );
        assert_eq!(ran.code, Some(1));
        assert_eq!(ran.out, "obeys  not enough rows (0/2 scored, 2 failed)\n");
    }
}

#[test]
fn a_metric_that_fails_on_every_row_fails_the_run() {
    let run = |words: &str, args: &str| {
        let ran = orders(words).run(&format!("score rows.jsonl -q -m {args}"));
        (ran.code, ran.err)
    };
    let all = |line: &str| (Some(1), format!("{line}\n"));
    assert_eq!(
        run("fail nan panic", "obeys"),
        all("obeys: all rows failed: 3")
    );
    assert_eq!(
        run("fail", "answer_present,obeys"),
        all("obeys: all rows failed: 1")
    );
    assert_eq!(
        run("fail", "obeys --failure-score 1"),
        all("obeys: all rows failed: 1")
    );
    assert_eq!(run("fail 1", "obeys"), (Some(0), String::new()));
    let abstained = "short_note --param short_note.limit=3";
    assert_eq!(
        run("fail", abstained),
        (Some(0), String::new()),
        "abstaining is not failing"
    );
}
