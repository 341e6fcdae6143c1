//! `syntax` with a language: its parser decides.

use dsrs_metrics::metrics::Syntax;
use dsrs_metrics::syntax::Language;
use dsrs_metrics::{Configure, Params};

use super::{evaluate, scored};

fn syntax(language: Language) -> Syntax {
    Syntax::builder().language(language).build()
}

#[test]
fn valid_and_invalid_code_in_each_language() {
    use Language::{Bash, JavaScript, Json, Python, Rust, Sql, TypeScript};
    for (language, valid, invalid) in [
        (Rust, "fn f<'a>(x: &'a str) -> char { '(' } // (", "fn f( { }"),
        (Rust, "#[derive(Debug)] struct S<T>(T);", "struct S { a: u8,, }"),
        (Python, "def f(x):\n    return [i // 2 for i in x]  # (\n", "def f(x)\n    return x\n"),
        (Python, "async def f(): await g()\n", "def f():\n  return (1\n"),
        (JavaScript, "const f = (x) => `${x} (`; // (", "const f = (x => {"),
        (JavaScript, "export default <a href=\"x\">it's</a>;", "let = = 1"),
        (TypeScript, "interface A<T> { x?: T[] }", "interface A { x: }"),
        (TypeScript, "const a = b as unknown as C;", "enum { A }"),
        (Json, "{\"a\": [1, 2.5, null]}", "{\"a\": [1, 2.5, null]"),
        (Json, "\"text\"", "{'a': 1}"),
        (Sql, "SELECT a, COUNT(*) FROM t WHERE b = 'x' GROUP BY a;", "SELECT FROM WHERE (;"),
        (Bash, "for f in *; do echo \"$f\"; done", "for f in *; do echo \"$f\""),
        (Bash, "if [ -f x ]; then cat <<EOF\nhi\nEOF\nfi", "if [ -f x ]; then"),
    ] {
        assert_eq!(
            evaluate(&syntax(language), valid),
            (1.0, String::new()),
            "{language:?} {valid}"
        );
        assert_eq!(evaluate(&syntax(language), invalid).0, 0.0, "{language:?} {invalid}");
    }
}

#[test]
fn the_feedback_has_the_position() {
    assert_eq!(
        evaluate(&syntax(Language::Json), "{\n  \"é\": [1 2]\n}").1,
        "line 2, column 11: expected `,` or `]`"
    );
    let feedback = evaluate(&syntax(Language::Rust), "fn f() {\n    let x = 1\n    g();\n}").1;
    assert!(feedback.starts_with("line 2, column "), "{feedback}");
}

#[test]
fn an_unknown_language_is_an_error_before_the_first_row() {
    let configured = |language: &str| {
        let mut params = Params::default();
        params.insert("language", language);
        Syntax::configure(&params)
    };
    let error = configured("cobol").unwrap_err().to_string();
    assert!(error.contains("`cobol`") && error.contains("`rust`, `py`, `python`"), "{error}");
    assert_eq!(evaluate(&configured("py").unwrap(), "x = 1").0, 1.0);
}

#[test]
fn nesting_of_any_depth_neither_overflows_the_stack_nor_hangs() {
    let started = std::time::Instant::now();
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    assert_eq!(evaluate(&syntax(Language::Json), &deep("[", "]")).0, 1.0);
    for language in [Language::Rust, Language::Python, Language::JavaScript, Language::Bash] {
        let evaluated = scored(&syntax(language), &deep("(", ")"));
        assert!((0.0..=1.0).contains(&evaluated.score.value), "{language:?}");
        let evaluated = scored(&syntax(language), &"[(".repeat(100_000));
        assert_eq!(evaluated.score.value, 0.0, "{language:?}");
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
