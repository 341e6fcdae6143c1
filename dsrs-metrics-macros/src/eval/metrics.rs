//! A metric in `metrics(..)`: the path of its function or struct, or an expression.

use proc_macro2::{Ident, Span};
use syn::parse::ParseStream;
use syn::{Error, Expr, Path};

use super::gate::spaced;
use crate::shared::list;
use crate::shared::meant;
use crate::shared::names::{self, name_struct};
use crate::shared::tokens::{as_written, ends};

/// A metric of an eval.
pub(super) struct MetricOfEval {
    pub(super) value: Value,
    /// The metric's struct, if the tokens name it.
    pub(super) ty: Option<Path>,
    pub(super) span: Span,
    /// The rows that the metric of `truth(..)` judges.
    pub(super) sample: Option<SampleOfEval>,
}

/// `rows = 100, by = f1`.
pub(super) struct SampleOfEval {
    pub(super) rows: Expr,
    pub(super) by: Option<Ident>,
}

pub(super) enum Value {
    /// The struct's default value.
    Default,
    Expression(Box<Expr>),
}

impl MetricOfEval {
    pub(super) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let found = list::to_comma(&input.fork())?;
        let wrong = |message: String| Error::new_spanned(&found, message);
        let written = spaced(&as_written(&found));
        let expression = match input.call(Expr::parse_without_eager_brace) {
            Ok(expression) if list::at_end(input) => expression,
            _ => {
                return Err(wrong(format!(
                    "expected the name of a metric, or an expression that returns one, found `{written}`; write `f1`, `F1` or `F1::default()`"
                )));
            }
        };
        let (span, _) = ends(&expression);
        match expression {
            Expr::Path(mut path) => {
                name_struct(&mut path.path);
                Ok(Self {
                    value: Value::Default,
                    ty: Some(path.path),
                    span,
                    sample: None,
                })
            }
            Expr::Assign(_) | Expr::Binary(_) | Expr::Lit(_) | Expr::Range(_) => {
                Err(wrong(format!(
                    "expected a metric, found `{written}`; write its name alone, and its bound in `gate(..)`"
                )))
            }
            Expr::Array(_)
            | Expr::Reference(_)
            | Expr::Tuple(_)
            | Expr::Closure(_)
            | Expr::Macro(_) => {
                let meant = meant::metrics(&found).unwrap_or_default();
                let meant: Vec<_> = meant
                    .iter()
                    .map(|metric| format!("`{}`", metric.name))
                    .collect();
                let write = match meant.is_empty() {
                    true => "write the name of its function or struct".to_owned(),
                    false => format!("write {}", meant.join(", ")),
                };
                Err(wrong(format!(
                    "expected a metric, found `{written}`; {write}"
                )))
            }
            Expr::Call(call) if call.args.iter().any(|it| matches!(it, Expr::Assign(_))) => {
                let name = names::upper_camel(&as_written(&call.func));
                Err(wrong(format!(
                    "parameters in parentheses are for components of `#[metric]`; write `{name}::default()` or `{name}::builder()..build()`, and set them there"
                )))
            }
            expression => {
                let ty = struct_of(&expression);
                Ok(Self {
                    value: Value::Expression(Box::new(expression)),
                    ty,
                    span,
                    sample: None,
                })
            }
        }
    }
}

/// Returns the struct of `F1::builder()..build()` and `F1::default()..`: the path before the associated function.
fn struct_of(expression: &Expr) -> Option<Path> {
    match expression {
        Expr::MethodCall(call) => struct_of(&call.receiver),
        Expr::Try(tried) => struct_of(&tried.expr),
        Expr::Paren(paren) => struct_of(&paren.expr),
        Expr::Group(group) => struct_of(&group.expr),
        Expr::Call(call) => {
            let Expr::Path(path) = &*call.func else {
                return None;
            };
            let mut path = path.path.clone();
            path.segments.pop();
            path.segments.pop_punct();
            let last = path.segments.last()?.ident.to_string();
            // A function in a module has no struct.
            last.starts_with(|first: char| first.is_uppercase())
                .then_some(path)
        }
        _ => None,
    }
}
