//! Checks of the settings in `#[metric(..)]`, alone and in combination.

use syn::Expr;

use crate::shared::errors::Errors;
use crate::shared::settings::Settings;
use crate::shared::values::{
    bounds, cost_msats, literal, range_is_closed, threshold_is_a_number, tier_is_known,
    version_says_something,
};

pub(super) fn values_make_sense(attrs: &Settings, errors: &mut Errors) {
    if let Some(tier) = &attrs.tier {
        tier_is_known(tier, errors);
    }
    if let Some(cost) = &attrs.cost
        && let Err(message) = cost_msats("cost", &cost.value())
    {
        errors.at(cost, message);
    }
    if let Some(version) = &attrs.version {
        version_says_something(version, errors);
    }
    if let Some(range) = &attrs.range {
        range_is_closed(range, errors);
    }
    if let Some(threshold) = &attrs.threshold {
        threshold_is_reachable(threshold, attrs, errors);
    }
}

fn threshold_is_reachable(threshold: &Expr, attrs: &Settings, errors: &mut Errors) {
    threshold_is_a_number(threshold, errors);
    let Some((start, end)) = attrs.range.as_ref().and_then(bounds) else {
        return;
    };
    let (Some(value), Some(min), Some(max)) = (literal(threshold), literal(start), literal(end))
    else {
        return;
    };
    if min < max
        && let Some(message) =
            unreachable_threshold(value, min, max, attrs.lower_is_better.is_some())
    {
        errors.at(threshold, message);
    }
}

fn unreachable_threshold(value: f64, min: f64, max: f64, lower_is_better: bool) -> Option<String> {
    if !(min..=max).contains(&value) {
        return Some(format!(
            "the threshold {value:?} is outside the range {min:?}..={max:?}; write a threshold within it"
        ));
    }
    let (always, other) = if lower_is_better { (max, "smaller") } else { (min, "larger") };
    (value == always).then(|| {
        format!("every score in the range {min:?}..={max:?} passes the threshold {value:?}; write a {other} threshold")
    })
}
