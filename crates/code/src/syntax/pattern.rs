//! A regular expression in a metric's configuration. Its size is computed before it is compiled.
//!
//! A short pattern can be large: `\w{1,1000}` is a thousand copies of a class with 750 character ranges, which take
//! seconds and hundreds of megabytes to compile. The parsed pattern is small, so its compiled size can be computed from
//! it.
//!
//! The file is long because an expression's size depends on its form, and the tests have a case for each form.

use std::fmt;
use std::sync::{Arc, OnceLock};

use dsrs_metrics_values::messages::escape;
use dsrs_metrics_values::value_type::{TypeHelp, ValueType};
use regex::{Error, Regex, RegexBuilder};
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{Ast, ClassSet, ClassSetItem, RepetitionKind, RepetitionRange};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The maximum size of a pattern with its repetitions written out. Such a pattern compiles in a few milliseconds.
const MAX_PATTERN_SIZE: u64 = 100_000;

/// The maximum size of a compiled pattern, in bytes. The real limit is the size of the pattern itself.
const MAX_COMPILED_BYTES: usize = 16 << 20;

/// The maximum number of steps in one match: the bytes of the string times the positions in the pattern. Unless a
/// faster method applies, that many steps take seconds.
const MAX_STEPS: u64 = 1_000_000_000;

/// A regular expression that is compiled once and matched in linear time.
///
/// The syntax is that of the [`regex`](https://docs.rs/regex) crate: Perl-style, without look-around or backreferences.
/// Matching time grows linearly with the length of the string.
///
/// Two limits keep patterns fast:
///
/// - A pattern can have at most 100,000 characters and character ranges, counted after its repetitions are expanded.
/// - A match can take at most 10^9 steps. The number of steps is the string's length times the pattern's length.
///
/// Any string can be converted to a `RegexPattern`. Call [`validate`](Self::validate) to check that the pattern is
/// valid. Metrics check their patterns before the first row.
///
/// ```
/// use dsrs_metrics::syntax::RegexPattern;
///
/// let pattern = RegexPattern::from(r"ANSWER: (\w+)");
/// assert_eq!(pattern.is_match("The ANSWER: B", true), Ok(true));
/// assert_eq!(pattern.captures("the answer: B", false), Ok(Some(vec![Some("B")])));
///
/// let error = RegexPattern::from("(a").validate().unwrap_err();
/// assert_eq!(error, "invalid regular expression `(a`: unclosed group");
/// ```
#[derive(Clone)]
pub struct RegexPattern(Arc<Pattern>);

struct Pattern {
    source: String,
    /// The case-insensitive and the case-sensitive form, each compiled on first use.
    compiled: [OnceLock<Result<Compiled, String>>; 2],
}

struct Compiled {
    regex: Regex,
    positions: u64,
}

impl RegexPattern {
    /// Returns the pattern as a string.
    pub fn as_str(&self) -> &str {
        &self.0.source
    }

    /// Checks that the pattern is valid.
    ///
    /// # Errors
    /// Returns a one-line message if the syntax is invalid or unsupported, or if the pattern is too large.
    pub fn validate(&self) -> Result<(), String> {
        self.compiled(true)?;
        self.compiled(false)?;
        Ok(())
    }

    /// Returns `true` if the pattern matches anywhere in the string.
    ///
    /// # Errors
    /// Returns an error if the pattern is invalid, or if the string is too long for it. See [`RegexPattern`] for the
    /// limit.
    pub fn is_match(&self, text: &str, case_sensitive: bool) -> Result<bool, String> {
        Ok(self.usable(text, case_sensitive)?.is_match(text))
    }

    /// Returns the capture groups of the first match, or `None` if there is no match.
    ///
    /// If the pattern has no groups, the whole match is returned instead. A group that does not participate in the
    /// match is `None`.
    ///
    /// # Errors
    /// Returns an error if the pattern is invalid, or if the string is too long for it. See [`RegexPattern`] for the
    /// limit.
    pub fn captures<'t>(
        &self,
        text: &'t str,
        case_sensitive: bool,
    ) -> Result<Option<Vec<Option<&'t str>>>, String> {
        let regex = self.usable(text, case_sensitive)?;
        if regex.captures_len() == 1 {
            return Ok(regex.find(text).map(|found| vec![Some(found.as_str())]));
        }
        let groups = |captures: regex::Captures<'t>| {
            captures
                .iter()
                .skip(1)
                .map(|group| group.map(|group| group.as_str()))
                .collect()
        };
        Ok(regex.captures(text).map(groups))
    }

    fn usable(&self, text: &str, case_sensitive: bool) -> Result<&Regex, String> {
        let Compiled { regex, positions } = self.compiled(case_sensitive)?;
        if (text.len() as u64).saturating_mul(*positions) > MAX_STEPS {
            return Err(format!(
                "the string is too long for the pattern: {} bytes times {positions} positions; simplify the pattern",
                text.len()
            ));
        }
        Ok(regex)
    }

    fn compiled(&self, case_sensitive: bool) -> Result<&Compiled, String> {
        let compiled = self.0.compiled[usize::from(case_sensitive)]
            .get_or_init(|| compile(&self.0.source, case_sensitive));
        compiled.as_ref().map_err(Clone::clone)
    }
}

