//! Archives that are damaged or made to do harm: each is an error with file and member, in bounded memory, and nothing is written.

use insta::assert_snapshot;
use std::fs;
use std::io::Write as _;

use dsrs_metrics::runs::formats::{Epochs, ForeignFormat, import_file};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};

use super::log;
use super::zip::{Member, archive};
use crate::Folder;

const HEADER: &str = r#"{"version":2,"status":"success","eval":{"task":"t","model":"m/a","dataset":{},"config":{}}}"#;

fn sample(id: &str, epoch: u32, value: &str) -> Vec<u8> {
    format!(
        r#"{{"id":"{id}","epoch":{epoch},"input":"?","target":"x","scores":{{"s":{{"value":{value}}}}},"events":[{{"a":[1]}}]}}"#
    )
    .into_bytes()
}

fn good() -> Vec<Member> {
    vec![
        Member::new("samples/q1_epoch_1.json", sample("q1", 1, "\"C\"")),
        Member::new("samples/q2_epoch_1.json", sample("q2", 1, "0.5")),
        Member::new("header.json", HEADER),
    ]
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// The lines of the result file into which the archive `a.eval` is converted.
fn imported(folder: &Folder) -> String {
    let out = folder.path("rows.jsonl");
    let (format, epochs) = (ForeignFormat::Inspect, Epochs::Repeats);
    import_file(format, epochs, &folder.path("a.eval"), &out).unwrap();
    fs::read_to_string(out).unwrap()
}

/// The values of the metric `s` by id.
fn values(bytes: &[u8]) -> Vec<(String, Value)> {
    let folder = Folder::with("a.eval", bytes);
    let ran = folder.run("compare --from inspect a.eval a.eval --json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rows = imported(&folder);
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (
            row["id"].as_str().unwrap().to_owned(),
            row["scores"]["s"]["value"].clone(),
        )
    };
    rows.lines().map(row).collect()
}

/// The error of an archive, without the name of the file. Nothing is left in the folder or in that for temporary files.
#[track_caller]
fn error(bytes: &[u8]) -> String {
    let folder = Folder::with("a.eval", bytes);
    let temporary = tempfile::tempdir().unwrap();
    let mut command = folder.command("compare --from inspect a.eval a.eval");
    let ran = crate::Ran::from(command.env("TMPDIR", temporary.path()).output().unwrap());
    assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{ran:?}");
    assert_eq!(folder.files(), ["a.eval"]);
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    let error = ran
        .err
        .trim_end()
        .strip_prefix("error: a.eval: ")
        .map(str::to_owned);
    error.unwrap_or_else(|| panic!("{}", ran.err))
}

#[test]
fn members_are_stored_or_compressed() {
    let expected = [("q1".to_owned(), json!(1.0)), ("q2".to_owned(), json!(0.5))];
    let mut members = good();
    assert_eq!(values(&archive(&members)), expected);
    for member in &mut members {
        (member.method, member.compressed) = (8, Some(deflated(&member.content)));
    }
    assert_eq!(values(&archive(&members)), expected);
}

#[test]
fn of_members_with_one_name_the_last_counts_as_in_inspect() {
    let mut members = good();
    members.insert(
        2,
        Member::new("samples/q1_epoch_1.json", sample("q1", 1, "\"I\"")),
    );
    let values = values(&archive(&members));
    assert_eq!(
        values,
        [("q1".to_owned(), json!(0.0)), ("q2".to_owned(), json!(0.5))]
    );
}

#[test]
fn names_of_members_are_no_paths() {
    let folder = Folder::new();
    let outside = folder.path("outside.json");
    let name: &'static str = Box::leak(format!("samples/{}", outside.display()).into_boxed_str());
    let mut members = good();
    members.push(Member::new("../../outside.json", "{}"));
    members.push(Member::new("/etc/outside.json", "{}"));
    members.push(Member::new(
        "samples/../../../outside_epoch_1.json",
        sample("../up", 1, "1"),
    ));
    members.push(Member::new(name, "{}"));
    let values = values(&archive(&members));
    let ids: Vec<_> = values.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["../up", "q1", "q2"]);
    assert!(!outside.exists());
}

#[test]
fn encrypted_and_unsupported_members_are_named() {
    let mut members = good();
    members[1].flags = 1;
    assert_snapshot!(error(&archive(&members)),
        @"sample q2, epoch 1: encrypted; write the log without a password");
    let mut members = good();
    members[2].method = 14;
    assert_snapshot!(error(&archive(&members)),
        @"member `header.json`: expected the compression method stored (0), deflate (8) or Zstandard (93), found 14");
}

