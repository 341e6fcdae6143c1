//! Brackets and quotes of texts whose language is not known.

use dsrs_metrics::metrics::Syntax;
use dsrs_metrics::syntax::{Balance, unbalanced};

use super::said;

const ALL: Balance = Balance { brackets: true, quotes: true };

#[test]
fn balanced_texts() {
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
        assert_eq!(unbalanced(text, ALL).map(|fault| fault.to_string()), None, "{text}");
    }
}

#[test]
fn unbalanced_texts() {
    for (text, fault) in [
        ("f(", "line 1, column 2: `(` is never closed"),
        ("f)", "line 1, column 2: `)` closes nothing"),
        ("f(]", "line 1, column 3: `]` closes `(` of line 1"),
        ("a\né = [(1, 2]", "line 2, column 11: `]` closes `(` of line 2"),
        ("f( // )", "line 1, column 2: `(` is never closed"),
        ("f(  # )", "line 1, column 2: `(` is never closed"),
        ("say \"hi", "line 1, column 5: `\"` is never closed"),
        ("x = 'hi", "line 1, column 5: `'` is never closed"),
        ("x = 'a\n'", "line 1, column 5: `'` is never closed"),
        ("f() /* never", "line 1, column 5: `/*` is never closed"),
        ("\"\\\"", "line 1, column 1: `\"` is never closed"),
    ] {
        assert_eq!(unbalanced(text, ALL).map(|fault| fault.to_string()).as_deref(), Some(fault));
    }
}

#[test]
fn each_check_can_be_left_out() {
    let brackets = Syntax::builder().check_balanced_quotes(false).build();
    assert_eq!((said(&brackets, "it 'was \" (x)").0, said(&brackets, "(").0), (1.0, 0.0));
    let quotes = Syntax::builder().check_balanced_brackets(false).build();
    assert_eq!((said(&quotes, "([)").0, said(&quotes, "\"").0), (1.0, 0.0));
    assert_eq!(said(&Syntax::default(), "([)").1, "line 1, column 3: `)` closes `[` of line 1");
}

#[test]
fn deep_and_long_texts_take_linear_time() {
    let started = std::time::Instant::now();
    let deep = format!("{}{}", "([{".repeat(100_000), "}])".repeat(100_000));
    assert_eq!(unbalanced(&deep, ALL), None);
    assert_eq!(unbalanced(&deep[1..], ALL).unwrap().column, 599_999);
    let brackets = Balance { brackets: true, quotes: false };
    for piece in ["\"\\\" ", "'\\' ", "`", "\\\"\"\"", "/*", "r#\"", "'a ", "// \"", "#'"] {
        let _ = unbalanced(&piece.repeat(200_000), ALL);
        let _ = unbalanced(&piece.repeat(200_000), brackets);
        let _ = unbalanced(&format!("'{}", piece.repeat(200_000)), brackets);
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn any_bytes_that_are_text_do_no_harm() {
    let pieces =
        ["é", "\\", "'", "\"", "`", "#", "//", "/*", "(", "]", "\n", "😀", "r#\"", "--", "a"];
    let mut state = 7_u64;
    for length in 0..3000 {
        let mut text = String::new();
        for _ in 0..length % 23 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        let fault = unbalanced(&text, ALL);
        assert!(fault.is_none_or(|fault| fault.line <= text.matches('\n').count() + 1), "{text:?}");
    }
}
