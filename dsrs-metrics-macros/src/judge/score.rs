//! The score expression of a judge. Reports constants, integer divisions and unknown outputs, and adds overflow checks
//! to integer arithmetic.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, Lit, LitStr};

use super::field::Source;
use super::model::{Input, Judge, Output, Score, output_named};
use crate::shared::errors::Errors;
use crate::shared::names;
use crate::shared::tokens::as_written;
use crate::shared::types::{integer_name, is_integer};
use crate::shared::values;

pub(super) fn check_expression(judge: &Judge, errors: &mut Errors) {
    let Some(Score { expr, .. }) = &judge.score else {
        return;
    };
    if let (Expr::Closure(closure), Some(first)) = (expr, judge.outputs.first()) {
        let name = first.field.name();
        errors.at(
            closure,
            format!(
                "expected an expression over the outputs, found a closure; write `score = {name}`"
            ),
        );
        return;
    }
    if let (Expr::Lit(literal), Some(first)) = (expr, judge.outputs.first())
        && !matches!(literal.lit, Lit::Str(_))
    {
        let name = first.field.name();
        errors.at(literal, format!("the score is a constant; write an expression over the outputs, such as `score = {name}`"));
    }
    Divisions {
        outputs: &judge.outputs,
        errors,
    }
    .visit_expr(expr);
    Comparisons {
        outputs: &judge.outputs,
        errors,
    }
    .visit_expr(expr);
    check_names(judge, expr, errors);
}

/// Reports strings that an output with labels is compared with but that are not among its labels.
struct Comparisons<'a> {
    outputs: &'a [Output],
    errors: &'a mut Errors,
}

impl Comparisons<'_> {
    /// Returns the labelled output that an expression is, or borrows.
    fn labelled(&self, expr: &Expr) -> Option<&Output> {
        match expr {
            Expr::MethodCall(call) if call.method == "as_str" => self.labelled(&call.receiver),
            Expr::Reference(reference) => self.labelled(&reference.expr),
            Expr::Unary(unary) => self.labelled(&unary.expr),
            Expr::Paren(paren) => self.labelled(&paren.expr),
            Expr::Index(index) => self.labelled(&index.expr),
            expr => output_named(self.outputs, expr).filter(|output| output.attr.labels.is_some()),
        }
    }

    fn check(&mut self, output: &Expr, text: &LitStr) {
        let Some(output) = self.labelled(output) else {
            return;
        };
        let labels = output.attr.labels.iter().flat_map(|labels| &labels.texts);
        let labels: Vec<String> = labels.map(LitStr::value).collect();
        let (found, name) = (text.value(), output.field.name());
        if labels.contains(&found) {
            return;
        }
        let known: Vec<&str> = labels.iter().map(String::as_str).collect();
        let write = match names::nearest(&found, &known) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("write one of {labels:?}").replace(['[', ']'], ""),
        };
        let message = format!("{found:?} is not a label of the output `{name}`; {write}");
        self.errors.at(text, message);
    }
}

impl<'ast> Visit<'ast> for Comparisons<'_> {
    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_)) {
            for (output, text) in [(&binary.left, &binary.right), (&binary.right, &binary.left)] {
                if let Some(text) = values::text(text) {
                    self.check(output, text);
                }
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_match(&mut self, matched: &'ast syn::ExprMatch) {
        for arm in &matched.arms {
            let mut texts = Texts::default();
            texts.visit_pat(&arm.pat);
            for text in &texts.0 {
                self.check(&matched.expr, text);
            }
        }
        visit::visit_expr_match(self, matched);
    }
}

/// The strings in a pattern.
#[derive(Default)]
struct Texts(Vec<LitStr>);

impl<'ast> Visit<'ast> for Texts {
    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        self.0.push(text.clone());
    }
}

/// Reports values that are neither outputs nor parameters of the judge.
fn check_names(judge: &Judge, expr: &Expr, errors: &mut Errors) {
    let mut bound = Bound::default();
    bound.visit_expr(expr);
    if !bound.has_items {
        Values {
            judge,
            bound: bound.names,
            errors,
        }
        .visit_expr(expr);
    }
}

