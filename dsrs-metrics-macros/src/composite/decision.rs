//! Decision trees: parses nodes and branches, and reports mistakes that the tokens show.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Expr, Ident, LitStr, Path, Token, UnOp, braced, token};

use super::component::not_a_part;
use super::expression::{Branch, Component, Decision, Expression, Part, Target, is_yes_or_no};
use super::parse::form;
use crate::shared::combinators::is_combinator;
use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::number::number;
use crate::shared::tokens::as_written;
use crate::shared::values::{literal, too_large};

impl Decision {
    /// Parses the content of `tree(..)`.
    pub(super) fn parse_tree(
        word: &Ident,
        content: TokenStream,
        errors: &mut Errors,
    ) -> syn::Result<Self> {
        if content.is_empty() {
            let message = format!("`tree` has no nodes; write `{}`", form("tree"));
            return Err(Error::new(word.span(), message));
        }
        let parse = |input: ParseStream<'_>| {
            let mut root = Self::parse_root(input, errors)?;
            (root.span, root.is_root) = (word.span(), true);
            input.parse::<Option<Token![,]>>()?;
            if !input.is_empty() {
                let message = format!(
                    "`tree` allows only one root; write this in a branch of `{}`, or as a tree of its own",
                    root.node().map(|node| &*node.text).unwrap_or_default()
                );
                return Err(input.error(message));
            }
            Ok(root)
        };
        parse.parse2(content)
    }

    fn parse_root(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let word = input
            .fork()
            .call(Ident::parse_any)
            .map_err(|_| not_a_part(input))?;
        let ahead = input.fork();
        ahead.call(Ident::parse_any)?;
        if is_combinator(&word.to_string()) && ahead.peek(token::Paren) {
            let message = format!(
                "expected a metric as the node, found `{word}(..)`; turn it into a composite, `#[metric({word}(..))] struct Name;`, and write its name here"
            );
            return Err(Error::new(word.span(), message));
        }
        let node = Component::parse(input, errors)?;
        if !input.peek(token::Brace) {
            let text = &node.text;
            let message = format!(
                "missing branches for `{text}`; write `{text} {{ yes => 1.0, no => 0.0 }}`"
            );
            return Err(Error::new(node.span, message));
        }
        Self::parse_branches(node, input, errors)
    }

    fn parse_branches(
        node: Component,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) -> syn::Result<Self> {
        let content;
        braced!(content in input);
        let content: TokenStream = content.parse()?;
        if content.is_empty() {
            let text = &node.text;
            let message =
                format!("`{text}` has no branches; write `{text} {{ yes => 1.0, no => 0.0 }}`");
            return Err(Error::new(node.span, message));
        }
        let span = node.span;
        let parts = vec![part(Expression::Component(node))];
        let mut decision = Self {
            parts,
            branches: Vec::new(),
            is_complete: true,
            is_root: false,
            span,
        };
        list::for_each(content, errors, |input, _, errors| {
            let parsed = decision.parse_branch(input, errors);
            decision.is_complete &= parsed.is_ok();
            parsed
        });
        Ok(decision)
    }

    fn parse_branch(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        let mut answers = Vec::new();
        loop {
            answers.push(answer(input)?);
            if input.parse::<Option<Token![|]>>()?.is_none() {
                break;
            }
        }
        let text = answers
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" | ");
        if !input.peek(Token![=>]) {
            return Err(input.error(format!(
                "expected `=>` after `{text}`; write `{text} => 0.5`"
            )));
        }
        let arrow = input.parse::<Token![=>]>()?;
        if is_number(input) || list::at_end(input) {
            let score = number(&arrow, input, &format!("{text} => 0.5"))?;
            let score = match score {
                // In a constant, the parentheses are unnecessary, which rustc would report.
                Expr::Paren(inside) => *inside.expr,
                score => score,
            };
            self.branches.push(Branch {
                answers,
                to: Target::Score(score),
            });
            return Ok(());
        }
        self.branches.push(Branch {
            answers,
            to: Target::Part(self.parts.len()),
        });
        let to = target(input, errors).inspect_err(|_| {
            self.branches.pop();
        })?;
        self.parts.push(part(to));
        Ok(())
    }
}

fn part(expression: Expression) -> Part {
    Part {
        expression,
        weight: None,
        threshold: None,
    }
}

