//! Programs that are installed outside of /usr: the sandbox has the installation of a required one, and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use dsrs_metrics::Evaluate;
use dsrs_metrics::metrics::{FileSource, Isolation, Sandbox, TestPass};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::{
    Bubblewrap, Job, Report, SandboxError, SandboxProvider as _, Termination,
};
use dsrs_metrics_tests::{Peer, can_isolate, skip};

use super::block_on;
use super::jobs::scored;

/// Returns `true` if a program is in the `PATH`.
pub(super) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// As [`is_installed`]; if not, the test is reported as skipped.
#[track_caller]
fn has(program: &str) -> bool {
    let is_there = is_installed(program);
    if !is_there {
        skip(&format!("no `{program}` in the PATH"));
    }
    is_there
}

/// A directory with files, which only its owner can enter, as many home directories are.
fn home(files: &[(&str, &str)]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            &path,
            text.replace("{home}", &home.path().display().to_string()),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    home
}

fn requiring(command: &str, requires: &[&str]) -> Job {
    let requires = requires.iter().map(|&it| it.to_owned()).collect();
    Job {
        command: command.to_owned(),
        requires,
        ..Job::default()
    }
}

#[track_caller]
fn run_with_path(path: &[PathBuf], job: &Job) -> Report {
    let provider = Bubblewrap::new().with_path(std::env::join_paths(path).unwrap());
    block_on(provider.run(job)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_default_command_cargo_test_runs_in_the_default_sandbox() {
    if !can_isolate() || !has("cargo") || !has("cc") {
        return;
    }
    let krate = home(&[
        (
            "Cargo.toml",
            "[package]\nname = \"it\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (
            "tests/it.rs",
            "#[test]\nfn one() { assert_eq!(it::it(), 1); }\n#[test]\nfn two() {}\n",
        ),
    ]);
    let metric = TestPass::builder()
        .folder(krate.path().to_str().unwrap())
        .file("src/lib.rs", FileSource::pred("code"))
        .partial_credit(true)
        .build();
    for (value, expected) in [
        (1, (1.0, "2 passed, 0 failed")),
        (2, (0.5, "1 passed, 1 failed")),
    ] {
        let pred = prediction! { "code" => format!("pub fn it() -> u8 {{ {value} }}") };
        let scored = scored(&metric, &example! {}, &pred);
        let feedback = scored.feedback().unwrap_or_default();
        assert!(feedback.starts_with(expected.1), "{feedback}");
        assert!((scored.score.value - expected.0).abs() < 1e-9, "{feedback}");
    }
}

#[test]
fn tests_run_with_the_packages_of_a_virtual_environment() {
    if !can_isolate() {
        return;
    }
    let python = Peer::interpreter();
    let Some(bin) = Path::new(&python).parent().filter(|bin| bin.is_absolute()) else {
        return skip("DSRS_METRICS_PYTHON is not the path of a Python");
    };
    let test = "import sys, unittest\n\
                class It(unittest.TestCase):\n\
                \x20   def test_packages(self):\n\
                \x20       import pip\n\
                \x20       self.assertTrue(pip.__file__.startswith(sys.prefix), pip.__file__)\n\
                \x20       print('prefix', sys.prefix)\n";
    let path = std::env::join_paths([bin, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let isolation = Isolation::with_provider(Bubblewrap::new().with_path(path));
    for command in ["python -m unittest -v", "pytest"] {
        if command == "pytest" && !bin.join("pytest").exists() {
            return skip("the environment of DSRS_METRICS_PYTHON has no pytest");
        }
        let metric = TestPass::builder()
            .command(command)
            .isolation(isolation.clone());
        let metric = metric.file("test_it.py", FileSource::pred("test")).build();
        let scored = scored(&metric, &example! {}, &prediction! { "test" => test });
        assert_eq!(
            scored.score.value,
            1.0,
            "{command}: {:?}",
            scored.feedback()
        );
    }
}

#[test]
fn node_runs() {
    if !can_isolate() || !has("node") {
        return;
    }
    let metric = Sandbox::builder()
        .command("node main.js")
        .expected_exit_code(3);
    let metric = metric.file("main.js", FileSource::pred("program")).build();
    let pred = prediction! { "program" => "process.exit([1, 2].map(x => x * 2)[0] + 1)" };
    let scored = scored(&metric, &example! {}, &pred);
    assert_eq!(scored.score.value, 1.0, "{:?}", scored.feedback());
}

/// A home directory with secrets around the installations. The fake programs are shell scripts.
fn home_with_secrets() -> tempfile::TempDir {
    let home = home(&[
        (".ssh/id_ed25519", "secret"),
        (".netrc", "secret"),
        (".cargo/credentials.toml", "secret"),
        (
            ".cargo/bin/rustup",
            "#!/bin/sh\necho {home}/.rustup/toolchains/stable/bin/$2",
        ),
        (".cargo/bin/other", "secret"),
        (".rustup/settings.toml", "secret"),
        (".rustup/toolchains/nightly/bin/cargo", "secret"),
        (
            ".rustup/toolchains/stable/bin/cargo",
            "#!/bin/sh\necho cargo ran",
        ),
        (".rustup/toolchains/stable/lib/rustlib/components", ""),
        (".local/bin/tool", "#!/bin/sh\necho tool ran"),
        (".local/bin/other", "secret"),
        (".local/share/keyrings/login", "secret"),
    ]);
    symlink("rustup", home.path().join(".cargo/bin/cargo")).unwrap();
    home
}

#[test]
fn only_the_installations_of_required_programs_are_visible_in_a_home_directory() {
    if !can_isolate() {
        return;
    }
    let home = home_with_secrets();
    let dirs = [
        home.path().join(".cargo/bin"),
        home.path().join(".local/bin"),
    ];
    let listing = format!(
        "cargo; tool; find {} -type f -o -type l",
        home.path().display()
    );
    let report = run_with_path(&dirs, &requiring(&listing, &["cargo", "tool", "sh"]));
    let (ran, listed) = report.stdout.split_at("cargo ran\ntool ran\n".len());
    assert_eq!(ran, "cargo ran\ntool ran\n", "{}", report.stderr);
    let mut listed: Vec<_> = listed
        .lines()
        .map(|path| Path::new(path).strip_prefix(home.path()).unwrap())
        .collect();
    listed.sort();
    let expected = [
        ".local/bin/tool",
        ".rustup/toolchains/stable/bin/cargo",
        ".rustup/toolchains/stable/lib/rustlib/components",
    ];
    assert_eq!(listed, expected.map(Path::new));
    // A job that does not require them does not have them.
    let report = run_with_path(
        &dirs,
        &requiring(&format!("ls {}", home.path().display()), &[]),
    );
    assert_ne!(
        report.termination,
        Termination::Exited(0),
        "{}",
        report.stdout
    );
}

#[test]
fn an_installation_cannot_be_changed() {
    if !can_isolate() {
        return;
    }
    let home = home_with_secrets();
    let dirs = [
        home.path().join(".cargo/bin"),
        home.path().join(".local/bin"),
    ];
    let (cargo, tool) = (
        home.path().join(".rustup/toolchains/stable"),
        home.path().join(".local/bin/tool"),
    );
    let attack = format!(
        "for file in {0}/bin/cargo {0}/new {1}; do (echo x > $file) && echo ESCAPED $file; done; \
         rm -rf {0}/lib && echo ESCAPED; chmod 777 {1} && echo ESCAPED; umount {0} && echo ESCAPED; \
         mount -o remount,rw,bind {0} && echo ESCAPED; exit 0",
        cargo.display(),
        tool.display(),
    );
    let report = run_with_path(&dirs, &requiring(&attack, &["cargo", "tool"]));
    assert_eq!(
        (report.termination, &*report.stdout),
        (Termination::Exited(0), ""),
        "{report:?}"
    );
    assert_eq!(
        fs::read_to_string(tool).unwrap(),
        "#!/bin/sh\necho tool ran"
    );
    assert!(cargo.join("lib/rustlib/components").exists());
    // What was mounted to reach it is gone, and is not visible on the host.
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains("dsrs-sandbox-"), "{mounts}");
}

#[test]
fn an_unknown_toolchain_ends_a_run_before_the_first_row() {
    if !can_isolate() {
        return;
    }
    let home = home(&[(
        "bin/rustup",
        "#!/bin/sh\necho \"error: toolchain '$(cat rust-toolchain)' is not installed\" >&2; exit 1\n",
    )]);
    symlink("rustup", home.path().join("bin/cargo")).unwrap();
    let krate = self::home(&[("rust-toolchain", "nonsense")]);
    let provider = Bubblewrap::new().with_path(home.path().join("bin"));
    let metric = TestPass::builder()
        .folder(krate.path().to_str().unwrap())
        .isolation(Isolation::with_provider(provider.clone()))
        .build();
    let evaluate = Evaluate::builder()
        .devset([example! {}])
        .metric(metric)
        .build()
        .unwrap();
    let program = |_: Example| async { panic!("no row is run") as Result<Prediction, String> };
    let error = block_on(evaluate.run(program)).unwrap_err().to_string();
    let command = format!("{}/bin/rustup which cargo", home.path().display());
    let expected = format!(
        "metric `test_pass`: the toolchain of the command `cargo` is not installed: `{command}` failed with \
         \"error: toolchain 'nonsense' is not installed\"; install that toolchain, or select another one"
    );
    assert!(error.contains(&expected), "{error}");
    // The row's own files do not select a toolchain.
    let mut job = requiring("cargo", &["cargo"]);
    job.files
        .push(("rust-toolchain".to_owned(), "hostile".to_owned()));
    let error = block_on(provider.run(&job)).unwrap_err();
    assert!(
        matches!(&error, SandboxError::UnknownToolchain { reason, .. } if !reason.contains("hostile")),
        "{error}"
    );
}