/// Returns `true` if a name in the expression might refer to a different value than the output with this name.
pub(super) fn binds_output(judge: &Judge, expr: &Expr) -> bool {
    let mut bound = Bound::default();
    bound.visit_expr(expr);
    let is_output = |name: &Ident| judge.answered().any(|output| output.field.ident == *name);
    bound.has_items || bound.names.iter().any(is_output)
}

/// The names bound by patterns in an expression.
#[derive(Default)]
struct Bound {
    names: Vec<Ident>,
    has_items: bool,
}

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.names.push(pattern.ident.clone());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {
        self.has_items = true;
    }
}

/// Reports lower-case names of values that neither the judge nor the expression declares. rustc resolves functions,
/// including those passed to methods such as `map`, names in macros, and names with a path.
struct Values<'a> {
    judge: &'a Judge,
    bound: Vec<Ident>,
    errors: &'a mut Errors,
}

impl Values<'_> {
    fn check(&mut self, name: &Ident) {
        let text = name.unraw().to_string();
        let is_value = text.starts_with(|first: char| first.is_lowercase()) && text != "self";
        let Judge {
            inputs, outputs, ..
        } = self.judge;
        let is_param = |input: &Input| input.attr.source == Some(Source::Param);
        let is_known = self.bound.contains(name)
            || self
                .judge
                .answered()
                .any(|output| output.field.ident == *name)
            || inputs
                .iter()
                .any(|input| is_param(input) && input.field.ident == *name);
        if !is_value || is_known || outputs.is_empty() {
            return;
        }
        let known: Vec<_> = self
            .judge
            .answered()
            .map(|output| output.field.name())
            .collect();
        let is_input = inputs.iter().any(|input| input.field.ident == *name);
        let nearest = names::nearest(&text, &known.iter().map(String::as_str).collect::<Vec<_>>());
        let list = format!("`{}`", known.join("`, `"));
        self.errors.at(name, match (is_input, nearest) {
            (true, _) => format!("`{text}` is an input, but the score is computed from the outputs; write an expression over {list}"),
            (false, Some(near)) => format!("unknown output `{text}`; did you mean `{near}`?"),
            (false, None) => format!("unknown output `{text}`; write an expression over {list}, or `self::{text}` for a constant"),
        });
    }
}

impl<'ast> Visit<'ast> for Values<'_> {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let (None, Some(name)) = (&path.qself, path.path.get_ident()) {
            self.check(name);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if !matches!(&*call.func, Expr::Path(_)) {
            self.visit_expr(&call.func);
        }
        call.args
            .iter()
            .for_each(|argument| self.visit_expr(argument));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.visit_expr(&call.receiver);
        let is_path = |argument: &&Expr| matches!(argument, Expr::Path(_));
        call.args
            .iter()
            .filter(|it| !is_path(it))
            .for_each(|argument| self.visit_expr(argument));
    }
}

/// Reports divisions of integers: 4 out of 5 is 0.8, but `4 / 5` is 0.
struct Divisions<'a> {
    outputs: &'a [Output],
    errors: &'a mut Errors,
}

impl Divisions<'_> {
    /// For an expression that is certainly an integer, returns the first output in it.
    fn integer(&self, expr: &Expr) -> Option<Option<String>> {
        match expr {
            Expr::Paren(inner) => self.integer(&inner.expr),
            Expr::Lit(literal) => matches!(&literal.lit, Lit::Int(_)).then_some(None),
            Expr::Path(path) => {
                let is_named = |output: &&Output| path.path.is_ident(&output.field.ident);
                let output = self.outputs.iter().find(is_named)?;
                is_integer(&output.field.ty).then(|| Some(output.field.name()))
            }
            Expr::Binary(binary) if is_arithmetic(&binary.op) => {
                let (left, right) = (self.integer(&binary.left)?, self.integer(&binary.right)?);
                Some(left.or(right))
            }
            _ => None,
        }
    }
}

