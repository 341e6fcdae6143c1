//! Descriptions of Rust types for users who do not read Rust: in errors about rows and parameters,
//! and in lists of metrics.

use std::borrow::Cow;

/// Returns a description of the type with its article: `a list of strings` for `&[String]`. `None` for
/// a type that is described by its name only.
pub(crate) fn in_words(ty: &str) -> Option<Cow<'static, str>> {
    // Whether the value is optional is described by the caller.
    let ty = inside(ty, "Option<", ">").unwrap_or(ty);
    let ty = ty.trim_start_matches('&');
    if let Some(one) = plain(ty) {
        return Some(one.into());
    }
    if let Some((item, number)) = inside(ty, "[", "]").and_then(|list| list.split_once("; ")) {
        return Some(format!("a list of {number} {}", several(item)?).into());
    }
    let item = inside(ty, "Vec<", ">").or_else(|| inside(ty, "[", "]"))?;
    Some(format!("a list of {}", several(item)?).into())
}

/// Returns an example of the value on a command line, for types that are written as JSON.
pub(crate) fn example(ty: &str) -> Option<&'static str> {
    let ty = inside(ty, "Option<", ">").unwrap_or(ty).trim_start_matches('&');
    Some(match ty {
        "[String]" | "Vec<String>" => r#"'["x", "y"]'"#,
        "Vec<(String, String)>" => r#"'[["x", "y"]]'"#,
        "[f64; 3]" => "'[0.5, 0.3, 0.2]'",
        "[f64; 4]" => "'[0.4, 0.3, 0.2, 0.1]'",
        "Cutoffs" => "'[1, 5, 10]'",
        "SandboxFiles" => r#"'{"check.py": "program"}'"#,
        "Limits" => r#"'{"memory_mb": 512}'"#,
        _ => return None,
    })
}

fn inside<'t>(ty: &'t str, start: &str, end: &str) -> Option<&'t str> {
    ty.strip_prefix(start)?.strip_suffix(end)
}

fn plain(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "str" | "String" | "Cow<'_, str>" => "a string",
        "bool" => "true or false",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number, 0 or more",
        "NonZeroU32" | "NonZeroU64" | "NonZeroUsize" => "a whole number, 1 or more",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "Value" => "a JSON value",
        "StrOrList<'_>" | "TextOrList" => "a string or list of strings",
        "StrOrNumber<'_>" => "a string or number",
        "Relevant<'_>" => "a list of ids or map from id to grade",
        "Retrieved<'_>" => "a ranked list of ids or map from id to score",
        "Cutoffs" => "a rank or list of ranks",
        "ToolSchemas" => "a JSON object from tool to schema",
        "SandboxFiles" => "a JSON object from file to field",
        "Limits" => "a JSON object of limits",
        "Isolation" => "the name of an isolation",
        "SparqlStore" => "an RDF file, list of such files, or address of an endpoint",
        "text" => "a string",
        "text or list of texts" => "a string or list of strings",
        _ => return None,
    })
}

fn several(item: &str) -> Option<&'static str> {
    Some(match item {
        "String" | "&str" => "strings",
        "(String, String)" => "pairs of strings",
        "f32" | "f64" => "numbers",
        "Value" | "&Value" => "JSON values",
        "bool" => "true or false",
        "u32" | "u64" | "usize" | "i32" | "i64" => "whole numbers",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{example, in_words};

    #[test]
    fn known_types_are_described_and_others_are_not() {
        for (ty, words) in [
            ("&str", Some("a string")),
            ("Option<u64>", Some("a whole number, 0 or more")),
            ("&[String]", Some("a list of strings")),
            ("Vec<(String, String)>", Some("a list of pairs of strings")),
            ("[f64; 4]", Some("a list of 4 numbers")),
            ("&[Value]", Some("a list of JSON values")),
            ("Option<StrOrList<'_>>", Some("a string or list of strings")),
            ("Profile", None),
            ("Vec<Profile>", None),
            ("a number in -1..=1", None),
        ] {
            assert_eq!(in_words(ty).as_deref(), words, "{ty}");
        }
        assert_eq!(example("&[String]"), Some(r#"'["x", "y"]'"#));
        assert_eq!(example("f64"), None);
    }
}
