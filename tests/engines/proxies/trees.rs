//! Comparison of code by syntax trees.

use dsrs_metrics::syntax::{Comparison, Language};

use Language::{Bash, JavaScript, Json, Python, Rust, Sql, TypeScript};

const SAME: &[(Language, &str, &str)] = &[
    (Rust, "fn f() { 1 + 2 }", "fn f()\n{\n    1+2\n}\n"),
    (Rust, "fn f() {}", "// says nothing\nfn f() { /* no */ }"),
    (Rust, "fn f() {}", "/// documented\nfn f() {}"),
    (Rust, "let x = [1, 2];", "let x = [\n    1,\n    2,\n];"),
    (Rust, "f(a, b);", "f(\n    a,\n    b,\n);"),
    (
        Rust,
        "struct S { a: u8, b: u8 }",
        "struct S {\n    a: u8,\n    b: u8,\n}",
    ),
    (Rust, "use a::{b, c};", "use a::{\n    b,\n    c,\n};"),
    (
        Rust,
        "x.iter().map(f);",
        "x\n    .iter() // all\n    .map(f);",
    ),
    (Rust, "vec![1, 2];", "vec![ 1,2 ];"),
    (Python, "x = 1", "x  =  1  # one\n"),
    (
        Python,
        "def f(a, b):\n    return a",
        "def f(\n        a,\n        b,\n):\n  # first\n\n  return a\n",
    ),
    (Python, "x = 'a'", "x = \"a\""),
    (Python, "x = \"\"\"a\"\"\"", "x = 'a'"),
    (Python, "a = 1; b = 2", "a = 1\nb = 2\n"),
    (Python, "x = [1, 2]", "x = [1, 2,]"),
    (Python, "x = a + \\\n    b", "x = a + b"),
    (Python, "if x:\n    y()", "if x:\n        y()\n"),
    (Python, "import os\n\n\n\nx()", "import os\nx()"),
    (Python, "x = {'a': 1}", "x = {\n    \"a\": 1,  # one\n}"),
    (JavaScript, "const a = 1;", "const a = 1"),
    (JavaScript, "f(1, 2);", "f( 1,\n2 ) // both\n"),
    (
        JavaScript,
        "const a = { b: 1 };",
        "const a = {\n  b: 1,\n};",
    ),
    (JavaScript, "x('a')", "x(\"a\")"),
    (
        JavaScript,
        "function f() { return 1 }",
        "function f() {\n  /* one */\n  return 1;\n}",
    ),
    (JavaScript, "a => a + 1", "a=>a+1"),
    (TypeScript, "let x: number = 1;", "let x :number=1"),
    (
        TypeScript,
        "interface A { b: string; c: number }",
        "interface A {\n  b: string;\n  c: number;\n}",
    ),
    (TypeScript, "type A = 'x' | 'y'", "type A = \"x\" | \"y\";"),
    (Json, "{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}"),
    (Json, "[1, 2]", "[ 1.0,\n2e0 ]"),
    (
        Json,
        "{\"a\": {\"b\": [1, {\"c\": 2, \"d\": 3}]}}",
        "{\"a\":{\"b\":[1,{\"d\":3,\"c\":2}]}}",
    ),
    (Json, "\"é\"", "\"\\u00e9\""),
    (
        Sql,
        "SELECT a FROM t WHERE b = 1",
        "select a\nfrom t\nwhere b=1;",
    ),
    (
        Sql,
        "SELECT a, b FROM t",
        "SELECT a,\n       b -- second\nFROM t",
    ),
    (Bash, "echo a; echo b", "echo a\n# then\necho b\n"),
    (
        Bash,
        "if true; then echo x; fi",
        "if true\nthen\n  echo x\nfi",
    ),
    (Bash, "f() { ls; }", "f() {\n  ls\n}"),
];

