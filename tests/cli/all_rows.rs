//! Metrics over all rows on the command line: headline, JSON, limits, files.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;
use crate::lists::list;

const ROWS: &str = "gold.answer,pred.answer\nyes,yes\nyes,no\nno,no\nyes,yes\n";

#[test]
fn a_corpus_metric_has_one_score_in_headline_json_and_files() {
    let folder = Folder::with("rows.csv", ROWS);
    assert_snapshot!(folder.run("score rows.csv -q -m macro_f1,cohen_kappa,em"), @"
    macro_f1     0.7333 (over 4/4 rows, 0 failed)
    cohen_kappa  0.5000 (over 4/4 rows, 0 failed)
    em           75.00% [30.06, 95.44] (3/4, 0 failed)
    -- exit code 0 --
    ");

    let param = "--param cohen_kappa.weights=linear --out out.jsonl --json";
    let json = folder.json(&format!("score rows.csv -q -m cohen_kappa {param}"));
    let kappa = &json["metrics"]["cohen_kappa"];
    assert_eq!(
        (&kappa["score"], &kappa["kind"], &kappa["scored"]),
        (&json!(0.5), &json!("corpus"), &json!(4))
    );
    let lines = folder.read("out.jsonl");
    let row: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let outcome = &row["scores"]["cohen_kappa"];
    assert_eq!(
        (&outcome["outcome"], &outcome["value"]),
        (&json!("counted"), &Value::Null)
    );
}

#[test]
fn a_score_that_is_not_defined_never_reaches_its_limit() {
    let folder = Folder::with("rows.csv", "gold.answer,pred.answer\nyes,yes\nyes,no\n");
    let run = |limit| {
        let ran = folder.run(&format!(
            "score rows.csv -q -m matthews_correlation,accuracy --fail-under {limit}"
        ));
        (ran.code, ran.err)
    };
    assert_eq!(run("accuracy=0.5"), (Some(0), String::new()));
    assert_eq!(
        run("accuracy=0.6"),
        (Some(1), "accuracy: 0.5000 is below 0.6\n".to_owned())
    );
    let undefined = "matthews_correlation: not defined: all gold labels are equal; expected 0\n";
    assert_eq!(
        run("matthews_correlation=0"),
        (Some(1), undefined.to_owned())
    );
}

#[test]
fn it_is_listed_with_its_kind_and_without_a_threshold() {
    let listed = list("cohen_kappa", "100");
    assert_snapshot!(listed, @"
    cohen_kappa
      Computes Cohen's kappa of gold and predicted labels over all rows.
      Kappa measures agreement beyond chance. The score is undefined if all labels are equal.
      If you set `weights`, labels are sorted as numbers. If any label is not a number, all labels are
      sorted as strings.
      proxy, one score for all rows in -1.0..=1.0, higher is better, free
      version 1, code ..
      reads  gold.answer: string, a number, true or false
      reads  pred.answer: string, a number, true or false, may be missing
      param  case_sensitive: true or false = true - `true` to compare labels case-sensitively.
      param  weights: KappaWeights = unweighted - How disagreements are weighted: `unweighted`, `linear`
             or `quadratic`.
      param  cost: cost = 0 msat - The maximum expected cost of one call.
    ");
    assert!(
        !listed.contains("threshold") && !listed.contains("strict"),
        "{listed}"
    );
    let folder = Folder::with("rows.csv", ROWS);
    let ran = folder.run("score rows.csv -m accuracy --param accuracy.threshold=0.5");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("threshold"), "{}", ran.err);
}

#[test]
fn an_invalid_pattern_is_an_error_of_the_command_line() {
    let folder = Folder::with("rows.csv", ROWS);
    let run = |pattern: &str| {
        let ran = folder.run(&format!("score rows.csv -q -m regex --param {pattern}"));
        (
            ran.code,
            ran.err.lines().next().unwrap_or_default().to_owned(),
            ran.out,
        )
    };
    let (code, error, _) = run("regex.pattern=(a");
    assert_eq!(code, Some(2));
    assert!(
        error.contains("invalid regular expression `(a`: unclosed group"),
        "{error}"
    );
    let (code, _, out) = run("regex.pattern=^y");
    assert_eq!(
        (code, &*out),
        (Some(0), "regex  50.00% [15.00, 85.00] (2/4, 0 failed)\n")
    );
}
