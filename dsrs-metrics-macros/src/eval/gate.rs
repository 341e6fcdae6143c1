//! The gates of `gate(..)`.
//!
//! The file is long because each form of a gate is parsed and checked here.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Expr, LitInt, LitStr, Token, parenthesized, token};

use crate::shared::list;
use crate::shared::names::{lower_snake, nearest};
use crate::shared::number::number;
use crate::shared::tokens::{as_written, ends};

/// A gate as written.
pub(super) struct Gate {
    pub(super) text: String,
    pub(super) ends: (Span, Span),
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Estimate,
    Lower,
    Upper,
}

/// The operator `>=` or `<=`.
#[derive(Clone, Copy)]
pub(super) struct Operator {
    pub(super) is_at_least: bool,
    pub(super) span: Span,
}

/// A share or a time that a gate limits from above.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Limited {
    Failed,
    Abstained,
    Latency,
}

pub(super) enum Kind {
    Score {
        metric: Ident,
        end: End,
        operator: Operator,
        bound: Expr,
    },
    Limited {
        what: Limited,
        word: Ident,
        operator: Operator,
        bound: Expr,
    },
    PassedAt {
        metric: Option<Ident>,
        k: LitInt,
        operator: Operator,
        bound: Expr,
    },
    NoWorse {
        metric: Ident,
        by: Expr,
    },
    Better {
        metric: Ident,
    },
    Each {
        field: LitStr,
        gate: Box<Gate>,
    },
}

const METHODS: [&str; 3] = ["no_worse", "better", "passed_at"];

impl Gate {
    pub(super) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let found = list::to_comma(&input.fork())?;
        let (text, ends) = (spaced(&as_written(&found)), ends(&found));
        Ok(Self {
            kind: Kind::parse(input, &found)?,
            text,
            ends,
        })
    }

    /// Returns the metric that the gate names.
    pub(super) fn metric(&self) -> Option<&Ident> {
        match &self.kind {
            Kind::Score { metric, .. } | Kind::NoWorse { metric, .. } | Kind::Better { metric } => {
                Some(metric)
            }
            Kind::PassedAt { metric, .. } => metric.as_ref(),
            Kind::Limited { .. } => None,
            Kind::Each { gate, .. } => gate.metric(),
        }
    }
}

/// Returns a gate as it is usually written, with spaces around its operator and none around a dot.
pub(super) fn spaced(text: &str) -> String {
    let operator = |text: String, operator: &str| {
        let sides: Vec<&str> = text.split(operator).map(str::trim).collect();
        sides.join(&format!(" {operator} "))
    };
    operator(operator(text.replace(". ", "."), ">="), "<=")
}

impl Kind {
    fn parse(input: ParseStream<'_>, found: &TokenStream) -> syn::Result<Self> {
        if input.peek(syn::Lit) || input.peek(Token![-]) {
            return Err(turned(found));
        }
        let word = input.call(Ident::parse_any).map_err(|_| {
            let written = as_written(found);
            Error::new_spanned(
                found,
                format!("expected the name of a metric, found `{written}`; write a gate such as `f1 >= 0.8`"),
            )
        })?;
        let name = word.to_string();
        if input.peek(token::Paren) {
            return Self::function(&word, input);
        }
        if input.peek(Token![::]) {
            let rest = as_written(list::to_comma(input)?);
            let (metric, bound) = (
                lower_snake(&name),
                rest.rsplit_once('=').map(|(_, bound)| bound.trim()),
            );
            let bound = bound.filter(|bound| !bound.is_empty()).unwrap_or("0.8");
            let message = format!(
                "expected the name of a metric in `metrics(..)`, found a path; write `{metric} >= {bound}`"
            );
            return Err(Error::new(word.span(), message));
        }
        if input.peek(Token![.]) {
            input.parse::<Token![.]>()?;
            return Self::method(word, input);
        }
        let what = match name.as_str() {
            "failed" => Limited::Failed,
            "abstained" => Limited::Abstained,
            "latency" => Limited::Latency,
            _ => {
                let (operator, bound) = compared(input, word.span(), &name)?;
                return Ok(Self::Score {
                    metric: word,
                    end: End::Estimate,
                    operator,
                    bound,
                });
            }
        };
        let (operator, bound) = compared(input, word.span(), &name)?;
        Ok(Self::Limited {
            what,
            word,
            operator,
            bound,
        })
    }

