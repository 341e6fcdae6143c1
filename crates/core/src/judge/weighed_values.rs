//! The values of an output that `scoring = logprobs` weighs: there are few, and each begins differently.

use serde_json::{Value, json};

use super::error::JudgeError;
use super::output_spec::OutputSpec;
use super::scoring::Scoring;
use super::signature::Signature;

/// The most values of an output: a model returns at most so many alternatives of a token.
const MAX_VALUES: usize = 20;

/// Checks that the first token of the weighed output decides its value.
pub(super) fn check(signature: &Signature) -> Result<(), JudgeError> {
    let Scoring::Logprobs(output) = signature.scoring else {
        return Ok(());
    };
    let invalid = |message: String| Err(JudgeError::new(message));
    let Some(values) = signature.output_spec(output).and_then(values) else {
        return invalid(format!(
            "`scoring = logprobs` needs an output with at most {MAX_VALUES} values, and `{output}` has more; make it a `bool`, an integer with `range = 0..=9`, a string with `labels`, or an enum without fields"
        ));
    };
    let values: Vec<String> = values.iter().map(shown).collect();
    let first = |value: &str| value.chars().next();
    for (index, value) in values.iter().enumerate() {
        let same = values[..index]
            .iter()
            .find(|earlier| first(earlier) == first(value));
        if let Some(same) = same {
            return invalid(format!(
                "`scoring = logprobs` needs values of `{output}` that begin differently, since the first token decides: `{same}` and `{value}` begin alike; rename one"
            ));
        }
    }
    Ok(())
}

/// Returns a value as the model writes it, without quotation marks.
fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns all values of an output; `None` if there are too many.
pub(super) fn values(output: &OutputSpec) -> Option<Vec<Value>> {
    let values = match (&output.range, output.labels) {
        (_, labels @ [_, ..]) => labels.iter().map(|label| json!(label)).collect(),
        (Some(range), _) if output.schema["type"] == "integer" => {
            let span = range.max.floor() - range.min.ceil();
            // Few integers, so that the conversion is exact.
            (span < MAX_VALUES as f64)
                .then(|| (range.min.ceil() as i64..=range.max.floor() as i64).map(|n| json!(n)))?
                .collect()
        }
        _ => of_schema(&output.schema)?,
    };
    (values.len() <= MAX_VALUES && !values.is_empty()).then_some(values)
}

/// Returns the values that a schema lists.
fn of_schema(schema: &Value) -> Option<Vec<Value>> {
    if schema["type"] == "boolean" {
        return Some(vec![json!(true), json!(false)]);
    }
    if let Some(value) = schema.get("const") {
        return Some(vec![value.clone()]);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().all(Value::is_string).then(|| values.clone());
    }
    let branches = schema
        .get("oneOf")
        .or_else(|| schema.get("anyOf"))?
        .as_array()?;
    let values: Option<Vec<_>> = branches.iter().map(of_schema).collect();
    Some(values?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Scoring, values};
    use crate::judge::{OutputSpec, Signature};
    use crate::spec::MetricSpec;

    fn output(schema: Value) -> OutputSpec {
        OutputSpec::new("grade", "", schema)
    }

    #[test]
    fn the_values_of_an_output_are_those_of_its_schema() {
        let integer = || output(json!({ "type": "integer" }));
        assert_eq!(
            values(&integer().in_range(1.0, 3.0)),
            Some(vec![json!(1), json!(2), json!(3)])
        );
        assert_eq!(
            values(&integer().in_range(0.5, 2.5)),
            Some(vec![json!(1), json!(2)])
        );
        assert_eq!(
            values(&integer().in_range(0.0, 19.0)).map(|all| all.len()),
            Some(20)
        );
        assert_eq!(values(&integer().in_range(0.0, 20.0)), None);
        assert_eq!(values(&integer().in_range(-1e300, 1e300)), None);
        assert_eq!(values(&integer()), None);
        assert_eq!(
            values(&output(json!({ "type": "number" })).in_range(0.0, 1.0)),
            None
        );
        assert_eq!(values(&output(json!({ "type": "string" }))), None);
        let bools = values(&output(json!({ "type": "boolean" })));
        assert_eq!(bools, Some(vec![json!(true), json!(false)]));
        let labelled = output(json!({ "type": "string" })).labelled(&["good", "bad"]);
        assert_eq!(values(&labelled), Some(vec![json!("good"), json!("bad")]));
        let documented = json!({ "oneOf": [
            { "type": "string", "enum": ["Good", "Fair"] },
            { "type": "string", "const": "Bad", "description": "unusable" },
        ] });
        assert_eq!(
            values(&output(documented)),
            Some(vec![json!("Good"), json!("Fair"), json!("Bad")])
        );
        let with_fields = json!({ "oneOf": [{ "const": "Good" }, { "type": "object" }] });
        assert_eq!(values(&output(with_fields)), None);
        assert_eq!(values(&output(json!({ "enum": ["a", 1] }))), None);
    }

    #[test]
    fn values_that_begin_alike_are_an_error() {
        let check = |output: OutputSpec| {
            let signature = Signature::new(&MetricSpec::new("tone"), "").output(output);
            let checked = super::check(&signature.scoring(Scoring::Logprobs("grade")));
            checked.map_err(|error| error.to_string())
        };
        let integers = |max: f64| output(json!({ "type": "integer" })).in_range(0.0, max);
        assert_eq!(check(integers(9.0)), Ok(()));
        let error = check(integers(10.0)).unwrap_err();
        assert!(
            error.contains("`1` and `10` begin alike; rename one"),
            "{error}"
        );
        let labels = output(json!({ "type": "string" })).labelled(&["good", "bad", "great"]);
        assert!(
            check(labels)
                .unwrap_err()
                .contains("`good` and `great` begin alike")
        );
        let error = check(output(json!({ "type": "number" }))).unwrap_err();
        assert!(
            error.contains("at most 20 values, and `grade` has more"),
            "{error}"
        );
    }
}
