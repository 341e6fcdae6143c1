//! Parses the expression of a composite: components, combinations and gates. Decision trees are in `decision.rs`.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{Error, Expr, Ident, Token, token};

use super::component::{content, not_a_part};
use super::expression::{Combination, Component, Decision, Expression, Gate, Kind, Part};
use crate::shared::combinators::is_combinator;
use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::meant::{self, Meant};
use crate::shared::number::number;
use crate::shared::tokens::as_written;

impl Expression {
    pub(super) fn parse(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        if input.peek(syn::Lit) || input.peek(Token![-]) {
            return Err(number_first(input));
        }
        let word = input
            .fork()
            .call(Ident::parse_any)
            .map_err(|_| not_a_part(input))?;
        let ahead = input.fork();
        let _ = ahead.call(Ident::parse_any);
        let name = word.to_string();
        if is_combinator(&name) && ahead.peek(token::Paren) {
            return Self::combination(input, errors);
        }
        if is_combinator(&name) && !ahead.peek(Token![::]) {
            let message = format!(
                "expected the components of `{name}`; write `{}`",
                form(&name)
            );
            return Err(Error::new(word.span(), message));
        }
        Component::parse(input, errors).map(Self::Component)
    }

    fn combination(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let word = input.call(Ident::parse_any)?;
        let content = content(input)?;
        let kind = match word.to_string().as_str() {
            "weighted" => Kind::Weighted,
            "all" => Kind::All,
            "any" => Kind::Any,
            "min" => Kind::Min,
            "max" => Kind::Max,
            "invert" => Kind::Invert,
            "tree" => return Decision::parse_tree(&word, content, errors).map(Self::Decision),
            _ => return Gate::parse(word, content, errors).map(Self::Gate),
        };
        if content.is_empty() {
            let form = form(&word.to_string());
            return Err(Error::new(
                word.span(),
                format!("`{word}` has no components; write `{form}`"),
            ));
        }
        let (parts, is_complete) = parts(content, errors);
        Ok(Self::Combination(Combination {
            kind,
            word,
            parts,
            is_complete,
        }))
    }
}

/// Returns an example of a combinator.
pub(super) fn form(word: &str) -> &'static str {
    match word {
        "weighted" => "weighted(first = 0.5, second = 0.5)",
        "all" => "all(first >= 0.9, second)",
        "any" => "any(first >= 0.9, second)",
        "min" => "min(first, second)",
        "max" => "max(first, second)",
        "invert" => "invert(metric)",
        "tree" => "tree(metric { yes => 1.0, no => 0.0 })",
        _ => "gate(proxy(cheap) >= 0.5, truth(expensive))",
    }
}

/// Parses parts. Returns the valid ones, and `true` if all are valid.
pub(super) fn parts(tokens: TokenStream, errors: &mut Errors) -> (Vec<Part>, bool) {
    let (mut parts, mut is_complete) = (Vec::new(), true);
    list::for_each(tokens, errors, |input, _, errors| {
        match Part::parse(input, errors) {
            Ok(part) => {
                parts.push(part);
                Ok(())
            }
            Err(error) => {
                is_complete = false;
                Err(error)
            }
        }
    });
    (parts, is_complete)
}

impl Part {
    fn parse(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        if input.peek(Token![|]) {
            return Err(closure(input)?);
        }
        let found = list::to_comma(&input.fork())?;
        if let Some(message) = pair(&found) {
            list::to_comma(input)?;
            return Err(Error::new_spanned(found, message));
        }
        Self::parse_plain(input, errors).map_err(|error| match meant::metrics(&found) {
            Some(meant) => {
                let meant: Vec<_> = meant.iter().map(Meant::component).collect();
                let (found_text, meant) = (as_written(&found), meant.join(", "));
                let _ = list::to_comma(input);
                Error::new_spanned(
                    found,
                    format!("expected the name of a metric, found `{found_text}`; write `{meant}`"),
                )
            }
            None => error,
        })
    }

