//! Compares code by its syntax tree.
//!
//! A tree is flattened to a list of tokens without layout. Two pieces of code are the same if their lists are equal.

use serde_json::Value;
use tree_sitter::{Node, Tree};

use super::parse::{first_tree_error, json_error, parse};
use super::{Comparison, Language, ParserError};
use dsrs_metrics_values::json::same_value;

pub(super) fn compare(
    language: Language,
    left: &str,
    right: &str,
) -> Result<Comparison, ParserError> {
    if language == Language::Json {
        return compare_json(left, right);
    }
    let (left_tree, right_tree) = (parse(language, left)?, parse(language, right)?);
    if let Some(error) = first_tree_error(&left_tree, left) {
        return Ok(Comparison::LeftBroken(error));
    }
    if let Some(error) = first_tree_error(&right_tree, right) {
        return Ok(Comparison::RightBroken(error));
    }
    let same = Tokens::of(language, &left_tree, left) == Tokens::of(language, &right_tree, right);
    Ok(Comparison::of(same))
}

fn compare_json(left: &str, right: &str) -> Result<Comparison, ParserError> {
    if let Some(error) = json_error(left) {
        return Ok(Comparison::LeftBroken(error));
    }
    if let Some(error) = json_error(right) {
        return Ok(Comparison::RightBroken(error));
    }
    // Both texts are valid, so this can fail only if they are nested too deep or contain a number outside the range of
    // a float.
    let value = |json| {
        serde_json::from_str::<Value>(json)
            .map_err(|error| ParserError::from(format!("cannot compare the JSON values: {error}")))
    };
    Ok(Comparison::of(same_value(&value(left)?, &value(right)?)))
}

/// A piece of a syntax tree.
#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    /// The start of a node with children.
    Open(&'static str),
    /// The end of the innermost open node.
    Close,
    /// A node without children: its kind and its source text.
    Leaf(&'static str, &'a str),
    /// Source text that belongs to no child node, such as the text inside a string.
    Text(&'a str),
}

/// A tree's tokens, without layout.
struct Tokens<'a> {
    language: Language,
    code: &'a str,
    all: Vec<Token<'a>>,
    /// The kinds of the open nodes, each with the offset up to which it was read.
    open: Vec<(&'static str, usize)>,
}

impl<'a> Tokens<'a> {
    fn of(language: Language, tree: &Tree, code: &'a str) -> Vec<Token<'a>> {
        let mut tokens = Self {
            language,
            code,
            all: Vec::new(),
            open: Vec::new(),
        };
        tokens.walk(tree);
        tokens.all
    }

    /// Walks the tree without recursion, because the tree can be as deep as its code is long.
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

    /// Adds the open node's text before `start` that belongs to none of its children.
    fn gap(&mut self, start: usize) {
        let Some(&(kind, read)) = self.open.last() else {
            return;
        };
        let text = self.code.get(read..start).unwrap_or_default();
        let verbatim = ["string", "template", "heredoc"]
            .iter()
            .any(|part| kind.contains(part));
        let text = if verbatim { text } else { text.trim() };
        // A backslash at the end of a line continues the line.
        if !text.is_empty() && text != "\\" {
            self.all.push(Token::Text(text));
        }
    }

    fn leaf(&mut self, node: Node<'_>) {
        let kind = node.kind();
        let text = &self.code[node.byte_range()];
        let parent = self.open.last().map_or("", |(kind, _)| kind);
        if self.is_optional(kind, parent) {
            return;
        }
        if matches!(kind, ")" | "]" | "}" | ">") && !parent.contains("tuple") {
            self.drop_trailing_comma();
        }
        let (kind, text) = self.normalized(kind, text);
        self.all.push(Token::Leaf(kind, text));
    }

    /// Returns `true` if a node is a semicolon or line break that only ends a statement.
    fn is_optional(&self, kind: &str, parent: &str) -> bool {
        let ends = kind == ";" || kind.trim().is_empty();
        ends && self.language != Language::Rust && !parent.contains("for_statement")
    }

    /// Removes a trailing comma. `[1, 2,]` is `[1, 2]`, but `[,]` and `[1,,]` have holes.
    fn drop_trailing_comma(&mut self) {
        let is_one_of = |token: &Token<'_>, kinds: &[&str]| matches!(token, Token::Leaf(kind, _) if kinds.contains(kind));
        if let [.., before, last] = &self.all[..]
            && is_one_of(last, &[","])
            && !is_one_of(before, &[",", "(", "[", "{", "<"])
        {
            self.all.pop();
        }
    }

    /// Normalizes a leaf. Both kinds of quotes are equal if the language does not distinguish them, and SQL keywords
    /// are case-insensitive.
    fn normalized(&self, kind: &'static str, text: &'a str) -> (&'static str, &'a str) {
        let quotes_are_equal = matches!(
            self.language,
            Language::Python | Language::JavaScript | Language::TypeScript
        );
        match kind {
            "string_start" | "string_end" if quotes_are_equal => {
                (kind, text.trim_end_matches(['"', '\'']))
            }
            "\"" | "'" if quotes_are_equal => ("\"", ""),
            _ if self.language == Language::Sql && kind.starts_with("keyword_") => (kind, ""),
            _ => (kind, text),
        }
    }
}

fn is_layout(kind: &str) -> bool {
    kind.contains("comment") || matches!(kind, "marginalia" | "line_continuation")
}
