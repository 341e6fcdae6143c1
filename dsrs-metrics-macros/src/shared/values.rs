//! Values inside attributes: numbers, ranges, thresholds, tiers, costs and strings.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Lit, LitStr, RangeLimits, UnOp};

use super::amount;
use super::errors::Errors;
use super::tokens::{as_written, ends};

pub(crate) fn check_tier(tier: &Ident, errors: &mut Errors) {
    if tier == "proxy" || tier == "truth" {
        return;
    }
    let message = match tier.to_string().to_lowercase().as_str() {
        meant @ ("proxy" | "truth") => {
            format!("expected a tier in lower case, found `{tier}`; write `tier = {meant}`")
        }
        _ => format!(
            "expected `proxy` (cheap, runs first) or `truth` (expensive, runs if the proxies pass), found `{tier}`"
        ),
    };
    errors.at(tier, message);
}

pub(crate) fn check_version(version: &LitStr, errors: &mut Errors) {
    if version.value().is_empty() {
        errors.at(version, "empty version; write `version = \"2\"`");
    }
}

/// Parses `"100 msat"` or `"0.01 usd"`, the value of `key`, into millisatoshis. Uses the default dollar rate, because a
/// rate is a setting of a run.
pub(crate) fn cost_msats(key: &str, text: &str) -> Result<u64, String> {
    amount::parse(text, amount::MSATS_PER_USD)
        .map_err(|error| format!("{error}; write `{key} = \"{}\"`", error.example()))
}

pub(crate) fn check_range(range: &Expr, errors: &mut Errors) {
    let Some((start, end)) = bounds(range) else {
        return errors.at(range, range_message(range));
    };
    if let (Some(min), Some(max)) = (literal(start), literal(end)) {
        if min > max {
            let (min, max) = (as_written(end), as_written(start));
            errors.at(range, format!("empty range, because the minimum exceeds the maximum; write `range = {min}..={max}`"));
        } else if min == max {
            errors.at(range, format!("the range contains only {min:?}; write the lowest and the highest score, such as `range = 0.0..=1.0`"));
        }
    }
    for end in [start, end] {
        check_number(end, "range = 0.0..=1.0", errors);
    }
}

/// Returns the range of numbers that was meant: `0..=1` for `0..1`, `0 - 1` or `0 to 1`.
pub(crate) fn meant_range(text: &str) -> Option<String> {
    let separators = ["..=", "...", "..", " to ", " - ", "-", ","];
    separators.iter().find_map(|separator| {
        let (low, high) = text.split_once(separator)?;
        let ends = [low, high].map(|end| end.trim().trim_matches(['(', ')', '[', ']']).to_owned());
        let is_number = |end: &String| end.parse::<f64>().is_ok_and(f64::is_finite);
        ends.iter()
            .all(is_number)
            .then(|| format!("{}..={}", ends[0], ends[1]))
    })
}

fn range_message(range: &Expr) -> String {
    let found = as_written(range);
    let inside = text(range).map_or_else(|| found.clone(), LitStr::value);
    if let Some(meant) = meant_range(&inside) {
        return format!("expected an inclusive range, found `{found}`; write `range = {meant}`");
    }
    if let Expr::Call(call) = range
        && let [start, end] = &call.args.iter().map(as_written).collect::<Vec<_>>()[..]
    {
        return format!(
            "expected an inclusive range, found `{found}`; write `range = {start}..={end}`"
        );
    }
    let ends = match range {
        Expr::Range(range) => (range.start.as_deref(), range.end.as_deref()),
        Expr::Tuple(tuple) if tuple.elems.len() == 2 => (tuple.elems.first(), tuple.elems.last()),
        Expr::Array(array) if array.elems.len() == 2 => (array.elems.first(), array.elems.last()),
        _ => (None, None),
    };
    match ends {
        (Some(start), Some(end)) => {
            let (start, end) = (as_written(start), as_written(end));
            format!("expected an inclusive range, found `{found}`; write `range = {start}..={end}`")
        }
        _ => {
            format!("expected a range with two bounds, found `{found}`; write `range = 0.0..=1.0`")
        }
    }
}

/// Returns the bounds in `a..=b`.
pub(crate) fn bounds(range: &Expr) -> Option<(&Expr, &Expr)> {
    match range {
        Expr::Range(range) if matches!(range.limits, RangeLimits::Closed(_)) => {
            Some((range.start.as_deref()?, range.end.as_deref()?))
        }
        _ => None,
    }
}

