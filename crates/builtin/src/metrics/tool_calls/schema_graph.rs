//! The graph of a JSON Schema: which subschemas lead to which, on the same value or on its members and
//! items. Nothing is validated here.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::Value;

/// The index of a node.
pub(super) type Index = usize;

/// A subschema.
#[derive(Default)]
pub(super) struct Node {
    /// The subschemas that apply to the value itself. Each list has the possible targets of one reference, and only the
    /// most expensive target counts.
    pub(super) in_place: Vec<Vec<Index>>,
    pub(super) properties: HashMap<String, Index>,
    /// `patternProperties`: assumed to apply to all members.
    pub(super) patterns: Vec<Index>,
    /// `additionalProperties` and `unevaluatedProperties`.
    pub(super) other_members: Vec<Index>,
    pub(super) names: Option<Index>,
    pub(super) prefix: Vec<Index>,
    pub(super) items: Vec<Index>,
    /// Whether the subschemas in place are evaluated twice, to find the members and items that they did not evaluate.
    pub(super) has_unevaluated: bool,
}

impl Node {
    /// The subschemas that this one leads to, on the same value or on any. Of each list, only one is evaluated.
    pub(super) fn below(&self, on_same_value: bool) -> impl Iterator<Item = &[Index]> {
        let members = self
            .properties
            .values()
            .chain(&self.patterns)
            .chain(&self.other_members);
        let items = self.names.iter().chain(&self.prefix).chain(&self.items);
        let others = members.chain(items).filter(move |_| !on_same_value);
        self.in_place
            .iter()
            .map(Vec::as_slice)
            .chain(others.map(std::slice::from_ref))
    }
}

/// Reads the subschemas of a schema, the root first.
pub(super) fn read(root: &Value) -> Vec<Node> {
    let mut reader = Reader {
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
    fn identifiers(&mut self, value: &'s Value, mut base: &'s Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.identifiers(item, base)),
            Value::Object(members) => {
                let id = members
                    .get("$id")
                    .or(members.get("id"))
                    .and_then(Value::as_str);
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

    fn node(&mut self, value: &'s Value) -> Node {
        let mut node = Node::default();
        for (key, content) in value.as_object().into_iter().flatten() {
            match (key.as_str(), content) {
                ("not" | "if" | "then" | "else", schema) => {
                    node.in_place.push(vec![self.index(schema)]);
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                    node.in_place
                        .extend(schemas.iter().map(|schema| vec![self.index(schema)]));
                }
                ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                    node.in_place
                        .extend(schemas.values().map(|schema| vec![self.index(schema)]));
                }
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    let targets = self.targets(value, reference);
                    node.in_place
                        .push(targets.into_iter().map(|it| self.index(it)).collect());
                }
                ("properties", Value::Object(schemas)) => {
                    let named = schemas
                        .iter()
                        .map(|(name, it)| (name.clone(), self.index(it)));
                    node.properties.extend(named);
                }
                ("patternProperties", Value::Object(schemas)) => {
                    node.patterns
                        .extend(schemas.values().map(|schema| self.index(schema)));
                }
                ("additionalProperties" | "unevaluatedProperties", schema) => {
                    node.other_members.push(self.index(schema));
                }
                ("propertyNames", schema) => node.names = Some(self.index(schema)),
                ("items" | "prefixItems", Value::Array(schemas)) => {
                    node.prefix
                        .extend(schemas.iter().map(|schema| self.index(schema)));
                }
                ("items" | "additionalItems" | "contains" | "unevaluatedItems", schema) => {
                    node.items.push(self.index(schema));
                }
                _ => {}
            }
            node.has_unevaluated |= key.starts_with("unevaluated");
        }
        node
    }

    /// The subschemas that a reference in a subschema may mean. Names of resources are compared
    /// without their path, which is relative to a base that is not known here.
    fn targets(&self, from: &'s Value, reference: &str) -> Vec<&'s Value> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = decoded(fragment);
        let own = self
            .bases
            .get(&std::ptr::from_ref(from))
            .copied()
            .unwrap_or(self.root);
        let named = match resource {
            "" => vec![own],
            id => self
                .resources
                .iter()
                .filter(|it| name(it.0) == name(id))
                .map(|it| it.1)
                .collect(),
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
        let every: Vec<&Value> = self
            .resources
            .iter()
            .map(|it| it.1)
            .chain(is_root.then_some(self.root))
            .collect();
        self.within(&every, &fragment)
    }

    /// Returns the values that a fragment refers to in these resources. An anchor may be anywhere in the schema, since
    /// a dynamic reference may leave its resource.
    fn within(&self, resources: &[&'s Value], fragment: &str) -> Vec<&'s Value> {
        match fragment {
            "" => resources.to_vec(),
            path if path.starts_with('/') => resources
                .iter()
                .filter_map(|resource| resource.pointer(path))
                .collect(),
            _ if resources.is_empty() => Vec::new(),
            anchor => self
                .anchors
                .iter()
                .filter(|it| it.0 == anchor)
                .map(|it| it.1)
                .collect(),
        }
    }
}

/// The last segment of a URI.
fn name(id: &str) -> &str {
    let id = id.trim_end_matches('#');
    id.rsplit('/').next().unwrap_or(id)
}

/// Decodes the percent-encoding of a fragment. Invalid sequences are unchanged.
fn decoded(fragment: &str) -> String {
    let mut parts = fragment.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
        {
            Some(byte) => bytes.extend([&[byte], &part.as_bytes()[2..]].concat()),
            None => bytes.extend([b"%", part.as_bytes()].concat()),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| fragment.to_owned())
}
