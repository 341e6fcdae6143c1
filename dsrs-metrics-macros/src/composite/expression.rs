//! How metrics are put together, as written: components, combinations, weights and bounds.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{BinOp, Error, Expr, Ident, Path, Token, parenthesized, token};

use crate::errors::Errors;
use crate::list;
use crate::metric::literal;
use crate::names::{as_written, nearest, upper_camel};

const COMBINATIONS: [&str; 7] = ["weighted", "all", "any", "min", "max", "gate", "invert"];

pub(crate) fn is_combination(word: &str) -> bool {
    COMBINATIONS.contains(&word)
}

/// The combination that a word was meant to be.
pub(super) fn near_combination(word: &str) -> Option<&'static str> {
    nearest(word, &COMBINATIONS)
}

/// A component or a combination.
pub(super) enum Expression {
    Component(Component),
    Combination(Combination),
    Gate(Gate),
}

/// `entity_f1(similarity = 0.9)`.
pub(super) struct Component {
    /// As the user wrote it.
    pub(super) text: String,
    /// The path to the metric's struct.
    pub(super) ty: Path,
    pub(super) args: Vec<(Ident, Expr)>,
    /// The arguments as written, in parentheses, or nothing.
    pub(super) configured: String,
    pub(super) span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Weighted,
    All,
    Any,
    Min,
    Max,
    Invert,
}

/// `weighted(..)`, `all(..)` and their like.
pub(super) struct Combination {
    pub(super) kind: Kind,
    pub(super) word: Ident,
    pub(super) parts: Vec<Part>,
    /// Whether all parts could be read.
    pub(super) is_complete: bool,
}

/// `gate(proxy(..) >= 0.5, truth(..))`.
pub(super) struct Gate {
    pub(super) word: Ident,
    pub(super) proxies: Vec<Part>,
    pub(super) at_least: Expr,
    pub(super) truths: Vec<Part>,
}

/// A part of a combination.
pub(super) struct Part {
    pub(super) expression: Expression,
    pub(super) weight: Option<Expr>,
    pub(super) bound: Option<Expr>,
}

impl Expression {
    /// As it is called in messages.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Component(component) => component.text.clone(),
            Self::Combination(combination) => format!("{}(..)", combination.word),
            Self::Gate(_) => "gate(..)".to_owned(),
        }
    }

    /// The place that messages about it point at.
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Component(component) => component.span,
            Self::Combination(combination) => combination.word.span(),
            Self::Gate(gate) => gate.word.span(),
        }
    }

    pub(super) fn parse(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        if input.peek(syn::Lit) || input.peek(Token![-]) {
            return Err(number_first(input));
        }
        let word = input.fork().call(Ident::parse_any).map_err(|_| not_a_part(input))?;
        let ahead = input.fork();
        let _ = ahead.call(Ident::parse_any);
        let name = word.to_string();
        if is_combination(&name) && ahead.peek(token::Paren) {
            return Self::combination(input, errors);
        }
        if is_combination(&name) && !ahead.peek(Token![::]) {
            let message = format!("`{name}` puts metrics together: write `{}`", form(&name));
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
            _ => return Gate::parse(word, content, errors).map(Self::Gate),
        };
        if content.is_empty() {
            let form = form(&word.to_string());
            return Err(Error::new(word.span(), format!("`{word}` has no parts: write `{form}`")));
        }
        let (parts, is_complete) = parts(content, errors);
        Ok(Self::Combination(Combination { kind, word, parts, is_complete }))
    }
}

/// A combination as an example.
pub(super) fn form(word: &str) -> &'static str {
    match word {
        "weighted" => "weighted(first = 0.5, second = 0.5)",
        "all" => "all(first >= 0.9, second)",
        "any" => "any(first >= 0.9, second)",
        "min" => "min(first, second)",
        "max" => "max(first, second)",
        "invert" => "invert(metric)",
        _ => "gate(proxy(cheap) >= 0.5, truth(dear))",
    }
}

/// What stands in parentheses.
pub(super) fn content(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let content;
    parenthesized!(content in input);
    content.parse()
}

/// The parts that could be read, and whether that is all of them.
pub(super) fn parts(tokens: TokenStream, errors: &mut Errors) -> (Vec<Part>, bool) {
    let (mut parts, mut is_complete) = (Vec::new(), true);
    list::for_each(tokens, errors, |input, _, errors| match Part::parse(input, errors) {
        Ok(part) => {
            parts.push(part);
            Ok(())
        }
        Err(error) => {
            is_complete = false;
            Err(error)
        }
    });
    (parts, is_complete)
}

impl Part {
    fn parse(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let expression = Expression::parse(input, errors)?;
        let text = expression.text();
        let mut part = Self { expression, weight: None, bound: None };
        if input.peek(Token![>=]) {
            let operator = input.parse::<Token![>=]>()?;
            part.bound = Some(number(&operator, input, &format!("{text} >= 0.5"))?);
        } else if input.peek(Token![=]) && !input.peek(Token![==]) && !input.peek(Token![=>]) {
            let operator = input.parse::<Token![=]>()?;
            part.weight = Some(number(&operator, input, &format!("{text} = 0.5"))?);
        } else if !list::at_end(input) && !input.peek(Ident::peek_any) {
            return Err(wrong_operator(input, &text));
        }
        Ok(part)
    }
}

