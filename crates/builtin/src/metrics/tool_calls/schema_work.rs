//! Bounds on the work of validation against a JSON Schema, found before it starts.
//!
//! A validator follows each `$ref` each time it meets it, and cannot be interrupted. Definitions
//! that refer to the next one twice double the work: 26 of them take minutes. So the schema is read
//! as a graph, and the number of evaluations of a subschema on a value is computed with each pair
//! visited once. If this module cannot resolve a reference, it assumes the most
//! expensive target, so the number is an upper bound. That both branches of an `anyOf` are evaluated
//! is an assumption too.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::schema_graph::{Index, Node, read};
use crate::syntax::pattern_size::schema_pattern_size;

/// The maximum number of evaluations of subschemas on one value, without its members and items.
const MAX_ON_ONE_VALUE: u64 = 10_000;

/// If all subschemas together are evaluated at most this many times, with references followed, the
/// schema needs no check per value.
const SMALL: u64 = 10_000;

/// The number of evaluations that any value may take.
const FREE: u64 = 1_000_000;

/// The number of evaluations that a value may take for each value in it, if that is more.
const PER_VALUE: u64 = 100;

/// The maximum number of references and applicators that follow each other, over all levels of a
/// value. The validator recurses for each of them.
const MAX_CHAIN: usize = 1_000;

/// The maximum size of all patterns of the schemas, with repetitions written out. They compile in
/// half a second.
const MAX_PATTERNS: u64 = 2_000_000;

/// The subschemas of a schema, the root first.
pub(super) struct SchemaWork {
    nodes: Vec<Node>,
    is_small: bool,
}

impl SchemaWork {
    /// Reads a schema that is not nested too deep.
    ///
    /// # Errors
    /// A message, if a single value could take too much work.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let nodes = read(schema);
        let mut work = Self {
            nodes,
            is_small: false,
        };
        let mut levels = vec![None; work.nodes.len()];
        for node in 0..work.nodes.len() {
            match work.count(node, true, &mut levels, 0) {
                Some(count) if count <= MAX_ON_ONE_VALUE => {}
                Some(_) => {
                    return Err(format!(
                        "its references form a loop, or lead to more than {MAX_ON_ONE_VALUE} evaluations of one value; refer to a definition from fewer places"
                    ));
                }
                None => {
                    return Err(format!(
                        "its references and applicators form a chain of more than {MAX_CHAIN}"
                    ));
                }
            }
        }
        let mut totals = vec![None; work.nodes.len()];
        work.is_small = work
            .count(0, false, &mut totals, 0)
            .is_some_and(|total| total <= SMALL);
        Ok(work)
    }

    /// The evaluations of a node, on a value without members and items, or with all that is below it once each way; `None`
    /// if the chain is too long. A node that leads to itself counts as infinitely many: on the same value, the validator
    /// stops at a loop, but only after it has followed all paths.
    fn count(
        &self,
        node: Index,
        on_same_value: bool,
        known: &mut Vec<Option<u64>>,
        depth: usize,
    ) -> Option<u64> {
        if let Some(count) = known[node] {
            return Some(count);
        }
        if depth > MAX_CHAIN {
            return None;
        }
        known[node] = Some(u64::MAX);
        let mut count = 1_u64;
        for targets in self.nodes[node].below(on_same_value) {
            let mut most = 0;
            for &target in targets {
                most = self
                    .count(target, on_same_value, known, depth + 1)?
                    .max(most);
            }
            count = count.saturating_add(most);
        }
        known[node] = Some(count);
        Some(count)
    }

    /// Checks that the validation of a value takes a number of evaluations in proportion to the
    /// value.
    ///
    /// # Errors
    /// A message.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        if self.is_small {
            return Ok(());
        }
        let max = FREE.max(values(value).saturating_mul(PER_VALUE));
        let mut visit = Visit {
            nodes: &self.nodes,
            known: HashMap::new(),
            steps: 0,
            max,
        };
        match visit.evaluations(0, value, 0) {
            Some(evaluations) if evaluations <= max => Ok(()),
            _ => Err(format!(
                "the validation would take more than {max} evaluations of subschemas"
            )),
        }
    }
}

/// The number of values in a value, itself included.
fn values(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(values).fold(1, u64::saturating_add),
        Value::Object(members) => members.values().map(values).fold(1, u64::saturating_add),
        _ => 1,
    }
}

/// The computation for one value.
struct Visit<'w> {
    nodes: &'w [Node],
    /// By node and address of the value.
    known: HashMap<(Index, *const Value), u64>,
    steps: u64,
    max: u64,
}

impl<'w> Visit<'w> {
    /// The evaluations of a node on a value; `None` if there are too many.
    fn evaluations(&mut self, node: Index, value: &Value, depth: usize) -> Option<u64> {
        let pair = (node, std::ptr::from_ref(value));
        if let Some(&count) = self.known.get(&pair) {
            return Some(count);
        }
        self.steps += 1;
        if self.steps > self.max || depth > MAX_CHAIN {
            return None;
        }
        self.known.insert(pair, u64::MAX);
        let nodes = self.nodes;
        let Node {
            in_place,
            has_unevaluated,
            ..
        } = &nodes[node];
        let mut count = 0_u64;
        for targets in in_place {
            let mut most = 0;
            for &target in targets {
                most = self.evaluations(target, value, depth + 1)?.max(most);
            }
            count = count.saturating_add(most);
        }
        count = count
            .saturating_mul(if *has_unevaluated { 2 } else { 1 })
            .saturating_add(1);
        count = count.saturating_add(match value {
            Value::Object(members) => self.members(&nodes[node], members, depth + 1)?,
            Value::Array(items) => self.items(&nodes[node], items, depth + 1)?,
            _ => 0,
        });
        self.known.insert(pair, count);
        Some(count)
    }

