//! Floats are read and written without losing a bit.

use proptest::prelude::*;

use crate::Folder;

/// Scores the rows, and returns the values in the JSONL and the CSV result file.
fn written(name: &str, content: &str) -> [Vec<f64>; 2] {
    let folder = Folder::with(name, content);
    for out in ["out.jsonl", "out.csv"] {
        let args = format!("score {name} -m number -q --out {out} --concurrency 1");
        folder.printed(&args);
    }
    // The standard library parses floats exactly.
    let of_line = |line: &str| {
        let (_, rest) = line.split_once("\"value\":").unwrap();
        rest.split(',').next().unwrap().parse().unwrap()
    };
    let jsonl = folder.read("out.jsonl").lines().map(of_line).collect();
    let csv = folder.read("out.csv");
    let mut records = csv::Reader::from_reader(csv.as_bytes());
    let column = records
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "number")
        .unwrap();
    let csv = records
        .records()
        .map(|record| record.unwrap()[column].parse().unwrap())
        .collect();
    [jsonl, csv]
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..Default::default() })]

    #[test]
    fn floats_keep_every_bit(
        any in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 300),
        unit in prop::collection::vec(0.0..1.0_f64, 300),
    ) {
        let numbers = [any, unit].concat();
        let row = |number: &f64| format!("{{\"pred\": {{\"x\": {number:?}}}}}\n");
        let jsonl: String = numbers.iter().map(row).collect();
        let csv: String = numbers.iter().map(|number| format!("{number:?}\n")).collect();
        for (name, content) in [("rows.jsonl", jsonl), ("rows.csv", format!("pred.x\n{csv}"))] {
            for values in written(name, &content) {
                prop_assert_eq!(bits(&values), bits(&numbers));
            }
        }
    }
}
