//! `syntax` with a language: its parser decides.

use dsrs_metrics::contract::{Configure, Params};
use dsrs_metrics::metrics::{Diff, DiffStrictness, Syntax};
use dsrs_metrics::prelude::*;
use dsrs_metrics::syntax::Language;

use super::{evaluate, scored};

fn syntax(language: Language) -> Syntax {
    Syntax::builder().language(language).build()
}

#[test]
fn valid_and_invalid_code_in_each_language() {
    use Language::{Bash, JavaScript, Json, Python, Rust, Sql, TypeScript};
    for (language, valid, invalid) in [
        (
            Rust,
            "fn f<'a>(x: &'a str) -> char { '(' } // (",
            "fn f( { }",
        ),
        (
            Rust,
            "#[derive(Debug)] struct S<T>(T);",
            "struct S { a: u8,, }",
        ),
        (
            Python,
            "def f(x):\n    return [i // 2 for i in x]  # (\n",
            "def f(x)\n    return x\n",
        ),
        (
            Python,
            "async def f(): await g()\n",
            "def f():\n  return (1\n",
        ),
        (
            JavaScript,
            "const f = (x) => `${x} (`; // (",
            "const f = (x => {",
        ),
        (
            JavaScript,
            "export default <a href=\"x\">it's</a>;",
            "let = = 1",
        ),
        (
            TypeScript,
            "interface A<T> { x?: T[] }",
            "interface A { x: }",
        ),
        (TypeScript, "const a = b as unknown as C;", "enum { A }"),
        (Json, "{\"a\": [1, 2.5, null]}", "{\"a\": [1, 2.5, null]"),
        (Json, "\"text\"", "{'a': 1}"),
        (
            Sql,
            "SELECT a, COUNT(*) FROM t WHERE b = 'x' GROUP BY a;",
            "SELECT FROM WHERE (;",
        ),
        (
            Bash,
            "for f in *; do echo \"$f\"; done",
            "for f in *; do echo \"$f\"",
        ),
        (
            Bash,
            "if [ -f x ]; then cat <<EOF\nhi\nEOF\nfi",
            "if [ -f x ]; then",
        ),
    ] {
        assert_eq!(
            evaluate(&syntax(language), valid),
            (1.0, String::new()),
            "{language:?} {valid}"
        );
        assert_eq!(
            evaluate(&syntax(language), invalid).0,
            0.0,
            "{language:?} {invalid}"
        );
    }
}

#[test]
fn the_feedback_has_the_position() {
    assert_eq!(
        evaluate(&syntax(Language::Json), "{\n  \"é\": [1 2]\n}").1,
        "line 2, column 11: expected `,` or `]`"
    );
    let feedback = evaluate(
        &syntax(Language::Rust),
        "fn f() {\n    let x = 1\n    g();\n}",
    )
    .1;
    assert!(feedback.starts_with("line 2, column "), "{feedback}");
    let feedback = evaluate(&syntax(Language::Python), "x = 1\n\u{1b}[2J").1;
    assert_eq!(feedback, r"line 2, column 1: unexpected `\u{1b}[2J`");
}

#[test]
fn a_language_is_set_by_value_or_by_name() {
    let rust = syntax(Language::Rust);
    let by_name = Syntax::builder()
        .check_balanced_brackets(true)
        .language(Some("rust"))
        .build();
    assert_eq!(by_name.language, rust.language);
    assert_eq!(
        Syntax::builder().language("rs").build().language,
        rust.language
    );
    let some = Syntax::builder().language(Some(Language::Rust)).build();
    assert_eq!(some.language, rust.language);
    let none = Syntax::builder().language(None::<Language>).build();
    assert_eq!(none.language.language(), Ok(None));
    assert_eq!(evaluate(&by_name, "fn f() {").0, 0.0);

    let unknown = Syntax::builder().language("cobol").build();
    let message = "metric `syntax`: expected a language, found `cobol`; write `rust`, `python`, `javascript`, \
                   `typescript`, `json`, `sql` or `bash`";
    let error = unknown
        .score(&example! {}, &prediction! { "answer" => "x" })
        .unwrap_err();
    assert_eq!(error.to_string(), message);
    let mut required = Vec::new();
    Metric::<Example, Prediction>::requirements(&unknown, &mut required);
    assert_eq!(required.len(), 1, "an error before the first row");
    let diff = Diff::builder()
        .strictness(DiffStrictness::AstEquivalent)
        .language("cobol")
        .build();
    let (gold, pred) = (
        example! { "answer" => "x" },
        prediction! { "answer" => "y" },
    );
    let error = diff.score(&gold, &pred).unwrap_err().to_string();
    assert_eq!(error, message.replace("syntax", "diff"));
}

#[test]
fn a_comparison_of_syntax_trees_costs_10_msat() {
    let cost = |strictness| {
        let diff = Diff::builder()
            .strictness(strictness)
            .language("python")
            .build();
        let (gold, pred) = (
            example! { "answer" => "x = 1" },
            prediction! { "answer" => "x  = 1" },
        );
        let reported = diff.score(&gold, &pred).unwrap().cost_msats;
        assert_eq!(
            (diff.cost_estimate(), Metric::spec(&diff).cost_msats),
            (reported, reported)
        );
        reported
    };
    assert_eq!(cost(DiffStrictness::Exact), 0);
    assert_eq!(cost(DiffStrictness::NormalizedWhitespace), 0);
    assert_eq!(cost(DiffStrictness::AstEquivalent), 10);
    assert_eq!(
        Diff::builder()
            .strictness(DiffStrictness::Semantic)
            .build()
            .cost_estimate(),
        100
    );
}

#[test]
fn an_unknown_language_is_an_error_before_the_first_row() {
    let configured = |language: &str| {
        let mut params = Params::default();
        params.insert("language", language);
        Syntax::configure(&params)
    };
    let error = configured("cobol").unwrap_err().to_string();
    assert!(
        error.contains("`cobol`") && error.contains("`rust`, `py`, `python`"),
        "{error}"
    );
    assert_eq!(evaluate(&configured("py").unwrap(), "x = 1").0, 1.0);
}

#[test]
fn nesting_of_any_depth_neither_overflows_the_stack_nor_hangs() {
    let started = std::time::Instant::now();
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    assert_eq!(evaluate(&syntax(Language::Json), &deep("[", "]")).0, 1.0);
    for language in [
        Language::Rust,
        Language::Python,
        Language::JavaScript,
        Language::Bash,
    ] {
        let evaluated = scored(&syntax(language), &deep("(", ")"));
        assert!((0.0..=1.0).contains(&evaluated.score.value), "{language:?}");
        let evaluated = scored(&syntax(language), &"[(".repeat(100_000));
        assert_eq!(evaluated.score.value, 0.0, "{language:?}");
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
