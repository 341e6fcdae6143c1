//! A line that is scanned is read as by the parser of all rows, and a line that the parser rejects is not scanned.

use std::path::Path;

use super::{Reads, Shape};
use crate::core::rows::pair::Origin;
use crate::data::ObjectRow;
use crate::evaluate::report::{ResultRow, ResultScore};
use crate::results::ResultsError;
use crate::results::parse::UncheckedRow;

const LINES: [&str; 6] = [
    r#"{"id":"q1","scores":{"em":{"outcome":"scored","value":1.0,"passed":true,"confidence":1.0,"details":"a \"b\" é","feedback":null,"cost_msats":0}}}"#,
    r#"{"id":7,"gold":{"answer":"x","n":[1,2.5]},"pred":{},"latency_s":0.25,"input_tokens":10,"output_tokens":2,"cost_msats":5,"scores":{"f1":{"outcome":"scored","value":0.5,"passed":null,"parts":{"precision":0.25,"corpus":1}}},"attributes":{"topic":"a","empty":null}}"#,
    r#"{"id":"a","gold":null,"pred":{"answer":"y"},"scores":{"judge":{"outcome":"scored","value":1,"passed":false,"metadata":{"judge":"offline","judges":[{"judge":"m","replied_by":[]}]},"missing":["answer"],"components":{"c":{"outcome":"gated","value":null,"passed":null}}}},"manifest":"1-abc"}"#,
    r#"{"id":"b","scores":{"em":{"outcome":"metric_failed","value":null,"passed":null,"error":"no answer"},"f1":{"outcome":"gated","gated_by":"em","budget_msats":3}},"traceback":"at"}"#,
    r#"{"id":"c","scores":{"rouge":{"outcome":"counted","value":null,"corpus":{"formula":"edit_rate","counts":[1,4]}},"a.b":{"outcome":"skipped"}},"other":{"x":[true,false]}}"#,
    r#"{ "id" : "d" , "scores" : { "em" : { "value" : 2 , "outcome" : "abstained" } } , "repeats" : null }"#,
];

fn at() -> Origin {
    Origin {
        file: Path::new("run.jsonl").into(),
        line: 1,
    }
}

fn parsed(line: &str) -> Result<ResultRow, ResultsError> {
    UncheckedRow::from(ObjectRow::parse(line, &at())?).check()
}

/// The row with the fields that are read.
fn selected(mut row: ResultRow, reads: Reads) -> ResultRow {
    fn of_score(score: &mut ResultScore, reads: Reads) {
        (score.details, score.feedback, score.error, score.gated_by) = (None, None, None, None);
        if !reads.notes {
            score.metadata.clear();
            score.is_judged_offline = false;
            score.parts.retain(|name, _| name == "corpus");
            score.components.retain(|name, _| name == "corpus");
        }
        score
            .components
            .values_mut()
            .for_each(|component| of_score(component, reads));
    }
    row.traceback = None;
    row.pred = row.pred.filter(|_| reads.preds);
    if !reads.attributes {
        row.attributes = Default::default();
    }
    row.scores
        .values_mut()
        .for_each(|score| of_score(score, reads));
    row
}

/// Compares both readers of a line; the first one has the shape of another line.
fn is_scanned(line: &str, shape: &mut Shape, scanned: &mut ResultRow) -> bool {
    let (is_scanned, reads) = (shape.scan(line, &at, scanned).is_some(), shape.reads);
    if is_scanned {
        let row = parsed(line).unwrap_or_else(|error| panic!("{line}\n{error}"));
        let row = selected(row, reads);
        assert_eq!(*scanned, row, "{line}");
        // Names are in the same order too.
        assert_eq!(format!("{scanned:?}"), format!("{row:?}"), "{line}");
    }
    is_scanned
}

fn selections() -> [Reads; 3] {
    [
        (None, false),
        (Some("pred.answer"), true),
        (Some("topic"), false),
    ]
    .map(|(path, notes)| Reads::scores(path, notes))
}

#[test]
fn lines_of_a_run_are_scanned() {
    for reads in selections() {
        let scanned =
            LINES.map(|line| is_scanned(line, &mut Shape::new(reads), &mut ResultRow::default()));
        assert_eq!(
            scanned,
            [true, true, true, true, reads.notes, false],
            "{reads:?}"
        );
    }
    let mut shape = Shape::new(Reads::all());
    assert!(
        shape
            .scan(LINES[0], &at, &mut ResultRow::default())
            .is_none()
    );
}

#[test]
fn changed_lines_are_read_as_by_the_parser() {
    let (mut scanned, mut others) = (0, 0);
    for line in LINES {
        let mut shapes = selections().map(Shape::new);
        let mut row = ResultRow::default();
        for place in (0..line.len()).filter(|place| line.is_char_boundary(*place)) {
            let (start, end) = line.split_at(place);
            let rest = end
                .chars()
                .next()
                .map_or("", |first| &end[first.len_utf8()..]);
            let changed = [
                "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", " ", "n", "\u{1}",
            ];
            let changed = changed.iter().map(|with| format!("{start}{with}{rest}"));
            let inserted = [
                "\"",
                "0",
                ",",
                "\"id\":1,",
                "\"value\":3,",
                "null",
                "\\ud800",
                "1e400",
            ];
            let inserted = inserted.iter().map(|with| format!("{start}{with}{end}"));
            let cut = [start.to_owned(), format!("{start}{rest}")];
            for line in changed.chain(inserted).chain(cut) {
                for shape in &mut shapes {
                    let is_scanned = is_scanned(&line, shape, &mut row);
                    if is_scanned {
                        scanned += 1
                    } else {
                        others += 1
                    }
                }
            }
        }
    }
    assert!(scanned > 10_000 && others > 10_000, "{scanned} {others}");
}
