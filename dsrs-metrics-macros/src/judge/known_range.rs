//! The range that a score has by construction, derived from the outputs' ranges and the operations in its expression.

use proc_macro2::Literal;
use syn::{BinOp, Block, Expr, Lit, Stmt, UnOp};

use super::model::{Judge, is_bool};
use super::score::binds_output;
use crate::shared::values::{bounds, literal};

/// The minimum and maximum value.
type Range = (f64, f64);

const UNIT: Range = (0.0, 1.0);

/// Returns the range that a score has by construction, such as `0.0..=1.0` for `rescale(grade, 1..=5)`.
pub(super) fn known_range(judge: &Judge, score: &Expr) -> Option<Expr> {
    let (min, max) = range(judge, score).filter(|_| !binds_output(judge, score))?;
    let number = |value: f64| -> Expr {
        let literal = Literal::f64_unsuffixed(value.abs());
        if value < 0.0 {
            syn::parse_quote!(-#literal)
        } else {
            syn::parse_quote!(#literal)
        }
    };
    // Every operation is rounded monotonically, so no rounded score is outside.
    let is_range = min < max && min.is_finite() && max.is_finite();
    let (min, max) = is_range.then(|| (number(min), number(max)))?;
    Some(syn::parse_quote!(#min..=#max))
}

fn range(judge: &Judge, expr: &Expr) -> Option<Range> {
    let of = |expr: &Expr| range(judge, expr);
    match expr {
        Expr::Paren(inner) => of(&inner.expr),
        Expr::Group(inner) => of(&inner.expr),
        Expr::Lit(it) if !matches!(it.lit, Lit::Bool(_)) => literal(expr).map(|it| (it, it)),
        Expr::Path(path) => {
            let mut outputs = judge.answered();
            let output = outputs.find(|output| path.path.is_ident(&output.field.ident))?;
            match output.attr.range.as_ref().and_then(bounds) {
                Some((min, max)) => Some((literal(min)?, literal(max)?)),
                None => is_bool(&output.field.ty).then_some(UNIT),
            }
        }
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            of(&unary.expr).map(|(min, max)| (-max, -min))
        }
        Expr::Binary(binary) => operation(&binary.op, of(&binary.left)?, of(&binary.right)?),
        Expr::Call(call) => {
            let Expr::Path(function) = &*call.func else {
                return None;
            };
            let name = function.path.segments.last()?.ident.to_string();
            match (&*name, call.args.iter().collect::<Vec<_>>().as_slice()) {
                ("rescale" | "share", _) => Some(UNIT),
                ("from", [value]) => of(value),
                // Between both numbers, if neither is negative.
                ("harmonic_mean", [a, b]) => union([of(a), of(b)]).filter(|(min, _)| *min >= 0.0),
                _ => None,
            }
        }
        Expr::MethodCall(call) => {
            let of_receiver = || of(&call.receiver);
            let name = call.method.to_string();
            match (
                &*name,
                call.args
                    .iter()
                    .map(of)
                    .collect::<Option<Vec<_>>>()?
                    .as_slice(),
            ) {
                ("clamp", [min, max]) => Some((min.0, max.1)),
                ("min", [to]) => of_receiver().map(|it| (it.0.min(to.0), it.1.min(to.1))),
                ("max", [to]) => of_receiver().map(|it| (it.0.max(to.0), it.1.max(to.1))),
                _ => None,
            }
        }
        Expr::If(it) => {
            let (_, otherwise) = it.else_branch.as_ref()?;
            union([tail(&it.then_branch).and_then(of), of(otherwise)])
        }
        Expr::Match(it) => union(it.arms.iter().map(|arm| of(&arm.body))),
        Expr::Block(it) => tail(&it.block).and_then(of),
        _ => None,
    }
}

fn operation(op: &BinOp, a: Range, b: Range) -> Option<Range> {
    let of_ends = |apply: fn(f64, f64) -> f64| {
        let ends = [
            apply(a.0, b.0),
            apply(a.0, b.1),
            apply(a.1, b.0),
            apply(a.1, b.1),
        ];
        union(ends.map(|end| Some((end, end))))
    };
    match op {
        BinOp::Add(_) => of_ends(|a, b| a + b),
        BinOp::Sub(_) => of_ends(|a, b| a - b),
        BinOp::Mul(_) => of_ends(|a, b| a * b),
        BinOp::Div(_) if b.0 > 0.0 || b.1 < 0.0 => of_ends(|a, b| a / b),
        _ => None,
    }
}

/// Returns the smallest range that contains all of these, if all are known.
fn union(ranges: impl IntoIterator<Item = Option<Range>>) -> Option<Range> {
    let both = |a: Option<Range>, b: Option<Range>| {
        let (a, b) = (a?, b?);
        Some((a.0.min(b.0), a.1.max(b.1)))
    };
    ranges.into_iter().reduce(both)?
}

/// Returns the value of a block that is a single expression.
fn tail(block: &Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [Stmt::Expr(expr, None)] => Some(expr),
        _ => None,
    }
}
