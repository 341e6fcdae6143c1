//! The fields that a `#[metric]` composite reads: those of its components, without duplicates, as a `const`.

use crate::core::rows::by_name::WHOLE;
use crate::core::sentence::same;
use crate::core::spec::{FieldSpec, MetricSpec, Side};

const NONE: FieldSpec<'static> = FieldSpec::new("", "", false);

const fn fields<'a>(spec: &MetricSpec<'a>, side: Side) -> &'a [FieldSpec<'a>] {
    match side {
        Side::Gold => spec.gold,
        Side::Pred => spec.pred,
    }
}

/// Returns the fields that a component reads on one side, with the names that its parameters `texts` configure.
#[must_use]
pub const fn configured<const N: usize>(
    spec: &MetricSpec<'static>,
    side: Side,
    texts: &[(&str, &'static str)],
) -> [FieldSpec<'static>; N] {
    let mut configured = [NONE; N];
    let mut len = 0;
    let all = fields(spec, side);
    let mut field = 0;
    while field < all.len() {
        let name = name(spec, side, field, texts);
        if !same(name, WHOLE) {
            configured[len] = FieldSpec { name, ..all[field] };
            len += 1;
        }
        field += 1;
    }
    configured
}

/// Returns the number of fields that [`configured`] returns. A parameter that selects the whole row has no field.
#[must_use]
pub const fn count_configured(
    spec: &MetricSpec<'static>,
    side: Side,
    texts: &[(&str, &'static str)],
) -> usize {
    let mut count = 0;
    let mut field = 0;
    while field < fields(spec, side).len() {
        if !same(name(spec, side, field, texts), WHOLE) {
            count += 1;
        }
        field += 1;
    }
    count
}

/// Returns a field's configured name.
const fn name(
    spec: &MetricSpec<'static>,
    side: Side,
    field: usize,
    texts: &[(&str, &'static str)],
) -> &'static str {
    let mut text = 0;
    while text < texts.len() {
        let mut param = 0;
        while param < spec.params.len() {
            let names = spec.params[param].names;
            if same(spec.params[param].name, texts[text].0) && has(names, side, field) {
                return texts[text].1;
            }
            param += 1;
        }
        text += 1;
    }
    fields(spec, side)[field].name
}

const fn has(names: &[(Side, usize)], side: Side, field: usize) -> bool {
    let mut index = 0;
    while index < names.len() {
        if names[index].0 as u8 == side as u8 && names[index].1 == field {
            return true;
        }
        index += 1;
    }
    false
}

/// Returns the number of fields with distinct names on one side.
#[must_use]
pub const fn count(specs: &[MetricSpec<'static>], side: Side) -> usize {
    let mut total = 0;
    let mut spec = 0;
    while spec < specs.len() {
        let all = fields(&specs[spec], side);
        let mut field = 0;
        while field < all.len() {
            if is_first(specs, side, (spec, field)) {
                total += 1;
            }
            field += 1;
        }
        spec += 1;
    }
    total
}

/// Returns the fields of one side. A field's type is that of the first component that reads it. It is required if any
/// component requires it, and may be missing unless that is an error for any.
#[must_use]
pub const fn union<const N: usize>(
    specs: &[MetricSpec<'static>],
    side: Side,
) -> [FieldSpec<'static>; N] {
    let mut union = [NONE; N];
    let mut len = 0;
    let mut spec = 0;
    while spec < specs.len() {
        let all = fields(&specs[spec], side);
        let mut field = 0;
        while field < all.len() {
            if is_first(specs, side, (spec, field)) {
                union[len] = all[field];
                let (required, is_needed) = is_required(specs, side, all[field].name);
                union[len].required = required;
                union[len].may_be_missing = required && !is_needed;
                len += 1;
            }
            field += 1;
        }
        spec += 1;
    }
    union
}

/// Returns whether no field before it has the same name.
const fn is_first(specs: &[MetricSpec<'static>], side: Side, at: (usize, usize)) -> bool {
    let name = fields(&specs[at.0], side)[at.1].name;
    let mut spec = 0;
    while spec <= at.0 {
        let all = fields(&specs[spec], side);
        let mut field = 0;
        while field < all.len() && !(spec == at.0 && field == at.1) {
            if same(all[field].name, name) {
                return false;
            }
            field += 1;
        }
        spec += 1;
    }
    true
}

/// Returns whether any component requires a field, and whether a row without it is an error for any.
const fn is_required(specs: &[MetricSpec<'static>], side: Side, name: &str) -> (bool, bool) {
    let (mut required, mut is_needed) = (false, false);
    let mut spec = 0;
    while spec < specs.len() {
        let all = fields(&specs[spec], side);
        let mut field = 0;
        while field < all.len() {
            if same(all[field].name, name) {
                required |= all[field].required;
                is_needed |= all[field].is_needed();
            }
            field += 1;
        }
        spec += 1;
    }
    (required, is_needed)
}
