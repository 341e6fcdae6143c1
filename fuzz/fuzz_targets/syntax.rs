//! Code: the parsers of all languages, balance of brackets, and regular expressions.
//!
//! The first byte selects the language. A line with `~` separates two pieces of code, or a pattern from a string.
#![no_main]

use dsrs_metrics::syntax::{
    BalanceOptions, Comparison, Diagnostic, Language, RegexPattern, check_balance,
};
use dsrs_metrics_fuzz::{assert_one_line, choice_and_text, parts};
use libfuzzer_sys::fuzz_target;

const LANGUAGES: [Language; 7] = [
    Language::Rust,
    Language::Python,
    Language::JavaScript,
    Language::TypeScript,
    Language::Json,
    Language::Sql,
    Language::Bash,
];

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = choice_and_text(data) else {
        return;
    };
    let (first, second) = parts(text);
    match usize::from(choice & 15) {
        language @ 0..7 => parse(LANGUAGES[language], first, second),
        7..12 => balance(text),
        _ => pattern(first, second),
    }
});

fn parse(language: Language, left: &str, right: &str) {
    let (of_left, of_right) = (first_error(language, left), first_error(language, right));
    let compared = match language.compare(left, right) {
        Ok(compared) => compared,
        // The limits on depth and numbers of JSON that is compared.
        Err(error) if language == Language::Json => return assert_one_line(&error),
        Err(error) => panic!("{error}"),
    };
    let back = language.compare(right, left).expect("a result as forth");
    match (of_left, of_right) {
        (Some(error), other) => {
            assert_eq!(compared, Comparison::LeftBroken(error.clone()));
            let first = other.map_or(Comparison::RightBroken(error), Comparison::LeftBroken);
            assert_eq!(back, first);
        }
        (None, Some(error)) => {
            assert_eq!(compared, Comparison::RightBroken(error.clone()));
            assert_eq!(back, Comparison::LeftBroken(error));
        }
        (None, None) => {
            assert_eq!(compared, back, "{language:?} of {left:?} and {right:?}");
            assert_eq!(
                language.compare(left, left),
                Ok(Comparison::Same),
                "{language:?} {left:?}"
            );
            // A line break at the end is layout, unless it belongs to a here-document that the end of the code closes, or
            // follows a continued line.
            let longer = format!("{left}\n");
            let is_text = left.contains("<<") || left.trim_end().ends_with('\\');
            let is_text = language == Language::Bash && is_text;
            if !is_text && language.first_error(&longer) == Ok(None) {
                assert_eq!(
                    language.compare(left, &longer),
                    Ok(Comparison::Same),
                    "{language:?} {left:?}"
                );
            }
        }
    }
}

fn first_error(language: Language, code: &str) -> Option<Diagnostic> {
    let error = language
        .first_error(code)
        .expect("a result within the time limit")?;
    check(&error, code);
    Some(error)
}

fn balance(code: &str) {
    for (brackets, quotes) in [(true, true), (true, false), (false, true)] {
        let options = BalanceOptions { brackets, quotes };
        if let Some(error) = check_balance(code, options) {
            check(&error, code);
        }
    }
}

/// The position is in the code, or just behind it.
fn check(error: &Diagnostic, code: &str) {
    assert_one_line(error);
    assert!(
        !error.message.is_empty() && error.message.len() < 1024,
        "{error:?}"
    );
    let line = code.split('\n').nth(error.line - 1);
    let line = line.unwrap_or_else(|| panic!("{error} in {code:?}"));
    assert!(
        (1..=line.chars().count() + 1).contains(&error.column),
        "{error} in {code:?}"
    );
}

fn pattern(pattern: &str, text: &str) {
    let pattern = RegexPattern::from(pattern);
    if let Err(error) = pattern.validate() {
        return assert_one_line(&error);
    }
    for case_sensitive in [true, false] {
        match (
            pattern.is_match(text, case_sensitive),
            pattern.captures(text, case_sensitive),
        ) {
            (Ok(is_match), Ok(captures)) => assert_eq!(is_match, captures.is_some()),
            (Err(left), Err(right)) => assert_eq!(left, right),
            (matched, captured) => panic!("{matched:?}, but {captured:?}"),
        }
    }
}
