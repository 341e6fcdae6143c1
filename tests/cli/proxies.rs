//! The proxies on the command line: each is listed, and its parameters are parsed from strings.

use serde_json::Value;

use crate::{piped, scorer};

/// The output of the scorer for rows on standard input, or its exit code and errors.
fn scored(rows: &str, args: &[&str]) -> Result<Value, String> {
    let ran = piped(rows, &[&["score", "-", "--json"], args].concat());
    match ran.code {
        Some(0) => Ok(serde_json::from_str(&ran.out).unwrap()),
        code => Err(format!("{code:?} {}", ran.err)),
    }
}

#[track_caller]
fn mean(rows: &str, metric: &str, params: &[&str]) -> f64 {
    let params: Vec<String> = params
        .iter()
        .map(|param| format!("{metric}.{param}"))
        .collect();
    let params = params.iter().flat_map(|param| ["--param", param]);
    let args: Vec<&str> = ["-m", metric].into_iter().chain(params).collect();
    scored(rows, &args).unwrap()["metrics"][metric]["mean"]
        .as_f64()
        .unwrap()
}

#[test]
fn every_proxy_is_listed_with_its_cost() {
    let ran = scorer().args(["list", "--json"]).output().unwrap();
    let listed: Vec<Value> = dsrs_metrics_tests::schema::parsed(&ran.stdout);
    let spec = |name: &str| listed.iter().find(|spec| spec["name"] == name).unwrap();
    for name in [
        "format",
        "keyword",
        "length",
        "syntax",
        "tool_params_schema",
        "was_repeated",
    ] {
        assert_eq!(
            (&spec(name)["tier"], &spec(name)["cost_msats"]),
            (&"proxy".into(), &0.into())
        );
    }
    // The most expensive comparison without a language model.
    assert_eq!(
        (&spec("diff")["tier"], &spec("diff")["cost_msats"]),
        (&"truth".into(), &10.into())
    );
    let settings = |name: &str| {
        let settings = spec(name)["settings"].as_array().unwrap().iter();
        settings
            .map(|it| (it["name"].clone(), it["default"].clone()))
            .collect::<Vec<_>>()
    };
    let no = Value::Null;
    assert_eq!(
        settings("length"),
        [
            ("threshold".into(), "1.0".into()),
            ("strict".into(), "false".into()),
            ("cost".into(), "0 msat".into())
        ]
    );
    assert_eq!(settings("format"), [("cost".into(), "0 msat".into())]);
    assert_eq!(settings("f1")[0], ("threshold".into(), no));
    for name in ["sandbox", "test_pass", "verification_delta"] {
        assert_eq!(
            (&spec(name)["tier"], &spec(name)["cost_msats"]),
            (&"truth".into(), &500.into())
        );
    }
}

#[test]
fn parameters_are_parsed_from_strings() {
    let rows = "{\"pred\": {\"answer\": \"{\\\"a\\\": 1}\", \"code\": \"return TODO\"}}\n\
                {\"pred\": {\"answer\": \"{\\\"a\\\": 1\", \"code\": \"return 1\"}}\n";
    assert_eq!(mean(rows, "format", &["require_valid_json=true"]), 0.5);
    assert_eq!(mean(rows, "format", &["required_fields=[\"a\"]"]), 0.5);
    assert_eq!(
        mean(
            rows,
            "keyword",
            &[
                "required=[\"return\"]",
                "forbidden=[\"TODO\"]",
                "field=code"
            ]
        ),
        0.5
    );
    assert_eq!(
        mean(rows, "length", &["min_chars=16", "field=code"]),
        (11.0 / 16.0 + 0.5) / 2.0
    );
    assert_eq!(mean(rows, "syntax", &[]), 0.5);
    assert_eq!(mean(rows, "syntax", &["language=json"]), 0.5);
    let rows = "{\"gold\": {\"execution_history\": [{\"tool\": \"t\", \"params\": {\"n\": 1}}]}, \"pred\": {\"tool\": \"t\", \"params\": {\"n\": 1.0}}}";
    assert_eq!(mean(rows, "was_repeated", &[]), 0.0);
    assert_eq!(
        mean(
            rows,
            "tool_params_schema",
            &["schemas={\"t\": {\"required\": [\"n\"]}}"]
        ),
        1.0
    );
    let rows = "{\"gold\": {\"answer\": \"f( 1 )\"}, \"pred\": {\"answer\": \"f(1)\"}}";
    assert_eq!(mean(rows, "diff", &[]), 0.0);
    assert_eq!(
        mean(rows, "diff", &["strictness=ast_equivalent", "language=py"]),
        1.0
    );
}

