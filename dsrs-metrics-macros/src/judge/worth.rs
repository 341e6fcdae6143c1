//! Scores that compile and are never what was meant: a fraction that whole numbers drop, and a constant.

use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit};

use super::check::is_whole_number;
use super::model::{Judge, Output, Score};
use crate::errors::Errors;
use crate::names::as_written;

pub(super) fn worth_makes_sense(judge: &Judge, errors: &mut Errors) {
    let Some(Score { expr, .. }) = &judge.score else {
        return;
    };
    if let (Expr::Lit(literal), Some(first)) = (expr, judge.outputs.first())
        && !matches!(literal.lit, Lit::Str(_))
    {
        let name = first.field.name();
        errors.at(literal, format!("the score is the same whatever the judge answers: write an expression over the outputs, as in `score = {name}`"));
    }
    Divisions { outputs: &judge.outputs, errors }.visit_expr(expr);
}

/// A 4 on a scale to 5 is 0.8, and `4 / 5` is 0.
struct Divisions<'a> {
    outputs: &'a [Output],
    errors: &'a mut Errors,
}

impl Divisions<'_> {
    /// Whether an expression is plainly a whole number, and which output stands in it.
    fn whole(&self, expr: &Expr) -> Option<Option<String>> {
        match expr {
            Expr::Paren(inner) => self.whole(&inner.expr),
            Expr::Lit(literal) => matches!(&literal.lit, Lit::Int(_)).then_some(None),
            Expr::Path(path) => {
                let is_named = |output: &&Output| path.path.is_ident(&output.field.ident);
                let output = self.outputs.iter().find(is_named)?;
                is_whole_number(&output.field.ty).then(|| Some(output.field.name()))
            }
            Expr::Binary(binary) if is_arithmetic(&binary.op) => {
                let (left, right) = (self.whole(&binary.left)?, self.whole(&binary.right)?);
                Some(left.or(right))
            }
            _ => None,
        }
    }
}

fn is_arithmetic(op: &BinOp) -> bool {
    matches!(op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_))
}

impl<'ast> Visit<'ast> for Divisions<'_> {
    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let (left, right) = (self.whole(&binary.left), self.whole(&binary.right));
        if let (BinOp::Div(_), Some(left), Some(right)) = (&binary.op, left, right)
            && let Some(name) = left.or(right)
        {
            let written = as_written(binary);
            self.errors.at(binary, format!("`{written}` divides whole numbers, which drops the fraction: make `{name}` an `f64`, or write `f64::from({name})` and numbers like `4.0`"));
            return;
        }
        visit::visit_expr_binary(self, binary);
    }
}
