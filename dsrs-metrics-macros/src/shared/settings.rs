//! Settings that several attributes have, and their keys. An attribute accepts the keys in its table; the other
//! settings are `None`.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Expr, Ident, LitStr, Path, Result, Type};

use super::attrs::{Key, Kind, Read, version};

/// Settings as written.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    pub(crate) tier: Option<Ident>,
    pub(crate) cost: Option<LitStr>,
    pub(crate) budget: Option<LitStr>,
    pub(crate) threshold: Option<Expr>,
    pub(crate) range: Option<Expr>,
    pub(crate) lower_is_better: Option<Span>,
    pub(crate) strict: Option<Span>,
    /// One score for all rows.
    pub(crate) corpus: Option<Span>,
    pub(crate) missing: Option<Expr>,
    pub(crate) on_missing: Option<Ident>,
    pub(crate) name: Option<LitStr>,
    pub(crate) struct_name: Option<Ident>,
    pub(crate) gold: Option<Type>,
    pub(crate) pred: Option<Type>,
    pub(crate) version: Option<LitStr>,
    /// The function or closure that explains a score.
    pub(crate) explain: Option<Expr>,
    pub(crate) krate: Option<Path>,
    /// The keys whose values could not be parsed. They are not reported as missing.
    pub(crate) unreadable: Vec<&'static str>,
}

impl Settings {
    /// Returns `true` if a value was written for this key but could not be parsed.
    pub(crate) fn is_unreadable(&self, key: &str) -> bool {
        self.unreadable.contains(&key)
    }

    /// Returns `true` if a threshold was written, valid or not.
    pub(crate) fn mentions_threshold(&self) -> bool {
        self.threshold.is_some() || self.is_unreadable("threshold")
    }
}

impl AsMut<Self> for Settings {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

/// Declares keys whose values are parsed into the settings field after `=>`.
macro_rules! keys {
    ($($KEY:ident $kind:ident $name:literal, $form:literal, $what:literal => $field:ident;)*) => {
        /// The keys for every attribute that has settings.
        impl<A: AsMut<Settings>> Key<A> {
            $(pub(crate) const $KEY: Self =
                Self::new($name, Kind::$kind, $form, $what, |attrs, argument, _| {
                    argument.value(&mut attrs.as_mut().$field)
                });)*
        }
    };
}

keys! {
    TIER Tier "tier", "tier = proxy", "`proxy` or `truth`" => tier;
    COST Cost "cost", "cost = \"100 msat\"", "a string with a unit" => cost;
    BUDGET Cost "budget", "budget = \"600 msat\"", "a string with a unit" => budget;
    THRESHOLD Number "threshold", "threshold = 0.5", "a number" => threshold;
    MISSING Number "missing", "missing = 0.0", "a number, `true` or `false`" => missing;
    ON_MISSING Word "on_missing", "on_missing = skip", "`fail`, `skip` or `zero`" => on_missing;
    NAME Text "name", "name = \"exact_match\"", "a string" => name;
    STRUCT Ident "struct", "struct = ExactMatch", "an identifier" => struct_name;
    GOLD Type "gold", "gold = RowType", "a type" => gold;
    PRED Type "pred", "pred = RowType", "a type" => pred;
}

impl<A> Key<A> {
    /// The key `range`, including for attributes without [`Settings`].
    pub(crate) const fn range(read: Read<A>) -> Self {
        let what = "a range of numbers";
        Self::new("range", Kind::Number, "range = 0.0..=1.0", what, read)
    }
}

impl<A: AsMut<Settings>> Key<A> {
    pub(crate) const RANGE: Self =
        Self::range(|attrs, argument, _| argument.value(&mut attrs.as_mut().range));
    pub(crate) const LOWER_IS_BETTER: Self = Self::new(
        "lower_is_better",
        Kind::Other,
        "lower_is_better",
        "",
        |attrs, argument, _| argument.flag(&mut attrs.as_mut().lower_is_better),
    );
    pub(crate) const STRICT: Self =
        Self::new("strict", Kind::Other, "strict", "", |attrs, argument, _| {
            argument.flag(&mut attrs.as_mut().strict)
        });
    pub(crate) const CORPUS: Self =
        Self::new("corpus", Kind::Other, "corpus", "", |attrs, argument, _| {
            argument.flag(&mut attrs.as_mut().corpus)
        });
    pub(crate) const VERSION: Self = Self::new(
        "version",
        Kind::Version,
        "version = \"2\"",
        "a string or a whole number",
        |attrs, argument, _| argument.value_with(&mut attrs.as_mut().version, version),
    );
    pub(crate) const EXPLAIN: Self = Self::new(
        "explain",
        Kind::Ident,
        "explain = explain_score",
        "the path of a function or a closure",
        |attrs, argument, _| argument.value_with(&mut attrs.as_mut().explain, explanation),
    );
    pub(crate) const CRATE: Self = Self::new(
        "crate",
        Kind::Path,
        "crate = ::dsrs_metrics",
        "a path",
        |attrs, argument, _| argument.value_with(&mut attrs.as_mut().krate, crate_path),
    );
}

/// Parses the path of a crate. Rejects `Self`, which is a type that a `use` cannot name.
fn crate_path(input: ParseStream<'_>) -> Result<Path> {
    let path = input.call(Path::parse_mod_style)?;
    match path.segments.iter().any(|segment| segment.ident == "Self") {
        true => Err(input.error("")),
        false => Ok(path),
    }
}

/// Parses the path of a function, or a closure.
fn explanation(input: ParseStream<'_>) -> Result<Expr> {
    match input.parse()? {
        value @ (Expr::Path(_) | Expr::Closure(_)) => Ok(value),
        _ => Err(input.error("")),
    }
}
