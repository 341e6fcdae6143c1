//! The attributes of a parameter: `#[gold(..)]`, `#[pred(..)]`, `#[param(..)]` and `#[trace]`.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Attribute, Error, Expr, LitStr, Token};

use crate::shared::errors::Errors;
use crate::shared::list::{self, FoundKeys};
use crate::shared::names::nearest;
use crate::shared::tokens::as_written;

/// The binding of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Gold,
    Pred,
    Param,
    Trace,
}

impl Role {
    const ALL: [Self; 4] = [Self::Gold, Self::Pred, Self::Param, Self::Trace];

    fn of(attr: &Attribute) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|role| attr.path().is_ident(role.name()))
    }

    /// Returns `true` if an identifier is the name of a role.
    pub(crate) fn is_name(word: &Ident) -> bool {
        Self::ALL.iter().any(|role| word == role.name())
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gold => "gold",
            Self::Pred => "pred",
            Self::Param => "param",
            Self::Trace => "trace",
        }
    }
}

/// `#[gold(..)]`, `#[pred(..)]`, `#[param(..)]` or `#[trace]` as written.
pub(crate) struct RoleAttr {
    pub(crate) role: Role,
    pub(crate) rename: Option<LitStr>,
    /// The `#[param]` whose value is the field's name.
    pub(crate) named_by: Option<Ident>,
    pub(crate) default: Option<DefaultValue>,
    /// `into`: the setter of a `#[param]` accepts every type that converts into its type.
    pub(crate) into: Option<Span>,
    /// `flatten`: the `#[param]` is a struct of parameters.
    pub(crate) flatten: Option<Span>,
    /// `missing` or `missing = expr`.
    pub(crate) missing: Option<DefaultValue>,
}

/// `default` or `default = expr`; likewise for `missing`.
pub(crate) struct DefaultValue {
    pub(crate) span: Span,
    pub(crate) expr: Option<Expr>,
}

impl RoleAttr {
    /// Removes the role attributes from a parameter's attributes and parses them.
    pub(crate) fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Self> {
        let mut taken: Option<Self> = None;
        attrs.retain(|attr| {
            let Some(role) = Role::of(attr) else {
                return true;
            };
            match &taken {
                None => taken = Some(Self::parse(role, attr, errors)),
                Some(first) if first.role == role => {
                    errors.at(attr, format!("duplicate `#[{}]`; keep one", role.name()));
                }
                Some(first) => errors.at(attr, two_roles(first.role, role)),
            }
            false
        });
        taken
    }

    fn parse(role: Role, attr: &Attribute, errors: &mut Errors) -> Self {
        let (rename, named_by, default, missing) = (None, None, None, None);
        let (into, flatten) = (None, None);
        let mut parsed = Self {
            role,
            rename,
            named_by,
            default,
            into,
            flatten,
            missing,
        };
        match &attr.meta {
            syn::Meta::Path(_) => {}
            syn::Meta::List(list) => {
                let tokens = list.tokens.clone();
                list::for_each(tokens, errors, |input, found_keys, errors| {
                    parsed.item(input, found_keys, errors)
                });
            }
            syn::Meta::NameValue(pair) => {
                let (role, value) = (role.name(), as_written(&pair.value));
                if parsed.role == Role::Trace {
                    errors.at(&pair.value, arguments_of_trace(&format!("= {value}")));
                    return parsed;
                }
                let write = match role {
                    "param" => format!("default = {value}"),
                    _ => {
                        format!(
                            "\"{}\"",
                            meant_name(&value).unwrap_or_else(|| "field".to_owned())
                        )
                    }
                };
                errors.at(&pair.value, format!("expected `#[{role}(..)]`, found `#[{role} = ..]`; write `#[{role}({write})]`"));
            }
        }
        parsed
    }

