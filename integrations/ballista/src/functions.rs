//! The functions that all processes of a cluster must have, and their comparison.

use std::collections::BTreeMap;

use datafusion::common::plan_err;
use datafusion::error::DataFusionError;
use dsrs_metrics_datafusion::FunctionDescription;

/// How an error ends.
pub(crate) const ADVICE: &str =
    "start scheduler, executors and clients with the same version of the same program";

/// The metrics' functions of a process by their names. A process sends them to another one as JSON.
pub(crate) type Descriptions = BTreeMap<String, FunctionDescription>;

/// Returns the name of the metric's function for `NAME` and `NAME_details`.
pub(crate) fn metric<'a>(all: &Descriptions, function: &'a str) -> Option<&'a str> {
    let of_details = || function.strip_suffix("_details");
    [Some(function), of_details()]
        .into_iter()
        .flatten()
        .find(|name| all.contains_key(*name))
}

/// Compares the functions of the scheduler with those of an executor, which may have more.
///
/// # Errors
/// The first function that is missing or different, and the number of others.
pub(crate) fn check_executor(
    scheduler: &Descriptions,
    executor: &Descriptions,
) -> Result<(), String> {
    let mut differences = scheduler.iter().filter_map(|(name, expected)| {
        match executor.get(name) {
            None => Some(format!(
                "function `{name}`: expected {}, found no function of this name on the executor",
                expected.call()
            )),
            Some(found) => {
                let difference = expected.difference(found)?;
                Some(format!("function `{name}`: {difference} on the executor"))
            }
        }
    });
    let Some(first) = differences.next() else {
        return Ok(());
    };
    Err(match differences.count() {
        0 => format!("{first}; {ADVICE}"),
        others => format!("{first} ({others} other functions differ too); {ADVICE}"),
    })
}

/// Compares a function in the plan of another process with that of this process.
///
/// # Errors
/// A planning error with the difference.
pub(crate) fn check_call(
    all: &Descriptions,
    name: &str,
    found: &FunctionDescription,
) -> Result<(), DataFusionError> {
    match metric(all, name).and_then(|metric| all.get(metric)) {
        None => plan_err!(
            "function `{name}`: the query has {}, and this process has no function of this name; {ADVICE}",
            found.call()
        ),
        Some(expected) => match expected.difference(found) {
            None => Ok(()),
            Some(difference) => plan_err!("function `{name}`: {difference} in the query; {ADVICE}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use dsrs_metrics::metrics::{Em, F1};
    use dsrs_metrics::prelude::*;
    use dsrs_metrics_datafusion::MetricFunctions;

    use super::*;

    fn descriptions(all: impl IntoIterator<Item = MetricFunctions>) -> Descriptions {
        let described = |one: MetricFunctions| (one.name().to_owned(), one.description());
        all.into_iter().map(described).collect()
    }

    #[test]
    fn an_executor_may_have_more_functions_and_no_other_ones() {
        let f1 = || MetricFunctions::new(F1::default());
        let em = || MetricFunctions::new(Em::default());
        let scheduler = descriptions([f1(), em()]);
        assert_eq!(check_executor(&scheduler, &scheduler), Ok(()));
        assert_eq!(check_executor(&descriptions([f1()]), &scheduler), Ok(()));
        let found = check_executor(&scheduler, &descriptions([f1()])).unwrap_err();
        let expected = "function `em`: expected em(answer: a string or list of strings, prediction_answer: a string) -> Boolean, \
                        found no function of this name on the executor; ";
        assert_eq!(found, format!("{expected}{ADVICE}"));
        let strict = MetricFunctions::new(F1::default().with_threshold(0.8));
        let found = check_executor(&scheduler, &descriptions([strict])).unwrap_err();
        let first = "(1 other functions differ too)";
        assert!(
            found.starts_with("function `em`") && found.contains(first),
            "{found}"
        );
        let text = serde_json::to_string(&scheduler).unwrap();
        assert_eq!(
            serde_json::from_str::<Descriptions>(&text).unwrap(),
            scheduler
        );
    }

    #[test]
    fn a_call_must_have_the_types_version_and_settings_of_this_process() {
        let own = descriptions([MetricFunctions::new(F1::default())]);
        let call = |found: &MetricFunctions, name: &str| {
            let result = check_call(&own, name, &found.description());
            result.map_err(|error| error.strip_backtrace().to_string())
        };
        let same = MetricFunctions::new(F1::default());
        assert_eq!(
            (call(&same, "f1"), call(&same, "f1_details")),
            (Ok(()), Ok(()))
        );
        let strict = MetricFunctions::new(F1::default().with_threshold(0.8));
        let found = call(&strict, "f1").unwrap_err();
        let expected = "Error during planning: function `f1`: expected `threshold` not set, found 0.8 in the query; ";
        assert_eq!(found, format!("{expected}{ADVICE}"));
        let em = MetricFunctions::new(Em::default()).named("f1");
        let found = call(&em, "f1").unwrap_err();
        let types = "(answer: a string or list of strings, prediction_answer: a string) -> ";
        let expected = format!("expected f1{types}Float64, found f1{types}Boolean in the query");
        assert!(found.contains(&expected), "{found}");
    }
}
