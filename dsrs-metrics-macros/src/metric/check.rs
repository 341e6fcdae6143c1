//! The rules of `#[metric]` that tokens alone can show to be broken. What only types can show is left
//! to rustc, through the assertions that `expand.rs` writes at the user's spans.

use syn::{Expr, GenericParam, Lit, RangeLimits, Type, UnOp};

use super::attr::MetricAttrs;
use super::bind::{Binding, option_of, ungrouped};
use super::model::{Function, Model, Param};
use super::types::Form;
use crate::errors::Errors;
use crate::names;

pub(crate) fn check(model: &Model, errors: &mut Errors) {
    names_are_usable(model, errors);
    values_make_sense(&model.attrs, errors);
    verdict_makes_sense(model, errors);
    signature_can_be_called(&model.function, errors);
    for param in &model.params {
        parameter_can_be_bound(param, errors);
    }
}

const PRELUDE: [&str; 22] = [
    "Option", "Some", "None", "Result", "Ok", "Err", "Vec", "String", "Box", "Default", "Clone",
    "Copy", "Send", "Sync", "Drop", "Fn", "Iterator", "From", "Into", "Eq", "Ord", "ToString",
];

fn names_are_usable(model: &Model, errors: &mut Errors) {
    let ident = &model.names.ident;
    if PRELUDE.iter().any(|name| ident == name) {
        errors.at(ident, format!("the metric would be called `{ident}` and hide the prelude's `{ident}` in this module: write `#[metric(struct = {ident}Metric)]`"));
    }
    if let Some(name) = model.attrs.name.as_ref().filter(|name| !names::is_snake(&name.value())) {
        errors.at(name, "a metric's name is lower_snake_case, so that it can stand on a command line and in a file: `name = \"exact_match\"`");
    } else if model.attrs.name.is_none() && !names::is_snake(&model.names.metric) {
        errors.at(&model.function.sig.ident, "a metric's name is lower_snake_case: rename the function, or write `#[metric(name = \"..\")]`");
    }
    if let Some(path) = &model.attrs.krate {
        let first = path.segments.first().map(|first| first.ident.to_string());
        let absolute = path.leading_colon.is_some()
            || first.is_some_and(|first| matches!(first.as_str(), "crate" | "$crate"));
        if !absolute {
            errors.at(
                path,
                format!(
                    "the path must hold from everywhere: write `crate = ::{}`",
                    names::as_written(path)
                ),
            );
        }
    }
}

fn values_make_sense(attrs: &MetricAttrs, errors: &mut Errors) {
    if let Some(tier) = attrs.tier.as_ref().filter(|tier| *tier != "proxy" && *tier != "truth") {
        errors.at(tier, "a tier is `proxy` (cheap, runs first) or `truth` (expensive, runs where the proxies pass)");
    }
    if let Some(cost) = &attrs.cost
        && let Err(message) = cost_msats(&cost.value())
    {
        errors.at(cost, message);
    }
    if let Some(version) = attrs.version.as_ref().filter(|version| version.value().is_empty()) {
        errors.at(version, "the version is empty: write `version = \"2\"`");
    }
    if let Some(range) = &attrs.range {
        range_is_closed(range, errors);
    }
    if let Some(threshold) = &attrs.threshold {
        threshold_is_reachable(threshold, attrs, errors);
    }
}

