//! Functions that rewritten queries call: regular expressions with bounded work, and the count of
//! stored values.
//!
//! `REGEX` and `REPLACE` have the results of the engine's own functions: an invalid pattern, an
//! unknown flag or an argument of another type is an error of the expression. A pattern that is too
//! large, or a match that would take too long, stops the evaluation instead.

use std::cell::RefCell;
use std::collections::HashMap;

use oxigraph::model::vocab::{rdf, xsd};
use oxigraph::model::{Literal, NamedNode, Term};
use oxigraph::sparql::SparqlEvaluator;
use regex::{Captures, Error, Regex, RegexBuilder};

use super::metered::{Exceeded, charge, retain, stop, string_bytes};
use crate::syntax::pattern_size::{PatternSize, pattern_size};

/// The names of the functions. A query that calls them itself gets what it would get from the
/// functions of SPARQL.
pub(super) const REGEX: &str = "urn:dsrs-metrics:regex";
pub(super) const REPLACE: &str = "urn:dsrs-metrics:replace";
pub(super) const KEEP: &str = "urn:dsrs-metrics:keep";

/// The maximum size of a pattern, with repetitions written out. It compiles in some milliseconds.
const MAX_PATTERN_SIZE: u64 = 100_000;

/// The maximum size of the patterns that are kept compiled.
const MAX_CACHED_SIZE: u64 = 4 * MAX_PATTERN_SIZE;

/// The bytes that a compiled pattern may take. The size of a pattern is the real limit.
const MAX_COMPILED_BYTES: usize = 16 << 20;

/// The bytes of the tables that a match builds to be faster.
const MAX_TABLE_BYTES: usize = 256 << 10;

/// The maximum number of steps of one match: the length of the string times the length of the
/// pattern. They take a second at most.
const MAX_STEPS: u64 = 100_000_000;

/// Adds the functions to an evaluator.
pub(super) fn with_functions(evaluator: SparqlEvaluator) -> SparqlEvaluator {
    let name = |name: &str| NamedNode::new_unchecked(name);
    evaluator
        .with_custom_function(name(REGEX), |arguments| match arguments {
            [text, pattern, flags @ ..] => regex(text, pattern, flags),
            _ => None,
        })
        .with_custom_function(name(REPLACE), |arguments| match arguments {
            [text, pattern, with, flags @ ..] => replace(text, pattern, with, flags),
            _ => None,
        })
        .with_custom_function(name(KEEP), |arguments| match arguments {
            [value, bytes] => keep(value, bytes),
            _ => None,
        })
}

fn regex(text: &Term, pattern: &Term, flags: &[Term]) -> Option<Term> {
    let text = text_of(text)?;
    with_compiled(pattern, flags, |compiled| {
        compiled.charge_match(text.value().len());
        Some(Literal::from(compiled.regex.is_match(text.value())).into())
    })
}

fn replace(text: &Term, pattern: &Term, with: &Term, flags: &[Term]) -> Option<Term> {
    let (text, with) = (text_of(text)?, simple(with)?);
    with_compiled(pattern, flags, |compiled| {
        let value = text.value();
        compiled.charge_match(value.len());
        let expand = |found: &Captures<'_>| {
            // After each match, the rest of the string is searched again.
            compiled.charge_match(value.len() - found.get(0).map_or(0, |found| found.end()));
            let mut expanded = String::new();
            found.expand(with, &mut expanded);
            expanded
        };
        let replaced = compiled.regex.replace_all(value, expand).into_owned();
        let tagged = text.language().map_or_else(
            || Literal::new_simple_literal(&replaced),
            |tag| Literal::new_language_tagged_literal_unchecked(&replaced, tag),
        );
        Some(tagged.into())
    })
}

/// Returns a value that the engine stores until the end of the evaluation.
fn keep(value: &Term, bytes: &Term) -> Option<Term> {
    let more = simple(bytes)?.parse::<usize>().ok()?;
    charge(1);
    retain(string_bytes(value).saturating_add(more));
    Some(value.clone())
}

/// A string with or without a language tag.
fn text_of(term: &Term) -> Option<&Literal> {
    match term {
        Term::Literal(literal)
            if literal.datatype() == xsd::STRING || literal.datatype() == rdf::LANG_STRING =>
        {
            Some(literal)
        }
        _ => None,
    }
}

/// A string without a language tag.
fn simple(term: &Term) -> Option<&str> {
    match term {
        Term::Literal(literal) if literal.datatype() == xsd::STRING => Some(literal.value()),
        _ => None,
    }
}

struct Compiled {
    regex: Regex,
    size: PatternSize,
}

impl Compiled {
    /// Counts the work of a match on a string of this length.
    fn charge_match(&self, length: usize) {
        let steps = (length as u64 + 1).saturating_mul(self.size.positions);
        if steps > MAX_STEPS {
            stop(Exceeded::Pattern);
        }
        charge(1 + steps / 1024);
    }
}

/// The compiled patterns of the evaluation on this thread, by pattern and flags. `None` marks an
/// invalid pattern.
#[derive(Default)]
struct Cache {
    compiled: HashMap<(String, String), Option<Compiled>>,
    size: u64,
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

fn with_compiled<T>(
    pattern: &Term,
    flags: &[Term],
    run: impl FnOnce(&Compiled) -> Option<T>,
) -> Option<T> {
    let pattern = simple(pattern)?;
    let flags = match flags {
        [] => "",
        [flags] => simple(flags)?,
        _ => return None,
    };
    CACHE.with_borrow_mut(|cache| {
        let key = (pattern.to_owned(), flags.to_owned());
        if !cache.compiled.contains_key(&key) {
            let compiled = compile(pattern, flags);
            let size = compiled.as_ref().map_or(1, |it| it.size.expanded) + pattern.len() as u64;
            if cache.size + size > MAX_CACHED_SIZE {
                *cache = Cache::default();
            }
            cache.size += size;
            cache.compiled.insert(key.clone(), compiled);
        }
        run(cache.compiled.get(&key)?.as_ref()?)
    })
}

/// Compiles a pattern with the flags of XPath, as the engine does.
fn compile(pattern: &str, flags: &str) -> Option<Compiled> {
    let is_literal = flags.contains('q');
    let escaped = if is_literal {
        regex::escape(pattern)
    } else {
        pattern.to_owned()
    };
    charge(1 + pattern.len() as u64 / 16);
    let is_extended = flags.contains('x');
    let size = pattern_size(&escaped, is_extended)?;
    if size.expanded > MAX_PATTERN_SIZE {
        stop(Exceeded::Pattern);
    }
    charge(size.expanded / 16);
    let mut builder = RegexBuilder::new(&escaped);
    builder
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_TABLE_BYTES);
    for flag in flags.chars() {
        match flag {
            's' => builder.dot_matches_new_line(true),
            'm' => builder.multi_line(true),
            'i' => builder.case_insensitive(true),
            'x' => builder.ignore_whitespace(true),
            'q' => &mut builder,
            _ => return None,
        };
    }
    match builder.build() {
        Ok(regex) => Some(Compiled { regex, size }),
        Err(Error::CompiledTooBig(_)) => {
            stop(Exceeded::Pattern);
            None
        }
        Err(_) => None,
    }
}