    fn parse_plain(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let expression = Expression::parse(input, errors)?;
        let text = expression.text();
        let mut part = Self {
            expression,
            weight: None,
            threshold: None,
        };
        if input.peek(Token![>=]) {
            let operator = input.parse::<Token![>=]>()?;
            part.threshold = Some(number(&operator, input, &format!("{text} >= 0.5"))?);
        } else if input.peek(Token![=]) && !input.peek(Token![==]) && !input.peek(Token![=>]) {
            let operator = input.parse::<Token![=]>()?;
            part.weight = Some(number(&operator, input, &format!("{text} = 0.5"))?);
        } else if input.peek(Token![as]) || !list::at_end(input) && !input.peek(Ident::peek_any) {
            return Err(wrong_operator(input, &text));
        }
        Ok(part)
    }
}

/// Returns the error for a closure, and skips the rest, because a comma may be in its parameters.
fn closure(input: ParseStream<'_>) -> syn::Result<Error> {
    let ahead = input.fork();
    let found = match ahead.parse::<syn::ExprClosure>() {
        Ok(closure) => {
            input.advance_to(&ahead);
            closure.into_token_stream()
        }
        Err(_) => input.parse()?,
    };
    let meant = meant::metrics(&found);
    let write = match meant.as_deref() {
        Some([metric]) => format!("write `{}`", metric.component()),
        _ => "turn it into a function with `#[metric]`, and write its name here".to_owned(),
    };
    let message = format!("expected the name of a metric, found a closure; {write}");
    Ok(Error::new_spanned(found, message))
}

/// Returns the message for `(short, 0.5)`, a component with its weight.
fn pair(found: &TokenStream) -> Option<String> {
    let tuple = syn::parse2::<syn::ExprTuple>(found.clone()).ok()?;
    let (one, other) = (tuple.elems.first()?, tuple.elems.last()?);
    let is_number = |expr: &Expr| matches!(expr, Expr::Lit(_));
    let (name, weight) = match (is_number(one), is_number(other)) {
        (false, true) => (one, other),
        (true, false) => (other, one),
        _ => return None,
    };
    let (found, name, weight) = (as_written(found), as_written(name), as_written(weight));
    Some(format!(
        "expected a component and its weight, found `{found}`; write `{name} = {weight}`"
    ))
}

/// Returns the number after a wrong operator, or 0.5.
fn bound_after(input: ParseStream<'_>) -> String {
    let found = list::to_comma(&input.fork())
        .map(as_written)
        .unwrap_or_default();
    let rest = found.trim_start_matches(['<', '>', '=', ':', '*', ' ']);
    let (number, is_percent) = match rest.strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (rest, false),
    };
    match number.parse::<f64>() {
        Ok(value) if is_percent => format!("{:?}", value / 100.0),
        Ok(value) if value.is_finite() => number.to_owned(),
        _ => "0.5".to_owned(),
    }
}

fn wrong_operator(input: ParseStream<'_>, text: &str) -> Error {
    let number = bound_after(input);
    let compared = [
        input.peek(Token![<=]),
        input.peek(Token![<]),
        input.peek(Token![>]),
    ];
    let equal = input.peek(Token![==]);
    if compared.contains(&true) || equal {
        let turned = if input.peek(Token![>]) || equal {
            String::new()
        } else {
            format!("; if lower is better, write `invert({text}) >= {number}`")
        };
        return input.error(format!(
            "expected a pass threshold with `>=`; write `{text} >= {number}`{turned}"
        ));
    }
    if input.peek(Token![:]) || input.peek(Token![=>]) || input.peek(Token![*]) {
        return input.error(format!(
            "expected `=` before a weight, or `>=` before a threshold; write `{text} = {number}` or `{text} >= {number}`"
        ));
    }
    if input.peek(Token![!]) || input.peek(Token![.]) {
        return input.error(format!(
            "expected the name of a metric alone; write `{text}`"
        ));
    }
    input.error(format!(
        "expected `,`, a weight or a threshold after `{text}`; write `{text} = 0.5` or `{text} >= 0.5`"
    ))
}