#[test]
fn invalid_parameters_are_errors_before_the_first_row() {
    for (args, message) in [
        (
            ["-m", "syntax", "--param", "syntax.language=cobol"],
            "`sh`, `shell`, found `cobol`",
        ),
        (
            ["-m", "diff", "--param", "diff.strictness=ast_equivalent"],
            "`ast_equivalent` requires a language; set `language`",
        ),
        (
            ["-m", "diff", "--param", "diff.strictness=meaning"],
            "`semantic`, found `meaning`",
        ),
        (
            [
                "-m",
                "tool_params_schema",
                "--param",
                "tool_params_schema.schemas={\"t\": {\"type\": 1}}",
            ],
            "the schema of tool `t` is invalid: /type: ",
        ),
    ] {
        let error = scored("{\"pred\": {\"answer\": \"x\"}}", &args).unwrap_err();
        assert!(
            error.starts_with("Some(2)") && error.contains(message),
            "{error}"
        );
    }
}

#[test]
fn invalid_utf_8_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.jsonl");
    std::fs::write(&rows, b"{\"pred\": {\"answer\": \"a\xff\"}}\n").unwrap();
    let ran = scorer()
        .arg("score")
        .arg(&rows)
        .args(["-m", "format"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("UTF-8"), "{stderr}");
}

/// A recursive or quadratic implementation would overflow the stack or take hours on each of these
/// rows.
#[test]
fn rows_of_any_depth_are_scored_or_rejected() {
    const DEEP: usize = 100_000;
    let lists = "[".repeat(DEEP) + &"]".repeat(DEEP);
    let objects = "{\\\"a\\\":".repeat(DEEP) + "1" + &"}".repeat(DEEP);
    let rows: String = [&lists, &objects, &"(".repeat(DEEP)]
        .map(|text| {
            format!(
                "{{\"gold\": {{\"answer\": \"{{}}\", \"execution_history\": [{{\"tool\": \"t\", \"params\": \"{text}\"}}]}}, \
                 \"pred\": {{\"answer\": \"{text}\", \"tool\": \"t\", \"params\": \"{text}\"}}}}\n"
            )
        })
        .concat();
    assert_eq!(
        mean(&rows, "format", &["require_valid_json=true"]),
        2.0 / 3.0
    );
    assert_eq!(mean(&rows, "keyword", &["required=[\"(\"]"]), 1.0 / 3.0);
    assert!(mean(&rows, "length", &["max_chars=1000"]) < 0.01);
    assert_eq!(mean(&rows, "syntax", &[]), 2.0 / 3.0);
    assert_eq!(mean(&rows, "syntax", &["language=json"]), 2.0 / 3.0);
    assert_eq!(mean(&rows, "diff", &[]), 0.0);
    assert_eq!(mean(&rows, "was_repeated", &[]), 0.0);
    assert_eq!(mean(&rows, "json_field_accuracy", &[]), 0.0);
    let schema = "schemas={\"t\": {\"type\": \"object\"}}";
    assert_eq!(mean(&rows, "tool_params_schema", &[schema]), 0.0);

    let nested = format!("{{\"pred\": {{\"answer\": {lists}}}}}\n");
    for metric in [
        "format",
        "syntax",
        "diff",
        "tool_params_schema",
        "was_repeated",
    ] {
        let error = scored(&nested, &["-m", metric]).unwrap_err();
        assert!(error.starts_with("Some(2)"), "{metric}: {error}");
        assert!(
            error.contains(":1: ") && error.contains("deeper than 127 levels"),
            "{error}"
        );
    }
}