/// Reports a literal that is not a finite number. `form` is an example of the whole item.
fn check_number(expr: &Expr, form: &str, errors: &mut Errors) {
    let Expr::Lit(value) = expr else {
        return;
    };
    let found = as_written(expr);
    match &value.lit {
        Lit::Float(_) | Lit::Int(_) if literal(expr).is_some() => {}
        Lit::Float(_) | Lit::Int(_) => errors.at(expr, too_large(&found, form)),
        _ => errors.at(
            expr,
            format!("expected a number, found `{found}`; write `{form}`"),
        ),
    }
}

/// Returns the message for a number that overflows an `f64`.
pub(crate) fn too_large(found: &str, form: &str) -> String {
    format!("`{found}` is out of range for an `f64`; write `{form}`")
}

/// Returns the value of a finite number literal.
pub(crate) fn literal(expr: &Expr) -> Option<f64> {
    let value: f64 = match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Float(number) => number.base10_parse().ok()?,
            Lit::Int(number) => number.base10_parse().ok()?,
            _ => return None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => -literal(&unary.expr)?,
        Expr::Paren(paren) => literal(&paren.expr)?,
        Expr::Group(group) => literal(&group.expr)?,
        _ => return None,
    };
    value.is_finite().then_some(value)
}

pub(crate) fn check_threshold(threshold: &Expr, errors: &mut Errors) {
    check_number(threshold, &form("threshold", threshold, "0.5"), errors);
}

/// Returns `key = N`, with the number inside the string literal if there is one.
pub(crate) fn form(key: &str, value: &Expr, example: &str) -> String {
    let number = text(value).map(LitStr::value);
    let number = number.filter(|text| text.parse::<f64>().is_ok_and(f64::is_finite));
    format!("{key} = {}", number.as_deref().unwrap_or(example))
}

/// Returns a number literal as an `f64`, so `threshold = 1` is accepted like `1.0`. Returns any other expression with a
/// type check.
pub(crate) fn number(expr: &Expr) -> TokenStream {
    let Some(value) = literal(expr) else {
        let (start, _) = ends(expr);
        return quote_spanned!(start=> { let number: ::core::primitive::f64 = #expr; number });
    };
    let mut number = Literal::f64_unsuffixed(value.abs());
    number.set_span(expr.span());
    if value.is_sign_negative() {
        quote_spanned!(expr.span()=> -#number)
    } else {
        quote!(#number)
    }
}

/// Returns the score in `missing = 0.0` or `missing = false` as an `f64`.
pub(crate) fn score(expr: &Expr) -> TokenStream {
    match boolean(expr) {
        Some(value) => {
            let mut number = Literal::f64_unsuffixed(f64::from(u8::from(value)));
            number.set_span(expr.span());
            quote!(#number)
        }
        None => number(expr),
    }
}

/// Returns the value of `true` or `false`.
fn boolean(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Bool(value) => Some(value.value()),
            _ => None,
        },
        Expr::Group(group) => boolean(&group.expr),
        Expr::Paren(paren) => boolean(&paren.expr),
        _ => None,
    }
}

/// Checks the score in `missing = 0.0`: a number in the range, or a `bool`. rustc checks constants.
pub(crate) fn check_score(key: &str, expr: &Expr, range: Option<&Expr>, errors: &mut Errors) {
    if boolean(expr).is_some() {
        return;
    }
    check_number(expr, &form(key, expr, "0.0"), errors);
    let bounds = range.and_then(bounds);
    let ends = bounds.and_then(|(min, max)| Some((literal(min)?, literal(max)?)));
    if let (Some(value), Some((min, max))) = (literal(expr), ends)
        && min <= max
        && !(min..=max).contains(&value)
    {
        errors.at(expr, format!("the score `{key} = {value:?}` is outside the range {min:?}..={max:?}; write a score within it"));
    }
}

/// Returns a string literal, even inside the invisible groups that macros add.
pub(crate) fn text(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text),
            _ => None,
        },
        Expr::Group(group) => text(&group.expr),
        Expr::Paren(paren) => text(&paren.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn written_out_numbers_have_values() {
        let value = |text| literal(&syn::parse_str(text).unwrap());
        assert_eq!(value("-0.5"), Some(-0.5));
        assert_eq!(value("(3)"), Some(3.0));
        assert_eq!(value("1e3f64"), Some(1000.0));
        assert_eq!((value("LIMIT"), value("1e999")), (None, None));
    }
}
