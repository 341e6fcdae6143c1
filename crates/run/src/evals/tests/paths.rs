//! Pipes instead of files, and links that lead outside of the package.

use super::*;

#[test]
fn a_pipe_in_place_of_a_file_is_refused() {
    let package = Package::new("pipes");
    let eval = || {
        package
            .eval(NEW)
            .devset(rows(3))
            .inputs(&["n"], &[])
            .gate(SAME, same(0.5))
    };
    let run = || first_line(|| eval().baseline(None).run(wrong_on(&[])));
    assert_eq!(run(), "passed");
    let pipe = |path: &Path| {
        let _ = fs::remove_file(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(path)
                .status()
                .unwrap()
                .success()
        );
        path.display().to_string()
    };
    let found = "expected a regular file, found a pipe, socket or device";
    let pending = pipe(&package.eval_folder().join("pending.json"));
    assert_eq!(
        Pending::all(&package.path("target/dsrs-metrics/evals"))
            .map(|_| ())
            .unwrap_err(),
        format!("cannot read `{pending}`: {found}")
    );
    assert_eq!(
        run(),
        format!("eval `capitals`: cannot write `{pending}`: {found}")
    );
    fs::remove_file(pending).unwrap();
    let baseline = package.path("evals/capitals.baseline.jsonl");
    let shown = pipe(&baseline);
    assert_eq!(
        run(),
        format!(
            "eval `capitals`: cannot read the baseline `{shown}`: {found}; restore it (for example, with `git checkout`), or remove it and accept a new one"
        )
    );
    fs::remove_file(baseline).unwrap();
    pipe(&package.eval_folder().join("owner"));
    assert!(
        run().contains(&format!(": {found}; make it writable")),
        "{}",
        run()
    );
}

#[test]
fn a_baseline_outside_the_package_is_refused_although_it_is_missing() {
    let package = Package::new("dangling");
    let run = |baseline| {
        let eval = package
            .eval(Update::Always)
            .devset(rows(3))
            .inputs(&["n"], &[]);
        first_line(|| {
            eval.gate(SAME, same(0.5))
                .baseline(Some(baseline))
                .run(wrong_on(&[]));
        })
    };
    let outside = std::env::temp_dir().join(format!("dsrs-outside-{}.jsonl", std::process::id()));
    package.write("evals/none", "");
    std::os::unix::fs::symlink(&outside, package.path("evals/b.jsonl")).unwrap();
    std::os::unix::fs::symlink("b.jsonl", package.path("evals/c.jsonl")).unwrap();
    let up = format!(
        "evals/missing/../../../{}",
        outside.file_name().unwrap().to_str().unwrap()
    );
    for path in ["evals/b.jsonl", "evals/c.jsonl", &*up.leak()] {
        assert_eq!(
            run(path),
            format!(
                "eval `capitals`: `baseline = {path:?}` is outside the package `{}`; move the file into the package, for example into `evals`",
                package.path("").display().to_string().trim_end_matches('/')
            )
        );
    }
    assert!(!outside.exists());
    std::os::unix::fs::symlink("inside.jsonl", package.path("evals/d.jsonl")).unwrap();
    assert_eq!(run("evals/d.jsonl"), "passed");
    assert!(
        package.path("evals/inside.jsonl").is_file(),
        "the link remains"
    );
}

#[test]
fn a_target_folder_that_cannot_be_written_is_named() {
    let package = Package::new("readonly");
    // Root may write anywhere, but not below a file.
    package.write("target", "");
    let eval = package
        .eval(NEW)
        .devset(rows(3))
        .inputs(&["n"], &[])
        .gate(SAME, same(0.5));
    let line = first_line(|| eval.run(wrong_on(&[])));
    assert!(
        line.starts_with("eval `capitals`: cannot write under the target folder")
            && line.ends_with("make it writable, or set CARGO_TARGET_DIR"),
        "{line}"
    );
}
