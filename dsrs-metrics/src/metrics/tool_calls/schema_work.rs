//! Bounds on the work of validation against a JSON Schema, found before it starts.
//!
//! A validator follows each `$ref` each time it meets it, and cannot be interrupted. Definitions
//! that refer to the next one twice double the work: 26 of them take minutes. So the schema is read
//! as a graph, and the number of evaluations of a subschema on a value is computed with each pair
//! visited once. Where this module cannot know what a reference means, it assumes the most
//! expensive target, so the number is an upper bound.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::syntax::pattern_size::schema_pattern_size;

/// The maximum number of evaluations of subschemas on one value, without its members and items.
const MAX_ON_ONE_VALUE: u64 = 10_000;

/// A schema of which all subschemas together are evaluated at most so often, with references
/// followed, needs no check per value.
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

/// The keywords whose subschema applies to the value itself.
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];

/// Those that have a list of such subschemas.
const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Those that have subschemas by the name of a member.
const IN_PLACE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The index of a node.
type Index = usize;

/// A subschema.
#[derive(Default)]
struct Node {
    /// The subschemas that apply to the value itself. Of each list, only the most expensive one
    /// does: they are the possible targets of a reference.
    in_place: Vec<Vec<Index>>,
    properties: HashMap<String, Index>,
    /// `patternProperties`: assumed to apply to all members.
    patterns: Vec<Index>,
    /// `additionalProperties` and `unevaluatedProperties`.
    other_members: Vec<Index>,
    names: Option<Index>,
    prefix: Vec<Index>,
    items: Vec<Index>,
    /// Whether the subschemas in place are evaluated twice, to find what they did not evaluate.
    has_unevaluated: bool,
}

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
        let nodes = Reader::read(schema);
        let mut work = Self { nodes, is_small: false };
        let mut levels = vec![None; work.nodes.len()];
        for node in 0..work.nodes.len() {
            match work.on_one_value(node, &mut levels, 0) {
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
        work.is_small = work.total(0, &mut totals, 0).is_some_and(|total| total <= SMALL);
        Ok(work)
    }

    /// The evaluations of a node on a value without members and items; `None` if the chain is too
    /// long. A node that leads to itself counts as infinitely many: the validator stops at a loop,
    /// but only after it has followed all paths.
    fn on_one_value(&self, node: Index, known: &mut Vec<Option<u64>>, depth: usize) -> Option<u64> {
        if let Some(count) = known[node] {
            return Some(count);
        }
        if depth > MAX_CHAIN {
            return None;
        }
        known[node] = Some(u64::MAX);
        let mut count = 1_u64;
        for targets in &self.nodes[node].in_place {
            let mut most = 0;
            for &target in targets {
                most = self.on_one_value(target, known, depth + 1)?.max(most);
            }
            count = count.saturating_add(most);
        }
        known[node] = Some(count);
        Some(count)
    }

    /// The evaluations of a node and of all nodes below it, once each way; `None` if it is
    /// recursive.
    fn total(
        &self,
        node: Index,
        known: &mut Vec<Option<Option<u64>>>,
        depth: usize,
    ) -> Option<u64> {
        if let Some(total) = known[node] {
            return total;
        }
        known[node] = Some(None);
        if depth > MAX_CHAIN {
            return None;
        }
        let mut total = 1_u64;
        for child in self.nodes[node].children() {
            total = total.saturating_add(self.total(child, known, depth + 1)?);
        }
        known[node] = Some(Some(total));
        Some(total)
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
        let mut visit = Visit { nodes: &self.nodes, known: HashMap::new(), steps: 0, max };
        match visit.evaluations(0, value, 0) {
            Some(evaluations) if evaluations <= max => Ok(()),
            _ => {
                Err(format!("the validation would take more than {max} evaluations of subschemas"))
            }
        }
    }
}

impl Node {
    fn children(&self) -> impl Iterator<Item = Index> {
        let in_place = self.in_place.iter().flatten();
        let members = self.properties.values().chain(&self.patterns).chain(&self.other_members);
        let items = self.names.iter().chain(&self.prefix).chain(&self.items);
        in_place.chain(members).chain(items).copied()
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
        let Node { in_place, has_unevaluated, .. } = &nodes[node];
        let mut count = 0_u64;
        for targets in in_place {
            let mut most = 0;
            for &target in targets {
                most = self.evaluations(target, value, depth + 1)?.max(most);
            }
            count = count.saturating_add(most);
        }
        count = count.saturating_mul(if *has_unevaluated { 2 } else { 1 }).saturating_add(1);
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
            let others = if named.is_none() { node.other_members.as_slice() } else { &[] };
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

/// Reads the graph of a schema.
struct Reader<'s> {
    root: &'s Value,
    /// The subschemas with an identifier, which a reference may be relative to.
    resources: Vec<(&'s str, &'s Value)>,
    anchors: Vec<(&'s str, &'s Value)>,
    /// The resource that each object is in, by its address.
    bases: HashMap<*const Value, &'s Value>,
    /// The nodes by the address of their subschema, in the order of reading.
    found: IndexMap<*const Value, &'s Value>,
}

impl<'s> Reader<'s> {
    fn read(root: &'s Value) -> Vec<Node> {
        let mut reader = Self {
            root,
            resources: Vec::new(),
            anchors: Vec::new(),
            bases: HashMap::new(),
            found: IndexMap::new(),
        };
        reader.identifiers(root, root);
        reader.index(root);
        let mut nodes = Vec::new();
        while let Some((_, &schema)) = reader.found.get_index(nodes.len()) {
            nodes.push(reader.node(schema));
        }
        nodes
    }

