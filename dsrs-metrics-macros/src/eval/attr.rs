//! The contents of `#[eval(..)]`.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Error, Expr, LitBool, LitInt, LitStr, Token, Type, parenthesized, token};

use super::gate::Gate;
use super::metrics::{MetricOfEval, SampleOfEval};
use crate::shared::attrs::{self, Argument, Attribute, Key, Kind};
use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::settings::Settings;
use crate::shared::tokens::as_written;

/// A key with an optional string.
pub(super) struct Named {
    pub(super) name: Option<LitStr>,
}

/// `early`, or `early(alpha = 0.01)`.
pub(super) struct Early {
    pub(super) alpha: Option<Expr>,
}

/// `key(..)`, with its valid items.
pub(super) struct List<T> {
    pub(super) key: Ident,
    pub(super) items: Vec<T>,
}

/// `#[eval(..)]` as written.
#[derive(Default)]
pub(super) struct EvalAttrs {
    pub(super) settings: Settings,
    pub(super) devset: Option<Expr>,
    pub(super) inputs: Option<List<Ident>>,
    pub(super) metrics: Option<List<MetricOfEval>>,
    pub(super) truth: Option<MetricOfEval>,
    pub(super) gates: Option<List<Gate>>,
    pub(super) repeats: Option<LitInt>,
    pub(super) concurrency: Option<LitInt>,
    pub(super) seed: Option<LitInt>,
    pub(super) limit: Option<Expr>,
    pub(super) failure_score: Option<Expr>,
    pub(super) group: Option<LitStr>,
    pub(super) timeout: Option<LitStr>,
    pub(super) flavor: Option<LitStr>,
    pub(super) replay: Option<LitStr>,
    pub(super) baseline: Option<Named>,
    pub(super) live: Option<Named>,
    pub(super) baseline_rows: Option<Span>,
    pub(super) rescore: Option<Span>,
    pub(super) strict: Option<Span>,
    pub(super) early: Option<Early>,
    pub(super) store: Option<Span>,
}

impl AsMut<Settings> for EvalAttrs {
    fn as_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }
}

impl EvalAttrs {
    pub(super) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        let mut attrs: Self = attrs::parse(args, errors);
        if let Some(metrics) = &mut attrs.metrics {
            metrics.items.extend(attrs.truth.take());
        }
        attrs
    }

    /// Returns the type of typed gold rows.
    pub(super) fn gold(&self) -> Option<&Type> {
        self.settings.gold.as_ref()
    }

    /// Returns `true` if a value was written for this key, even one that could not be parsed.
    pub(super) fn has(&self, key: &str) -> bool {
        self.settings.is_unreadable(key)
    }
}

/// Parses `key` or `key = ".."`.
fn named(argument: &Argument<'_>, into: &mut Option<Named>) -> syn::Result<()> {
    let mut name = None;
    if argument.input.peek(Token![=]) && argument.input.peek2(LitBool) {
        return argument.flag(&mut None);
    }
    if argument.input.peek(Token![=]) {
        argument.value(&mut name)?;
    } else if argument.input.peek(token::Paren) {
        return argument.flag(&mut None);
    }
    *into = Some(Named { name });
    Ok(())
}

/// Parses `early` or `early(alpha = 0.01)`.
fn early(argument: &Argument<'_>, into: &mut Option<Early>) -> syn::Result<()> {
    let mut alpha = None;
    if argument.input.peek(token::Paren) {
        let content;
        parenthesized!(content in argument.input);
        let name: Ident = content.call(Ident::parse_any)?;
        if name != "alpha" {
            // The rest needs no message of its own.
            content.parse::<TokenStream>()?;
            let message = format!("unknown key `{name}` in `early`; write `{EARLY}`");
            return Err(Error::new_spanned(name, message));
        }
        content.parse::<Token![=]>()?;
        alpha = Some(content.parse()?);
        content.parse::<Option<Token![,]>>()?;
        if !content.is_empty() {
            return Err(content.error(format!("expected one number; write `{EARLY}`")));
        }
    } else if argument.input.peek(Token![=]) {
        let value = list::to_comma(argument.input)?;
        return Err(Error::new_spanned(
            value,
            format!("expected `early(..)`; write `{EARLY}`"),
        ));
    }
    *into = Some(Early { alpha });
    Ok(())
}