#[test]
fn a_truncated_archive_is_named_at_any_length() {
    let bytes = archive(&good());
    for length in [4, 30, bytes.len() / 2, bytes.len() - 23, bytes.len() - 1] {
        let error = error(&bytes[..length]);
        let reason = error.strip_prefix("the archive is cut off or damaged: ");
        let reason = reason.and_then(|it| it.strip_suffix("; copy the file again"));
        let known = ["Missing end of central directory", "Unexpected end of file"];
        assert!(
            reason.is_some_and(|it| known.contains(&it)),
            "{length}: {error}"
        );
    }
    // Bytes that are missing before the directory.
    let real = fs::read(log("weak.eval")).unwrap();
    let cut = [&real[..1000], &real[3000..]].concat();
    let error = error(&cut);
    assert!(error.ends_with("copy the file again"), "{error}");
}

#[test]
fn absurd_sizes_in_the_directory_are_errors() {
    let mut members = good();
    members[0].offset = Some(u32::MAX - 1);
    assert_snapshot!(error(&archive(&members)),
        @"sample q1, epoch 1: no member at its offset; copy the file again");
    let mut members = good();
    members[0].length = Some(u32::MAX - 1);
    let shorter = error(&archive(&members));
    assert_snapshot!(shorter,
        @"sample q1, epoch 1: cannot be read: Invalid size: expected 4294967294, got 96; copy the file again");
    let mut members = good();
    members[0].length = Some(3);
    let longer = error(&archive(&members));
    assert_eq!(
        longer,
        "sample q1, epoch 1: cannot be read: Invalid size: expected 3, got 32; copy the file again"
    );
    let mut members = good();
    members[1].offset = Some(1);
    assert_snapshot!(error(&archive(&members)),
        @"sample q2, epoch 1: no member at its offset; copy the file again");
    // More members than the directory has.
    let mut bytes = archive(&good());
    let end = bytes.len();
    bytes[end - 12..end - 10].copy_from_slice(&[9, 0]);
    let count = error(&bytes);
    assert_eq!(
        count,
        "the archive's directory has 3 members, but its end record says 9; copy the file again"
    );
    // A directory that is outside of the file.
    bytes[end - 6..end - 2].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
    let outside = error(&bytes);
    assert_eq!(
        outside,
        "the archive is cut off or damaged: Invalid end of central directory; copy the file again"
    );
}

#[test]
fn a_bomb_is_stopped_by_the_ratio_of_its_bytes() {
    // 64 members of 8 MiB, which have 8 KiB each.
    let zeros = "0".repeat(8 << 20);
    let content = String::from_utf8(sample("q", 1, "1"))
        .unwrap()
        .replace("\"a\"", &format!("\"{zeros}\""));
    let content = content.into_bytes();
    let mut members = good();
    let names = (0..64).map(|number| -> &'static str {
        Box::leak(format!("samples/b{number}_epoch_1.json").into_boxed_str())
    });
    let bomb = Member {
        method: 8,
        compressed: Some(deflated(&content)),
        ..Member::new("", content)
    };
    members.extend(names.map(|name| Member {
        name,
        ..bomb.clone()
    }));
    let error = error(&archive(&members));
    let reason = "the members so far decompress to more than 268435456 bytes, from an archive of ";
    assert!(
        error.contains(reason) && error.ends_with("expected at most 200 times as many"),
        "{error}"
    );
}

#[test]
fn damaged_members_are_named() {
    let mut members = good();
    members[0].compressed = Some(sample("q1", 1, "\"I\""));
    let checksum = error(&archive(&members));
    assert!(
        checksum.starts_with("sample q1, epoch 1: cannot be read: Invalid checksum: "),
        "{checksum}"
    );
    let mut members = good();
    (members[0].method, members[0].compressed) = (93, Some(b"not zstd".to_vec()));
    let zstd = error(&archive(&members));
    assert!(
        zstd.starts_with("sample q1, epoch 1: cannot be read: "),
        "{zstd}"
    );
    for (content, expected) in [
        ("", "the object does not end; 0 bytes were read"),
        ("[1]", "invalid type: sequence, expected an object"),
        (
            r#"{"id":"q1""#,
            "the object does not end; 10 bytes were read",
        ),
        (
            r#"{"id":"q1","epoch":1,"scores":7}"#,
            "invalid type: integer `7`",
        ),
        (r#"{"id":"q1","epoch":1,"id":"q2"}"#, "duplicate key `id`"),
        (
            r#"{"id":[],"epoch":1}"#,
            "`id`: expected a string or a number, found a list",
        ),
    ] {
        let mut members = good();
        members[0].content = content.into();
        let error = error(&archive(&members));
        assert!(
            error.starts_with(&format!("sample q1, epoch 1: {expected}")),
            "{error}"
        );
    }
}

#[test]
fn what_is_not_read_may_be_deep_and_what_is_read_may_not() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let mut members = good();
    let text = String::from_utf8(members[0].content.clone()).unwrap();
    members[0].content = text.replace("[{\"a\":[1]}]", &deep).into_bytes();
    assert_eq!(values(&archive(&members))[0].1, json!(1.0));
    members[0].content = text.replace("\"?\"", &deep).into_bytes();
    let error = error(&archive(&members));
    assert!(
        error.starts_with("sample q1, epoch 1: expected at most 127 levels"),
        "{error}"
    );
}

