//! Named values in insertion order: a list, because most rows have few, plus an index if there are many.

use std::borrow::Cow;
use std::fmt;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A name. It is static if a metric declares it.
pub(super) type Name = Cow<'static, str>;

/// Hashed with a random seed per process, so no file can contain names that collide.
type Indexed = IndexMap<Name, Value, RandomState>;

/// The maximum number of entries that are searched one by one.
const MAX_LISTED: usize = 8;

#[derive(Clone)]
pub(super) enum Entries {
    Listed(Vec<(Name, Value)>),
    Indexed(Box<Indexed>),
}

impl Default for Entries {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl Entries {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Listed(list) => list.iter().find(|it| it.0 == name).map(|it| &it.1),
            Self::Indexed(entries) => entries.get(name),
        }
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        match self {
            Self::Listed(list) => list.iter_mut().find(|it| it.0 == name).map(|it| &mut it.1),
            Self::Indexed(entries) => entries.get_mut(name),
        }
    }

    pub(super) fn insert(&mut self, name: Name, value: Value) -> Option<Value> {
        if let Some(old) = self.get_mut(&name) {
            return Some(std::mem::replace(old, value));
        }
        match self {
            Self::Listed(list) if list.len() < MAX_LISTED => list.push((name, value)),
            Self::Listed(list) => {
                let mut entries: Indexed = std::mem::take(list).into_iter().collect();
                entries.insert(name, value);
                *self = Self::Indexed(Box::new(entries));
            }
            Self::Indexed(entries) => _ = entries.insert(name, value),
        }
        None
    }

    /// Removes an entry. The others keep their order.
    pub(super) fn remove(&mut self, name: &str) -> Option<Value> {
        match self {
            Self::Listed(list) => {
                let position = list.iter().position(|it| it.0 == name)?;
                Some(list.remove(position).1)
            }
            Self::Indexed(entries) => entries.shift_remove(name),
        }
    }

    /// Removes an entry in constant time, moving the last one to its place.
    pub(super) fn swap_remove(&mut self, name: &str) -> Option<Value> {
        match self {
            Self::Listed(list) => {
                let position = list.iter().position(|it| it.0 == name)?;
                Some(list.swap_remove(position).1)
            }
            Self::Indexed(entries) => entries.swap_remove(name),
        }
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        let entry = |at| match self {
            Self::Listed(list) => list.get(at).map(|(name, value)| (name, value)),
            Self::Indexed(entries) => entries.get_index(at),
        };
        (0..self.len()).map(move |at| match entry(at) {
            Some((name, value)) => (&**name, value),
            // Every position below the length has an entry.
            None => ("", &Value::Null),
        })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Listed(list) => list.len(),
            Self::Indexed(entries) => entries.len(),
        }
    }

    pub(super) fn into_list(self) -> Vec<(Name, Value)> {
        match self {
            Self::Listed(list) => list,
            Self::Indexed(entries) => entries.into_iter().collect(),
        }
    }
}

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
        Indexed::deserialize(deserializer).map(|entries| match entries.len() {
            0..=MAX_LISTED => Self::Listed(entries.into_iter().collect()),
            _ => Self::Indexed(Box::new(entries)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Entries, MAX_LISTED};

    /// Returns entries named by these numbers.
    fn entries(numbers: impl IntoIterator<Item = usize>) -> Entries {
        let mut entries = Entries::default();
        for number in numbers {
            assert_eq!(
                entries.insert(number.to_string().into(), number.into()),
                None
            );
        }
        entries
    }

    fn names(entries: &Entries) -> Vec<String> {
        entries.iter().map(|(name, _)| name.to_owned()).collect()
    }

    #[test]
    fn few_and_many_entries_are_used_alike() {
        for count in [MAX_LISTED - 1, MAX_LISTED, MAX_LISTED + 1, 40] {
            let mut some = entries(0..count);
            assert_eq!(some.len(), count);
            assert_eq!(some, entries((0..count).rev()), "the order does not count");
            assert_ne!(some, entries(1..=count));
            let read: Entries =
                serde_json::from_str(&serde_json::to_string(&some).unwrap()).unwrap();
            assert_eq!((&read, names(&read)), (&some, names(&some)));
            assert_eq!(some.insert("1".into(), "new".into()), Some(1.into()));
            *some.get_mut("2").unwrap() = "other".into();
            assert_eq!(
                some.get("1").zip(some.get("2")),
                Some((&"new".into(), &"other".into()))
            );
            assert_eq!(some.remove("0"), Some(0.into()));
            assert_eq!(
                (some.remove("0"), names(&some)),
                (None, names(&entries(1..count)))
            );
            assert_eq!(some.swap_remove("2"), Some("other".into()));
            let last = count - 1;
            assert_eq!(
                names(&some),
                names(&entries([1, last].into_iter().chain(3..last)))
            );
            assert_eq!(some.into_list().len(), count - 2);
        }
    }
}