fn wrong_operator(input: ParseStream<'_>, text: &str) -> Error {
    let compared = [input.peek(Token![<=]), input.peek(Token![<]), input.peek(Token![>])];
    let equal = input.peek(Token![==]);
    if compared.contains(&true) || equal {
        let turned = if input.peek(Token![>]) || equal {
            String::new()
        } else {
            format!("; where less is better, `invert({text}) >= 0.5`")
        };
        return input
            .error(format!("a part passes from a value on: write `{text} >= 0.5`{turned}"));
    }
    if input.peek(Token![:]) || input.peek(Token![=>]) || input.peek(Token![*]) {
        return input.error(format!("a weight stands behind `=`: write `{text} = 0.5`"));
    }
    if input.peek(Token![!]) || input.peek(Token![.]) {
        return input.error(format!("components are named, not called: write `{text}`"));
    }
    input.error(format!(
        "write `,` behind `{text}`, or a weight or bound: `{text} = 0.5`, `{text} >= 0.5`"
    ))
}

/// A number, or a constant, up to the next comma.
pub(super) fn number(
    operator: &impl ToTokens,
    input: ParseStream<'_>,
    form: &str,
) -> syn::Result<Expr> {
    let found = list::to_comma(&input.fork())?;
    if found.is_empty() {
        let message = format!("a number is missing: write `{form}`");
        return Err(Error::new_spanned(operator, message));
    }
    let wrong = |found: &TokenStream| {
        let written = as_written(found);
        let is_number = written.parse::<f64>().is_ok();
        let message = match is_number {
            true => format!("`{written}` is too large for an `f64`: write `{form}`"),
            false => format!("a number stands here, not `{written}`: write `{form}`"),
        };
        Error::new_spanned(found, message)
    };
    let number = match input.call(Expr::parse_without_eager_brace) {
        Ok(number) if list::at_end(input) => number,
        _ => return Err(wrong(&found)),
    };
    match &number {
        Expr::Binary(binary) if is_condition(&binary.op) => Err(Error::new_spanned(
            binary.op,
            format!("one number stands here: write `{form}`, and a further part behind a comma"),
        )),
        Expr::Lit(_) if literal(&number).is_none() => Err(wrong(&found)),
        Expr::Assign(_) | Expr::Range(_) | Expr::Tuple(_) | Expr::Closure(_) => Err(wrong(&found)),
        _ => Ok(number),
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

fn number_first(input: ParseStream<'_>) -> Error {
    let found = list::to_comma(&input.fork()).map(as_written).unwrap_or_default();
    let message = match found.parse::<f64>() {
        Ok(_) => format!("a weight stands behind its metric: write `name = {found}`"),
        Err(_) => {
            format!("a metric stands here, by its function's or struct's name, not `{found}`")
        }
    };
    input.error(message)
}

fn not_a_part(input: ParseStream<'_>) -> Error {
    input.error("a metric stands here, by its function's or struct's name, or a combination such as `all(..)`")
}

impl Component {
    fn parse(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let path = Path::parse_mod_style(input).map_err(|_| not_a_part(input))?;
        let mut text = as_written(&path);
        let mut ty = path;
        let Some(last) = ty.segments.last_mut() else {
            return Err(not_a_part(input));
        };
        let span = last.ident.span();
        let name = last.ident.unraw().to_string();
        if name.starts_with(|first: char| first.is_lowercase() || first == '_') {
            last.ident = Ident::new(&struct_name(&name), span);
        }
        let (mut args, mut configured) = (Vec::new(), String::new());
        if input.peek(token::Paren) {
            let content = content(input)?;
            if content.is_empty() {
                let message = format!("`{text}` is named, not called: write `{text}` alone");
                return Err(Error::new(span, message));
            }
            configured = format!("({})", as_written(&content));
            args = arguments(&text, content, errors);
            text.push_str(&configured);
        }
        Ok(Self { text, ty, args, configured, span })
    }

    /// What tells it from another component.
    pub(super) fn key(&self) -> (String, &str) {
        (as_written(&self.ty), &self.configured)
    }
}

/// The struct that `#[metric]` writes for a function of this name.
fn struct_name(function: &str) -> String {
    let camel = upper_camel(function);
    if camel.starts_with(|first: char| first.is_ascii_digit()) || camel.is_empty() {
        format!("Metric{camel}")
    } else {
        camel
    }
}

fn arguments(text: &str, tokens: TokenStream, errors: &mut Errors) -> Vec<(Ident, Expr)> {
    let mut args = Vec::new();
    list::for_each(tokens, errors, |input, seen, errors| {
        let named = input.fork();
        let is_named = named.call(Ident::parse_any).is_ok()
            && named.peek(Token![=])
            && !named.peek(Token![==]);
        if !is_named {
            let found = list::to_comma(&input.fork())?;
            let written = as_written(&found);
            let message = format!("parameters are given by name: write `{text}(name = {written})`");
            return Err(Error::new_spanned(found, message));
        }
        let key = input.call(Ident::parse_any)?;
        input.parse::<Token![=]>()?;
        seen.note(&key, errors);
        let value = list::value(&key, input, Expr::parse, |found: &str| {
            if found.is_empty() {
                format!("`{key}` needs a value: write `{text}({key} = 0.9)`")
            } else {
                format!("`{found}` is no value for `{key}`: write `{text}({key} = 0.9)`")
            }
        })?;
        args.push((key, value));
        Ok(())
    });
    args
}
