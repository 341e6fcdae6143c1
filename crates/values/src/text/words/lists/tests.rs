//! The numbers of words against a map, and the memory that is kept.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{MAX_LONG_BYTES, Replacement, SPARE, WordLists};

/// The numbers of each list, and how many there are, by a map of strings.
fn by_map(lists: &[Vec<String>]) -> (Vec<Vec<u32>>, usize) {
    let mut numbers = HashMap::new();
    let mut number = |word| {
        let next = numbers.len() as u32;
        *numbers.entry(word).or_insert(next)
    };
    let lists = lists
        .iter()
        .map(|list| list.iter().map(&mut number).collect())
        .collect();
    (lists, numbers.len())
}

fn numbered(words: &mut WordLists) -> (Vec<Vec<u32>>, usize) {
    words.number();
    (
        words.lists().map(<[u32]>::to_vec).collect(),
        words.distinct(),
    )
}

#[test]
fn many_words_are_numbered_as_they_occur() {
    let text: Vec<String> = (0..12_000).map(|n| format!("{}", n % 1_000)).collect();
    let expected: Vec<u32> = (0..12_000).map(|n| n % 1_000).collect();
    for _ in 0..2 {
        WordLists::with(|words| {
            words.add(text.iter().map(String::as_str));
            words.add([]);
            words.add(["999", "", "a"]);
            let lists = vec![expected.clone(), vec![], vec![999, 1_000, 1_001]];
            assert_eq!(numbered(words), (lists, 1_002));
            let inner = WordLists::with(|others| {
                others.add(["b"]);
                numbered(others)
            });
            assert_eq!(inner, (vec![vec![0]], 1));
        });
    }
}

#[test]
fn memory_is_kept_for_the_next_lists_unless_it_is_large() {
    let kept = |count: usize| {
        let words: Vec<String> = (0..count).map(|n| format!("{n:032}")).collect();
        WordLists::with(|lists| lists.add(words.iter().map(String::as_str)));
        SPARE.take().map(|lists| lists.long.len())
    };
    let most = MAX_LONG_BYTES / 32;
    assert_eq!([1, most].map(kept), [Some(32), Some(MAX_LONG_BYTES)]);
    assert_eq!([most + 1, 11_000].map(kept), [Some(0), None]);
}

/// Words of all lengths that keys treat differently, which share their bytes.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab\0]{0,3}",
        "[Aa]a{15}|a{6,9}\0?",
        "(ab){7,9}[a\0]?",
        "é{3,9}",
        "[A-Za-z0-9]{0,20}",
        "\\PC{0,6}",
    ]
}

/// The numbers of the words of each list, which are slices of a string, but for `others`.
fn slices(lists: &[Vec<String>], is_lower: bool, others: usize) -> (Vec<Vec<u32>>, usize) {
    let (others, slices) = lists.split_at(others);
    WordLists::with(|words| {
        others
            .iter()
            .for_each(|list| words.add(list.iter().map(String::as_str)));
        for list in slices {
            let mut end = 0;
            let mut position = |word: &String| {
                end += word.len();
                end - word.len()..end
            };
            let positions = list.iter().map(&mut position);
            words.add_slices(&list.concat(), is_lower, |found| found.extend(positions));
        }
        numbered(words)
    })
}

proptest! {
    #[test]
    fn equal_words_have_equal_numbers(
        lists in prop::collection::vec(prop::collection::vec(word(), 0..50), 0..5),
    ) {
        let expected = by_map(&lists);
        for others in [0, lists.len() / 2, lists.len()] {
            prop_assert_eq!(&slices(&lists, false, others), &expected);
        }
    }

    #[test]
    fn words_may_be_compared_in_lower_case(
        words in prop::collection::vec("[a-cA-C0-9]{0,3}|[aA]{14,18}", 0..50),
    ) {
        let lower = words.iter().map(|word| word.to_ascii_lowercase()).collect();
        prop_assert_eq!(slices(&[words], true, 0), by_map(&[lower]));
    }

    #[test]
    fn words_are_replaced_by_the_words_between_spaces(
        words in prop::collection::vec("[a-c ]{1,3}|[ab]{14,18}", 0..50),
    ) {
        let by = |word: &str| format!("{} {word}", &word[..word.len() / 2]);
        let replaced = words.iter().flat_map(|word| by(word).split(' ').map(str::to_owned).collect::<Vec<_>>());
        let replaced = replaced.filter(|word| !word.is_empty()).collect();
        let found = WordLists::with(|lists| {
            for word in &words {
                lists.push_replaced(Replacement::Stem, word, by);
            }
            lists.end_list();
            numbered(lists)
        });
        prop_assert_eq!(found, by_map(&[replaced]));
    }
}