/// `"100 msat"` or `"0.5 sat"` in millisatoshis.
pub(crate) fn cost_msats(text: &str) -> Result<u64, String> {
    let split =
        text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let per_unit = match unit {
        "msat" | "msats" => 1,
        "sat" | "sats" => 1000,
        "" => {
            return Err(format!("a cost needs its unit: write `cost = \"{} msat\"`", text.trim()));
        }
        _ => {
            return Err(format!(
                "a cost is in `msat` or `sat`, not in `{unit}`: write `cost = \"100 msat\"`"
            ));
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let whole_msats = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(per_unit));
    let msats = match (whole_msats, fraction) {
        (Some(msats), "") => Some(msats),
        (Some(msats), _) if per_unit == 1000 && fraction.len() <= 3 => {
            format!("{fraction:0<3}").parse::<u64>().ok().and_then(|part| msats.checked_add(part))
        }
        _ => None,
    };
    msats.ok_or_else(|| {
        format!("`{text}` is not a cost: a whole number of msat, as in `cost = \"100 msat\"`")
    })
}

fn range_is_closed(range: &Expr, errors: &mut Errors) {
    let Some((start, end)) = bounds(range) else {
        let message = match range {
            Expr::Range(range) if matches!(range.limits, RangeLimits::HalfOpen(_)) => {
                "a score's range is closed: write it with `..=`, as in `range = 0.0..=1.0`"
            }
            _ => "a range has both ends: `range = 0.0..=1.0`",
        };
        return errors.at(range, message);
    };
    if let (Some(min), Some(max)) = (literal(start), literal(end))
        && min >= max
    {
        errors.at(range, format!("the range is empty: it goes from {min:?} up to {max:?}"));
    }
    for end in [start, end] {
        number_or_const(end, "a range's ends are numbers: `range = 0.0..=1.0`", errors);
    }
}

/// The ends of `a..=b`.
pub(crate) fn bounds(range: &Expr) -> Option<(&Expr, &Expr)> {
    match range {
        Expr::Range(range) if matches!(range.limits, RangeLimits::Closed(_)) => {
            Some((range.start.as_deref()?, range.end.as_deref()?))
        }
        _ => None,
    }
}

fn number_or_const(expr: &Expr, message: &str, errors: &mut Errors) {
    let other_literal = match expr {
        Expr::Lit(literal) => !matches!(literal.lit, Lit::Float(_) | Lit::Int(_)),
        _ => false,
    };
    if other_literal {
        errors.at(expr, message);
    }
}

/// The value of a number that is written out.
pub(crate) fn literal(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Float(number) => number.base10_parse().ok(),
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Some(-literal(&unary.expr)?),
        Expr::Paren(paren) => literal(&paren.expr),
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

fn threshold_is_reachable(threshold: &Expr, attrs: &MetricAttrs, errors: &mut Errors) {
    number_or_const(threshold, "a threshold is a number: `threshold = 0.5`", errors);
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
        return Some(format!("the threshold {value:?} lies outside the range {min:?}..={max:?}"));
    }
    let (always, side) = if lower_is_better { (max, "at most") } else { (min, "at least") };
    (value == always).then(|| {
        format!("a threshold of {value:?} can never fail: every score of the range {min:?}..={max:?} is {side} {value:?}")
    })
}

fn verdict_makes_sense(model: &Model, errors: &mut Errors) {
    let attrs = &model.attrs;
    let is_bool = model.output().is_some_and(is_bool);
    if is_bool {
        if let Some(threshold) = &attrs.threshold {
            errors.at(
                threshold,
                "a `bool` is its own verdict: take `threshold` away, or return a number",
            );
        }
        if let Some(range) = &attrs.range {
            errors.at(range, "a `bool` is 0 or 1: take `range` away, or return a number");
        }
        if let Some(span) = attrs.strict {
            errors.at_span(span, "a `bool` is strict already: take `strict` away");
        }
        if let Some(span) = attrs.lower_is_better {
            errors.at_span(span, "`true` is a pass: negate what the function returns instead of writing `lower_is_better`");
        }
    } else if let (Some(span), None) = (attrs.strict, &attrs.threshold) {
        errors.at_span(span, "`strict` makes a score 1 or 0 at the threshold, and there is none: add `threshold = 0.5`");
    }
}

/// `bool`, also inside `Option` and `Result`.
fn is_bool(ty: &Type) -> bool {
    let Type::Path(path) = ungrouped(ty) else {
        return false;
    };
    if path.path.is_ident("bool") {
        return true;
    }
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments)
            if last.ident == "Option" || last.ident == "Result" =>
        {
            matches!(arguments.args.first(), Some(syn::GenericArgument::Type(inner)) if is_bool(inner))
        }
        _ => false,
    }
}

fn signature_can_be_called(function: &Function, errors: &mut Errors) {
    let sig = &function.sig;
    if let syn::Safety::Unsafe(token) = &sig.safety {
        errors.at(
            token,
            "a metric is called on every row without a promise of yours: take `unsafe` away",
        );
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, "a metric is a Rust function: take `extern` away");
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic, "a metric has a fixed number of parameters: take `...` away");
    }
    match &sig.output {
        syn::ReturnType::Default => {
            errors.at(
                &sig.ident,
                "a metric returns its score: write `-> bool` or `-> f64` after the parameters",
            );
        }
        syn::ReturnType::Type(_, ty) => {
            if let Type::ImplTrait(opaque) = ungrouped(ty) {
                errors.at(opaque.impl_token, "name the score's type: whether it is a bool or a number is part of the metric's spec");
            }
        }
    }
    for param in &sig.generics.params {
        bounds_name_no_lifetime(param, errors);
    }
}