fn compile(pattern: &str, case_sensitive: bool) -> Result<Compiled, String> {
    let invalid = |reason: &str| {
        format!(
            "invalid regular expression `{}`: {reason}",
            escape::name(pattern)
        )
    };
    let too_large = "it is too large; use smaller repetition counts";
    let ast = parse(pattern);
    let expanded = |ast: &Ast| size(ast, &|class| ranges(class, UNICODE_CLASS));
    if ast
        .as_ref()
        .is_some_and(|ast| expanded(ast) > MAX_PATTERN_SIZE)
    {
        return Err(invalid(too_large));
    }
    let mut builder = RegexBuilder::new(pattern);
    builder
        .case_insensitive(!case_sensitive)
        .size_limit(MAX_COMPILED_BYTES);
    let regex = builder.build().map_err(|error| match error {
        Error::Syntax(report) => {
            // The report shows the pattern, a pointer into it, and the reason at its end.
            let reason = report.rsplit("error: ").next().unwrap_or_default();
            let reason: Vec<&str> = reason.split_whitespace().collect();
            invalid(&reason.join(" "))
        }
        _ => invalid(too_large),
    })?;
    Ok(Compiled {
        regex,
        positions: ast.map_or(1, |ast| size(&ast, &|_| CHARACTER)),
    })
}

conversions! {
    &str => RegexPattern: |source| source.to_owned().into();
    String => RegexPattern: |source| {
        Self(Arc::new(Pattern { source, compiled: [OnceLock::new(), OnceLock::new()] }))
    };
}

impl fmt::Debug for RegexPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RegexPattern").field(&self.0.source).finish()
    }
}

impl PartialEq for RegexPattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.source == other.0.source
    }
}

impl Eq for RegexPattern {}

impl Serialize for RegexPattern {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.source.serialize(to)
    }
}

/// An invalid pattern is rejected here, where its location is known.
impl<'de> Deserialize<'de> for RegexPattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let pattern = Self::from(String::deserialize(from)?);
        pattern.validate().map_err(de::Error::custom)?;
        Ok(pattern)
    }
}

impl ValueType for RegexPattern {
    const HELP: TypeHelp = TypeHelp::new("a regular expression").with_example(r"'ANSWER:\s*(\w+)'");
}

/// The size of a Unicode class: about as many ranges as the largest classes have.
const UNICODE_CLASS: u64 = 800;

/// The size of `\w`, `\d` and `\s` in a JSON Schema, where these classes are ASCII or short lists, even if negated.
const SHORT_CLASS: u64 = 40;

/// The size of a non-ASCII character or character range: its number of UTF-8 bytes.
const CHARACTER: u64 = 4;

fn parse(pattern: &str) -> Option<Ast> {
    ParserBuilder::new().build().parse(pattern).ok()
}

/// Returns an upper bound on the size of a JSON Schema pattern after its counted repetitions are expanded. The size is
/// the number of characters and character ranges, which determines how much time and memory it takes to compile the
/// pattern.
///
/// Unlike other patterns, these can contain look-around and backreferences. If the pattern cannot be parsed, the bound
/// is estimated from its length and its counted repetitions.
#[doc(hidden)]
pub fn schema_pattern_size(pattern: &str) -> u64 {
    let mut plain = pattern.to_owned();
    for group in ["(?=", "(?!", "(?<=", "(?<!", "(?>"] {
        plain = plain.replace(group, "(?:");
    }
    for digit in '1'..='9' {
        plain = plain.replace(&format!("\\{digit}"), ".");
    }
    if let Some(ast) = parse(&plain) {
        return size(&ast, &|class| ranges(class, SHORT_CLASS));
    }
    let numbers = pattern.split(|c: char| !c.is_ascii_digit());
    let copies = numbers.filter(|it| !it.is_empty()).map(|number| {
        let number = number.parse::<u64>();
        number.map_or(u64::MAX, |number| number.max(1))
    });
    let each = UNICODE_CLASS.saturating_mul(pattern.len() as u64);
    copies.fold(each, u64::saturating_mul)
}