    fn item(
        &mut self,
        input: ParseStream<'_>,
        found_keys: &mut FoundKeys,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        if self.role == Role::Trace {
            let found = list::to_comma(input)?;
            return Err(Error::new_spanned(
                &found,
                arguments_of_trace(&as_written(&found)),
            ));
        }
        if input.peek(LitStr) && self.role != Role::Param {
            let rename: LitStr = input.parse()?;
            if self.rename.is_some() {
                errors.at(&rename, "duplicate field name; keep one");
            }
            self.rename = Some(rename);
            return Ok(());
        }
        let found = list::to_comma(&input.fork())?;
        let wrong = || Error::new_spanned(&found, self.expected(&as_written(&found)));
        let key = Ident::parse_any(input).map_err(|_| wrong())?;
        if key == "named_by" && self.role != Role::Param {
            found_keys.add(&key, errors);
            input
                .parse::<Token![=]>()
                .map_err(|_| Error::new_spanned(&key, NAMED_BY))?;
            let explain = |_: &str| NAMED_BY.to_owned();
            self.named_by = Some(list::value(&key, input, syn::parse::Parse::parse, explain)?);
            return Ok(());
        }
        if key == "into" && self.role == Role::Param && !input.peek(Token![=]) {
            found_keys.add(&key, errors);
            self.into = Some(key.span());
            return Ok(());
        }
        if key == "flatten" {
            found_keys.add(&key, errors);
            return self.flatten(&key, input);
        }
        let is_missing = key == "missing" && self.role != Role::Param;
        if key != "default" && !is_missing {
            return Err(wrong());
        }
        found_keys.add(&key, errors);
        if input.peek(syn::token::Paren) || input.peek(Token![:]) {
            list::to_comma(input)?;
            return Err(wrong());
        }
        let expr = match input.parse::<Option<Token![=]>>()? {
            Some(_) => {
                let explain = |found: &str| unreadable_value(&key, found);
                Some(list::value(&key, input, syn::parse::Parse::parse, explain)?)
            }
            None => None,
        };
        if is_missing && self.role == Role::Gold {
            return Err(Error::new(key.span(), MISSING_GOLD));
        }
        let value = Some(DefaultValue {
            span: key.span(),
            expr,
        });
        if is_missing {
            self.missing = value;
        } else {
            self.default = value;
        }
        Ok(())
    }

    /// Parses the end of `flatten`, which takes no value.
    fn flatten(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let value = list::to_comma(input)?;
        if self.role != Role::Param {
            return Err(Error::new(key.span(), FLATTENED_ROW));
        }
        self.flatten = Some(key.span());
        if !value.is_empty() {
            return Err(Error::new_spanned(value, FLATTEN_WITH_VALUE));
        }
        Ok(())
    }

    /// Returns the word before `=` and the key that was probably meant. A word alone is more likely a field name.
    fn misspelt(&self, found: &str) -> Option<(String, &'static str)> {
        let (word, _) = found.split_once('=').unwrap_or((found, ""));
        let is_alone = word.len() == found.len();
        if is_alone && self.role != Role::Param {
            return None;
        }
        let keys: &[&str] = match self.role {
            Role::Gold => &["default", "named_by"],
            Role::Pred => &["default", "missing", "named_by"],
            Role::Param => &["default", "flatten", "into"],
            Role::Trace => &[],
        };
        let word = word.trim();
        Some((word.to_owned(), nearest(word, keys)?))
    }

    /// Returns the message that names the expected tokens and `found`.
    fn expected(&self, found: &str) -> String {
        let role = self.role.name();
        let inside = found
            .strip_prefix("default(")
            .and_then(|rest| rest.strip_suffix(')'));
        let after_colon = found.strip_prefix("default:").map(str::trim);
        if let Some(value) = inside.or(after_colon) {
            return format!("expected `=` after `default`; write `default = {value}`");
        }
        if let Some((word, key)) = self.misspelt(found) {
            return format!("unknown key `{word}` in `#[{role}]`; did you mean `{key}`?");
        }
        if self.role != Role::Param && OPTIONAL.contains(&word_of(found)) {
            return format!(
                "unknown key `{}` in `#[{role}]`; write `Option<..>` as the type for a field that may be missing, or `#[{role}(default)]`",
                word_of(found)
            );
        }
        if self.role == Role::Param
            && let Some(value) = meant_default(found)
        {
            return format!(
                "expected `default = value` in `#[param]`, found `{found}`; write `#[param(default = {value})]`"
            );
        }
        if self.role == Role::Param {
            return format!(
                "expected `default`, `default = value`, `flatten` or `into` in `#[param]`, found `{found}`; the name of a `#[param]` is the name of the parameter"
            );
        }
        let meant = meant_name(found);
        match meant {
            Some(name) => format!(
                "expected the field name as a string, found `{found}`; write `#[{role}(\"{name}\")]`"
            ),
            None if self.role == Role::Pred => format!(
                "expected a field name, `default`, `missing` or `named_by` in `#[pred]`, found `{found}`; write `#[pred(\"field\")]` or `#[pred(default = value)]`"
            ),
            None => format!(
                "expected a field name, `default` or `named_by` in `#[{role}]`, found `{found}`; write `#[{role}(\"field\")]` or `#[{role}(default = value)]`"
            ),
        }
    }
}