fn bounds_name_no_lifetime(param: &GenericParam, errors: &mut Errors) {
    let GenericParam::Type(param) = param else {
        return;
    };
    let mut names = Lifetimes::default();
    for bound in &param.bounds {
        syn::visit::Visit::visit_type_param_bound(&mut names, bound);
    }
    if let Some(lifetime) = names.0.into_iter().find(|lifetime| lifetime.ident != "static") {
        errors.at(lifetime, "the metric's struct outlives every row, so a bound cannot name a row's lifetime: write `for<'a>` before it, or `DeserializeOwned` for `Deserialize<'a>`");
    }
}

#[derive(Default)]
struct Lifetimes(Vec<syn::Lifetime>);

impl<'ast> syn::visit::Visit<'ast> for Lifetimes {
    fn visit_trait_bound(&mut self, bound: &'ast syn::TraitBound) {
        if bound.lifetimes.is_none() {
            syn::visit::visit_trait_bound(self, bound);
        }
    }

    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        self.0.push(lifetime.clone());
    }
}

fn parameter_can_be_bound(param: &Param, errors: &mut Errors) {
    match &param.binding {
        Binding::Field(..) | Binding::Config(_) => {}
        _ => return,
    }
    if let Binding::Config(config) = &param.binding
        && let (Some(_), Some(default)) = (option_of(&param.ty), &config.default)
        && default.expr.is_none()
    {
        errors.at_span(default.span, "an `Option` is `None` by default: take `default` away");
    }
    reference_can_be_lent(option_of(&param.ty).unwrap_or(&param.ty), errors);
    if let (Form::Owned(Type::ImplTrait(opaque)) | Form::Ref(Type::ImplTrait(opaque)), _) =
        Form::of(&param.ty)
    {
        errors.at(
            opaque.impl_token,
            "name the type: a field is read as one type, known where the metric is written",
        );
    }
    if let (Form::Ref(Type::TraitObject(object)), _) = Form::of(&param.ty) {
        errors.at(object, "name a type: a field cannot be read as a trait object");
    }
}

fn reference_can_be_lent(ty: &Type, errors: &mut Errors) {
    let Type::Reference(reference) = ungrouped(ty) else {
        return;
    };
    if let Some(mutability) = &reference.mutability {
        errors.at(mutability, "a metric only looks at its rows: take `mut` away");
    }
    if let Some(lifetime) =
        reference.lifetime.as_ref().filter(|lifetime| lifetime.ident == "static")
    {
        errors.at(lifetime, "a row lives only as long as it is scored: take `'static` away");
    }
}

/// Whether a parameter's default is text where the struct owns a `String`.
pub(crate) fn is_text_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)))
}

/// Whether the type is `String` by its last segment.
pub(crate) fn is_string(ty: &Type) -> bool {
    super::bind::last_segment_is(ty, "String")
}

#[cfg(test)]
mod tests {
    use super::{cost_msats, literal};

    #[test]
    fn costs_are_whole_millisatoshis() {
        assert_eq!(cost_msats("100 msat"), Ok(100));
        assert_eq!(cost_msats("1_500msats"), Ok(1500));
        assert_eq!(cost_msats("2 sat"), Ok(2000));
        assert_eq!(cost_msats("0.25 sat"), Ok(250));
        for wrong in [
            "100",
            "1.5 msat",
            "0.0001 sat",
            "5 EUR",
            "msat",
            "-1 msat",
            "99999999999999999999 sat",
        ] {
            assert!(cost_msats(wrong).unwrap_err().contains("msat"), "{wrong}");
        }
    }

    #[test]
    fn written_out_numbers_have_values() {
        let value = |text| literal(&syn::parse_str(text).unwrap());
        assert_eq!(value("-0.5"), Some(-0.5));
        assert_eq!(value("(3)"), Some(3.0));
        assert_eq!(value("1e3f64"), Some(1000.0));
        assert_eq!(value("LIMIT"), None);
    }
}