/// Parses an answer: `yes`, `no`, or the name of a variant.
fn answer(input: ParseStream<'_>) -> syn::Result<Ident> {
    if input.peek(Token![_]) {
        return Err(input.error(
            "expected an answer, found `_`; write every answer, such as `yes => 1.0` or `Partly | Wrong => 0.0`, because a wildcard would also score answers added later",
        ));
    }
    let expected = "expected an answer: `yes`, `no`, or a variant of the enum that the judge answers with; write `yes => 1.0`";
    let ahead = input.fork();
    if input.peek(LitStr) {
        let text: LitStr = ahead.parse()?;
        let rest = list::to_comma(&ahead).map(as_written).unwrap_or_default();
        let (found, rest) = (
            text.value(),
            rest.trim_start_matches("=>").trim().to_owned(),
        );
        let message = format!(
            "expected an answer without quotes, found {found:?}; write `{found} => {rest}`"
        );
        return Err(Error::new(text.span(), message));
    }
    let word = ahead
        .call(Ident::parse_any)
        .map_err(|_| input.error(expected))?;
    if ahead.peek(Token![::]) {
        let path = input.call(Path::parse_mod_style)?;
        let (written, last) = (as_written(&path), path.segments.last().map(|it| &it.ident));
        let last = last.unwrap_or(&word);
        let message = format!("expected the variant alone, found `{written}`; write `{last}`");
        return Err(Error::new_spanned(path, message));
    }
    let is_bool = match word.to_string().as_str() {
        "true" => "yes",
        "false" => "no",
        _ => return input.call(Ident::parse_any),
    };
    let message = format!("expected `yes` or `no`, found `{word}`; write `{is_bool}`");
    Err(Error::new(word.span(), message))
}

/// Returns `true` if a number follows: a literal, a constant of `f64`, or a constant in parentheses. Any other name is
/// a metric.
fn is_number(input: ParseStream<'_>) -> bool {
    let of_float = input
        .fork()
        .call(Ident::parse_any)
        .is_ok_and(|it| it == "f64" || it == "f32");
    of_float || input.peek(syn::Lit) || input.peek(Token![-]) || input.peek(token::Paren)
}

/// Parses a metric, a combination, or a node with its branches.
fn target(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Expression> {
    let word = input
        .fork()
        .call(Ident::parse_any)
        .map_err(|_| not_a_part(input))?;
    let name = word.to_string();
    if is_combinator(&name) {
        return Expression::parse(input, errors);
    }
    let metric = Component::parse(input, errors)?;
    let text = &metric.text;
    let last = text.rsplit("::").next().unwrap_or(text);
    if last.contains('_') && !last.contains(char::is_lowercase) {
        let message = format!(
            "expected the name of a metric, found the constant `{text}`; write `({text})` for its value"
        );
        return Err(Error::new(metric.span, message));
    }
    if input.peek(token::Brace) {
        return Decision::parse_branches(metric, input, errors).map(Expression::Decision);
    }
    if input.peek(Token![>=]) || input.peek(Token![=]) {
        let message =
            format!("the score of `{text}` is the score of this path; write `{text}` alone");
        return Err(input.error(message));
    }
    if input.peek(Token![-])
        || input.peek(Token![+])
        || input.peek(Token![*])
        || input.peek(Token![/])
    {
        let rest = list::to_comma(&input.fork())?;
        let message = format!(
            "unexpected `{rest}` after the metric `{text}`; write `({text} {rest})` for a computed number"
        );
        return Err(Error::new_spanned(rest, message));
    }
    Ok(Expression::Component(metric))
}

/// Reports branches that cannot be the answers of one component.
pub(super) fn check(decision: &Decision, errors: &mut Errors) {
    let text = decision.node().map(|node| &*node.text).unwrap_or_default();
    let mut seen = BTreeSet::new();
    for answer in decision.answers() {
        if !seen.insert(answer.to_string()) {
            errors.at(
                answer,
                format!("duplicate branch `{answer}` of `{text}`; write it once"),
            );
        }
    }
    if decision.is_yes_or_no() {
        check_yes_or_no(decision, text, errors);
    }
    for Branch { answers, to } in &decision.branches {
        if let (Target::Score(Expr::Unary(score)), Some(answer)) = (to, answers.first())
            && matches!((score.op, &*score.expr), (UnOp::Neg(_), Expr::Lit(_)))
            && literal(&Expr::Unary(score.clone())).is_none()
        {
            errors.at(
                score,
                too_large(&as_written(score), &format!("{answer} => -0.5")),
            );
        }
    }
}

fn check_yes_or_no(decision: &Decision, text: &str, errors: &mut Errors) {
    let own = decision.answers().find(|answer| is_yes_or_no(answer));
    if let (Some(own), Some(other)) = (own, decision.answers().find(|answer| !is_yes_or_no(answer)))
    {
        errors.at(other, format!("`{own}` and `{other}` cannot both be branches of `{text}`; write `yes` and `no` for a metric that returns a `bool`, or the variants of the enum that a judge answers with"));
        return;
    }
    let span: Span = decision.node().map_or(decision.span, |node| node.span);
    for (answer, example) in [("yes", "1.0"), ("no", "0.0")] {
        if decision.is_complete && !decision.answers().any(|given| given == answer) {
            errors.at_span(
                span,
                format!("missing branch `{answer}` for `{text}`; write `{answer} => {example}`"),
            );
        }
    }
}
