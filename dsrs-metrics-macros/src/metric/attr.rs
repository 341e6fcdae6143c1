//! What stands inside `#[metric(..)]`, `#[gold(..)]`, `#[pred(..)]` and `#[param(..)]`, with spans and
//! without judgement: whether it makes sense together is `check.rs`.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, Ident, LitInt, LitStr, Path, Token, Type};

use crate::errors::Errors;
use crate::names::nearest;

/// A key of `#[metric(..)]` and the form of its value.
const KEYS: [(&str, &str); 12] = [
    ("tier", "tier = proxy"),
    ("cost", "cost = \"100 msat\""),
    ("threshold", "threshold = 0.5"),
    ("range", "range = 0.0..=1.0"),
    ("lower_is_better", "lower_is_better"),
    ("strict", "strict"),
    ("name", "name = \"snake_case\""),
    ("struct", "struct = Name"),
    ("gold", "gold = RowType"),
    ("pred", "pred = RowType"),
    ("version", "version = \"2\""),
    ("crate", "crate = path::to::dsrs_metrics"),
];

/// `#[metric(..)]` as written.
#[derive(Default)]
pub(crate) struct MetricAttrs {
    pub(crate) tier: Option<Ident>,
    pub(crate) cost: Option<LitStr>,
    pub(crate) threshold: Option<Expr>,
    pub(crate) range: Option<Expr>,
    pub(crate) lower_is_better: Option<Span>,
    pub(crate) strict: Option<Span>,
    pub(crate) name: Option<LitStr>,
    pub(crate) struct_name: Option<Ident>,
    pub(crate) gold: Option<Type>,
    pub(crate) pred: Option<Type>,
    pub(crate) version: Option<LitStr>,
    pub(crate) krate: Option<Path>,
}

impl MetricAttrs {
    pub(crate) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        let parsed =
            for_each_item(args, errors, |input, seen, errors| attrs.item(input, seen, errors));
        errors.ok(parsed);
        attrs
    }

    fn item(
        &mut self,
        input: ParseStream<'_>,
        seen: &mut Seen,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let key = input.call(Ident::parse_any)?;
        let name = key.to_string();
        let Some((_, form)) = KEYS.iter().find(|(known, _)| *known == name) else {
            return Err(syn::Error::new(key.span(), unknown_key(&name)));
        };
        seen.note(&key, errors);
        if matches!(*form, "strict" | "lower_is_better") {
            return self.flag(&key, input);
        }
        if !input.peek(Token![=]) {
            return Err(syn::Error::new(key.span(), format!("`{name}` needs a value: `{form}`")));
        }
        input.parse::<Token![=]>()?;
        let wrong = |error: &syn::Error| syn::Error::new(error.span(), format!("write `{form}`"));
        self.value(&name, input).map_err(|error| wrong(&error))
    }

    fn flag(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let name = key.to_string();
        let span = Some(key.span());
        *(if name == "strict" { &mut self.strict } else { &mut self.lower_is_better }) = span;
        if input.peek(Token![=]) {
            return Err(input.error(format!("`{name}` takes no value: write `{name}` alone")));
        }
        Ok(())
    }

    fn value(&mut self, name: &str, input: ParseStream<'_>) -> syn::Result<()> {
        match name {
            "tier" => self.tier = Some(input.parse()?),
            "cost" => self.cost = Some(input.parse()?),
            "threshold" => self.threshold = Some(input.parse()?),
            "range" => self.range = Some(input.parse()?),
            "name" => self.name = Some(input.parse()?),
            "struct" => self.struct_name = Some(input.parse()?),
            "gold" => self.gold = Some(input.parse()?),
            "pred" => self.pred = Some(input.parse()?),
            "version" => self.version = Some(version(input)?),
            _ => self.krate = Some(input.call(Path::parse_mod_style)?),
        }
        Ok(())
    }
}

fn version(input: ParseStream<'_>) -> syn::Result<LitStr> {
    if input.peek(LitInt) {
        let number: LitInt = input.parse()?;
        return Ok(LitStr::new(number.base10_digits(), number.span()));
    }
    input.parse()
}

fn unknown_key(name: &str) -> String {
    let keys = KEYS.map(|(key, _)| key);
    match nearest(name, &keys) {
        Some(near) => format!("`#[metric]` has no `{name}`; did you mean `{near}`?"),
        None => format!("`#[metric]` has no `{name}`; it takes `{}`", keys.join("`, `")),
    }
}

/// The keys that were given already.
#[derive(Default)]
pub(crate) struct Seen(Vec<String>);

impl Seen {
    fn note(&mut self, key: &Ident, errors: &mut Errors) {
        let name = key.to_string();
        if self.0.contains(&name) {
            errors.at_span(key.span(), format!("`{name}` is given twice; keep one"));
        }
        self.0.push(name);
    }
}

