//! The parsers: tree-sitter, or serde for JSON.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::{Diagnostic, Language, ParserError};
use dsrs_metrics_values::messages::escape;

/// The time limit for parsing. Error recovery can take much longer than parsing valid code.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the first syntax error in the code.
pub(super) fn first_error(
    language: Language,
    code: &str,
) -> Result<Option<Diagnostic>, ParserError> {
    if language == Language::Json {
        return Ok(json_error(code));
    }
    Ok(first_tree_error(&parse(language, code)?, code))
}

/// Returns the syntax error in a JSON text. Ignored values are parsed without recursion, so they can be nested
/// arbitrarily deep.
pub(super) fn json_error(json: &str) -> Option<Diagnostic> {
    let error = serde_json::from_str::<IgnoredAny>(json).err()?;
    let message = error.to_string();
    let message = message
        .rsplit_once(" at line ")
        .map_or(&*message, |(message, _)| message)
        .to_owned();
    // serde counts columns in bytes.
    let lines = json
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    Some(Diagnostic::at(
        json,
        start + error.column().saturating_sub(1),
        message,
    ))
}

/// Returns the syntax tree. If the code is invalid, the tree contains error nodes.
pub(super) fn parse(language: Language, code: &str) -> Result<Tree, ParserError> {
    let mut parser = Parser::new();
    let failed = |reason: String| {
        ParserError::from(format!(
            "the {language:?} grammar cannot be loaded: {reason}"
        ))
    };
    let grammar =
        grammar(language).ok_or_else(|| failed("tree-sitter does not support it".to_owned()))?;
    parser
        .set_language(&grammar)
        .map_err(|error| failed(error.to_string()))?;
    let started = Instant::now();
    let mut progress = |_: &tree_sitter::ParseState| match started.elapsed() > TIMEOUT {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _| code.as_bytes().get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.ok_or_else(|| {
        ParserError::from(format!(
            "the {language:?} parser timed out after {} s",
            TIMEOUT.as_secs()
        ))
    })
}

fn grammar(language: Language) -> Option<tree_sitter::Language> {
    let grammar = match language {
        Language::Rust => tree_sitter_rust::LANGUAGE,
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Language::Sql => tree_sitter_sequel::LANGUAGE,
        Language::Bash => tree_sitter_bash::LANGUAGE,
        Language::Json => return None,
    };
    Some(grammar.into())
}

/// Returns the first error in a syntax tree. Walks the tree without recursion, because it can be as deep as its code is
/// long.
pub(super) fn first_tree_error(tree: &Tree, code: &str) -> Option<Diagnostic> {
    let root = tree.root_node();
    if !root.has_error() {
        return None;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_missing() || node.is_error() {
            return Some(describe(node, code));
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(describe(root, code));
            }
        }
    }
}

fn describe(node: Node<'_>, code: &str) -> Diagnostic {
    let message = match node.is_missing() {
        true => format!("`{}` is missing", node.kind()),
        false => {
            let found: String = code[node.byte_range()].chars().take(40).collect();
            format!(
                "unexpected `{}`",
                escape::escaped(found.lines().next().unwrap_or_default())
            )
        }
    };
    Diagnostic::at(code, node.start_byte(), message)
}