/// Parses `truth(polite, rows = 100, by = f1)`.
fn truth(argument: &Argument<'_>, into: &mut Option<MetricOfEval>) -> syn::Result<()> {
    if !argument.input.peek(token::Paren) {
        let message = format!("expected `truth(..)`; write `{TRUTH}`");
        let found = list::to_comma(argument.input)?;
        return Err(match found.is_empty() {
            true => Error::new_spanned(argument.key, message),
            false => Error::new_spanned(found, message),
        });
    }
    let content;
    parenthesized!(content in argument.input);
    let metric = sampled_metric(argument.key, &content);
    if metric.is_err() {
        // The rest needs no message of its own.
        content.parse::<TokenStream>()?;
    }
    *into = Some(metric?);
    Ok(())
}

/// Parses `polite, rows = 100, by = f1`.
fn sampled_metric(key: &Ident, content: ParseStream<'_>) -> syn::Result<MetricOfEval> {
    let missing = |what: &str| {
        let message = format!("missing {what} in `truth`; write `{TRUTH}`");
        Error::new_spanned(key, message)
    };
    if content.is_empty() || content.peek2(Token![=]) {
        return Err(missing("metric"));
    }
    let mut metric = MetricOfEval::parse(content)?;
    let (mut rows, mut by) = (None, None);
    while content.parse::<Option<Token![,]>>()?.is_some() && !content.is_empty() {
        let name: Ident = content.call(Ident::parse_any)?;
        let is_rows = name == "rows";
        if !is_rows && name != "by" {
            let message = format!("unknown key `{name}` in `truth`; write `{TRUTH}`");
            return Err(Error::new_spanned(name, message));
        }
        content.parse::<Token![=]>()?;
        match is_rows {
            true => rows = Some(content.parse()?),
            false => by = Some(content.call(Ident::parse_any)?),
        }
    }
    let rows = rows.ok_or_else(|| missing("number of rows"))?;
    metric.sample = Some(SampleOfEval { rows, by });
    Ok(metric)
}