fn number_first(input: ParseStream<'_>) -> Error {
    let found = list::to_comma(&input.fork())
        .map(as_written)
        .unwrap_or_default();
    let turned = ["<=", "<"]
        .iter()
        .find_map(|operator| found.split_once(operator));
    if let Some((bound, name)) = turned {
        let (bound, name) = (bound.trim(), name.trim());
        return input.error(format!(
            "expected the name of a metric before its threshold, found `{found}`; write `{name} >= {bound}`"
        ));
    }
    let message = match found.parse::<f64>() {
        Ok(_) => format!("expected the name of a metric before its weight; write `name = {found}`"),
        Err(_) => {
            format!("expected the name of a metric's function or struct, found `{found}`")
        }
    };
    input.error(message)
}

/// The valid halves of a gate, `proxy(..) >= 0.5` and `truth(..)`.
#[derive(Default)]
struct Halves {
    proxies: Option<(Vec<Part>, Option<Expr>)>,
    truths: Option<Vec<Part>>,
    broken: bool,
}

impl Gate {
    pub(super) fn parse(
        word: Ident,
        content: TokenStream,
        errors: &mut Errors,
    ) -> syn::Result<Self> {
        let mut halves = Halves::default();
        list::for_each(content, errors, |input, found_keys, errors| {
            let read = halves.half(input, found_keys, errors);
            halves.broken |= read.is_err();
            read
        });
        let at = |message: &str| Error::new(word.span(), message);
        let incomplete = match &halves {
            Halves { broken: true, .. } => None,
            Halves { proxies: None, .. } => Some(
                "missing proxies in the gate; write `gate(proxy(cheap) >= 0.5, truth(expensive))`",
            ),
            Halves { truths: None, .. } => Some(
                "missing `truth(..)` in `gate`; write `gate(proxy(cheap) >= 0.5, truth(expensive))`",
            ),
            _ => None,
        };
        if let Some(message) = incomplete {
            return Err(at(message));
        }
        let (proxies, threshold) = halves.proxies.unwrap_or_default();
        let truths = halves.truths.unwrap_or_default();
        let threshold = threshold.unwrap_or_else(|| syn::parse_quote!(0.5));
        Ok(Self {
            word,
            proxies,
            threshold,
            truths,
        })
    }
}

impl Halves {
    fn half(
        &mut self,
        input: ParseStream<'_>,
        found_keys: &mut list::FoundKeys,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let expects = "expected `proxy(..)` or `truth(..)`; write `gate(proxy(cheap) >= 0.5, truth(expensive))`";
        let word = input
            .call(Ident::parse_any)
            .map_err(|_| input.error(expects))?;
        let is_proxy = match word.to_string().as_str() {
            "proxy" | "proxies" => true,
            "truth" | "truths" => false,
            _ => return Err(Error::new(word.span(), expects)),
        };
        let right = if is_proxy { "proxy" } else { "truth" };
        if word != right || !input.peek(token::Paren) {
            return Err(Error::new(
                word.span(),
                format!("expected `{right}(..)`, found `{word}`; write `{right}(..)`"),
            ));
        }
        found_keys.add(&word, errors);
        let content = content(input)?;
        if content.is_empty() {
            let message = format!("`{word}` has no components; write `{word}(name)`");
            return Err(Error::new(word.span(), message));
        }
        let written = as_written(&content);
        let (parts, _) = parts(content, errors);
        if !is_proxy {
            self.truths = Some(parts);
            return self.reject_threshold(input);
        }
        if !input.peek(Token![>=]) {
            let message =
                format!("missing threshold for the proxies; write `proxy({written}) >= 0.5`");
            return Err(Error::new(word.span(), message));
        }
        let operator = input.parse::<Token![>=]>()?;
        self.proxies = Some((parts, Some(number(&operator, input, "proxy(..) >= 0.5")?)));
        Ok(())
    }

    fn reject_threshold(&self, input: ParseStream<'_>) -> syn::Result<()> {
        if list::at_end(input) || input.peek(Ident::peek_any) {
            return Ok(());
        }
        Err(input.error(
            "unexpected threshold after `truth(..)`; write `threshold = 0.5` after the gate",
        ))
    }
}
