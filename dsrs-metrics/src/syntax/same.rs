//! Whether two texts mean the same by their syntax trees.
//!
//! A tree becomes a list of tokens from which layout is left out; two texts are the same if their lists are.

use serde_json::Value;
use tree_sitter::{Node, Tree};

use super::parse::{first_error, json_fault, parse};
use super::{Comparison, Language, SyntaxError};
use crate::json::equality::same_value;

pub(super) fn compare(
    language: Language,
    left: &str,
    right: &str,
) -> Result<Comparison, SyntaxError> {
    if language == Language::Json {
        return compare_json(left, right);
    }
    let (left_tree, right_tree) = (parse(language, left)?, parse(language, right)?);
    if let Some(fault) = first_error(&left_tree, left) {
        return Ok(Comparison::LeftBroken(fault));
    }
    if let Some(fault) = first_error(&right_tree, right) {
        return Ok(Comparison::RightBroken(fault));
    }
    let same = Tokens::of(language, &left_tree, left) == Tokens::of(language, &right_tree, right);
    Ok(Comparison::of(same))
}

fn compare_json(left: &str, right: &str) -> Result<Comparison, SyntaxError> {
    if let Some(fault) = json_fault(left) {
        return Ok(Comparison::LeftBroken(fault));
    }
    if let Some(fault) = json_fault(right) {
        return Ok(Comparison::RightBroken(fault));
    }
    // Both are valid, so what stands in the way can only be their depth or a number beyond any float.
    let value = |text| {
        serde_json::from_str::<Value>(text)
            .map_err(|error| SyntaxError::Unreadable { reason: error.to_string() })
    };
    Ok(Comparison::of(same_value(&value(left)?, &value(right)?)))
}

/// A piece of a syntax tree.
#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A node with children begins.
    Open(&'static str),
    /// The innermost open node ends.
    Close,
    /// A node without children: what it is, and how it is written.
    Leaf(&'static str, &'a str),
    /// Text that no node stands for, inside a string for example.
    Text(&'a str),
}

/// The tokens of a tree, without layout.
struct Tokens<'a> {
    language: Language,
    text: &'a str,
    all: Vec<Token<'a>>,
    /// The open nodes, and up to where each has been read.
    open: Vec<(&'static str, usize)>,
}

impl<'a> Tokens<'a> {
    fn of(language: Language, tree: &Tree, text: &'a str) -> Vec<Token<'a>> {
        let mut tokens = Self { language, text, all: Vec::new(), open: Vec::new() };
        tokens.walk(tree);
        tokens.all
    }

    /// Without recursion: a tree may be as deep as its text is long.
    fn walk(&mut self, tree: &Tree) {
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            self.gap(node.start_byte());
            let kind = node.kind();
            if is_layout(kind) {
                self.read_to(node.end_byte());
            } else if cursor.goto_first_child() {
                self.all.push(Token::Open(kind));
                self.open.push((kind, node.start_byte()));
                continue;
            } else {
                self.leaf(node);
                self.read_to(node.end_byte());
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                let end = cursor.node().end_byte();
                self.gap(end);
                self.open.pop();
                self.all.push(Token::Close);
                self.read_to(end);
            }
        }
    }

    fn read_to(&mut self, end: usize) {
        if let Some((_, read)) = self.open.last_mut() {
            *read = end;
        }
    }

    /// What stands before `start` in the open node and belongs to none of its children.
    fn gap(&mut self, start: usize) {
        let Some(&(kind, read)) = self.open.last() else { return };
        let text = self.text.get(read..start).unwrap_or_default();
        let verbatim = ["string", "template", "heredoc"].iter().any(|part| kind.contains(part));
        let text = if verbatim { text } else { text.trim() };
        // A backslash at the end of a line continues it.
        if !text.is_empty() && text != "\\" {
            self.all.push(Token::Text(text));
        }
    }

    fn leaf(&mut self, node: Node<'_>) {
        let kind = node.kind();
        let text = &self.text[node.byte_range()];
        let parent = self.open.last().map_or("", |(kind, _)| kind);
        if self.is_optional(kind, parent) {
            return;
        }
        if matches!(kind, ")" | "]" | "}" | ">") && !parent.contains("tuple") {
            self.drop_trailing_comma();
        }
        let (kind, text) = self.spelled(kind, text);
        self.all.push(Token::Leaf(kind, text));
    }

    /// Whether a semicolon or line break only ends a statement.
    fn is_optional(&self, kind: &str, parent: &str) -> bool {
        let ends = kind == ";" || kind.trim().is_empty();
        ends && self.language != Language::Rust && !parent.contains("for_statement")
    }

    /// `[1, 2,]` is `[1, 2]`, but `[,]` and `[1,,]` have holes.
    fn drop_trailing_comma(&mut self) {
        let is_leaf = |token: Option<&Token<'_>>, kinds: &[&str]| matches!(token, Some(Token::Leaf(kind, _)) if kinds.contains(kind));
        let before = self.all.len().checked_sub(2).and_then(|at| self.all.get(at));
        let is_trailing = is_leaf(self.all.last(), &[","])
            && !is_leaf(before, &[",", "(", "[", "{", "<"])
            && before.is_some();
        if is_trailing {
            self.all.pop();
        }
    }

    /// A leaf as it is compared: quotes of either kind are one where the language does not tell them apart, and
    /// SQL's keywords have no case.
    fn spelled(&self, kind: &'static str, text: &'a str) -> (&'static str, &'a str) {
        let quotes_are_one =
            matches!(self.language, Language::Python | Language::JavaScript | Language::TypeScript);
        match kind {
            "string_start" | "string_end" if quotes_are_one => {
                (kind, text.trim_end_matches(['"', '\'']))
            }
            "\"" | "'" if quotes_are_one => ("\"", ""),
            _ if self.language == Language::Sql && kind.starts_with("keyword_") => (kind, ""),
            _ => (kind, text),
        }
    }
}

fn is_layout(kind: &str) -> bool {
    kind.contains("comment") || matches!(kind, "marginalia" | "line_continuation")
}