fn is_arithmetic(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_)
    )
}

impl<'ast> Visit<'ast> for Divisions<'_> {
    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let (left, right) = (self.integer(&binary.left), self.integer(&binary.right));
        if let (BinOp::Div(_), Some(left), Some(right)) = (&binary.op, left, right)
            && let Some(name) = left.or(right)
        {
            let written = as_written(binary);
            self.errors.at(binary, format!("the integer division `{written}` drops the fraction; make `{name}` an `f64`, or write `f64::from({name})` and numbers such as `4.0`"));
            return;
        }
        visit::visit_expr_binary(self, binary);
    }
}

/// Returns the score expression with integer operations replaced by checked ones, which record an
/// overflow in `overflow`.
pub(super) fn checked(judge: &Judge, expr: &Expr, runtime: &TokenStream, overflow: &Ident) -> Expr {
    let mut expr = expr.clone();
    Checked {
        judge,
        runtime,
        overflow,
    }
    .visit_expr_mut(&mut expr);
    expr
}

struct Checked<'a> {
    judge: &'a Judge,
    runtime: &'a TokenStream,
    overflow: &'a Ident,
}

/// The integer type of an expression, if known. A literal can have any type.
#[derive(Clone, PartialEq)]
enum Integer {
    Any,
    Of(String),
}

impl Checked<'_> {
    /// Returns the type of an expression that is certainly an integer.
    fn integer(&self, expr: &Expr) -> Option<Integer> {
        match expr {
            Expr::Paren(inner) => self.integer(&inner.expr),
            Expr::Group(inner) => self.integer(&inner.expr),
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(int) if int.suffix().is_empty() => Some(Integer::Any),
                Lit::Int(int) => Some(Integer::Of(int.suffix().to_owned())),
                _ => None,
            },
            Expr::Path(path) => integer_type(self.type_of(path.path.get_ident()?)?),
            Expr::Cast(cast) => integer_type(&cast.ty),
            Expr::MethodCall(call) if call.args.is_empty() => {
                let counts = ["len", "count"].iter().any(|name| call.method == name);
                counts.then(|| Integer::Of("usize".to_owned()))
            }
            Expr::Binary(binary) if method(&binary.op).is_some() => {
                match (self.integer(&binary.left)?, self.integer(&binary.right)?) {
                    (Integer::Any, other) | (other, Integer::Any) => Some(other),
                    (left, right) => (left == right).then_some(left),
                }
            }
            _ => None,
        }
    }

    /// Returns the type of an output or parameter.
    fn type_of(&self, name: &Ident) -> Option<&syn::Type> {
        let outputs = self.judge.answered().map(|output| &output.field);
        let params = self
            .judge
            .inputs
            .iter()
            .filter(|it| it.attr.source == Some(Source::Param));
        let mut fields = outputs.chain(params.map(|input| &input.field));
        fields
            .find(|field| field.ident == *name)
            .map(|field| &field.ty)
    }
}

fn integer_type(ty: &syn::Type) -> Option<Integer> {
    integer_name(ty).map(|name| Integer::Of(name.to_owned()))
}

fn method(op: &BinOp) -> Option<&'static str> {
    match op {
        BinOp::Add(_) => Some("add"),
        BinOp::Sub(_) => Some("sub"),
        BinOp::Mul(_) => Some("mul"),
        BinOp::Rem(_) => Some("rem"),
        _ => None,
    }
}

impl VisitMut for Checked<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_integer = matches!(self.integer(expr), Some(Integer::Of(_)));
        let written = as_written(&*expr);
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Binary(binary) = &*expr
            && let (true, Some(method)) = (is_integer, method(&binary.op))
        {
            let Self {
                runtime, overflow, ..
            } = self;
            let (left, right) = (&binary.left, &binary.right);
            let method = format_ident!("{method}", span = overflow.span());
            let span = overflow.span();
            let call = quote_spanned!(span=> #runtime::judge::CheckedInteger::#method(#left, #right, #overflow, #written));
            *expr = Expr::Verbatim(call);
        }
    }
}