/// Parses `key(item, ..)`.
fn items<T>(
    argument: &Argument<'_>,
    into: &mut Option<List<T>>,
    errors: &mut Errors,
    form: &str,
    item: impl Fn(ParseStream<'_>, &mut Errors) -> syn::Result<T>,
) -> syn::Result<()> {
    let (key, input) = (argument.key, argument.input);
    if !input.peek(token::Paren) {
        let found = list::to_comma(input)?;
        let written = as_written(&found);
        let inside = written
            .trim_start_matches(['=', ':', '[', ' '])
            .trim_end_matches(']');
        let message = match inside.is_empty() || inside.contains('"') {
            true => format!("expected `{key}(..)`; write `{form}`"),
            false => format!("expected `{key}(..)`; write `{key}({inside})`"),
        };
        return Err(match found.is_empty() {
            true => Error::new_spanned(key, message),
            false => Error::new_spanned(found, message),
        });
    }
    let content;
    parenthesized!(content in input);
    let (mut items, mut is_complete) = (Vec::new(), true);
    list::for_each(content.parse()?, errors, |input, _, errors| {
        match item(input, errors) {
            Ok(item) => {
                items.push(item);
                Ok(())
            }
            Err(error) => {
                is_complete = false;
                Err(error)
            }
        }
    });
    if items.is_empty() && is_complete {
        return Err(Error::new_spanned(
            key,
            format!("`{key}` is empty; write `{form}`"),
        ));
    }
    *into = Some(List {
        key: key.clone(),
        items,
    });
    Ok(())
}

/// A key whose value is parsed into a field.
macro_rules! key {
    ($kind:ident $name:literal, $form:literal, $what:literal => $field:ident) => {
        Key::new(
            $name,
            Kind::$kind,
            $form,
            $what,
            |attrs: &mut EvalAttrs, argument, _| argument.value(&mut attrs.$field),
        )
    };
    (flag $name:literal => $field:ident) => {
        Key::new(
            $name,
            Kind::Other,
            $name,
            "",
            |attrs: &mut EvalAttrs, argument, _| argument.flag(&mut attrs.$field),
        )
    };
    (named $name:literal, $form:literal => $field:ident) => {
        Key::new(
            $name,
            Kind::Text,
            $form,
            "a string",
            |attrs: &mut EvalAttrs, argument, _| named(argument, &mut attrs.$field),
        )
    };
}

/// Examples of each list, for messages.
pub(super) const METRICS: &str = "metrics(answer_exact_match, f1)";
pub(super) const GATE: &str = "gate(f1 >= 0.8)";
pub(super) const INPUTS: &str = "inputs(question)";
const TRUTH: &str = "truth(polite, rows = 100, by = f1)";
pub(super) const EARLY: &str = "early(alpha = 0.01)";

impl Attribute for EvalAttrs {
    const NAME: &'static str = "`#[eval]`";
    const EXAMPLE: &'static str = "devset = \"evals/questions.jsonl\"";
    const KEYS: &'static [Key<Self>] = &[
        key!(Other "devset", "devset = \"evals/questions.jsonl\"", "a path or an expression" => devset),
        Key::new(
            "inputs",
            Kind::Other,
            INPUTS,
            "",
            |attrs, argument, errors| {
                items(argument, &mut attrs.inputs, errors, INPUTS, |input, _| {
                    input.call(Ident::parse_any)
                })
            },
        ),
        Key::new(
            "metrics",
            Kind::Other,
            METRICS,
            "",
            |attrs, argument, errors| {
                items(argument, &mut attrs.metrics, errors, METRICS, |input, _| {
                    MetricOfEval::parse(input)
                })
            },
        ),
        Key::new("truth", Kind::Other, TRUTH, "", |attrs, argument, _| {
            truth(argument, &mut attrs.truth)
        }),
        Key::new("gate", Kind::Other, GATE, "", |attrs, argument, errors| {
            items(argument, &mut attrs.gates, errors, GATE, |input, _| {
                Gate::parse(input)
            })
        }),
        key!(Word "repeats", "repeats = 3", "a whole number" => repeats),
        Key::BUDGET.written("budget = \"50 sat\""),
        key!(Word "concurrency", "concurrency = 8", "a whole number" => concurrency),
        key!(Text "group", "group = \"topic\"", "a string" => group),
        key!(Other "timeout", "timeout = \"30 s\"", "a string with a unit" => timeout),
        key!(Word "limit", "limit = 200", "a number of rows" => limit),
        key!(Word "seed", "seed = 7", "a whole number" => seed),
        key!(Other "failure_score", "failure_score = 1.0", "a number" => failure_score),
        key!(named "baseline", "baseline = \"evals/name.baseline.jsonl\"" => baseline),
        key!(flag "baseline_rows" => baseline_rows),
        key!(flag "rescore" => rescore),
        key!(flag "strict" => strict),
        Key::new("early", Kind::Other, EARLY, "", |attrs, argument, _| {
            early(argument, &mut attrs.early)
        }),
        key!(named "live", "live = \"openai:gpt-6-luna\"" => live),
        key!(flag "store" => store),
        key!(Text "replay", "replay = \"evals/name.replay.jsonl\"", "a string" => replay),
        Key::GOLD.written("gold = RowType"),
        key!(Text "flavor", "flavor = \"current_thread\"", "a string" => flavor),
        Key::CRATE,
    ];

    fn unreadable(&mut self, key: &'static str) {
        self.settings.unreadable.push(key);
    }

    fn unknown(&mut self, word: &Ident, _: Option<&str>, _: ParseStream<'_>) -> Option<String> {
        let write = match word.to_string().as_str() {
            "metric" => METRICS,
            "gates" => GATE,
            "input" => INPUTS,
            "data" | "dataset" | "rows" => "devset = \"evals/questions.jsonl\"",
            "model" | "lm" => "live = \"openai:gpt-6-luna\"",
            "ignore" => "live",
            "threshold" => GATE,
            "runtime" => "flavor = \"current_thread\"",
            _ => return None,
        };
        if let Some(key) = ["metrics", "gate", "inputs", "devset"]
            .iter()
            .find(|it| write.starts_with(**it))
        {
            self.settings.unreadable.push(key);
        }
        Some(format!(
            "unknown key `{word}` in `#[eval]`; write `{write}`"
        ))
    }
}

/// Parses `30 s`, `500 ms` or `2 min` as milliseconds.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..split].parse().ok()?;
    let unit = match text[split..].trim() {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        _ => return None,
    };
    number.checked_mul(unit)
}
