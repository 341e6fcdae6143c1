//! The fields that a `#[metric]` composite reads: its components' fields without duplicates, as a `const`.

use crate::rows::by_name::WHOLE;
use crate::sentence::same;
use crate::spec::{FieldSpec, MetricSpec, Side};

const fn fields<'a>(spec: &MetricSpec<'a>, side: Side) -> &'a [FieldSpec<'a>] {
    match side {
        Side::Gold => spec.gold,
        Side::Pred => spec.pred,
    }
}

/// A list of up to `N` fields that can be built in a `const`.
#[derive(Debug)]
pub struct FieldList<const N: usize> {
    all: [FieldSpec<'static>; N],
    len: usize,
}

impl<const N: usize> FieldList<N> {
    const fn new() -> Self {
        Self {
            all: [FieldSpec::new("", "", false); N],
            len: 0,
        }
    }

    const fn push(&mut self, field: FieldSpec<'static>) {
        self.all[self.len] = field;
        self.len += 1;
    }

    /// Returns the fields as a slice.
    pub const fn as_slice(&self) -> &[FieldSpec<'static>] {
        self.all.split_at(self.len).0
    }
}

/// Counts the fields that the components read on the given side of a row.
///
/// A field that several components read is counted once for each of them.
pub const fn count(specs: &[MetricSpec<'static>], side: Side) -> usize {
    match specs {
        [spec, rest @ ..] => fields(spec, side).len() + count(rest, side),
        [] => 0,
    }
}

/// Returns the fields that a component reads on the given side of a row.
///
/// The parameters in `texts` can set field names. If a parameter selects the whole row, the list contains no field for
/// it.
pub const fn configured<const N: usize>(
    spec: &MetricSpec<'static>,
    side: Side,
    texts: &[(&str, &'static str)],
) -> FieldList<N> {
    let mut configured = FieldList::new();
    let mut field = 0;
    while field < fields(spec, side).len() {
        let name = name(spec, side, field, texts);
        if !same(name, WHOLE) {
            configured.push(FieldSpec {
                name,
                ..fields(spec, side)[field]
            });
        }
        field += 1;
    }
    configured
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
    match names {
        [(of, at), rest @ ..] => *of as u8 == side as u8 && *at == field || has(rest, side, field),
        [] => false,
    }
}

/// Returns the fields that the components read on the given side of a row.
///
/// The list has no duplicates. Each field's type comes from the first component that reads it.
///
/// A field is required if any component requires it. It can be missing unless a component rejects rows without it.
pub const fn union<const N: usize>(specs: &[MetricSpec<'static>], side: Side) -> FieldList<N> {
    let mut union = FieldList::new();
    let mut spec = 0;
    while spec < specs.len() {
        let all = fields(&specs[spec], side);
        let mut field = 0;
        while field < all.len() {
            let mut known = 0;
            while known < union.len && !same(union.all[known].name, all[field].name) {
                known += 1;
            }
            if known == union.len {
                union.push(all[field]);
            }
            union.all[known].merge(&all[field]);
            field += 1;
        }
        spec += 1;
    }
    union
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composite::rules::tests::{PARAMS, stars};

    #[test]
    fn the_fields_of_a_composite_are_those_of_its_components_once() {
        let field = |name, is_required| FieldSpec::new(name, "&str", is_required);
        let (gold, pred) = (
            [field("answer", true)],
            [field("text", false), field("context", true)],
        );
        let more = [field("context", false), field("text", true)];
        let one = with_fields(stars().with_params(&PARAMS), &gold, &pred);
        let specs = [
            one,
            with_fields(stars(), &gold, &more),
            with_fields(stars(), &[], &[field("id", false)]),
        ];
        assert_eq!(
            (count(&specs, Side::Gold), count(&specs, Side::Pred)),
            (2, 5)
        );
        let names = |fields: &FieldList<5>| {
            let fields = fields.as_slice().iter();
            fields
                .map(|field| (field.name, field.required))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&union(&specs, Side::Gold)), [("answer", true)]);
        let all = [("text", true), ("context", true), ("id", false)];
        assert_eq!(names(&union(&specs, Side::Pred)), all);

        let configured = |side, texts: &[_]| names(&configured(&one, side, texts));
        assert_eq!(configured(Side::Gold, &[]), [("answer", true)]);
        assert_eq!(
            configured(Side::Pred, &[]),
            [("text", false), ("context", true)]
        );
        let texts = [("limit", "7"), ("field", "passages"), ("other", "reply")];
        assert_eq!(configured(Side::Gold, &texts), [("passages", true)]);
        assert_eq!(
            configured(Side::Pred, &texts),
            [("reply", false), ("passages", true)]
        );
        // `*` selects the whole prediction, which is not a field.
        assert_eq!(
            configured(Side::Pred, &[("other", "*")]),
            [("context", true)]
        );
    }

    fn with_fields(
        spec: MetricSpec<'static>,
        gold: &[FieldSpec<'static>],
        pred: &[FieldSpec<'static>],
    ) -> MetricSpec<'static> {
        spec.with_fields(gold.to_vec().leak(), pred.to_vec().leak())
    }
}
