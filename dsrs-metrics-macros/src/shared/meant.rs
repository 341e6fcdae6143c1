//! Finds the metric that was meant by an expression where only a metric's name is expected.

use proc_macro2::TokenStream;
use syn::{Expr, Lit, Member, Path, Stmt};

use super::tokens::{as_written, is_ident};

/// Calls that wrap a metric in something else.
const WRAPPERS: [&str; 6] = ["Box", "Arc", "Rc", "Some", "metric", "dyn_metric"];
/// Functions that create a metric, and a metric's other items.
const ITEMS: [&str; 6] = ["builder", "default", "new", "score", "evaluate", "SPEC"];
/// Methods that set no parameter.
const METHODS: [&str; 8] = [
    "build", "score", "evaluate", "clone", "boxed", "into", "unwrap", "as_ref",
];

/// A metric with its parameters.
pub(crate) struct Meant {
    pub(crate) name: String,
    /// The parameters and their values.
    pub(crate) args: Vec<(String, String)>,
}

impl Meant {
    /// Returns the metric as a component: `short(limit = 3)`.
    pub(crate) fn component(&self) -> String {
        if self.args.is_empty() {
            return self.name.clone();
        }
        let bounds = ["passes", "at_least", "threshold", "with_threshold"];
        if let [(key, value)] = &self.args[..]
            && bounds.contains(&&**key)
        {
            return format!("{} >= {value}", self.name);
        }
        let args = self
            .args
            .iter()
            .map(|(key, value)| format!("{key} = {value}"));
        format!("{}({})", self.name, args.collect::<Vec<_>>().join(", "))
    }
}

/// Returns the metrics that these tokens mean: `short` for `Box::new(short)`, both for `[short, tidy]`.
pub(crate) fn metrics(found: &TokenStream) -> Option<Vec<Meant>> {
    let expression = syn::parse2::<Expr>(found.clone()).ok()?;
    let list = match &expression {
        Expr::Array(array) => Some(array.elems.iter().cloned().collect()),
        Expr::Tuple(tuple) => Some(tuple.elems.iter().cloned().collect()),
        Expr::Reference(reference) => match &*reference.expr {
            Expr::Array(array) => Some(array.elems.iter().cloned().collect()),
            _ => None,
        },
        Expr::Macro(call) if call.mac.path.is_ident("vec") => {
            let items = super::list::items(call.mac.tokens.clone()).into_iter();
            items.map(|item| syn::parse2(item).ok()).collect()
        }
        _ => None,
    };
    let list: Vec<Expr> = list.unwrap_or_else(|| vec![expression]);
    let meant: Vec<Meant> = list.iter().map(metric).collect::<Option<_>>()?;
    (!meant.is_empty()).then_some(meant)
}

fn metric(expression: &Expr) -> Option<Meant> {
    match expression {
        Expr::Path(path) => named(&path.path),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) if is_ident(&text.value()) => Some(Meant {
                name: text.value(),
                args: Vec::new(),
            }),
            _ => None,
        },
        Expr::Reference(inner) => metric(&inner.expr),
        Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => metric(&inner.expr),
        Expr::Try(inner) => metric(&inner.expr),
        Expr::Paren(inner) => metric(&inner.expr),
        Expr::Group(inner) => metric(&inner.expr),
        Expr::Cast(inner) => metric(&inner.expr),
        Expr::Await(inner) => metric(&inner.base),
        Expr::Closure(closure) => metric(&closure.body),
        Expr::Block(block) => match &block.block.stmts[..] {
            [Stmt::Expr(inner, None)] => metric(inner),
            _ => None,
        },
        Expr::Macro(call) => named(&call.mac.path),
        Expr::Call(call) => {
            let Expr::Path(function) = &*call.func else {
                return None;
            };
            let first = function.path.segments.first()?.ident.to_string();
            match call.args.first() {
                Some(inner) if WRAPPERS.contains(&&*first) => metric(inner),
                _ => named(&function.path),
            }
        }
        Expr::MethodCall(call) => {
            let mut meant = metric(&call.receiver)?;
            let method = call.method.to_string();
            if let (false, Some(value)) = (METHODS.contains(&&*method), call.args.first()) {
                meant.args.push((method, as_written(value)));
            }
            Some(meant)
        }
        Expr::Struct(literal) => {
            let mut meant = named(&literal.path)?;
            for field in &literal.fields {
                if let Member::Named(name) = &field.member {
                    meant.args.push((name.to_string(), as_written(&field.expr)));
                }
            }
            Some(meant)
        }
        _ => None,
    }
}

/// Returns the metric that this path names, or whose item it names.
fn named(path: &Path) -> Option<Meant> {
    let mut path = path.clone();
    let last = path.segments.last()?.ident.to_string();
    if path.segments.len() > 1 && ITEMS.contains(&&*last) {
        path.segments.pop();
        path.segments.pop_punct();
    }
    Some(Meant {
        name: as_written(&path),
        args: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Meant, metrics};

    #[test]
    fn the_metric_in_an_expression_is_found() {
        for (found, expected) in [
            ("Box::new(short)", "short"),
            ("\"short\"", "short"),
            ("&Short::default()", "Short"),
            ("Short::builder().limit(3).build()", "Short(limit = 3)"),
            ("short.limit(3)", "short(limit = 3)"),
            ("short { limit: 3 }", "short(limit = 3)"),
            ("vec![short, tidy]", "short, tidy"),
            ("|gold, pred| short(gold, pred)", "short"),
            ("short as f64", "short"),
        ] {
            let meant = metrics(&found.parse().unwrap()).expect(found);
            let meant: Vec<_> = meant.iter().map(Meant::component).collect();
            assert_eq!(meant.join(", "), expected);
        }
        assert!(metrics(&"short > 0.5".parse().unwrap()).is_none());
    }
}