/// Runs `item` for each comma-separated item; one that fails is noted and skipped, so that the next
/// is looked at all the same.
fn for_each_item(
    tokens: TokenStream,
    errors: &mut Errors,
    mut item: impl FnMut(ParseStream<'_>, &mut Seen, &mut Errors) -> syn::Result<()>,
) -> syn::Result<()> {
    let mut seen = Seen::default();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            match item(input, &mut seen, errors) {
                Ok(()) if input.is_empty() || input.peek(Token![,]) => {}
                Ok(()) => errors.push(input.error("expected `,`")),
                Err(error) => errors.push(error),
            }
            skip_to_comma(input)?;
        }
        Ok(())
    };
    syn::parse::Parser::parse2(parser, tokens)
}

fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() {
        if input.parse::<Option<Token![,]>>()?.is_some() {
            return Ok(());
        }
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

/// What a parameter is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Gold,
    Pred,
    Param,
}

impl Role {
    fn of(attr: &Attribute) -> Option<Self> {
        let path = attr.path();
        if path.is_ident("gold") {
            Some(Self::Gold)
        } else if path.is_ident("pred") {
            Some(Self::Pred)
        } else {
            path.is_ident("param").then_some(Self::Param)
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gold => "gold",
            Self::Pred => "pred",
            Self::Param => "param",
        }
    }
}

/// `#[gold(..)]`, `#[pred(..)]` or `#[param(..)]` as written.
pub(crate) struct RoleAttr {
    pub(crate) role: Role,
    pub(crate) rename: Option<LitStr>,
    pub(crate) default: Option<DefaultValue>,
}

/// `default` or `default = expr`.
pub(crate) struct DefaultValue {
    pub(crate) span: Span,
    pub(crate) expr: Option<Expr>,
}

impl RoleAttr {
    /// Takes the role attributes from a parameter's attributes and leaves the others.
    pub(crate) fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Self> {
        let mut taken: Option<Self> = None;
        attrs.retain(|attr| {
            let Some(role) = Role::of(attr) else {
                return true;
            };
            match &taken {
                None => taken = Some(Self::parse(role, attr, errors)),
                Some(first) if first.role == role => {
                    errors.at(attr, format!("`#[{}]` is given twice; keep one", role.name()));
                }
                Some(first) => errors.at(attr, two_roles(first.role, role)),
            }
            false
        });
        taken
    }

    fn parse(role: Role, attr: &Attribute, errors: &mut Errors) -> Self {
        let mut parsed = Self { role, rename: None, default: None };
        let tokens = match &attr.meta {
            syn::Meta::Path(_) => return parsed,
            syn::Meta::List(list) => list.tokens.clone(),
            syn::Meta::NameValue(pair) => {
                errors.at(&pair.value, format!("write `#[{}(..)]`", role.name()));
                return parsed;
            }
        };
        let done =
            for_each_item(tokens, errors, |input, seen, errors| parsed.item(input, seen, errors));
        errors.ok(done);
        parsed
    }

    fn item(
        &mut self,
        input: ParseStream<'_>,
        seen: &mut Seen,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        if input.peek(LitStr) && self.role != Role::Param {
            let rename: LitStr = input.parse()?;
            if self.rename.is_some() {
                errors.at(&rename, "the field's name is given twice; keep one");
            }
            self.rename = Some(rename);
            return Ok(());
        }
        let key = Ident::parse_any(input).map_err(|error| self.expected(error.span()))?;
        if key != "default" {
            return Err(self.expected(key.span()));
        }
        seen.note(&key, errors);
        let expr = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(Expr::parse(input)?),
            None => None,
        };
        self.default = Some(DefaultValue { span: key.span(), expr });
        Ok(())
    }

    fn expected(&self, span: Span) -> syn::Error {
        let message = match self.role {
            Role::Param => "`#[param]` takes `default = value`".to_owned(),
            role => {
                let role = role.name();
                format!(
                    "`#[{role}]` takes the field's name, `#[{role}(\"name\")]`, and `default` or `default = value`"
                )
            }
        };
        syn::Error::new(span, message)
    }
}

fn two_roles(first: Role, second: Role) -> String {
    let (first, second) = (first.name(), second.name());
    format!("a parameter is `#[{first}]` or `#[{second}]`, not both; write two parameters")
}

/// Whether an attribute is one of those that belong to the item itself and so to all that stands for
/// it: `cfg`, and what rustdoc and lints say of it.
pub(crate) fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg")
}

/// The text of the doc comments, one line each.
pub(crate) fn doc_text(attrs: &[Attribute]) -> String {
    let line = |attr: &Attribute| match &attr.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                syn::Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attrs.iter().filter_map(line).collect();
    let unindented = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    unindented.collect::<Vec<_>>().join("\n").trim().to_owned()
}