/// Returns a pattern's size. `class` returns the size of a character class.
fn size(ast: &Ast, class: &dyn Fn(&Ast) -> u64) -> u64 {
    let sum = |asts: &[Ast]| {
        let sizes = asts.iter().map(|ast| size(ast, class));
        sizes.fold(1, u64::saturating_add)
    };
    match ast {
        Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) => 1,
        Ast::Literal(literal) if literal.c.is_ascii() => 1,
        Ast::Literal(_) => CHARACTER,
        Ast::Dot(_) | Ast::ClassUnicode(_) | Ast::ClassPerl(_) | Ast::ClassBracketed(_) => {
            class(ast)
        }
        Ast::Group(group) => size(&group.ast, class).saturating_add(1),
        Ast::Repetition(repetition) => size(&repetition.ast, class)
            .saturating_add(1)
            .saturating_mul(copies(&repetition.op.kind)),
        Ast::Alternation(list) => sum(&list.asts),
        Ast::Concat(list) => sum(&list.asts),
    }
}

/// Returns the number of ranges in a class, given the number of ranges in `\w`, `\d` and `\s`.
fn ranges(class: &Ast, perl_class: u64) -> u64 {
    match class {
        Ast::ClassUnicode(_) => UNICODE_CLASS,
        Ast::ClassPerl(_) => perl_class,
        Ast::ClassBracketed(class) => of_set(&class.kind, perl_class),
        _ => 2 * CHARACTER,
    }
}

fn of_set(class: &ClassSet, perl_class: u64) -> u64 {
    match class {
        ClassSet::Item(item) => of_item(item, perl_class),
        ClassSet::BinaryOp(operation) => {
            of_set(&operation.lhs, perl_class).saturating_add(of_set(&operation.rhs, perl_class))
        }
    }
}

fn of_item(item: &ClassSetItem, perl_class: u64) -> u64 {
    match item {
        ClassSetItem::Empty(_) => 1,
        ClassSetItem::Literal(_) | ClassSetItem::Range(_) | ClassSetItem::Ascii(_) => CHARACTER,
        ClassSetItem::Unicode(_) => UNICODE_CLASS,
        ClassSetItem::Perl(_) => perl_class,
        ClassSetItem::Bracketed(class) => of_set(&class.kind, perl_class),
        ClassSetItem::Union(union) => {
            let items = union.items.iter().map(|item| of_item(item, perl_class));
            items.fold(CHARACTER, u64::saturating_add)
        }
    }
}

fn copies(kind: &RepetitionKind) -> u64 {
    match kind {
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => 1,
        RepetitionKind::Range(
            RepetitionRange::Exactly(count) | RepetitionRange::Bounded(_, count),
        ) => u64::from(*count).max(1),
        RepetitionKind::Range(RepetitionRange::AtLeast(count)) => u64::from(*count) + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expanded(pattern: &str) -> u64 {
        size(&parse(pattern).unwrap(), &|class| {
            ranges(class, UNICODE_CLASS)
        })
    }

    #[test]
    fn repetitions_multiply_and_unicode_classes_count_their_ranges() {
        assert!(expanded("^abc$") < 10);
        assert!(expanded(r"^[a-z0-9_-]{1,64}$") < 2_000);
        assert!(expanded(r"\w+@\w+") < 2_000);
        assert!(expanded(r"\w{1,1000}") > 800_000);
        assert!(expanded("((a{1000}){1000}){1000}") > 1_000_000_000);
        assert!(expanded(r"[\p{L}\p{N}]{100}") > 160_000);
        assert_eq!(
            expanded("((((a{4000000000}){4000000000}){4000000000}){4000000000})"),
            u64::MAX
        );
        assert_eq!(parse("("), None);
    }

    #[test]
    fn look_around_and_backreferences_are_bounded_too() {
        let size = schema_pattern_size;
        assert!(size(r"^(?=.*[A-Z])(?!.*\s)(?<=a)(b)\1.{8,64}$") < 5_000);
        assert!(size(r"(?=\p{L}{1000})a") > 800_000);
        assert!(size(r"^\w[\w-]{1,256}$") < 20_000);
        assert!(size(r"(?<n>a)\k<n>{1000}\p{L}") > 800_000);
        assert!(size(r"\p{unknown}(?=a)") < 100_000);
    }
}
