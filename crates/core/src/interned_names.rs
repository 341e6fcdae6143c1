//! Interned component names, which live as long as the program.
//!
//! Every score of a composite contains them. With `Arc`, all threads would update one reference count for every row,
//! which takes longer than evaluating a simple component. There are few names, and each distinct list is stored once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

type Names = &'static [&'static str];

static INTERNED: Mutex<(BTreeSet<&'static str>, BTreeSet<Names>)> =
    Mutex::new((BTreeSet::new(), BTreeSet::new()));

/// Interns a name and returns it as a static string.
pub fn intern(name: &str) -> &'static str {
    intern_all(std::iter::once(name))[0]
}

/// Interns a list of names.
pub(crate) fn intern_all<'a>(names: impl Iterator<Item = &'a str>) -> Names {
    // A panic cannot leave the sets inconsistent, so a poisoned lock is safe to use.
    let mut interned = INTERNED.lock().unwrap_or_else(PoisonError::into_inner);
    let (words, lists) = &mut *interned;
    let word = |name: &str| {
        words.get(name).copied().unwrap_or_else(|| {
            let name: &'static str = name.to_owned().leak();
            words.insert(name);
            name
        })
    };
    let names: Vec<&'static str> = names.map(word).collect();
    lists.get(&*names).copied().unwrap_or_else(|| {
        let names: Names = names.leak();
        lists.insert(names);
        names
    })
}

#[cfg(test)]
mod tests {
    use super::intern_all;

    #[test]
    fn equal_lists_are_interned_once() {
        let first = intern_all(["format", "length"].into_iter());
        let again = intern_all(
            [String::from("format"), String::from("length")]
                .iter()
                .map(|it| &**it),
        );
        assert!(std::ptr::eq(first, again));
        assert_eq!(
            intern_all(["length", "format"].into_iter()),
            ["length", "format"]
        );
    }
}
