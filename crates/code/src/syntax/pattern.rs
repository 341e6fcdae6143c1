//! A regular expression in a metric's configuration.

use dsrs_metrics_values::value_type::{TypeHelp, ValueType};
use std::fmt;
use std::sync::{Arc, OnceLock};

use regex::{Error, Regex, RegexBuilder};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::pattern_size::pattern_size;
use dsrs_metrics_values::messages::escape;

/// The maximum size of a pattern with repetitions written out. It compiles in a few milliseconds.
const MAX_PATTERN_SIZE: u64 = 100_000;

/// The maximum size of a compiled pattern, in bytes. The real limit is the size of the pattern itself.
const MAX_COMPILED_BYTES: usize = 16 << 20;

/// The maximum number of steps of one match: the bytes of the string times the positions of the pattern. Unless a
/// faster method applies, that many steps take seconds.
const MAX_STEPS: u64 = 1_000_000_000;

/// A regular expression that is compiled once and matched in linear time.
///
/// The syntax is that of the [`regex`](https://docs.rs/regex) crate: Perl-style, without look-around or backreferences.
/// The time for a match grows linearly with the length of the string.
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
    /// Compiled on first use, ignoring case and respecting it.
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
    /// Returns an error if the pattern is invalid, or if the string is too long for it. The limit is described in
    /// [`RegexPattern`].
    pub fn is_match(&self, text: &str, case_sensitive: bool) -> Result<bool, String> {
        Ok(self.usable(text, case_sensitive)?.is_match(text))
    }

    /// Returns the capture groups of the first match, or `None` if there is no match.
    ///
    /// If the pattern has no groups, the whole match is returned instead. A group that does not participate in the
    /// match is `None`.
    ///
    /// # Errors
    /// Returns an error if the pattern is invalid, or if the string is too long for it. The limit is described in
    /// [`RegexPattern`].
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
    let size = pattern_size(pattern);
    if size.is_some_and(|size| size.expanded > MAX_PATTERN_SIZE) {
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
        positions: size.map_or(1, |size| size.positions),
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

/// An invalid pattern is an error here, where its location is known.
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
