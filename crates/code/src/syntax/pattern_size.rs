//! The size of a regular expression, computed before the expression is compiled.
//!
//! A short pattern can be large: `\w{1,1000}` is a thousand copies of a class with 750 character ranges, which take
//! seconds and hundreds of megabytes to compile. The parsed pattern is small, so its size can be computed from the
//! parsed form.

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{Ast, ClassSet, ClassSetItem, RepetitionKind, RepetitionRange};

/// The size of a Unicode class: about as many ranges as the largest ones have.
const UNICODE_CLASS: u64 = 800;

/// The size of `\w`, `\d` and `\s` in JSON Schema, where they are ASCII or short lists, even negated.
const SHORT_CLASS: u64 = 40;

/// The size of a non-ASCII character or character range: its bytes in UTF-8.
const CHARACTER: u64 = 4;

/// The size of a regular expression after its counted repetitions are expanded.
///
/// For example, `a{3}` is expanded to `aaa`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternSize {
    /// The number of characters and character ranges in the expanded pattern.
    ///
    /// This number determines the time and memory needed to compile the pattern.
    pub expanded: u64,
    /// The maximum number of steps that matching takes for each character of a string.
    ///
    /// This is the number of positions in the expanded pattern.
    pub positions: u64,
}

impl PatternSize {
    const fn class(expanded: u64) -> Self {
        Self {
            expanded,
            positions: CHARACTER,
        }
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            expanded: self.expanded.saturating_add(other.expanded),
            positions: self.positions.saturating_add(other.positions),
        }
    }

    const fn times(self, count: u64) -> Self {
        Self {
            expanded: self.expanded.saturating_mul(count),
            positions: self.positions.saturating_mul(count),
        }
    }
}

const ONE: PatternSize = PatternSize {
    expanded: 1,
    positions: 1,
};

/// Returns an upper bound on the size of a pattern, or `None` if the pattern is invalid.
///
/// The pattern uses the syntax of the `regex` crate.
pub fn pattern_size(pattern: &str) -> Option<PatternSize> {
    let mut parser = ParserBuilder::new().build();
    parser.parse(pattern).ok().map(|ast| {
        Sizes {
            perl_class: UNICODE_CLASS,
        }
        .of(&ast)
    })
}

/// Returns an upper bound on the size of a pattern from a JSON Schema.
///
/// Unlike in [`pattern_size`], the pattern can contain look-around and backreferences. If the pattern cannot be parsed,
/// the bound is estimated from its length and its counted repetitions.
pub fn schema_pattern_size(pattern: &str) -> PatternSize {
    let mut plain = pattern.to_owned();
    for group in ["(?=", "(?!", "(?<=", "(?<!", "(?>"] {
        plain = plain.replace(group, "(?:");
    }
    for digit in '1'..='9' {
        plain = plain.replace(&format!("\\{digit}"), ".");
    }
    let parsed = ParserBuilder::new().build().parse(&plain);
    parsed
        .map(|ast| {
            Sizes {
                perl_class: SHORT_CLASS,
            }
            .of(&ast)
        })
        .unwrap_or_else(|_| {
            let numbers = pattern
                .split(|c: char| !c.is_ascii_digit())
                .filter(|it| !it.is_empty());
            let copies = numbers.fold(1_u64, |copies, number| {
                copies.saturating_mul(
                    number
                        .parse::<u64>()
                        .map_or(u64::MAX, |number| number.max(1)),
                )
            });
            PatternSize::class(UNICODE_CLASS)
                .times(pattern.len() as u64)
                .times(copies)
        })
}

/// The sizes of parts of a pattern.
#[derive(Clone, Copy)]
struct Sizes {
    /// The size of `\w`, `\d` and `\s`.
    perl_class: u64,
}

impl Sizes {
    fn of(self, ast: &Ast) -> PatternSize {
        let sum = |asts: &[Ast]| {
            asts.iter()
                .map(|ast| self.of(ast))
                .fold(ONE, PatternSize::plus)
        };
        match ast {
            Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) => ONE,
            Ast::Dot(_) => PatternSize::class(2 * CHARACTER),
            Ast::Literal(literal) if literal.c.is_ascii() => ONE,
            Ast::Literal(_) => PatternSize::class(CHARACTER),
            Ast::ClassUnicode(_) => PatternSize::class(UNICODE_CLASS),
            Ast::ClassPerl(_) => PatternSize::class(self.perl_class),
            Ast::ClassBracketed(class) => PatternSize::class(self.set(&class.kind)),
            Ast::Group(group) => self.of(&group.ast).plus(ONE),
            Ast::Repetition(repetition) => self
                .of(&repetition.ast)
                .plus(ONE)
                .times(copies(&repetition.op.kind)),
            Ast::Alternation(list) => sum(&list.asts),
            Ast::Concat(list) => sum(&list.asts),
        }
    }

    fn set(self, class: &ClassSet) -> u64 {
        match class {
            ClassSet::Item(item) => self.set_item(item),
            ClassSet::BinaryOp(operation) => self
                .set(&operation.lhs)
                .saturating_add(self.set(&operation.rhs)),
        }
    }

    fn set_item(self, item: &ClassSetItem) -> u64 {
        match item {
            ClassSetItem::Empty(_) => 1,
            ClassSetItem::Literal(_) | ClassSetItem::Range(_) | ClassSetItem::Ascii(_) => CHARACTER,
            ClassSetItem::Unicode(_) => UNICODE_CLASS,
            ClassSetItem::Perl(_) => self.perl_class,
            ClassSetItem::Bracketed(class) => self.set(&class.kind),
            ClassSetItem::Union(union) => union
                .items
                .iter()
                .map(|item| self.set_item(item))
                .fold(CHARACTER, u64::saturating_add),
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
        pattern_size(pattern).unwrap().expanded
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
        assert_eq!(pattern_size("("), None);
    }

    #[test]
    fn look_around_and_backreferences_are_bounded_too() {
        let size = |pattern| schema_pattern_size(pattern).expanded;
        assert!(size(r"^(?=.*[A-Z])(?!.*\s)(?<=a)(b)\1.{8,64}$") < 5_000);
        assert!(size(r"(?=\p{L}{1000})a") > 800_000);
        assert!(size(r"^\w[\w-]{1,256}$") < 20_000);
        assert!(size(r"(?<n>a)\k<n>{1000}\p{L}") > 800_000);
        assert!(size(r"\p{unknown}(?=a)") < 100_000);
    }
}
