//! Checks the settings in `#[metric(..)]`, alone and in combination.

use syn::Expr;

use crate::shared::errors::Errors;
use crate::shared::settings::Settings;
use crate::shared::values::{
    bounds, check_range, check_score, check_threshold, check_tier, check_version, cost_msats,
    literal,
};

pub(super) fn check_values(attrs: &Settings, errors: &mut Errors) {
    if let Some(tier) = &attrs.tier {
        check_tier(tier, errors);
    }
    if let Some(cost) = &attrs.cost
        && let Err(message) = cost_msats("cost", &cost.value())
    {
        errors.at(cost, message);
    }
    if let Some(version) = &attrs.version {
        check_version(version, errors);
    }
    if let Some(range) = &attrs.range {
        check_range(range, errors);
    }
    if let Some(missing) = &attrs.missing {
        check_score("missing", missing, attrs.range.as_ref(), errors);
    }
    if let Some(threshold) = &attrs.threshold {
        check_threshold_in_range(threshold, attrs, errors);
    }
}

fn check_threshold_in_range(threshold: &Expr, attrs: &Settings, errors: &mut Errors) {
    check_threshold(threshold, errors);
    let Some((start, end)) = attrs.range.as_ref().and_then(bounds) else {
        return;
    };
    let (Some(value), Some(min), Some(max)) = (literal(threshold), literal(start), literal(end))
    else {
        return;
    };
    if min < max
        && let Some(message) =
            threshold_outside_range(value, min, max, attrs.lower_is_better.is_some())
    {
        errors.at(threshold, message);
    }
}

fn threshold_outside_range(
    value: f64,
    min: f64,
    max: f64,
    lower_is_better: bool,
) -> Option<String> {
    if !(min..=max).contains(&value) {
        return Some(format!(
            "the threshold {value:?} is outside the range {min:?}..={max:?}; write a threshold within it"
        ));
    }
    let (always, other) = if lower_is_better {
        (max, "smaller")
    } else {
        (min, "larger")
    };
    (value == always).then(|| {
        format!("every score in the range {min:?}..={max:?} passes the threshold {value:?}; write a {other} threshold")
    })
}
