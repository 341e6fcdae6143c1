//! The contents of `#[metric(..)]` on a struct: one combinator, and settings of the composite.

use proc_macro2::{Group, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Error, Ident, Token, token};

use super::expression::Expression;
use crate::shared::attrs::{self, Attribute, Key};
use crate::shared::combinators::{is_combinator, nearest_combinator};
use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::meant::{self, Meant};
use crate::shared::settings::Settings;
use crate::shared::tokens::as_written;

/// Keys of `#[metric]` on a function that composites do not support, and their replacements.
const DERIVED: [(&str, &str); 7] = [
    (
        "missing",
        "a composite reads no fields of its own; write `on_missing = zero`, or `missing` in the attribute of a component",
    ),
    (
        "cost",
        "the cost of a composite is the total cost of its components; remove `cost`, or write `budget = \"600 msat\"` for a limit",
    ),
    (
        "range",
        "the range of a composite is derived from its components; remove `range`",
    ),
    (
        "lower_is_better",
        "a composite is always higher-is-better; remove `lower_is_better`, and write `invert(..)` around lower-is-better components",
    ),
    (
        "struct",
        "a composite's struct is the one below the attribute; remove `struct`, or rename the struct",
    ),
    (
        "gold",
        "a composite reads the rows of its components; remove `gold`",
    ),
    (
        "pred",
        "a composite reads the rows of its components; remove `pred`",
    ),
];

/// `#[metric(..)]` as written.
#[derive(Default)]
pub(super) struct CompositeAttrs {
    pub(super) settings: Settings,
    pub(super) root: Option<Expression>,
    /// `true` if a combinator was written, even an invalid one.
    pub(super) has_root: bool,
    /// The fingerprint of the expression, and of how missing components are handled.
    pub(super) code: u64,
}

impl AsMut<Settings> for CompositeAttrs {
    fn as_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }
}

impl Attribute for CompositeAttrs {
    const NAME: &'static str = "`#[metric]` on a struct";
    const KEYS: &'static [Key<Self>] = &[
        Key::THRESHOLD,
        Key::BUDGET,
        Key::TIER.written("tier = truth"),
        Key::STRICT,
        Key::ON_MISSING,
        Key::NAME,
        Key::VERSION,
        Key::CRATE,
    ];

    fn other_item(
        &mut self,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) -> Option<syn::Result<()>> {
        let word = input.fork().call(Ident::parse_any).ok()?;
        is_combinator(&word.to_string()).then(|| self.combination(&word, input, errors))
    }

    fn not_a_key(&mut self, input: ParseStream<'_>) -> Error {
        let found = list::to_comma(&input.fork()).unwrap_or_default();
        if let Some(meant) = meant::metrics(&found) {
            self.has_root = true;
            let names: Vec<String> = meant.iter().map(Meant::component).collect();
            let message = format!(
                "expected a combinator, found `{}`; write `all({})`",
                as_written(&found),
                names.join(", ")
            );
            return Error::new_spanned(found, message);
        }
        input.error("expected a combinator such as `weighted(..)`, or `key = value` such as `threshold = 0.5`")
    }

    fn unknown(
        &mut self,
        word: &Ident,
        near: Option<&str>,
        rest: ParseStream<'_>,
    ) -> Option<String> {
        let name = word.to_string();
        if let Some((_, message)) = DERIVED.iter().find(|(key, _)| *key == name) {
            return Some((*message).to_owned());
        }
        if rest.peek(token::Paren) {
            self.has_root = true;
            if let Some(near) = nearest_combinator(&name) {
                let meant = rewritten(near, rest);
                return Some(format!(
                    "unknown combinator `{name}`; did you mean `{meant}`?"
                ));
            }
        }
        if near.is_some() {
            return None;
        }
        let had_root = std::mem::replace(&mut self.has_root, true);
        if !rest.peek(Token![=]) || rest.peek(Token![==]) {
            return Some(format!(
                "expected a combinator, found `{name}`; write `all({name} >= 0.9)` or `weighted({name} = 1.0)`, with the other metrics after it"
            ));
        }
        (!had_root).then(|| {
            format!(
                "expected a combinator, found the weight of `{name}`; write `weighted({name} = ..)`"
            )
        })
    }

    fn unreadable(&mut self, key: &'static str) {
        self.settings.unreadable.push(key);
    }
}

/// Returns the combinator `word` with the operands in the parentheses that follow. Operands of `weighted` have equal
/// weights unless they set their own. The operands of `gate` are its proxy and its truth.
fn rewritten(word: &str, rest: ParseStream<'_>) -> String {
    let group = rest.fork().parse::<Group>();
    let operands = group
        .map(|group| list::items(group.stream()))
        .unwrap_or_default();
    let operands: Vec<String> = operands.into_iter().map(as_written).collect();
    let is_plain = operands.iter().all(|operand| !operand.contains('='));
    match (word, &operands[..]) {
        ("weighted", [_, ..]) if is_plain => equally_weighted(&operands),
        ("gate", [proxy, truth]) if is_plain => {
            format!("gate(proxy({proxy}) >= 0.5, truth({truth}))")
        }
        ("gate" | "tree", _) | (_, []) => format!("{word}(..)"),
        _ => format!("{word}({})", operands.join(", ")),
    }
}

/// Returns the operands with equal weights.
pub(super) fn equally_weighted(operands: &[String]) -> String {
    let count = operands.len();
    let weights = (0..count).map(|index| equal_weight(index, count));
    let parts = operands.iter().zip(weights);
    let parts = parts.map(|(part, weight)| format!("{part} = {weight:?}"));
    format!("weighted({})", parts.collect::<Vec<_>>().join(", "))
}

/// Returns the weight of an operand among `count`, in whole percents that sum to 1.
fn equal_weight(index: usize, count: usize) -> f64 {
    let (each, rest) = (100 / count, 100 % count);
    let percent = each + usize::from(index < rest);
    percent as f64 / 100.0
}

impl CompositeAttrs {
    pub(super) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        let is_code = |key: &str| is_combinator(key) || key == "on_missing";
        let code = attrs::code::<Self>(args.clone(), &is_code, &|_| false);
        Self {
            code,
            ..attrs::parse(args, errors)
        }
    }

    fn combination(
        &mut self,
        word: &Ident,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        if self.has_root {
            let message =
                "only one top-level combinator is allowed; nest it in the first, or remove one";
            errors.at(word, message);
        }
        self.has_root = true;
        let root = Expression::parse(input, errors)?;
        if input.peek(Token![>=]) {
            let ahead = input.fork();
            ahead.parse::<Token![>=]>()?;
            let threshold = as_written(list::to_comma(&ahead)?);
            return Err(input.error(format!(
                "unexpected `>=` after the top-level combinator; write `threshold = {threshold}` after `{word}(..)`"
            )));
        }
        self.root.get_or_insert(root);
        Ok(())
    }
}