/// The message for these parameters of a metric, before the first row, with exit code 2.
#[track_caller]
fn rejected(metric: &str, params: &[&str]) -> String {
    let rows = "{\"gold\": {\"answer\": {\"name\": \"Ada\"}}, \"pred\": {\"answer\": {\"name\": \"Bob\"}}}\n";
    let params: Vec<String> = params
        .iter()
        .map(|param| format!("{metric}.{param}"))
        .collect();
    let params = params.iter().flat_map(|param| ["--param", param]);
    // Rows may fail, so the run does not end because of a row.
    let args: Vec<&str> = ["-m", metric, "--max-errors", "9"]
        .into_iter()
        .chain(params)
        .collect();
    let error = scored(rows, &args).unwrap_err();
    let message = error.strip_prefix("Some(2) error: metric ");
    message
        .unwrap_or_else(|| panic!("{error}"))
        .trim_end()
        .to_owned()
}

#[test]
fn a_configuration_that_fails_every_row_is_an_error_before_the_first() {
    for (metric, params, message) in [
        (
            "keyword",
            &[][..],
            "no keywords are configured; set `required`, `forbidden` or both",
        ),
        (
            "keyword",
            &["required=[\"\"]"],
            "an empty keyword matches every output; remove it",
        ),
        (
            "length",
            &["min_chars=5", "max_chars=2"],
            "the minimum of 5 characters exceeds the maximum of 2",
        ),
        (
            "json_field_accuracy",
            &["fields=[\"name\"]"],
            "expected a JSON pointer in `fields`, found `name`; write `/name`",
        ),
        (
            "json_field_accuracy",
            &["abs_tolerance=-1"],
            "expected `abs_tolerance` to be at least 0, found -1",
        ),
        (
            "numeric_match",
            &["rel_tolerance=-0.5"],
            "expected `rel_tolerance` to be at least 0, found -0.5",
        ),
        (
            "entity_f1",
            &["similarity=80"],
            "expected `similarity` between 0 and 1, found 80",
        ),
        (
            "intent_accuracy_with_fallback",
            &["credit=2"],
            "expected `credit` between 0 and 1, found 2",
        ),
        (
            "answer_exact_match",
            &["frac=-1"],
            "expected `frac` between 0 and 1, found -1",
        ),
        (
            "bleu",
            &["max_order=17"],
            "expected `max_order` between 1 and 16, found 17",
        ),
        (
            "chrf",
            &["char_order=0"],
            "no n-grams to compare; set `char_order`, `word_order` or both",
        ),
        ("chrf", &["beta=-1"], BETA),
        ("factual_correctness", &["beta=-1"], BETA),
    ] {
        assert_eq!(
            rejected(metric, params),
            format!("`{metric}`: {message}"),
            "{params:?}"
        );
    }
    let nothing = rejected(
        "syntax",
        &[
            "check_balanced_brackets=false",
            "check_balanced_quotes=false",
        ],
    );
    assert!(
        nothing.starts_with(
            "`syntax`: nothing to check, so every output would pass; set `check_balanced_brackets`"
        ),
        "{nothing}"
    );
}

const BETA: &str = "expected a finite, non-negative `beta`, found -1; write 1 to weigh precision and recall equally, or 2 to weigh recall twice as much";

#[test]
fn the_message_for_an_invalid_parameter_shows_its_form() {
    for (metric, param, message) in [
        (
            "keyword",
            "required=x,y",
            "`required`: expected a list of strings, as in '[\"x\", \"y\"]', found `x,y`",
        ),
        (
            "keyword",
            "partial_credit=yes",
            "`partial_credit`: expected true or false, found `yes`",
        ),
        (
            "length",
            "min_chars=-1",
            "`min_chars`: expected a whole number, 0 or more, found `-1`",
        ),
        (
            "mrr",
            "depth=0",
            "`depth`: expected a whole number, 1 or more, found `0`",
        ),
        (
            "f1",
            "profile=strict",
            "`profile`: expected one of `dspy`, `folded`, `folded_symbols`, found `strict`",
        ),
        (
            "precision_at_k",
            "k=1,5",
            "`k`: expected a rank or list of ranks, as in '[1, 5, 10]', found `1,5` (a rank or a list of ranks, each 1 or more)",
        ),
    ] {
        assert_eq!(
            rejected(metric, &[param]),
            format!("`{metric}`: parameter {message}")
        );
    }
}
