//! Balanced brackets and quotes in code of an unknown language.

use dsrs_metrics::metrics::Syntax;
use dsrs_metrics::syntax::{BalanceOptions, check_balance};

use super::evaluate;

const ALL: BalanceOptions = BalanceOptions {
    brackets: true,
    quotes: true,
};

#[test]
fn balanced_code() {
    for text in [
        "",
        "f(a[1], {b: 2})",
        "print(\"(\")",
        "print(')')",
        "x = '''((('''\ny = \"\"\"[\n\"\"\"",
        "s = \"a \\\" ( b\"",
        "f(x) // :-(",
        "f(x) /* ( [ \n { */ + 1",
        "f(x)  # :-(",
        "SELECT (1) -- note :-(\nFROM t",
        "fn f<'a>(x: &'a str) -> &'a str { x }",
        "impl<'a> Foo<'a> for Bar { fn c() -> char { '(' } }",
        "let s = r#\"quote \" and ( \"#;",
        "x = (a // b)",
        "y = f'{a}' + b'(' + r\"[\"",
        "It's what the dogs' owner doesn't say (she said).",
        "see https://example.org/a(b) for (more)",
        "a { color: #fff; }",
        "```rust\nfn f( {\n```",
        "const s = `a ${b} (`;",
        "#!/bin/sh\necho \"$(date)\" # it's (fine",
        "for (;;) { i--; }",
    ] {
        assert_eq!(
            check_balance(text, ALL).map(|error| error.to_string()),
            None,
            "{text}"
        );
    }
}

#[test]
fn unbalanced_code() {
    for (text, message) in [
        ("f(", "line 1, column 2: `(` is never closed"),
        ("f)", "line 1, column 2: unmatched `)`"),
        ("f(]", "line 1, column 3: `]` does not match `(` on line 1"),
        (
            "a\né = [(1, 2]",
            "line 2, column 11: `]` does not match `(` on line 2",
        ),
        ("f( // )", "line 1, column 2: `(` is never closed"),
        ("f(  # )", "line 1, column 2: `(` is never closed"),
        ("say \"hi", "line 1, column 5: `\"` is never closed"),
        ("x = 'hi", "line 1, column 5: `'` is never closed"),
        ("x = 'a\n'", "line 1, column 5: `'` is never closed"),
        ("f() /* never", "line 1, column 5: `/*` is never closed"),
        ("\"\\\"", "line 1, column 1: `\"` is never closed"),
    ] {
        assert_eq!(
            check_balance(text, ALL)
                .map(|error| error.to_string())
                .as_deref(),
            Some(message)
        );
    }
}

#[test]
fn each_check_can_be_disabled() {
    let brackets = Syntax::builder().check_balanced_quotes(false).build();
    assert_eq!(
        (
            evaluate(&brackets, "it 'was \" (x)").0,
            evaluate(&brackets, "(").0
        ),
        (1.0, 0.0)
    );
    let quotes = Syntax::builder().check_balanced_brackets(false).build();
    assert_eq!(
        (evaluate(&quotes, "([)").0, evaluate(&quotes, "\"").0),
        (1.0, 0.0)
    );
    assert_eq!(
        evaluate(&Syntax::default(), "([)").1,
        "line 1, column 3: `)` does not match `[` on line 1"
    );
}

#[test]
fn deep_and_long_code_takes_linear_time() {
    let started = std::time::Instant::now();
    let deep = format!("{}{}", "([{".repeat(100_000), "}])".repeat(100_000));
    assert_eq!(check_balance(&deep, ALL), None);
    assert_eq!(check_balance(&deep[1..], ALL).unwrap().column, 599_999);
    let brackets = BalanceOptions {
        brackets: true,
        quotes: false,
    };
    for piece in [
        "\"\\\" ", "'\\' ", "`", "\\\"\"\"", "/*", "r#\"", "'a ", "// \"", "#'",
    ] {
        let _ = check_balance(&piece.repeat(200_000), ALL);
        let _ = check_balance(&piece.repeat(200_000), brackets);
        let _ = check_balance(&format!("'{}", piece.repeat(200_000)), brackets);
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn arbitrary_strings_do_not_panic() {
    let pieces = [
        "é", "\\", "'", "\"", "`", "#", "//", "/*", "(", "]", "\n", "😀", "r#\"", "--", "a",
    ];
    let mut state = 7_u64;
    for length in 0..3000 {
        let mut text = String::new();
        for _ in 0..length % 23 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        let error = check_balance(&text, ALL);
        assert!(
            error.is_none_or(|error| error.line <= text.matches('\n').count() + 1),
            "{text:?}"
        );
    }
}