    fn members(&mut self, node: &Node, members: &Map<String, Value>, depth: usize) -> Option<u64> {
        let mut count = 0_u64;
        for (name, value) in members {
            let named = node.properties.get(name);
            let others = if named.is_none() {
                node.other_members.as_slice()
            } else {
                &[]
            };
            for &child in named.into_iter().chain(&node.patterns).chain(others) {
                count = count.saturating_add(self.evaluations(child, value, depth)?);
            }
            if let Some(names) = node.names {
                count = count.saturating_add(self.evaluations(names, &Value::Null, depth)?);
            }
        }
        Some(count)
    }

    fn items(&mut self, node: &Node, items: &[Value], depth: usize) -> Option<u64> {
        let mut count = 0_u64;
        for (at, item) in items.iter().enumerate() {
            for &child in node.prefix.get(at).into_iter().chain(&node.items) {
                count = count.saturating_add(self.evaluations(child, item, depth)?);
            }
        }
        Some(count)
    }
}

/// The size of the patterns of schemas: a budget that each schema draws from.
pub(super) struct PatternBudget(u64);

impl Default for PatternBudget {
    fn default() -> Self {
        Self(MAX_PATTERNS)
    }
}

impl PatternBudget {
    /// Subtracts the size of a schema's patterns.
    ///
    /// # Errors
    /// A message with the pattern that is too large.
    pub(super) fn take(&mut self, schema: &Value) -> Result<(), String> {
        match schema {
            Value::Array(items) => items.iter().try_for_each(|item| self.take(item)),
            Value::Object(members) => {
                if let Some(Value::String(pattern)) = members.get("pattern") {
                    self.pattern(pattern)?;
                }
                if let Some(Value::Object(patterns)) = members.get("patternProperties") {
                    patterns
                        .keys()
                        .try_for_each(|pattern| self.pattern(pattern))?;
                }
                members.values().try_for_each(|member| self.take(member))
            }
            _ => Ok(()),
        }
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), String> {
        let left = self.0.checked_sub(schema_pattern_size(pattern).expanded);
        self.0 = left.ok_or_else(|| {
            let start: String = pattern.chars().take(60).collect();
            format!(
                "its patterns have more than {MAX_PATTERNS} characters with repetitions written out, at the pattern `{start}`; use smaller repetition counts"
            )
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A chain of definitions; each refers to the next one twice.
    fn doubling(applicator: &str, levels: usize) -> Value {
        let reference = |at: usize| json!({ "$ref": format!("#/definitions/a{at}") });
        let definitions: Map<String, Value> = (0..levels)
            .map(|at| {
                (
                    format!("a{at}"),
                    json!({ applicator: [reference(at + 1), reference(at + 1)] }),
                )
            })
            .chain([(format!("a{levels}"), json!({ "type": "string" }))])
            .collect();
        json!({ "definitions": definitions, "$ref": "#/definitions/a0" })
    }

    #[test]
    fn references_that_double_are_counted_by_path() {
        for applicator in ["anyOf", "allOf", "oneOf"] {
            assert!(SchemaWork::of(&doubling(applicator, 8)).is_ok());
            let error = SchemaWork::of(&doubling(applicator, 60)).err().unwrap();
            assert!(
                error.contains("more than 10000 evaluations of one value"),
                "{error}"
            );
        }
        let named = json!({
            "$id": "http://example.org/root",
            "$defs": {
                "a": { "$id": "a", "allOf": [{ "$ref": "%62" }, { "$ref": "%62" }] },
                "b": { "$id": "b", "allOf": vec![json!({ "$ref": "c#x" }); 200] },
                "c": { "$id": "c", "$defs": { "x": { "$anchor": "x", "anyOf": vec![json!({}); 200] } } },
            },
            "$ref": "a",
        });
        let error = SchemaWork::of(&named).err().unwrap();
        assert!(
            error.contains("more than 10000 evaluations of one value"),
            "{error}"
        );
    }

    #[test]
    fn recursion_is_counted_with_the_value() {
        let twice = json!({ "$ref": "#/$defs/n" });
        let schema = json!({
            "$defs": { "n": { "properties": { "c": { "allOf": [twice, twice] } } } },
            "$ref": "#/$defs/n",
        });
        let nested = |depth| (0..depth).fold(json!({}), |inner, _| json!({ "c": inner }));
        let work = SchemaWork::of(&schema).unwrap();
        assert_eq!(work.check(&nested(10)), Ok(()));
        let error = work.check(&nested(40)).unwrap_err();
        assert!(error.contains("more than 1000000 evaluations"), "{error}");
        // A recursive schema without doubling: any depth and any length.
        let list = SchemaWork::of(&json!({ "items": { "$ref": "#" } })).unwrap();
        assert_eq!(
            list.check(&(0..100).fold(json!([]), |inner, _| json!([inner, 1]))),
            Ok(())
        );
        assert_eq!(list.check(&Value::from(vec![0; 300_000])), Ok(()));
    }

    #[test]
    fn patterns_share_a_budget() {
        let schema = |count: usize| -> Value {
            let patterns = (0..count).map(|at| (format!(r"\p{{L}}{{0,{at}}}"), json!({})));
            json!({ "patternProperties": patterns.collect::<Map<_, _>>() })
        };
        assert_eq!(PatternBudget::default().take(&schema(20)), Ok(()));
        let error = PatternBudget::default().take(&schema(500)).unwrap_err();
        assert!(error.contains("more than 2000000 characters"), "{error}");
    }
}
