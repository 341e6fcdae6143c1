//! Expands this crate's attributes and derives in a source file like rustc, and collects the errors.

use proc_macro2::{Delimiter, LexError, LineColumn, Span, TokenStream as TokenStream2, TokenTree};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Path, Token};

/// A `compile_error!` in an expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) message: String,
    pub(super) start: LineColumn,
    pub(super) end: LineColumn,
}

/// Returns all errors of the expansions in a source file, in the order they are emitted.
pub(super) fn errors(source: &str) -> Result<Vec<Found>, LexError> {
    let tokens: TokenStream2 = source.parse()?;
    let file = tokens
        .clone()
        .into_iter()
        .next()
        .map(|token| token.span().file());
    let mut expander = Expander {
        file: file.unwrap_or_default(),
        found: Vec::new(),
    };
    expander.walk(tokens);
    Ok(expander.found)
}

struct Expander {
    /// The file of the source's tokens. If a macro parses a string, those tokens belong to another file.
    file: String,
    found: Vec<Found>,
}

impl Expander {
    /// Expands every use of a macro in these tokens and in all groups within, including in the output of an expansion.
    fn walk(&mut self, tokens: TokenStream2) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = &tokens[..];
        while let Some(token) = rest.first() {
            let (attributes, item) = rest.split_at(attributes_len(rest));
            let used = attributes
                .chunks_exact(2)
                .position(|pair| Use::of(pair).is_some());
            if let Some(index) = used {
                let (item, after) = item.split_at(item_len(item));
                let (before, behind) = attributes.split_at(2 * index);
                let used = Use::of(behind).expect("the attribute that was found");
                let kept = [before, &behind[2..], item].concat();
                self.expand(&used, kept.into_iter().collect());
                rest = after;
                continue;
            }
            if let TokenTree::Group(group) = token {
                self.walk(group.stream());
            }
            rest = &rest[1..];
        }
    }

    fn expand(&mut self, used: &Use, item: TokenStream2) {
        let expanded = match used.of {
            Macro::Metric => crate::expand_metric(used.args.clone(), &item),
            Macro::Judge => crate::expand_judge(used.args.clone(), &item),
            Macro::JudgeOutput => crate::expand_judge_output(used.args.clone(), &item),
            Macro::Eval => crate::expand_eval(used.args.clone(), &item),
            // A derive adds to its item.
            Macro::Record => item
                .clone()
                .into_iter()
                .chain(crate::expand_record(item))
                .collect(),
            Macro::ParamGroup => item
                .clone()
                .into_iter()
                .chain(crate::expand_param_group(item))
                .collect(),
        };
        self.collect(expanded.clone(), used.call_site);
        self.walk(expanded);
    }

    /// Collects the `compile_error!`s among these tokens.
    fn collect(&mut self, tokens: TokenStream2, call_site: (Span, Span)) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = token else {
                continue;
            };
            if !is_compile_error(&tokens[..at]) {
                self.collect(group.stream(), call_site);
                continue;
            }
            let message = syn::parse2::<syn::LitStr>(group.stream())
                .expect("a message")
                .value();
            let path = tokens[path_start(&tokens[..at - 1])].span();
            let (path, group) = (
                self.place(path, call_site),
                self.place(group.span(), call_site),
            );
            let found = Found {
                message,
                start: path.0.min(group.0),
                end: path.1.max(group.1),
            };
            // rustc reports an error only once.
            if !self.found.contains(&found) {
                self.found.push(found);
            }
        }
    }

    /// Returns the start and end of a span in the source file.
    fn place(&self, span: Span, call_site: (Span, Span)) -> (LineColumn, LineColumn) {
        let (first, last) = if span.file() == self.file {
            (span, span)
        } else {
            call_site
        };
        (first.start(), last.end())
    }
}

/// Returns `true` if these tokens end with `compile_error!`.
fn is_compile_error(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [.., TokenTree::Ident(name), TokenTree::Punct(bang)]
        if name == "compile_error" && bang.as_char() == '!')
}

/// Returns where the path that ends these tokens begins.
fn path_start(tokens: &[TokenTree]) -> usize {
    let is_of_path = |token: &&TokenTree| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        _ => false,
    };
    tokens.len() - tokens.iter().rev().take_while(is_of_path).count()
}

/// Returns how many of these tokens are outer attributes, two tokens each.
fn attributes_len(tokens: &[TokenTree]) -> usize {
    let is_attribute = |pair: &&[TokenTree]| {
        matches!(pair, [TokenTree::Punct(hash), TokenTree::Group(group)]
            if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket)
    };
    2 * tokens.chunks_exact(2).take_while(is_attribute).count()
}

/// Returns how many tokens the item at the start takes: up to its body or its semicolon.
fn item_len(tokens: &[TokenTree]) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    tokens
        .iter()
        .position(is_end)
        .map_or(tokens.len(), |end| end + 1)
}

enum Macro {
    Metric,
    Judge,
    JudgeOutput,
    Eval,
    Record,
    ParamGroup,
}

/// A use of one of this crate's macros.
struct Use {
    of: Macro,
    args: TokenStream2,
    /// The first and last token of the use, where errors without a location of their own are reported.
    call_site: (Span, Span),
}

impl Use {
    /// Returns the macro called by the attribute at the start of these tokens.
    fn of(tokens: &[TokenTree]) -> Option<Self> {
        let attribute: TokenStream2 = tokens[..2].iter().cloned().collect();
        let attribute = Attribute::parse_outer.parse2(attribute).ok()?.pop()?;
        let name = |path: &Path| {
            path.segments
                .last()
                .map(|segment| segment.ident.to_string())
        };
        let args = match &attribute.meta {
            Meta::Path(_) => TokenStream2::new(),
            Meta::List(list) => list.tokens.clone(),
            Meta::NameValue(_) => return None,
        };
        let of = match name(attribute.path())?.as_str() {
            "metric" => Macro::Metric,
            "judge" => Macro::Judge,
            "judge_output" => Macro::JudgeOutput,
            "eval" => Macro::Eval,
            "derive" => {
                let derived = Punctuated::<Path, Token![,]>::parse_terminated
                    .parse2(args)
                    .ok()?;
                let (of, path) = derived.iter().find_map(|path| match name(path)?.as_str() {
                    "Record" => Some((Macro::Record, path)),
                    "ParamGroup" => Some((Macro::ParamGroup, path)),
                    _ => None,
                })?;
                let ident = |segment: &syn::PathSegment| segment.ident.span();
                let call_site = (ident(path.segments.first()?), ident(path.segments.last()?));
                return Some(Self {
                    of,
                    args: TokenStream2::new(),
                    call_site,
                });
            }
            _ => return None,
        };
        Some(Self {
            of,
            args,
            call_site: (tokens[0].span(), tokens[1].span()),
        })
    }
}

#[test]
fn an_error_without_a_place_is_reported_where_the_macro_is_called() {
    let tokens: TokenStream2 = "fn before() {}\n#[metric(x)] fn f() {}".parse().unwrap();
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let used = Use::of(&tokens[4..]).expect("an attribute of this crate");
    let mut expander = Expander {
        file: tokens[0].span().file(),
        found: Vec::new(),
    };
    expander.collect(
        syn::Error::new(Span::call_site(), "here").into_compile_error(),
        used.call_site,
    );
    let at = |column| LineColumn { line: 2, column };
    let here = Found {
        message: "here".to_owned(),
        start: at(0),
        end: at(12),
    };
    assert_eq!(expander.found, [here]);
}