    /// Parses `lower(f1) >= 0.8`, `passed_at(3) >= 0.9` or `each("topic", f1 >= 0.7)`.
    fn function(word: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let content;
        parenthesized!(content in input);
        let content: TokenStream = content.parse()?;
        match word.to_string().as_str() {
            function @ ("lower" | "upper") => {
                let metric = syn::parse2::<Ident>(content.clone()).map_err(|_| {
                    let form = format!("{function}(f1) >= 0.8");
                    Error::new(
                        word.span(),
                        format!(
                            "expected the name of one metric in `{function}(..)`; write `{form}`"
                        ),
                    )
                })?;
                let (operator, bound) =
                    compared(input, word.span(), &format!("{function}({metric})"))?;
                let end = if function == "lower" {
                    End::Lower
                } else {
                    End::Upper
                };
                Ok(Self::Score {
                    metric,
                    end,
                    operator,
                    bound,
                })
            }
            "passed_at" => Self::passed_at(None, word, content, input),
            "each" => {
                let parser = |inside: ParseStream<'_>| {
                    let field = inside.parse::<LitStr>().map_err(|_| each(word.span()))?;
                    inside.parse::<Token![,]>().map_err(|_| each(word.span()))?;
                    let gate = Gate::parse(inside)?;
                    inside.parse::<Option<Token![,]>>()?;
                    if !inside.is_empty() {
                        return Err(inside.error("expected one gate in `each(..)`; write another `each(..)` for the other gate"));
                    }
                    Ok(Self::Each {
                        field,
                        gate: Box::new(gate),
                    })
                };
                parser.parse2(content)
            }
            function => Err(Error::new(
                word.span(),
                match nearest(function, &["lower", "upper", "each", "passed_at"]) {
                    None if estimate(function, &content, input).is_some() => {
                        let meant = estimate(function, &content, input).unwrap_or_default();
                        format!("unknown gate `{function}(..)`; write `{meant}`")
                    }
                    Some(near) => {
                        format!("unknown gate `{function}(..)`; did you mean `{near}(..)`?")
                    }
                    None => format!(
                        "unknown gate `{function}(..)`; write `lower(metric)`, `upper(metric)`, `passed_at(k)`, `each(\"field\", ..)`, or the name of a metric alone"
                    ),
                },
            )),
        }
    }

    /// Parses `em.no_worse(by = 0.02)`, `em.better()` or `em.passed_at(3) >= 0.9`.
    fn method(metric: Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let method = input.call(Ident::parse_any)?;
        let name = method.to_string();
        if let Some(meant) = estimate(&name, &metric.clone().into_token_stream(), input)
            && !METHODS.contains(&&*name)
        {
            let message = format!("unknown gate `{metric}.{name}`; write `{meant}`");
            return Err(Error::new(method.span(), message));
        }
        if !METHODS.contains(&&*name) {
            let write = nearest(&name, &METHODS).unwrap_or("no_worse");
            let form = form(write);
            return Err(Error::new(
                method.span(),
                format!("unknown gate `{metric}.{name}`; write `{metric}.{form}`"),
            ));
        }
        if !input.peek(token::Paren) {
            let form = form(&name);
            return Err(Error::new(
                method.span(),
                format!("missing arguments; write `{metric}.{form}`"),
            ));
        }
        let content;
        parenthesized!(content in input);
        let content: TokenStream = content.parse()?;
        match name.as_str() {
            "passed_at" => Self::passed_at(Some(metric), &method, content, input),
            "better" if content.is_empty() => Ok(Self::Better { metric }),
            "better" => Err(Error::new_spanned(
                &content,
                format!(
                    "`better()` takes no margin; write `{metric}.better()`, or `{metric}.no_worse({})`",
                    as_written(&content)
                ),
            )),
            _ => {
                let wrong = || {
                    let found = as_written(&content);
                    let by = if found.is_empty() || found.contains('=') {
                        "0.02".to_owned()
                    } else {
                        found
                    };
                    let message =
                        format!("expected the margin; write `{metric}.no_worse(by = {by})`");
                    match content.is_empty() {
                        true => Error::new(method.span(), message),
                        false => Error::new_spanned(&content, message),
                    }
                };
                let parser = |inside: ParseStream<'_>| {
                    let by = inside.call(Ident::parse_any)?;
                    let equals = inside.parse::<Token![=]>()?;
                    if by != "by" {
                        return Err(wrong());
                    }
                    number(&equals, inside, "by = 0.02")
                };
                let by = parser.parse2(content.clone());
                let has_by = content
                    .clone()
                    .into_iter()
                    .next()
                    .is_some_and(|first| first.to_string() == "by");
                match by {
                    Ok(by) => Ok(Self::NoWorse { metric, by }),
                    Err(error) if has_by => Err(error),
                    Err(_) => Err(wrong()),
                }
            }
        }
    }

    fn passed_at(
        metric: Option<Ident>,
        word: &Ident,
        content: TokenStream,
        input: ParseStream<'_>,
    ) -> syn::Result<Self> {
        let k = syn::parse2::<LitInt>(content).map_err(|_| {
            Error::new(
                word.span(),
                "expected the number of attempts; write `passed_at(3) >= 0.9`",
            )
        })?;
        let (operator, bound) = compared(input, word.span(), &format!("passed_at({k})"))?;
        Ok(Self::PassedAt {
            metric,
            k,
            operator,
            bound,
        })
    }
}