/// What other libraries write for a field that may be missing.
const OPTIONAL: [&str; 7] = [
    "optional",
    "option",
    "nullable",
    "required",
    "allow_missing",
    "skip",
    "maybe",
];

/// Returns the word before `=`.
fn word_of(found: &str) -> &str {
    found.split_once('=').map_or(found, |(word, _)| word).trim()
}

/// Returns the value in `3`, `value = 3` or `default_value = 3`.
fn meant_default(found: &str) -> Option<String> {
    let value = match found.split_once('=') {
        Some(("value " | "default_value " | "default_value_t " | "val ", value)) => value.trim(),
        Some(_) => return None,
        None => found,
    };
    let literal = syn::parse_str::<syn::Lit>(value).ok()?;
    let is_name = matches!(literal, syn::Lit::Str(_)) && value == found;
    (!is_name).then(|| value.to_owned())
}

const NAMED_BY: &str =
    "expected the name of a `#[param]` after `named_by`; write `named_by = field`";

const FLATTENED_ROW: &str = "`flatten` is only supported in `#[param]`, for a parameter struct; write `gold: &Row` or `pred: &Row` to read a whole row";

const FLATTEN_WITH_VALUE: &str = "unexpected value for `flatten`; write `flatten` alone, and the default of each parameter in the struct";

const MISSING_GOLD: &str = "`missing` is not supported in `#[gold]`, because a gold row without a field is an error in the data set; write `#[gold(default)]` or an `Option` for a field that a row may omit";

/// Returns the field name in `answer`, `"answer"`, `rename = "answer"` or `name = "answer"`.
fn meant_name(found: &str) -> Option<String> {
    let tokens: TokenStream = found.parse().ok()?;
    if let Ok(ident) = syn::parse2::<Ident>(tokens.clone()) {
        return Some(ident.unraw().to_string());
    }
    if let Ok(name) = syn::parse2::<LitStr>(tokens.clone()) {
        return Some(name.value());
    }
    if let Ok(typed) = syn::parse2::<Field>(tokens.clone()) {
        return Some(typed.0.unraw().to_string());
    }
    let pair = syn::parse2::<syn::MetaNameValue>(tokens).ok()?;
    let value = quote::ToTokens::to_token_stream(&pair.value);
    if let Ok(name) = syn::parse2::<LitStr>(value.clone()) {
        return Some(name.value());
    }
    let names = ["rename", "name", "field", "key", "column"];
    let is_name = names.iter().any(|name| pair.path.is_ident(name));
    let name = syn::parse2::<Ident>(value).ok()?;
    is_name.then(|| name.unraw().to_string())
}

/// `answer: &str`.
struct Field(Ident);

impl syn::parse::Parse for Field {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        input.parse::<syn::Type>()?;
        Ok(Self(name))
    }
}

fn unreadable_value(key: &Ident, found: &str) -> String {
    if found.is_empty() {
        return format!("missing value after `{key} =`; write `{key} = value`, or `{key}` alone");
    }
    format!("expected an expression, found `{found}`; write `{key} = value`")
}

fn arguments_of_trace(found: &str) -> String {
    format!("expected no arguments for `#[trace]`, found `{found}`; write `#[trace]`")
}

fn two_roles(first: Role, second: Role) -> String {
    let (first, second) = (first.name(), second.name());
    format!(
        "expected either `#[{first}]` or `#[{second}]` on a parameter, found both; write two parameters"
    )
}
