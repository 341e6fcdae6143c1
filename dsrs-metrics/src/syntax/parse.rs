//! The languages' own parsers: tree-sitter's, and serde's for JSON.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::{Fault, Language, SyntaxError};

/// How long a parser may take. Repairing a broken text can take it much longer than reading a good one.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first error of the text.
pub(super) fn fault(language: Language, text: &str) -> Result<Option<Fault>, SyntaxError> {
    if language == Language::Json {
        return Ok(json_fault(text));
    }
    Ok(first_error(&parse(language, text)?, text))
}

/// What is ignored is read without recursion, so nesting of any depth can be read.
pub(super) fn json_fault(text: &str) -> Option<Fault> {
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    let what = error.to_string();
    let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what).to_owned();
    // serde counts columns in bytes.
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    Some(Fault::at(text, start + error.column().saturating_sub(1), what))
}

/// The syntax tree; of a wrong text one that says where it is wrong.
pub(super) fn parse(language: Language, text: &str) -> Result<Tree, SyntaxError> {
    let mut parser = Parser::new();
    let failed = |reason: String| SyntaxError::Grammar { language, reason };
    let grammar =
        grammar(language).ok_or_else(|| failed("it has a parser of its own".to_owned()))?;
    parser.set_language(&grammar).map_err(|error| failed(error.to_string()))?;
    let started = Instant::now();
    let mut patience = |_: &tree_sitter::ParseState| match started.elapsed() > PATIENCE {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let options = ParseOptions::new().progress_callback(&mut patience);
    let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.ok_or(SyntaxError::TooSlow { language, seconds: PATIENCE.as_secs() })
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

/// The first error of a tree. It is walked without recursion: a tree may be as deep as its text is long.
pub(super) fn first_error(tree: &Tree, text: &str) -> Option<Fault> {
    let root = tree.root_node();
    if !root.has_error() {
        return None;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_missing() || node.is_error() {
            return Some(describe(node, text));
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(describe(root, text));
            }
        }
    }
}

fn describe(node: Node<'_>, text: &str) -> Fault {
    let what = match node.is_missing() {
        true => format!("`{}` is missing", node.kind()),
        false => {
            let found: String = text[node.byte_range()].chars().take(40).collect();
            format!("unexpected `{}`", found.lines().next().unwrap_or_default())
        }
    };
    Fault::at(text, node.start_byte(), what)
}
