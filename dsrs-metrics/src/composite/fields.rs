//! The fields that a `#[metric]` composite reads: those of its components, each once, as a `const`.

use super::rules::same;
use crate::spec::{FieldSpec, MetricSpec, Side};

const NONE: FieldSpec<'static> = FieldSpec { name: "", ty: "", required: false };

const fn fields<'a>(spec: &MetricSpec<'a>, side: Side) -> &'a [FieldSpec<'a>] {
    match side {
        Side::Gold => spec.gold,
        Side::Pred => spec.pred,
    }
}

/// How many fields of different names there are on one side.
#[must_use]
pub const fn count(specs: &[MetricSpec<'static>], side: Side) -> usize {
    // No composite reads more fields than all of its components together.
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

/// The fields of one side: types as the first component that reads one writes it, required where any
/// component cannot do without.
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
                union[len].required = is_required(specs, side, all[field].name);
                len += 1;
            }
            field += 1;
        }
        spec += 1;
    }
    union
}

/// Whether no field before it has its name.
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

const fn is_required(specs: &[MetricSpec<'static>], side: Side, name: &str) -> bool {
    let mut spec = 0;
    while spec < specs.len() {
        let all = fields(&specs[spec], side);
        let mut field = 0;
        while field < all.len() {
            if all[field].required && same(all[field].name, name) {
                return true;
            }
            field += 1;
        }
        spec += 1;
    }
    false
}