/// Returns the intended gate if the mean or an end of the interval has another name.
fn estimate(word: &str, metric: &TokenStream, input: ParseStream<'_>) -> Option<String> {
    let rest = as_written(list::to_comma(&input.fork()).ok()?);
    let bound = rest.trim_start_matches(['(', ')', '<', '>', '=', ' ']);
    let bound = if bound.is_empty() { "0.8" } else { bound };
    let metric = as_written(metric);
    match word {
        "lower" | "lower_bound" | "min" | "ci_low" | "low" => {
            Some(format!("lower({metric}) >= {bound}"))
        }
        "upper" | "upper_bound" | "max" | "ci_high" | "high" => {
            Some(format!("upper({metric}) <= {bound}"))
        }
        "mean" | "avg" | "average" | "score" | "value" | "estimate" => {
            Some(format!("{metric} >= {bound}"))
        }
        _ => None,
    }
}

fn form(method: &str) -> &'static str {
    match method {
        "better" => "better()",
        "passed_at" => "passed_at(3) >= 0.9",
        _ => "no_worse(by = 0.02)",
    }
}

fn each(span: Span) -> Error {
    Error::new(
        span,
        "expected a field and a gate; write `each(\"topic\", f1 >= 0.7)`",
    )
}

/// Returns the error for a gate that begins with its bound.
fn turned(found: &TokenStream) -> Error {
    let written = spaced(&as_written(found));
    let operators = [("<=", ">="), (">=", "<="), ("<", ">="), (">", "<=")];
    let turned = operators.iter().find_map(|(operator, turned)| {
        let (bound, metric) = written.split_once(operator)?;
        Some(format!("{} {turned} {}", metric.trim(), bound.trim()))
    });
    let write = turned.unwrap_or_else(|| format!("f1 >= {written}"));
    Error::new_spanned(
        found,
        format!("expected the name of a metric first, found `{written}`; write `{write}`"),
    )
}

/// Parses the operator and the bound after `text`.
fn compared(input: ParseStream<'_>, span: Span, text: &str) -> syn::Result<(Operator, Expr)> {
    let found = list::to_comma(&input.fork())?;
    let (start, _) = ends(&found);
    let rest = as_written(&found);
    let bound = rest
        .trim_start_matches(['>', '<', '=', '!', ':', ' '])
        .to_owned();
    let bound = if bound.is_empty() {
        "0.8".to_owned()
    } else {
        bound
    };
    let wrong = |operator: &str| {
        let message = format!("expected `>=` or `<=`; write `{text} {operator} {bound}`");
        Error::new(if found.is_empty() { span } else { start }, message)
    };
    let is_at_least = input.peek(Token![>=]);
    if !is_at_least && !input.peek(Token![<=]) {
        return Err(wrong(if input.peek(Token![<]) { "<=" } else { ">=" }));
    }
    let form = format!("{text} {} 0.8", if is_at_least { ">=" } else { "<=" });
    let (span, bound) = if is_at_least {
        let operator = input.parse::<Token![>=]>()?;
        (
            operator.spans[0],
            percent(input).unwrap_or_else(|| number(&operator, input, &form))?,
        )
    } else {
        let operator = input.parse::<Token![<=]>()?;
        (
            operator.spans[0],
            percent(input).unwrap_or_else(|| number(&operator, input, &form))?,
        )
    };
    Ok((Operator { is_at_least, span }, bound))
}

/// Returns the error for a bound in percent.
fn percent(input: ParseStream<'_>) -> Option<syn::Result<Expr>> {
    let found = list::to_comma(&input.fork()).ok()?;
    let written = as_written(&found);
    let number: f64 = written.strip_suffix('%')?.trim().parse().ok()?;
    let message = format!(
        "expected a bound in the metric's range, found a percentage; write `{}`",
        number / 100.0
    );
    Some(Err(Error::new_spanned(found, message)))
}
