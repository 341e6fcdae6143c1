//! The modes and rules of agentevals, with and without its quirks.

use super::*;

const AGENTEVALS: [&str; 4] = [
    "`True` equals 1 in Python",
    "the calls of one message may be in any order in `strict`",
    "`subset` and `unordered` exchange the arguments of both sides",
    "greedy matching misses a match",
];

/// The rules for arguments of agentevals.
fn matches(rule: &str, called: &Call, expected: &Call, bools: bool) -> bool {
    let (Some(ours), Some(theirs)) = (called.1.as_object(), expected.1.as_object()) else {
        unreachable!("arguments are objects");
    };
    let has = |in_object: &serde_json::Map<String, Value>, key: &str, value: &Value| {
        in_object
            .get(key)
            .is_some_and(|other| equal(value, other, bools))
    };
    called.0 == expected.0
        && match rule {
            "exact" => equal(&called.1, &expected.1, bools),
            "ignore" => true,
            "subset" => ours.iter().all(|(key, value)| has(theirs, key, value)),
            "superset" => theirs.iter().all(|(key, value)| has(ours, key, value)),
            _ => ["/a", "/b/c"].iter().all(|path| {
                let at = |args: &Value| args.pointer(path).cloned().unwrap_or_default();
                equal(&at(&called.1), &at(&expected.1), bools)
            }),
        }
}

/// Whether each item has a partner of its own; greedily the first that is free.
fn all_have_partners(edges: &[Vec<bool>], partners: usize, greedy: bool) -> bool {
    fn seat(item: usize, edges: &[Vec<bool>], of: &mut [Option<usize>], seen: &mut [bool]) -> bool {
        for partner in 0..of.len() {
            if edges[item][partner] && !std::mem::replace(&mut seen[partner], true) {
                let is_free = of[partner].is_none_or(|other| seat(other, edges, of, seen));
                if is_free {
                    of[partner] = Some(item);
                    return true;
                }
            }
        }
        false
    }
    let mut of = vec![None; partners];
    (0..edges.len()).all(|item| match greedy {
        true => {
            let free = (0..partners).find(|at| edges[item][*at] && of[*at].is_none());
            free.inspect(|at| of[*at] = Some(item)).is_some()
        }
        false => seat(item, edges, &mut of, &mut vec![false; partners]),
    })
}

fn agentevals(vector: &Vector, mode: MatchMode, rule: &str, quirks: Quirks<4>) -> bool {
    let [bools, any_order, exchanged, greedy] = quirks;
    let (called, expected) = (calls(&vector.pred), calls(&vector.gold));
    let fits = |called: &Call, expected: &Call| matches(rule, called, expected, bools);
    let superset = || {
        let edges = |it: &&Call| called.iter().map(|call| fits(call, it)).collect();
        all_have_partners(
            &expected.iter().map(edges).collect::<Vec<_>>(),
            called.len(),
            greedy,
        )
    };
    let subset = || {
        let edges = |call: &&Call| {
            let fits = |it: &&Call| {
                if exchanged {
                    fits(it, call)
                } else {
                    fits(call, it)
                }
            };
            expected.iter().map(fits).collect()
        };
        all_have_partners(
            &called.iter().map(edges).collect::<Vec<_>>(),
            expected.len(),
            greedy,
        )
    };
    let same_turn = |turns: (&Turn, &Turn)| match turns {
        (Turn::User(_), Turn::User(_)) => true,
        (Turn::Calls(called), Turn::Calls(expected)) if called.len() == expected.len() => {
            let edges = |call: &Call| expected.iter().map(|it| fits(call, it)).collect();
            let in_order = called.iter().zip(expected).all(|(call, it)| fits(call, it));
            let edges: Vec<Vec<bool>> = called.iter().map(edges).collect();
            in_order || any_order && all_have_partners(&edges, expected.len(), greedy)
        }
        _ => false,
    };
    match mode {
        MatchMode::Strict => {
            vector.pred.len() == vector.gold.len()
                && vector.pred.iter().zip(&vector.gold).all(same_turn)
        }
        MatchMode::Unordered => superset() && subset(),
        MatchMode::Subset => subset(),
        _ => superset(),
    }
}

fn rule(name: &str) -> ArgsRule {
    match name {
        "exact" => ArgsRule::Exact,
        "ignore" => ArgsRule::Ignore,
        "subset" => ArgsRule::Subset,
        "superset" => ArgsRule::Superset,
        _ => ArgsRule::Paths(vec!["a".to_owned(), "b.c".to_owned()]),
    }
}

#[test]
fn trajectory_match_agrees_with_agentevals() {
    let mut counts = BTreeMap::new();
    let settings: Vec<_> = MODES
        .into_iter()
        .flat_map(|mode| RULES.map(|rule| (mode, rule)))
        .collect();
    let metric = |(mode, name): &(MatchMode, &str)| {
        TrajectoryMatch::builder()
            .mode(*mode)
            .args(rule(name))
            .build()
    };
    let metrics: Vec<_> = settings.iter().map(metric).collect();
    let mut matched = 0;
    for vector in vectors::<Vector>(VECTORS) {
        let (gold, pred) = (row(&vector.gold), row(&vector.pred));
        for (at, (mode, rule)) in settings.iter().enumerate() {
            let theirs = |quirks| agentevals(&vector, *mode, rule, quirks);
            assert_eq!(
                theirs([true; 4]),
                &vector.agentevals[at..=at] == "1",
                "{mode:?} {rule}"
            );
            let ours = metrics[at].score(&gold, &pred).unwrap().value == 1.0;
            matched += usize::from(ours);
            explain(&mut counts, AGENTEVALS, &ours, theirs, bool::eq);
        }
    }
    assert_eq!(matched, 52_856, "of 100,000");
    let [bools, any_order, exchanged, greedy] = AGENTEVALS;
    let expected = [
        (bools, 241),
        (any_order, 676),
        (exchanged, 922),
        (greedy, 89),
        (SEVERAL, 33),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
}
