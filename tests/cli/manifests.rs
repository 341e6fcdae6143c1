//! Manifests beside result files: exchanged, alone, given in place of results; a git repository that cannot be read.

use std::fs;

use crate::Folder;

/// A folder with the rows `rows.jsonl`, and the run `a.jsonl` of them.
fn scored() -> Folder {
    let row = |id: u32| {
        format!(r#"{{"id":"{id}","gold":{{"answer":"a {id}"}},"pred":{{"answer":"a"}},"ok":true}}"#)
    };
    let folder = Folder::with("rows.jsonl", (0..3).map(row).collect::<Vec<_>>().join("\n"));
    folder.printed("score rows.jsonl -m f1 --out a.jsonl");
    folder
}

/// Each command that reads results gives this error about `file`.
#[track_caller]
fn errors(folder: &Folder, file: &str, expected: &str) {
    for args in [
        &["compare", "a.jsonl", file][..],
        &["report", file, "--out", "r.html"],
        &["agree", file, "--label", "ok"],
    ] {
        let ran = folder.run(args);
        let expected = format!("error: {expected}\n");
        assert_eq!(
            (ran.code, &*ran.out, ran.err),
            (Some(2), "", expected),
            "{args:?}"
        );
    }
    assert!(!folder.path("r.html").exists());
}

#[test]
fn a_manifest_without_its_file_or_in_place_of_it_is_named() {
    let folder = scored();
    let manifest = folder.path("a.jsonl.manifest.json");
    fs::copy(&manifest, folder.path("lost.jsonl.manifest.json")).unwrap();
    errors(
        &folder,
        "lost.jsonl",
        "lost.jsonl: no such file, only its manifest lost.jsonl.manifest.json; restore the result file, or score again",
    );
    errors(
        &folder,
        "a.jsonl.manifest.json",
        "a.jsonl.manifest.json: expected a result file, found its manifest; write a.jsonl",
    );
}

#[test]
fn two_files_with_one_manifest_are_one_run_or_an_error() {
    let folder = scored();
    let manifest = folder.path("a.jsonl.manifest.json");
    fs::copy(folder.path("a.jsonl"), folder.path("copy.jsonl")).unwrap();
    fs::copy(&manifest, folder.path("copy.jsonl.manifest.json")).unwrap();
    let ran = folder.run("compare a.jsonl copy.jsonl");
    assert_eq!(
        (ran.code, &*ran.err),
        (Some(0), ""),
        "a copy is the same run"
    );
    assert!(!ran.out.contains("identity unknown"), "{}", ran.out);

    let score = "score rows.jsonl -m em,f1 --out b.jsonl";
    folder.printed(score);
    fs::copy(&manifest, folder.path("b.jsonl.manifest.json")).unwrap();
    errors(
        &folder,
        "b.jsonl",
        "the manifest `b.jsonl.manifest.json` belongs to a different run than `b.jsonl`; restore the run's manifest, or remove this one to use the results without their identity",
    );
}

#[test]
fn a_metric_that_may_differ_must_be_one_of_the_runs() {
    let folder = scored();
    let message = "error: --allow-different: `f2` is allowed to differ, but no run has this metric, only `f1`\n";
    for args in [
        &["compare", "a.jsonl", "a.jsonl", "--allow-different", "f2"][..],
        &[
            "report",
            "a.jsonl",
            "a.jsonl",
            "--allow-different",
            "f2",
            "--out",
            "r.html",
        ],
    ] {
        let ran = folder.run(args);
        assert_eq!((ran.code, &*ran.err), (Some(2), message), "{args:?}");
    }
}

#[test]
fn a_git_repository_that_cannot_be_read_is_a_warning() {
    let folder = scored();
    folder.write(".git", "gitdir: /nonexistent\n");
    let ran = folder.run("score rows.jsonl -m f1 --out b.jsonl");
    let warning = "warning: the manifest lacks the git commit or its state: fatal: not a git repository: /nonexistent\n";
    assert_eq!((ran.code, &*ran.err), (Some(0), warning));
    assert_eq!(folder.read("a.jsonl"), folder.read("b.jsonl"));
    assert!(
        folder
            .read("b.jsonl.manifest.json")
            .contains("fatal: not a git repository")
    );
}

#[test]
fn at_each_moment_of_a_replacement_the_old_or_the_new_run_is_read() {
    let folder = scored();
    folder.printed("score rows.jsonl -m em --out b.jsonl");
    let read = |name: &str| fs::read(folder.path(name)).unwrap();
    let [old, new] =
        ["a.jsonl", "b.jsonl"].map(|run| (read(run), read(&format!("{run}.manifest.json"))));
    folder.write("bad.jsonl", "{\"gold\": 1}\n");
    // The files at the moments of a kill: result file, manifest, staged manifest, and the run that is read.
    for (result, manifest, run) in [
        (&old.0, Some(&old.1), "a.jsonl"),
        (&new.0, Some(&old.1), "b.jsonl"),
        (&new.0, None, "b.jsonl"),
        (&new.0, Some(&new.1), "b.jsonl"),
    ] {
        fs::write(folder.path("o.jsonl"), result).unwrap();
        fs::write(folder.path(".o.jsonl.manifest.json.new"), &new.1).unwrap();
        match manifest {
            Some(manifest) => fs::write(folder.path("o.jsonl.manifest.json"), manifest).unwrap(),
            None => fs::remove_file(folder.path("o.jsonl.manifest.json")).unwrap(),
        }
        let same = || {
            let ran = folder.run(&format!("compare {run} o.jsonl"));
            assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{run}");
            assert!(!ran.out.contains("identity unknown"), "{}", ran.out);
        };
        same();
        // A run that is refused has finished the replacement.
        let error = folder.run("score bad.jsonl -m em --out o.jsonl").err;
        assert!(error.starts_with("error: bad.jsonl:1: "), "{error}");
        assert_eq!(
            read("o.jsonl.manifest.json"),
            if run == "a.jsonl" { &*old.1 } else { &*new.1 },
            "{run}"
        );
        assert!(
            !folder.files().iter().any(|name| name.starts_with('.')),
            "{:?}",
            folder.files()
        );
        same();
    }
}