const DIFFERENT: &[(Language, &str, &str)] = &[
    (Rust, "fn f() { let a = 1; a }", "fn f() { let b = 1; b }"),
    (Rust, "fn f() { 1 }", "fn f() { 1; }"),
    (Rust, "let x = a + b;", "let x = a - b;"),
    (Rust, "let x = a * (b + c);", "let x = a * b + c;"),
    (Rust, "let x = \"a b\";", "let x = \"a  b\";"),
    (Rust, "let x = 'a';", "let x = \"a\";"),
    (Rust, "let x = (1,);", "let x = (1);"),
    (Rust, "fn f(a: u8, b: u8) {}", "fn f(b: u8, a: u8) {}"),
    (Rust, "let x = 1;", "let mut x = 1;"),
    (Rust, "pub fn f() {}", "fn f() {}"),
    (Rust, "x(\"// a\");", "x(\"// b\");"),
    (Python, "if x:\n    y()\nz()", "if x:\n    y()\n    z()"),
    (Python, "def f(a):\n    return a", "def f(b):\n    return b"),
    (Python, "x = (1,)", "x = (1)"),
    (Python, "x = 'a b'", "x = 'a  b'"),
    (Python, "x = '# a'", "x = '# b'"),
    (Python, "x = r'\\n'", "x = '\\n'"),
    (Python, "x = b'a'", "x = 'a'"),
    (Python, "a < b < c", "(a < b) < c"),
    (Python, "f(a=1, b=2)", "f(b=2, a=1)"),
    (Python, "x = 1", "x = 1.0"),
    (Python, "x == 1", "x is 1"),
    (Python, "x = \"\"\"a\nb\"\"\"", "x = \"\"\"a\n  b\"\"\""),
    (JavaScript, "a == b", "a === b"),
    (JavaScript, "let a = 1", "const a = 1"),
    (JavaScript, "[1, , 2]", "[1, 2]"),
    (JavaScript, "[1,,]", "[1,]"),
    (JavaScript, "`a b`", "`a  b`"),
    (JavaScript, "for (;a;) {}", "for (a;;) {}"),
    (JavaScript, "/a b/", "/a  b/"),
    (TypeScript, "let x: number", "let x: string"),
    (TypeScript, "interface A { x?: B }", "interface A { x: B }"),
    (Json, "[1, 2]", "[2, 1]"),
    (Json, "{\"a\": null}", "{}"),
    (Json, "{\"a\": \"1\"}", "{\"a\": 1}"),
    (Json, "9007199254740993", "9007199254740992.0"),
    (Sql, "SELECT a FROM t", "SELECT b FROM t"),
    (Sql, "SELECT 'a b' FROM t", "SELECT 'a  b' FROM t"),
    (
        Sql,
        "SELECT a FROM t WHERE b = 1 OR c = 2 AND d = 3",
        "SELECT a FROM t WHERE (b = 1 OR c = 2) AND d = 3",
    ),
    (Bash, "echo 'a  b'", "echo 'a b'"),
    (Bash, "echo \"$x\"", "echo '$x'"),
    (Bash, "a && b", "a || b"),
];

fn compared(language: Language, left: &str, right: &str) -> Comparison {
    language.compare(left, right).unwrap()
}

#[test]
fn layout_and_comments_are_ignored() {
    let mut wrong = Vec::new();
    for &(language, left, right) in SAME {
        for found in [
            compared(language, left, right),
            compared(language, right, left),
        ] {
            if found != Comparison::Same {
                wrong.push(format!("{language:?}\n{left}\n---\n{right}\n{found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn all_other_changes_are_differences() {
    let mut wrong = Vec::new();
    for &(language, left, right) in DIFFERENT {
        for found in [
            compared(language, left, right),
            compared(language, right, left),
        ] {
            if found != Comparison::Different {
                wrong.push(format!("{language:?}\n{left}\n---\n{right}\n{found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn code_equals_itself_and_invalid_code_is_reported() {
    for &(language, left, _) in SAME.iter().chain(DIFFERENT) {
        assert_eq!(compared(language, left, left), Comparison::Same, "{left}");
    }
    let Comparison::LeftBroken(error) = compared(Python, "def f(:\n", "x = 1") else {
        panic!("the left side is invalid");
    };
    assert_eq!(error.line, 1);
    assert!(matches!(
        compared(Rust, "fn f() {}", "fn f( {}"),
        Comparison::RightBroken(_)
    ));
}

#[test]
fn deep_trees_are_compared_without_recursion() {
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(20_000), "]".repeat(20_000));
    assert_eq!(
        compared(JavaScript, &deep("1"), &deep(" 1 ")),
        Comparison::Same
    );
    assert_eq!(
        compared(JavaScript, &deep("1"), &deep("2")),
        Comparison::Different
    );
    let error = Json
        .compare(&deep("1"), &deep("1"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot compare the JSON values: recursion limit"),
        "{error}"
    );
}
