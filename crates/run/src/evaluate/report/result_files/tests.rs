//! Files that cannot be finished, and rows that finish out of order.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use super::*;
use crate::evaluate::manifest::RunManifest;

fn manifest() -> Manifest {
    Manifest {
        format: 1,
        run: RunManifest::default(),
        process: None,
        file: None,
    }
}

#[test]
fn a_failing_fsync_keeps_the_old_file_and_the_rows() {
    for format in [Format::Json, Format::JsonLines] {
        let folder = format!("dsrs-fsync-{}-{format:?}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        fs::create_dir(&folder).unwrap();
        let path = folder.join("out.jsonl");
        fs::write(&path, "old").unwrap();
        let mut files = ResultFiles::create(&[(format, path.clone())], false)
            .unwrap()
            .unwrap();
        let mut lines = Lines::default();
        lines.push(1, |line| line.extend(b"{\"id\":\"b\"}"));
        lines.push(0, |line| line.extend(b"{\"id\":\"a\"}"));
        files.write(&mut lines).unwrap();
        // Writes to a socket succeed, and syncing it fails.
        let (socket, _reader) = UnixStream::pair().unwrap();
        let socket = File::from(OwnedFd::from(socket));
        files.targets[0].file.replace_file(socket);
        let error = files.finish(&manifest()).unwrap_err().to_string();
        let start = format!(
            "cannot write `{}`: Invalid argument (os error 22); ",
            path.display()
        );
        assert!(error.starts_with(&start), "{error}");
        let kept = fs::read_to_string(error.split('`').nth(3).unwrap()).unwrap();
        // The kept lines have no reference to a manifest.
        assert_eq!(kept, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            2,
            "no temporary file is left"
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_failing_rename_keeps_the_old_pair_or_the_new_one() {
    let folder = std::env::temp_dir().join(format!("dsrs-renames-{}", std::process::id()));
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    for format in [Format::Json, Format::JsonLines] {
        for is_manifest in [false, true] {
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join("out.jsonl");
            let [old, new] = [path.clone(), manifest_path(&path)];
            let targets = [(format, path.clone())];
            let mut files = ResultFiles::create(&targets, false).unwrap().unwrap();
            let mut lines = Lines::default();
            lines.push(0, |line| line.extend(b"{\"id\":\"a\"}"));
            files.write(&mut lines).unwrap();
            // A file cannot be renamed to an existing folder.
            let (blocked, other) = if is_manifest {
                (&new, &old)
            } else {
                (&old, &new)
            };
            fs::create_dir(blocked).unwrap();
            fs::write(other, "old").unwrap();
            let error = files.finish(&manifest()).unwrap_err().to_string();
            let start = format!(
                "cannot write `{}`: Is a directory (os error 21); the rows ",
                blocked.display()
            );
            assert!(error.starts_with(&start), "{error}");
            let named: Vec<&str> = error[start.len()..].split('`').skip(1).step_by(2).collect();
            assert!(
                named.iter().all(|file| Path::new(file).is_file()),
                "{error}"
            );
            let mut left: Vec<_> = fs::read_dir(&folder)
                .unwrap()
                .map(|it| name(&it.unwrap().path()))
                .collect();
            left.sort();
            let (mut expected, kept) = (vec![name(&old), name(&new)], name(Path::new(named[0])));
            match is_manifest {
                // The new pair; readers find its manifest under the staged name.
                true => {
                    expected.insert(0, name(&staged_path(&path)));
                    assert_eq!(
                        named,
                        [
                            &*path.to_string_lossy(),
                            &*staged_path(&path).to_string_lossy()
                        ]
                    );
                    assert!(
                        fs::read_to_string(&path)
                            .unwrap()
                            .contains(r#"{"id":"a","manifest":"#)
                    );
                }
                false => {
                    expected.insert(0, kept);
                    assert_eq!(fs::read_to_string(other).unwrap(), "old");
                }
            }
            expected.sort();
            assert_eq!(left, expected);
            fs::remove_dir_all(&folder).unwrap();
        }
    }
}

#[test]
fn rows_that_finish_long_after_later_ones_are_in_input_order() {
    let path = std::env::temp_dir().join(format!("dsrs-late-{}.jsonl", std::process::id()));
    let line = |row: u64| format!("{row} {}", "x".repeat(1_000));
    // Pairs are swapped, and some rows arrive later than the lines that are sorted in memory.
    let nearly = || (0..4_000_u64).map(|row| row ^ 1);
    let late = nearly().filter(|row| row % 1_000 != 5);
    let late = late.chain([5, 3_005, 1_005, 2_005]);
    for rows in [nearly().collect(), late.collect::<Vec<u64>>()] {
        let targets = [(Format::JsonLines, path.clone())];
        let mut files = ResultFiles::create(&targets, false).unwrap().unwrap();
        for row in rows {
            let mut lines = Lines::default();
            lines.push(row, |text| text.extend(line(row).bytes()));
            files.write(&mut lines).unwrap();
        }
        files.finish(&manifest()).unwrap();
        let written = fs::read_to_string(&path).unwrap();
        // The last row also has the reference to the manifest.
        let (all, _) = written.split_once(",\"manifest\"").unwrap();
        assert!(all.lines().eq((0..4_000).map(line)));
    }
    fs::remove_file(manifest_path(&path)).unwrap();
    fs::remove_file(path).unwrap();
}
