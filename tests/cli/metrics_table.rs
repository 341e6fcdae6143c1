//! The table of built-in metrics in `docs/metrics.md` agrees with `list`.

use serde_json::Value;

use crate::lists::{OWN, list};

const PATH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../dsrs-metrics/docs/metrics.md"
);
const HEAD: &str = "| name | tier | what it measures | fields | range | feature |";

/// The cells of the table's rows.
fn table() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(PATH).unwrap();
    let (_, rows) = text
        .split_once(HEAD)
        .expect("the table is there, with its head");
    let rows = rows
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        line.trim_matches('|')
            .split(" | ")
            .map(|it| it.trim().to_owned())
            .collect()
    };
    rows.map(cells).collect()
}

/// Returns the cells that a spec determines: name, tier, fields, range.
fn known(spec: &Value) -> [String; 4] {
    let side = |side: &str| -> Vec<String> {
        let fields = spec[side].as_array().unwrap().iter();
        let written = |field: &Value| {
            let optional = if field["required"] == true { "" } else { "?" };
            format!("`{side}.{}`{optional}", field["name"].as_str().unwrap())
        };
        fields.map(written).collect()
    };
    let range = match (spec["kind"] == "bool", &spec["range"]) {
        (true, _) => "bool".to_owned(),
        (_, Value::Null) => "any".to_owned(),
        (_, range) => {
            format!(
                "[{}, {}]",
                range["min"].as_f64().unwrap(),
                range["max"].as_f64().unwrap()
            )
        }
    };
    let fields = [side("gold"), side("pred")].concat().join(", ");
    [
        format!("`{}`", spec["name"].as_str().unwrap()),
        spec["tier"].as_str().unwrap().to_owned(),
        fields,
        range,
    ]
}

/// Returns the metric of a row and its aliases.
fn names(row: &[String]) -> Vec<String> {
    row[0].split(", alias ").map(str::to_owned).collect()
}

fn builtin() -> Vec<Value> {
    let listed: Vec<Value> = serde_json::from_str(&list("--json", "100")).unwrap();
    listed
        .into_iter()
        .filter(|spec| !OWN.contains(&spec["name"].as_str().unwrap()))
        .collect()
}

#[test]
fn every_built_in_metric_has_a_row_that_agrees_with_its_spec() {
    let table = table();
    let mut wrong = Vec::new();
    for spec in builtin() {
        let [name, tier, fields, range] = known(&spec);
        let first = spec["doc"]
            .as_str()
            .unwrap()
            .split("\n\n")
            .next()
            .unwrap()
            .replace('\n', " ");
        let Some(row) = table.iter().find(|row| names(row).contains(&name)) else {
            wrong.push(format!(
                "add: | {name} | {tier} | {first} | {fields} | {range} | FEATURE or - |"
            ));
            continue;
        };
        // Fields that parameters name are described in the table.
        let fields = if fields.is_empty() {
            row[3].clone()
        } else {
            fields
        };
        let expected = [
            row[0].clone(),
            tier,
            row[2].clone(),
            fields,
            range,
            row[5].clone(),
        ];
        if row[..] != expected {
            wrong.push(format!("change to: | {} |", expected.join(" | ")));
        }
    }
    assert!(wrong.is_empty(), "in {PATH}\n{}", wrong.join("\n"));
}

#[test]
fn every_row_is_of_one_built_in_metric_and_its_aliases() {
    let metrics: Vec<String> = builtin()
        .iter()
        .map(|spec| known(spec)[0].clone())
        .collect();
    let mut seen = Vec::new();
    for row in table() {
        assert_eq!(row.len(), 6, "{row:?}");
        assert!(
            row.iter().all(|cell| !cell.is_empty()),
            "an empty cell: {row:?}"
        );
        for name in names(&row) {
            assert!(
                metrics.contains(&name),
                "remove {name}: `list` has no such metric"
            );
            assert!(!seen.contains(&name), "{name} has two rows");
            seen.push(name);
        }
    }
}
