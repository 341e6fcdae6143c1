//! Weights, thresholds and bounds: a number, or a constant.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{BinOp, Error, Expr, Ident, Token};

use super::list;
use super::tokens::as_written;
use super::values::{literal, too_large};

/// Parses a number or a constant up to the next comma.
pub(crate) fn number(
    operator: &impl ToTokens,
    input: ParseStream<'_>,
    form: &str,
) -> syn::Result<Expr> {
    let found = list::to_comma(&input.fork())?;
    if found.is_empty() {
        let message = format!("missing number; write `{form}`");
        return Err(Error::new_spanned(operator, message));
    }
    let wrong = |found: &TokenStream| {
        let written = as_written(found);
        if let Some(meant) = meant(&written) {
            let before = form.rfind(' ').map_or("", |at| &form[..=at]);
            let message = format!("expected a number, found `{written}`; write `{before}{meant}`");
            return Error::new_spanned(found, message);
        }
        let is_number = written.parse::<f64>().is_ok();
        let message = match is_number {
            true => too_large(&written, form),
            false => format!("expected a number, found `{written}`; write `{form}`"),
        };
        Error::new_spanned(found, message)
    };
    let number = match input.call(Expr::parse_without_eager_brace) {
        Ok(number) if list::at_end(input) => number,
        // A comma is missing or is a semicolon, which the list reports.
        Ok(number @ Expr::Lit(_)) if input.peek(Ident::peek_any) || input.peek(Token![;]) => number,
        _ => return Err(wrong(&found)),
    };
    match &number {
        Expr::Binary(binary) if is_condition(&binary.op) => Err(Error::new_spanned(
            binary.op,
            format!(
                "expected one number, found a condition; write `{form}`, and a comma before the next component"
            ),
        )),
        Expr::Lit(_) if literal(&number).is_none() => Err(wrong(&found)),
        Expr::Assign(_) | Expr::Range(_) | Expr::Tuple(_) | Expr::Closure(_) => Err(wrong(&found)),
        _ => Ok(number),
    }
}

/// Returns the number in a percentage or in a string.
fn meant(written: &str) -> Option<String> {
    let finite = |text: &str| text.trim().parse::<f64>().ok().filter(|it| it.is_finite());
    let inside = written.trim_matches('"');
    match inside.strip_suffix('%') {
        Some(percent) => finite(percent).map(|percent| format!("{:?}", percent / 100.0)),
        None if inside.len() < written.len() => finite(inside).map(|_| inside.to_owned()),
        None => match written {
            "true" => Some("1.0".to_owned()),
            "false" => Some("0.0".to_owned()),
            _ => None,
        },
    }
}

fn is_condition(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::And(_)
            | BinOp::Or(_)
            | BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_)
    )
}

/// Returns `true` if a weight or threshold is a number literal.
pub(crate) fn is_literal(expr: &Expr) -> bool {
    literal(expr).is_some()
}

/// Returns `true` if an expression might be a number: a number literal, or anything but a literal.
pub(crate) fn may_be_a_number(expr: &Expr) -> bool {
    !matches!(expr, Expr::Lit(_)) || is_literal(expr)
}
