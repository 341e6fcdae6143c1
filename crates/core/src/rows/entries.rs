//! Named values in insertion order: a list, since most rows have few fields, with an index if there are many.

use std::borrow::Cow;
use std::fmt;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

/// A name, static if it is one that a metric declares.
pub(super) type Name = Cow<'static, str>;

/// The most entries that are compared one by one.
const MAX_LISTED: usize = 16;

#[derive(Clone, Default)]
pub(super) struct Entries {
    list: Vec<(Name, Value)>,
    index: Option<Box<Index>>,
}

#[derive(Clone, Default)]
struct Index {
    /// Positions in the list, by the hash of the name.
    positions: HashTable<usize>,
    // Random per process, so that no file can have names that collide.
    hasher: RandomState,
}

impl Index {
    fn of(list: &[(Name, Value)]) -> Box<Self> {
        let mut index = Box::<Self>::default();
        (0..list.len()).for_each(|position| index.insert(position, list));
        index
    }

    fn insert(&mut self, position: usize, list: &[(Name, Value)]) {
        let hash = |position: &usize| self.hasher.hash_one(&*list[*position].0);
        self.positions
            .insert_unique(hash(&position), position, hash);
    }
}

impl Entries {
    pub(super) fn with_capacity(entries: usize) -> Self {
        Self {
            list: Vec::with_capacity(entries),
            index: None,
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        let Some(index) = &self.index else {
            return self.list.iter().position(|(other, _)| other == name);
        };
        let hash = index.hasher.hash_one(name);
        index
            .positions
            .find(hash, |position| self.list[*position].0 == name)
            .copied()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.position(name).map(|position| &self.list[position].1)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.position(name)
            .map(|position| &mut self.list[position].1)
    }

    pub(super) fn insert(&mut self, name: Name, value: Value) -> Option<Value> {
        if let Some(position) = self.position(&name) {
            return Some(std::mem::replace(&mut self.list[position].1, value));
        }
        self.list.push((name, value));
        match &mut self.index {
            Some(index) => index.insert(self.list.len() - 1, &self.list),
            None if self.list.len() > MAX_LISTED => self.index = Some(Index::of(&self.list)),
            None => {}
        }
        None
    }

    /// Returns the value at this position of a list that is written again from its start. If the entry there has another
    /// name, it and all after it are replaced by a new one. `None` if there would be more than are listed.
    pub(super) fn rewrite(
        &mut self,
        position: usize,
        name: &str,
        owned: impl FnOnce() -> Name,
    ) -> Option<&mut Value> {
        if position >= MAX_LISTED {
            return None;
        }
        self.index = None;
        if self
            .list
            .get(position)
            .is_none_or(|(other, _)| other != name)
        {
            self.list.truncate(position);
            self.list.push((owned(), Value::Null));
        }
        self.list.get_mut(position).map(|(_, value)| value)
    }

    /// Removes the entries from this position on, of a list that was written again.
    pub(super) fn truncate(&mut self, len: usize) {
        self.index = None;
        self.list.truncate(len);
    }

    /// Removes an entry. The others keep their order.
    pub(super) fn remove(&mut self, name: &str) -> Option<Value> {
        let (_, value) = self.list.remove(self.position(name)?);
        if self.index.is_some() {
            self.index = Some(Index::of(&self.list));
        }
        Some(value)
    }

    /// Removes an entry in constant time, and moves the last one to its place.
    pub(super) fn swap_remove(&mut self, name: &str) -> Option<Value> {
        let position = self.position(name)?;
        if let Some(index) = &mut self.index {
            let last = self.list.len() - 1;
            let hash = |position: usize| index.hasher.hash_one(&*self.list[position].0);
            let (removed, moved) = (hash(position), hash(last));
            if let Ok(entry) = index.positions.find_entry(removed, |it| *it == position) {
                entry.remove();
            }
            if let Some(moved) = index.positions.find_mut(moved, |it| *it == last) {
                *moved = position;
            }
        }
        Some(self.list.swap_remove(position).1)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.list.iter().map(|(name, value)| (&**name, value))
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}

impl IntoIterator for Entries {
    type Item = (String, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(self.list.into_iter())
    }
}

/// The fields of a row by value, in order; returned by [`Fields::into_iter`](super::named_values::Fields).
#[derive(Debug)]
pub struct IntoIter(std::vec::IntoIter<(Name, Value)>);

impl Iterator for IntoIter {
    type Item = (String, Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0
            .next()
            .map(|(name, value)| (name.into_owned(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for IntoIter {}

/// The order does not count.
impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        let has = |(name, value)| other.get(name).is_some_and(|it| it == value);
        self.len() == other.len() && self.iter().all(has)
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Entries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut entries = Entries::default();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            entries.insert(name.into(), value);
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::Entries;

    #[derive(Debug, Clone)]
    enum Step {
        Insert(u8, i64),
        Remove(u8),
        SwapRemove(u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (any::<u8>(), any::<i64>()).prop_map(|(name, value)| Step::Insert(name % 48, value)),
            1 => any::<u8>().prop_map(|name| Step::Remove(name % 48)),
            1 => any::<u8>().prop_map(|name| Step::SwapRemove(name % 48)),
        ]
    }

    #[test]
    fn a_list_that_is_written_again_has_the_entries_of_the_last_time() {
        let mut entries = Entries::default();
        for names in [
            &["a", "b"][..],
            &["b", "a", "c"],
            &["b"],
            &[],
            &["b", "c", "a"],
        ] {
            for (position, name) in names.iter().enumerate() {
                *entries.rewrite(position, name, || (*name).into()).unwrap() = Value::from(*name);
            }
            entries.truncate(names.len());
            let expected: Vec<_> = names
                .iter()
                .map(|name| (*name, Value::from(*name)))
                .collect();
            let found = entries.iter().map(|(name, value)| (name, value.clone()));
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
        *entries.rewrite(0, "b", || "b".into()).unwrap() = Value::from(1);
        assert_eq!(
            (entries.get("b"), entries.get("c")),
            (Some(&1.into()), Some(&"c".into()))
        );
        assert_eq!(entries.rewrite(16, "x", || "x".into()), None);
    }

    proptest! {
        #[test]
        fn few_and_many_entries_are_those_of_a_map(steps in prop::collection::vec(step(), 0..120)) {
            let (mut entries, mut map) = (Entries::default(), IndexMap::<String, Value>::new());
            for step in steps {
                match step {
                    Step::Insert(name, value) => prop_assert_eq!(
                        entries.insert(name.to_string().into(), value.into()),
                        map.insert(name.to_string(), value.into())
                    ),
                    Step::Remove(name) => {
                        let name = name.to_string();
                        prop_assert_eq!(entries.remove(&name), map.shift_remove(&name));
                    }
                    Step::SwapRemove(name) => {
                        let name = name.to_string();
                        prop_assert_eq!(entries.swap_remove(&name), map.swap_remove(&name));
                    }
                }
                let name = (map.len() % 48).to_string();
                prop_assert_eq!(entries.get(&name), map.get(&name));
            }
            let expected: Vec<_> = map.iter().map(|(name, value)| (name.as_str(), value)).collect();
            prop_assert_eq!(entries.iter().collect::<Vec<_>>(), expected);
            let json = serde_json::to_string(&entries).unwrap();
            prop_assert_eq!(&json, &serde_json::to_string(&map).unwrap());
            prop_assert_eq!(&serde_json::from_str::<Entries>(&json).unwrap(), &entries);
            let reversed = map.iter().rev().fold(Entries::default(), |mut all, (name, value)| {
                all.insert(name.clone().into(), value.clone());
                all
            });
            prop_assert_eq!(&reversed, &entries);
            prop_assert_eq!(entries.into_iter().collect::<Vec<_>>(), map.into_iter().collect::<Vec<_>>());
        }
    }
}
