//! Files beside the result file: who can read them, and when they are removed.

use std::path::Path;

use super::files::{names, read};
use super::{saying, scoring};

#[cfg(unix)]
#[tokio::test]
async fn files_left_by_killed_processes_are_removed() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let dead = child.id();
    child.wait().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let write = |name: &str| std::fs::write(folder.path().join(name), "left behind").unwrap();
    write(&format!(".out.jsonl.{dead}-0.tmp"));
    // Process ids repeat in containers: these have the id of this process, but are not its own.
    (0..500).for_each(|number| write(&format!(".out.jsonl.{}-{number}.tmp", std::process::id())));
    let kept = [
        // Process 1 is alive.
        ".out.jsonl.1-0.tmp".to_owned(),
        format!(".other.jsonl.{dead}-0.tmp"),
        format!("out.jsonl.{dead}-0.rows.jsonl"),
    ];
    kept.iter().for_each(|name| write(name));
    let evaluate = scoring().files(|files| files.jsonl(&path)).build().unwrap();
    assert!(evaluate.score(saying(&["1"])).await.unwrap().is_complete());
    assert!(read(&path).starts_with("{\"id\""));
    let mut expected = kept.to_vec();
    expected.extend(["out.jsonl", "out.jsonl.manifest.json"].map(str::to_owned));
    expected.sort();
    assert_eq!(names(folder.path()), expected);
}

#[cfg(unix)]
#[tokio::test]
async fn another_run_of_the_same_file_is_refused_and_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let (first, second) = (path.clone(), path.clone());
    // While the first run reads its second row, another one writes the same file.
    let rows = saying(&["1", "0"])
        .into_iter()
        .enumerate()
        .map(move |(position, row)| {
            if position == 1 {
                let second = scoring()
                    .files(|files| files.jsonl(&second))
                    .build()
                    .unwrap();
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .unwrap();
                let run = move || {
                    runtime
                        .block_on(second.score(saying(&["0.5"])))
                        .unwrap_err()
                };
                let error = std::thread::spawn(run).join().unwrap().to_string();
                let reason =
                    "another run is writing to it; wait until that run ends, or write to another file";
                assert!(
                    error.ends_with(&format!("/out.jsonl`: {reason}")),
                    "{error}"
                );
            }
            row
        });
    let evaluate = scoring()
        .files(|files| files.jsonl(&first))
        .concurrency(1)
        .build()
        .unwrap();
    assert!(evaluate.score(rows).await.unwrap().is_complete());
    assert_eq!(read(&path).lines().count(), 2);
    assert_eq!(
        names(folder.path()),
        ["out.jsonl", "out.jsonl.manifest.json"]
    );
}

#[tokio::test]
async fn a_name_that_is_too_long_is_an_error_before_the_first_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x".repeat(250));
    let evaluate = scoring().files(|files| files.jsonl(&path)).build().unwrap();
    let error = evaluate
        .score(saying(&["1"]))
        .await
        .unwrap_err()
        .to_string();
    let reason = "File name too long (os error 36)";
    assert_eq!(
        error,
        format!("cannot write `{}`: {reason}", path.display())
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_keeps_its_permissions_and_its_rows_are_never_more_readable() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for wanted in [0o600, 0o666, 0o640] {
        let _ = std::fs::remove_file(folder.path().join("out.jsonl.manifest.json"));
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(wanted)).unwrap();
        let evaluate = scoring().files(|files| files.jsonl(&path)).build().unwrap();
        let place = folder.path().to_owned();
        let rows = saying(&["1", "0"]).into_iter().inspect(move |_| {
            let written = names(&place)
                .into_iter()
                .filter(|name| !name.ends_with(".lock"));
            let mut modes: Vec<_> = written.map(|name| mode(&place.join(name))).collect();
            modes.sort_unstable();
            assert_eq!(
                modes,
                [0o600, wanted, wanted, wanted],
                "spool, temporary files, target"
            );
        });
        assert!(evaluate.score(rows).await.unwrap().is_complete());
        assert!(read(&path).starts_with("{\"id\""));
        assert_eq!(mode(&path), wanted);
        assert_eq!(mode(&folder.path().join("out.jsonl.manifest.json")), wanted);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_spool_of_a_device_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let evaluate = scoring()
        .files(|files| files.json("/dev/null"))
        .build()
        .unwrap();
    let own = format!(".dsrs-metrics.{}-", std::process::id());
    let rows = saying(&["1"]).into_iter().inspect(move |_| {
        let temporary = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let spools: Vec<_> = temporary
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&own))
            .map(|entry| entry.metadata().unwrap().permissions().mode() & 0o777)
            .collect();
        assert!(
            !spools.is_empty() && spools.iter().all(|mode| *mode == 0o600),
            "{spools:?}"
        );
    });
    assert!(evaluate.score(rows).await.unwrap().is_complete());
}
