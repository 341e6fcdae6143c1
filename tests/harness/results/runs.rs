//! Result files of a few rows.

use dsrs_metrics::results::Results;

/// A result file with one metric, or several with names before a colon: for each row its id and its scores, such as
/// `0.5`, `true` or `metric_failed`.
pub(crate) fn run(name: &str, rows: &[(&str, &str)]) -> Results {
    with_attributes(name, rows.iter().map(|(id, scores)| (*id, *scores, "{}")))
}

/// The same, with the attributes of each row as JSON.
pub(crate) fn with_attributes<'a>(
    name: &str,
    rows: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
) -> Results {
    let score = |score: &str| {
        let (name, score) = score.split_once(':').unwrap_or(("m", score));
        let fields = match score.parse::<f64>() {
            Ok(value) => format!(r#""outcome":"scored","value":{value:?},"passed":null"#),
            Err(_) if ["true", "false"].contains(&score) => {
                let value = u8::from(score == "true");
                format!(r#""outcome":"scored","value":{value},"passed":{score}"#)
            }
            Err(_) => format!(r#""outcome":"{score}","value":null,"passed":null"#),
        };
        format!(r#""{name}":{{{fields}}}"#)
    };
    let line = |(id, scores, attributes): (&str, &str, &str)| {
        let scores = scores.split(' ').map(score).collect::<Vec<_>>().join(",");
        format!("{{\"id\":\"{id}\",\"attributes\":{attributes},\"scores\":{{{scores}}}}}\n")
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    std::fs::write(&file, rows.into_iter().map(line).collect::<String>()).unwrap();
    Results::read(file).unwrap().with_name(name)
}