#[test]
fn nan_is_no_score_and_infinity_is_a_failure() {
    let mut members = good();
    members[0].content = sample("q1", 1, "NaN");
    members[1].content = sample("q2", 1, "-Infinity");
    members.push(Member::new(
        "samples/q3_epoch_1.json",
        sample("NaN \\\"Infinity", 1, "\"NaN\""),
    ));
    let folder = Folder::with("a.eval", archive(&members));
    let rows = imported(&folder);
    let outcomes: Vec<_> = rows
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|row| {
            (
                row["id"].clone(),
                row["scores"]["s"]["outcome"].clone(),
                row["scores"]["s"]["error"].clone(),
            )
        })
        .collect();
    let infinite = json!("metric `s`: the score is the string \"-Infinity\", not a number");
    let expected = [
        (json!("q1"), json!("abstained"), Value::Null),
        (json!("q2"), json!("metric_failed"), infinite),
        (
            json!("NaN \"Infinity"),
            json!("metric_failed"),
            json!("metric `s`: the score is the string \"NaN\", not a number"),
        ),
    ];
    assert_eq!(outcomes, expected);
}

#[test]
fn attachments_are_resolved_within_a_limit() {
    let with = |input: Value, attachments: Value| {
        let sample = json!({"id": "q1", "epoch": 1, "input": input, "target": "x", "attachments": attachments,
            "scores": {"s": {"value": 1}}});
        let mut members = good();
        members[0].content = sample.to_string().into_bytes();
        archive(&members)
    };
    let bytes = with(json!("attachment://a"), json!({"a": "a long text"}));
    let folder = Folder::with("a.eval", bytes);
    let score = "score --from inspect a.eval -m no_loops --out o.jsonl --with-rows";
    folder.printed(score);
    assert!(folder.read("o.jsonl").contains(r#""input":"a long text""#));
    let many = vec![json!({"role": "user", "content": "attachment://a"}); 100];
    let error = error(&with(many.into(), json!({"a": "x".repeat(1 << 20)})));
    assert_eq!(
        error,
        "sample q1, epoch 1: its resolved attachments have more than 67108864 bytes"
    );
}

#[test]
fn an_archive_of_something_else_and_a_later_version_are_named() {
    let other = [Member::new("word/document.xml", "<a/>")];
    let error_of = error(&archive(&other));
    assert!(
        error_of.starts_with(
            "expected an inspect_ai log (.eval or .json), found a ZIP archive without `header.json`"
        ),
        "{error_of}"
    );
    let mut members = good();
    members[2].content = HEADER
        .replace("\"version\":2", "\"version\":3")
        .into_bytes();
    assert_snapshot!(error(&archive(&members)),
        @"member `header.json`: expected a format version of at most 2, found 3; update dsrs-metrics");
    let chunked = [
        good(),
        vec![Member::new("samples/q3_epoch_1/sample.json", "{}")],
    ]
    .concat();
    let chunked = error(&archive(&chunked));
    assert!(
        chunked.starts_with(
            "member `samples/q3_epoch_1/sample.json`: chunked samples are not supported"
        ),
        "{chunked}"
    );
    let empty = error(&archive(&good()[2..]));
    assert_eq!(empty, "the log has no samples; its status is `success`");
}

#[test]
fn a_log_that_is_being_written_is_read_with_a_warning() {
    let mut members = good();
    members[2] = Member::new(
        "_journal/start.json",
        HEADER.replace("\"status\":\"success\",", ""),
    );
    let folder = Folder::with("a.eval", archive(&members));
    let ran = folder.run("compare --from inspect a.eval a.eval");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let warning = "warning: a.eval: the log's status is `started`, so samples may be missing\n";
    assert_eq!(ran.err, warning.repeat(2));
}

#[test]
fn a_failed_sample_failed_by_each_metric_of_the_log() {
    let failed = r#"{"id":"q0","epoch":1,"input":"?","target":"x","error":{"message":"boom","traceback":""}}"#;
    let mut members = good();
    members.insert(0, Member::new("samples/q0_epoch_1.json", failed));
    let folder = Folder::with("a.eval", archive(&members));
    let compared = folder.json("compare --from inspect a.eval a.eval --json");
    assert_eq!(compared["metrics"]["s"]["n"], 3);
    assert_eq!(compared["metrics"]["s"]["failed"], json!({"a": 1, "b": 1}));
    assert_eq!(compared["metrics"]["s"]["a"], 0.5);
}

/// The header of a log of three samples, two epochs each.
fn counting(total: u64) -> String {
    let eval =
        r#""task":"t","model":"m/a","dataset":{"sample_ids":["q1",2]},"config":{"epochs":2}"#;
    format!(
        r#"{{"version":2,"status":"success","eval":{{{eval}}},"results":{{"total_samples":{total},"scores":[]}}}}"#
    )
}

#[test]
fn samples_that_the_header_counts_and_the_log_lacks_are_named() {
    let members = |total| {
        vec![
            Member::new("samples/q1_epoch_1.json", sample("q1", 1, "1")),
            Member::new("samples/q1_epoch_2.json", sample("q1", 2, "1")),
            Member::new("samples/2_epoch_1.json", sample("2", 1, "1")),
            Member::new("samples/2_epoch_x.json", sample("2", 2, "1")),
            Member::new("header.json", counting(total)),
        ]
    };
    let notes = |total| {
        let folder = Folder::with("a.eval", archive(&members(total)));
        let (format, epochs) = (ForeignFormat::Inspect, Epochs::Repeats);
        let notes = import_file(
            format,
            epochs,
            &folder.path("a.eval"),
            &folder.path("rows.jsonl"),
        )
        .unwrap();
        (
            notes,
            folder
                .read("rows.jsonl.manifest.json")
                .contains(r#""ending": "stopped""#),
        )
    };
    let unread =
        "the member `samples/2_epoch_x.json` is skipped, because its name is not a sample's name"
            .to_owned();
    let missing =
        "the summary counts 4 samples, but the rows have 3; copy the file again".to_owned();
    assert_eq!(notes(4), (vec![missing, unread.clone()], true));
    assert_eq!(notes(3), (vec![unread], false));
}

#[test]
fn a_key_is_read_as_json_and_once() {
    let mut members = good();
    let escaped = String::from_utf8(sample("q2", 1, "0.5"))
        .unwrap()
        .replace("scores", "\\u0073cores");
    members[1].content = escaped.into_bytes();
    let expected = [("q1".to_owned(), json!(1.0)), ("q2".to_owned(), json!(0.5))];
    assert_eq!(values(&archive(&members)), expected);
    let twice = String::from_utf8(sample("q2", 1, "0.5")).unwrap();
    let twice = twice.replace(r#""scores":{"#, r#""scores":{"s":{"value":1},"#);
    members[1].content = twice.into_bytes();
    let error = error(&archive(&members));
    assert!(
        error.starts_with("sample q2, epoch 1: duplicate key `s`"),
        "{error}"
    );
}

#[test]
fn a_sample_without_the_score_of_others_is_a_failure() {
    for (number, without) in [(0, r#""scores":null"#), (1, r#""scores":{}"#)] {
        let mut members = good();
        let content = String::from_utf8(members[number].content.clone()).unwrap();
        let start = content.find(r#""scores""#).unwrap();
        let end = content.find(r#","events""#).unwrap();
        members[number].content = [&content[..start], without, &content[end..]]
            .concat()
            .into_bytes();
        let folder = Folder::with("a.eval", archive(&members));
        let rows = imported(&folder);
        let row: Value = serde_json::from_str(rows.lines().nth(number).unwrap()).unwrap();
        assert_eq!(row["scores"]["s"]["outcome"], "metric_failed");
        let reason = "metric `s`: the file has no score for this row, but has one for others";
        assert_eq!(row["scores"]["s"]["error"], reason);
    }
}

/// inspect_ai writes empty arguments and the error of the parser where the model's arguments were not JSON.
#[test]
fn arguments_that_were_not_json_are_not_empty() {
    let call = r#"{"id":"c","function":"f","arguments":{},"parse_error":"Error parsing {","type":"function"}"#;
    let messages = format!(
        r#""messages":[{{"role":"assistant","content":"","tool_calls":[{call}]}}],"events""#
    );
    let mut members = good();
    let content = String::from_utf8(members[0].content.clone()).unwrap();
    members[0].content = content.replace(r#""events""#, &messages).into_bytes();
    let folder = Folder::with("a.eval", archive(&members));
    let row: Value = serde_json::from_str(imported(&folder).lines().next().unwrap()).unwrap();
    assert_eq!(
        row["pred"]["trajectory"][0]["tool_calls"][0]["args"],
        "Error parsing {"
    );
}
