//! The schemas in `docs/schema`, with which the tests validate each output in JSON that they read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use dsrs_metrics::results::manifest_path;
use jsonschema::{Registry, Validator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A schema and its validator.
struct Compiled {
    schema: Value,
    validator: Validator,
}

static SCHEMAS: LazyLock<BTreeMap<String, Compiled>> = LazyLock::new(compile);

/// Compiles the schemas, which refer to each other.
fn compile() -> BTreeMap<String, Compiled> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dsrs-metrics/docs/schema");
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let read = |path: PathBuf| {
        let name = path
            .file_name()?
            .to_str()?
            .strip_suffix(".schema.json")?
            .to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap_or_else(|it| panic!("{name}: {it}"));
        Some((name, schema))
    };
    let schemas: BTreeMap<String, Value> = files.filter_map(read).collect();
    let registry = schemas.values().fold(Registry::new(), |registry, schema| {
        registry
            .add(schema["$id"].as_str().unwrap(), schema)
            .unwrap()
    });
    let registry = registry.prepare().unwrap();
    let compiled = schemas.iter().map(|(name, schema)| {
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let validator = jsonschema::options().with_registry(&registry).build(schema);
        let validator = validator.unwrap_or_else(|error| panic!("{name}: {error}"));
        (
            name.clone(),
            Compiled {
                schema: schema.clone(),
                validator,
            },
        )
    });
    compiled.collect()
}

/// Returns the names and the contents of the schemas: `summary` for `summary.schema.json`.
pub fn schemas() -> impl Iterator<Item = (&'static str, &'static Value)> {
    SCHEMAS
        .iter()
        .map(|(name, compiled)| (&**name, &compiled.schema))
}

/// Returns the errors of a schema about a value.
#[must_use]
pub fn errors(schema: &str, value: &Value) -> Vec<String> {
    let errors = SCHEMAS[schema].validator.iter_errors(value);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// Returns the name of the schema of a value.
///
/// # Panics
/// If the value is of no output of this library.
#[track_caller]
pub fn schema_of(value: &Value) -> &'static str {
    // A row of a baseline has scores without costs.
    let scores = value.get("scores").and_then(Value::as_object);
    let is_line = |scores: &Map<String, Value>| {
        !scores.is_empty()
            && scores
                .values()
                .all(|score| score.get("cost_msats").is_none())
    };
    if value.get("gold_hash").is_some() && scores.is_some_and(is_line) {
        return "baseline";
    }
    let keys = [
        ("eval", "baseline"),
        ("scores", "result-row"),
        ("ending", "summary"),
        ("checksum", "manifest"),
        ("comparison", "rejudgement"),
        ("paired", "comparison"),
        ("labels_without_row", "agreement"),
        ("replies_msats", "estimate"),
        ("gate", "plan"),
    ];
    let known = keys.into_iter().find(|(key, _)| value.get(key).is_some());
    known
        .unwrap_or_else(|| panic!("an output without a schema: {value}"))
        .1
}

/// Validates an output with the schema of its kind.
#[track_caller]
pub fn validate(value: &Value) {
    validate_with(schema_of(value), value);
}

/// Returns a result or a comparison as JSON, and validates it.
#[track_caller]
pub fn to_value(output: &impl Serialize) -> Value {
    let value = serde_json::to_value(output).unwrap();
    validate(&value);
    value
}

#[track_caller]
fn validate_with(schema: &str, value: &Value) {
    let errors = errors(schema, value);
    assert!(
        errors.is_empty(),
        "{schema}.schema.json refuses {value}\n{}",
        errors.join("\n")
    );
}

/// Validates the JSON that a command printed: one value, indented or not, or rows on lines of their own.
#[track_caller]
pub fn validate_output(out: &str) {
    match serde_json::from_str(out) {
        Ok(Value::Array(items)) if items.iter().all(|item| item.get("scores").is_some()) => {
            items.iter().for_each(validate);
        }
        Ok(list @ Value::Array(_)) => validate_with("list", &list),
        Ok(value @ Value::Object(_)) => validate(&value),
        _ => {
            let lines = out.lines().filter(|line| line.starts_with('{'));
            lines.for_each(|line| validate(&serde_json::from_str(line).unwrap()));
        }
    }
}

/// Validates the JSON that a command printed, and parses it.
#[track_caller]
pub fn parsed<T: DeserializeOwned>(out: &[u8]) -> T {
    validate_output(std::str::from_utf8(out).unwrap());
    serde_json::from_slice(out).unwrap()
}

/// Validates a result file, if it is JSON, and its manifest, if it has one.
#[track_caller]
pub fn validate_file(file: &Path) {
    let is_json = file
        .extension()
        .is_some_and(|it| it == "jsonl" || it == "json");
    if is_json && let Ok(text) = fs::read_to_string(file) {
        validate_output(&text);
    }
    if let Ok(text) = fs::read_to_string(manifest_path(file)) {
        validate_with("manifest", &serde_json::from_str(&text).unwrap());
    }
}

/// Validates the result file that a command wrote in a folder.
#[track_caller]
pub fn validate_written(folder: &Path, args: &[&str], code: Option<i32>) {
    // Exported files have schemas of other programs.
    if args.first() == Some(&"export") {
        return;
    }
    // After an invalid command line, the file is from an earlier run.
    let written = match args.iter().position(|arg| *arg == "--out") {
        _ if code == Some(2) => None,
        Some(option) => args.get(option + 1),
        None => None,
    };
    if let Some(file) = written {
        validate_file(&folder.join(file));
    }
}

/// Asserts that the schema refuses an unknown key in each object of a valid output, and a value of another type in each place.
/// Returns the numbers of objects and of values.
///
/// # Panics
/// If the output is invalid, or such a change of it is valid.
#[must_use]
pub fn assert_strict(schema: &str, output: &Value) -> (usize, usize) {
    validate_with(schema, output);
    let (mut keys, mut values) = (0, 0);
    let refuse = |path: &str, change: &dyn Fn(&mut Value)| {
        let mut changed = output.clone();
        change(changed.pointer_mut(path).unwrap());
        assert!(
            !errors(schema, &changed).is_empty(),
            "{schema}: {path} of {changed}"
        );
    };
    each_path(schema, "", output, &mut |path| {
        let is_free = is_free(schema, path);
        if !is_free && output.pointer(path).unwrap().is_object() {
            refuse(path, &|place| place["unknown"] = json!([[null]]));
            keys += 1;
        }
        if !is_free || !is_side(path) {
            refuse(path, &|place| {
                *place = if place.is_array() {
                    json!("x")
                } else {
                    json!([[null]])
                }
            });
            values += 1;
        }
    });
    (keys, values)
}

/// Whether a place has a gold row or a prediction, which may be any value.
fn is_side(path: &str) -> bool {
    path.ends_with("/gold") || path.ends_with("/pred")
}

/// Whether a schema leaves the content of a place to the user.
fn is_free(schema: &str, path: &str) -> bool {
    let is_of_user = is_side(path) || path.ends_with("/attributes") || path.ends_with("/metadata");
    is_of_user && ["result-row", "baseline"].contains(&schema)
}

/// Calls a function with the path of each value in `value`, but not within the places of the user.
fn each_path(schema: &str, path: &str, value: &Value, call: &mut dyn FnMut(&str)) {
    call(path);
    if is_free(schema, path) {
        return;
    }
    let items: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, it)| (key.replace('/', "~1"), it))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, it)| (at.to_string(), it))
            .collect(),
        _ => Vec::new(),
    };
    for (key, item) in items {
        each_path(schema, &format!("{path}/{key}"), item, call);
    }
}
