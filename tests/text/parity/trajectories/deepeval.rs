//! The scores of deepeval's tool correctness, with and without its quirks.

use super::*;

const DEEPEVAL: [&str; 3] = [
    "`True` equals 1 in Python",
    "a call that is equal to an assigned one is not assigned",
    "greedy assignment misses a better one",
];

/// The share of equal arguments of deepeval.
fn share(one: &Value, other: &Value, bools: bool) -> f64 {
    match (one, other) {
        (one, other) if equal(one, other, bools) => 1.0,
        (Value::Object(one), Value::Object(other)) => {
            let all = one.len() + other.keys().filter(|key| !one.contains_key(*key)).count();
            let of = |(key, value): (&String, &Value)| {
                other
                    .get(key)
                    .map_or(0.0, |other| share(value, other, bools) / all as f64)
            };
            one.iter().map(of).sum()
        }
        _ => 0.0,
    }
}

fn deepeval(
    vector: &Vector,
    (arguments, outputs): (bool, bool),
    order: CallOrder,
    quirks: Quirks<3>,
) -> f64 {
    let [bools, once, greedy] = quirks;
    let (called, expected) = (calls(&vector.pred), calls(&vector.gold));
    let weight = |expected: &Call, called: &Call| match expected.0 == called.0 {
        true if outputs && expected.2 != called.2 => 0.0,
        true if arguments => share(&expected.1, &called.1, bools),
        true => 1.0,
        false => 0.0,
    };
    if expected.is_empty() {
        return f64::from(u8::from(called.is_empty()));
    }
    let sum = match order {
        CallOrder::Exact => {
            let is_same = |(it, call): (&&Call, &&Call)| weight(it, call) == 1.0;
            let all = called.len() == expected.len() && expected.iter().zip(&called).all(is_same);
            return f64::from(u8::from(all));
        }
        CallOrder::InOrder => {
            let mut table = vec![vec![0.0; called.len() + 1]; expected.len() + 1];
            for (i, it) in expected.iter().enumerate() {
                for (j, call) in called.iter().enumerate() {
                    let both: f64 = table[i][j] + weight(it, call);
                    table[i + 1][j + 1] = both.max(table[i][j + 1]).max(table[i + 1][j]);
                }
            }
            table[expected.len()][called.len()]
        }
        _ => {
            let is_equal = |one: &Call, other: &Call| {
                one.0 == other.0 && one.2 == other.2 && equal(&one.1, &other.1, bools)
            };
            if greedy {
                assign_greedily(&expected, &called, weight, |one, other| {
                    once && is_equal(one, other)
                })
            } else {
                let mut distinct: Vec<&Call> = Vec::new();
                for call in &called {
                    if !once || !distinct.iter().any(|other| is_equal(call, other)) {
                        distinct.push(call);
                    }
                }
                let mut best = vec![f64::NEG_INFINITY; 1 << distinct.len()];
                best[0] = 0.0;
                for it in &expected {
                    for taken in (0..best.len()).rev() {
                        for (at, call) in distinct
                            .iter()
                            .enumerate()
                            .filter(|it| taken >> it.0 & 1 == 1)
                        {
                            let before = best[taken & !(1 << at)];
                            best[taken] = best[taken].max(before + weight(it, call));
                        }
                    }
                }
                best.into_iter().fold(0.0, f64::max)
            }
        }
    };
    sum / expected.len() as f64
}

fn assign_greedily(
    expected: &[&Call],
    called: &[&Call],
    weight: impl Fn(&Call, &Call) -> f64,
    is_used_with: impl Fn(&Call, &Call) -> bool,
) -> f64 {
    let (mut used, mut sum) = (vec![false; called.len()], 0.0);
    for it in expected {
        let mut best: Option<(f64, usize)> = None;
        for at in (0..called.len()).filter(|at| !used[*at]) {
            let weight = weight(it, called[at]);
            if weight > best.map_or(0.0, |best| best.0) {
                best = Some((weight, at));
            }
        }
        let Some((weight, best)) = best else { continue };
        sum += weight;
        used[best] = true;
        (0..called.len()).for_each(|at| used[at] |= is_used_with(called[at], called[best]));
    }
    sum
}

#[test]
fn tool_correctness_agrees_with_deepeval() {
    let mut counts = BTreeMap::new();
    for vector in vectors::<Vector>(VECTORS) {
        let (gold, pred) = (row(&vector.gold), row(&vector.pred));
        for (number, (arguments, outputs)) in PARTS.into_iter().enumerate() {
            for (at, order) in ORDERS.into_iter().enumerate() {
                let theirs = |quirks| deepeval(&vector, (arguments, outputs), order, quirks);
                let committed = vector.deepeval[3 * number + at];
                assert!(
                    is_close(&theirs([true; 3]), &committed),
                    "{order:?} {arguments} {outputs}"
                );
                let builder = ToolCorrectness::builder().order(order);
                let metric = builder.arguments(arguments).outputs(outputs).build();
                let ours = metric.score(&gold, &pred).unwrap().value;
                explain(&mut counts, DEEPEVAL, &ours, theirs, is_close);
            }
        }
    }
    let [bools, once, greedy] = DEEPEVAL;
    let expected = [(bools, 550), (once, 367), (greedy, 190), (SEVERAL, 36)];
    assert_eq!(counts, BTreeMap::from(expected), "of 45,000");
}