    fn identifiers(&mut self, value: &'s Value, mut base: &'s Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.identifiers(item, base)),
            Value::Object(members) => {
                let id = members.get("$id").or(members.get("id")).and_then(Value::as_str);
                if id.is_some_and(|id| !id.starts_with('#')) {
                    base = value;
                }
                self.bases.insert(std::ptr::from_ref(value), base);
                for (key, member) in members {
                    match (key.as_str(), member) {
                        ("$id" | "id", Value::String(id)) => match id.strip_prefix('#') {
                            Some(anchor) => self.anchors.push((anchor, value)),
                            None => self.resources.push((id, value)),
                        },
                        ("$anchor" | "$dynamicAnchor", Value::String(anchor)) => {
                            self.anchors.push((anchor, value));
                        }
                        _ => self.identifiers(member, base),
                    }
                }
            }
            _ => {}
        }
    }

    fn index(&mut self, schema: &'s Value) -> Index {
        self.found.insert_full(std::ptr::from_ref(schema), schema).0
    }

    fn indexes(&mut self, schemas: impl IntoIterator<Item = &'s Value>) -> Vec<Index> {
        schemas.into_iter().map(|schema| self.index(schema)).collect()
    }

    fn node(&mut self, value: &'s Value) -> Node {
        let Value::Object(schema) = value else { return Node::default() };
        let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
        let map = |key: &str| schema.get(key).and_then(Value::as_object).into_iter().flatten();
        let mut in_place: Vec<Vec<Index>> = Vec::new();
        let own = IN_PLACE.iter().filter_map(|key| schema.get(*key));
        let of_lists = IN_PLACE_LISTS.iter().flat_map(|key| list(key));
        let of_maps = IN_PLACE_MAPS.iter().flat_map(|key| map(key)).map(|(_, schema)| schema);
        for schema in own.chain(of_lists).chain(of_maps) {
            in_place.push(vec![self.index(schema)]);
        }
        for reference in REFERENCES.iter().filter_map(|key| schema.get(*key)?.as_str()) {
            let targets = self.targets(value, reference);
            in_place.push(self.indexes(targets));
        }
        let (items, prefix) = match schema.get("items") {
            Some(Value::Array(prefix)) => (None, Some(prefix)),
            items => (items, None),
        };
        let others = ["additionalItems", "contains", "unevaluatedItems"];
        let others = others.iter().filter_map(|key| schema.get(*key));
        Node {
            in_place,
            properties: map("properties").map(|(k, it)| (k.clone(), self.index(it))).collect(),
            patterns: self.indexes(map("patternProperties").map(|(_, schema)| schema)),
            other_members: self.indexes(
                ["additionalProperties", "unevaluatedProperties"]
                    .iter()
                    .filter_map(|key| schema.get(*key)),
            ),
            names: schema.get("propertyNames").map(|names| self.index(names)),
            prefix: self.indexes(prefix.into_iter().flatten().chain(list("prefixItems"))),
            items: self.indexes(items.into_iter().chain(others)),
            has_unevaluated: ["unevaluatedProperties", "unevaluatedItems"]
                .iter()
                .any(|key| schema.contains_key(*key)),
        }
    }

    /// The subschemas that a reference in a subschema may mean. Names of resources are compared
    /// without their path, which is relative to a base that is not known here.
    fn targets(&self, from: &'s Value, reference: &str) -> Vec<&'s Value> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = decoded(fragment);
        let own = self.bases.get(&std::ptr::from_ref(from)).copied().unwrap_or(self.root);
        let named = match resource {
            "" => vec![own],
            id => {
                self.resources.iter().filter(|it| name(it.0) == name(id)).map(|it| it.1).collect()
            }
        };
        let exact = self.within(&named, &fragment);
        let is_meta_schema = ["http://json-schema.org/", "https://json-schema.org/"]
            .iter()
            .any(|host| reference.starts_with(host));
        if !exact.is_empty() || is_meta_schema {
            return exact;
        }
        // The root has this name if it has no identifier.
        let is_root = resource.starts_with("json-schema:");
        let every: Vec<&Value> =
            self.resources.iter().map(|it| it.1).chain(is_root.then_some(self.root)).collect();
        self.within(&every, &fragment)
    }

    /// What a fragment means in each of some resources. An anchor is one of the whole schema, since
    /// a dynamic reference may leave its resource.
    fn within(&self, resources: &[&'s Value], fragment: &str) -> Vec<&'s Value> {
        match fragment {
            "" => resources.to_vec(),
            path if path.starts_with('/') => {
                resources.iter().filter_map(|resource| resource.pointer(path)).collect()
            }
            _ if resources.is_empty() => Vec::new(),
            anchor => self.anchors.iter().filter(|it| it.0 == anchor).map(|it| it.1).collect(),
        }
    }
}

/// The last segment of a URI.
fn name(id: &str) -> &str {
    let id = id.trim_end_matches('#');
    id.rsplit('/').next().unwrap_or(id)
}

/// A fragment without percent-encoding. What is not valid stays as it is.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| fragment.to_owned())
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
                    patterns.keys().try_for_each(|pattern| self.pattern(pattern))?;
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

    /// Definitions of which each refers to the next one twice.
    fn doubling(applicator: &str, levels: usize) -> Value {
        let reference = |at: usize| json!({ "$ref": format!("#/definitions/a{at}") });
        let definitions: Map<String, Value> = (0..levels)
            .map(|at| {
                (format!("a{at}"), json!({ applicator: [reference(at + 1), reference(at + 1)] }))
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
            assert!(error.contains("more than 10000 evaluations of one value"), "{error}");
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
        assert!(SchemaWork::of(&named).is_err());
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
        assert_eq!(list.check(&(0..100).fold(json!([]), |inner, _| json!([inner, 1]))), Ok(()));
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
