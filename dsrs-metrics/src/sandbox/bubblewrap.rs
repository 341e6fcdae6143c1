//! Isolation by `bwrap`: namespaces of the Linux kernel, without privileges.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use tempfile::TempPath;

use super::work_dir::{self, ARCHIVE, FILES, PROGRAM, READ_ONLY};
use super::{
    Job, Limits, Report, SandboxError, SandboxProvider, Termination, kept, on_thread, process_tree,
    seccomp, supervise,
};

/// Host paths that are mounted read-only: programs and libraries, but no home directory.
const SYSTEM_PATHS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"];

/// The only configuration of the host that is mounted: that of the linker, and the time zone.
const CONFIG_PATHS: [&str; 5] = [
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
];

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The environment of the command. Python does not load packages from the home directory, since a
/// program could write one that runs in the next Python process.
const ENVIRONMENT: [(&str, &str); 5] = [
    ("PATH", PATH),
    ("HOME", "/box/home"),
    ("TMPDIR", "/tmp"),
    ("LANG", "C.UTF-8"),
    ("PYTHONNOUSERSITE", "1"),
];

/// The oldest supported version. Since 0.8, bubblewrap can disable nested user namespaces
/// (`--disable-userns`) and limit the size of a tmpfs (`--size`).
const MIN_VERSION: (u32, u32) = (0, 8);

/// What [`INIT`] writes to standard error before it runs the command. Output without it means that
/// the sandbox was not set up.
const READY: &str = "dsrs-sandbox: ready\n";

/// What [`INIT`] writes instead of [`READY`], with the name, if a required program does not exist.
const MISSING: &str = "dsrs-sandbox: missing program: ";

/// The script of process 1 in the sandbox. When it exits, the kernel kills all other processes. It
/// looks for required programs before the command runs, so the command cannot forge the answer.
const INIT: &str = r#"
ulimit -n 512 2>/dev/null
ulimit -c 0 && ulimit -t "$1" && ulimit -f "$2" && ulimit -d "$3" || exit 1
ulimit -u "$4" 2>/dev/null || ulimit -p "$4" || exit 1
cp -R /in/. . || exit 1
command=$5 keep=$6
shift 6
for program do
    case $program in
        /*) [ -f "$program" ] && [ -x "$program" ] ;;
        *) command -v "$program" > /dev/null ;;
    esac || { echo "dsrs-sandbox: missing program: $program" >&2; exit 1; }
done
echo "dsrs-sandbox: ready" >&2
/bin/sh -c "$command" 8>&-
code=$?
[ -z "$keep" ] || { kill -9 -1; tar -cf - . >&8; } 2> /dev/null
exit $code
"#;

/// The script that starts `bwrap` with its file descriptors: the filter, and the archive of the
/// files to keep.
const START: &str = "exec \"$@\" 9<\"$0\"";
const START_AND_KEEP: &str = "archive=$1; shift; exec \"$@\" 9<\"$0\" 8>\"$archive\"";

const INSTALL: &str = "install bubblewrap 0.8 or newer (`apt-get install bubblewrap`, `dnf install bubblewrap`, \
                       `apk add bubblewrap`)";

/// Runs commands in a sandbox made by bubblewrap (`bwrap`, 0.8 or newer).
///
/// The command sees programs and libraries of the host, read-only, and the paths in
/// [`Job::readable`]. It can write only to its work directory (`/box/work`), `/tmp` and `/dev/shm`,
/// all in memory. It has no network, no environment variables of the host, no view of host
/// processes, no privileges, and cannot create further namespaces. A seccomp filter refuses system
/// calls that allocate memory outside of any process (System V shared memory, semaphores and
/// message queues, `io_uring`, secret memory). All processes that it started are dead when
/// [`run`](SandboxProvider::run) returns. If the current process is root, commands run as `nobody`.
///
/// ```no_run
/// use dsrs_metrics::sandbox::{Bubblewrap, Job, SandboxProvider, Termination};
///
/// # async fn run() -> Result<(), dsrs_metrics::sandbox::SandboxError> {
/// let job = Job {
///     command: "cat hello.txt".to_owned(),
///     files: vec![("hello.txt".to_owned(), "hi".to_owned())],
///     ..Job::default()
/// };
/// let report = Bubblewrap::new().run(&job).await?;
/// assert_eq!((report.termination, &*report.stdout), (Termination::Exited(0), "hi"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Bubblewrap {
    program: PathBuf,
    /// The file of the seccomp filter, written once the program's version was checked.
    filter: Arc<OnceLock<Result<TempPath, SandboxError>>>,
}

impl Default for Bubblewrap {
    fn default() -> Self {
        Self::new()
    }
}

impl Bubblewrap {
    /// Uses the `bwrap` in the `PATH`.
    #[must_use]
    pub fn new() -> Self {
        Self::with_program("bwrap")
    }

    /// Uses another `bwrap`, by its path.
    pub fn with_program(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), filter: Arc::default() }
    }

    /// Checks the program once, and returns the file of the seccomp filter.
    fn filter(&self) -> Result<&Path, SandboxError> {
        let check = || check_version(&self.program).and_then(|()| seccomp::write_filter());
        self.filter.get_or_init(check).as_deref().map_err(Clone::clone)
    }

    fn command(&self, job: &Job, staged: &Path, filter: &Path) -> Command {
        // `bwrap` reads the filter from an open file descriptor.
        let mut bwrap = Command::new("/bin/sh");
        match job.keep {
            Some(_) => bwrap.args(["-c", START_AND_KEEP]).arg(filter).arg(staged.join(ARCHIVE)),
            None => bwrap.args(["-c", START]).arg(filter),
        };
        bwrap.arg(&self.program);
        bwrap.args(["--seccomp", "9"]);
        // The sandboxed command could read the environment of the outer process, so it is cleared
        // there too.
        let path = std::env::var_os("PATH");
        bwrap.env_clear().envs(path.map(|path| ("PATH", path))).current_dir("/").process_group(0);
        if rustix::process::geteuid().is_root() {
            bwrap.uid(work_dir::NOBODY).gid(work_dir::NOBODY);
        }
        bwrap.args(["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]);
        bwrap.args(["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]);
        bwrap.args(["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]);
        for (name, value) in ENVIRONMENT {
            bwrap.args(["--setenv", name, value]);
        }
        mount(&mut bwrap, job, staged);
        bwrap.args(["--", "/bin/sh", "-c", INIT, "sandbox"]).args(init_arguments(&job.limits));
        bwrap.arg(&job.command).arg(if job.keep.is_some() { "keep" } else { "" });
        bwrap.args(required(job));
        bwrap
    }
}

/// Adds the options that build the private root file system. The root is remounted read-only at the
/// end; the work directory, `/tmp` and `/dev/shm` stay writable.
fn mount(bwrap: &mut Command, job: &Job, staged: &Path) {
    for path in SYSTEM_PATHS {
        match fs::read_link(path) {
            Ok(target) => _ = bwrap.arg("--symlink").arg(target).arg(path),
            Err(_) => _ = bwrap.args(["--ro-bind-try", path, path]),
        }
    }
    for path in CONFIG_PATHS {
        bwrap.args(["--ro-bind-try", path, path]);
    }
    bwrap.args(["--proc", "/proc", "--dev", "/dev"]);
    let disk = job.limits.disk_mb.saturating_mul(1024 * 1024).to_string();
    bwrap.args(["--size", &disk, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]);
    bwrap.args(["--size", &disk, "--tmpfs", "/box"]);
    bwrap.args(["--dir", "/box/work", "--dir", "/box/home"]);
    bwrap.args(["--size", &disk, "--tmpfs", "/tmp"]);
    for path in &job.readable {
        bwrap.arg("--ro-bind").arg(path).arg(path);
    }
    bwrap.arg("--ro-bind").arg(staged.join(FILES)).arg("/in");
    for (path, _) in &job.read_only {
        let inner = |part: &Component<'_>| matches!(part, Component::Normal(_));
        let path: PathBuf = Path::new(path).components().filter(inner).collect();
        let from = staged.join(READ_ONLY).join(&path);
        bwrap.arg("--ro-bind").arg(from).arg(Path::new("/box/work").join(path));
    }
    if job.program.is_some() {
        bwrap.arg("--ro-bind").arg(staged.join(PROGRAM)).arg("/program");
    }
    bwrap.args(["--chdir", "/box/work", "--remount-ro", "/"]);
}

/// The programs that must exist: those of the job, and the one that [`INIT`] archives files with.
fn required(job: &Job) -> impl Iterator<Item = &str> {
    job.requires.iter().map(String::as_str).chain(job.keep.as_ref().map(|_| "tar"))
}

fn init_arguments(limits: &Limits) -> [String; 4] {
    let blocks = limits.file_mb.saturating_mul(1024 * 2);
    let kib = limits.memory_mb.saturating_mul(1024);
    // The shell that runs `INIT` counts as one more process.
    [limits.cpu_secs(), blocks, kib, limits.processes.saturating_add(1)]
        .map(|limit| limit.to_string())
}

fn check_version(program: &Path) -> Result<(), SandboxError> {
    let program_name = program.display();
    let unusable = |why: String| SandboxError::NoIsolation(format!("{why}; {INSTALL}"));
    let output = Command::new(program)
        .arg("--version")
        .output()
        .map_err(|error| unusable(format!("cannot start `{program_name}` ({error})")))?;
    let reported = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let version = reported.rsplit(' ').next().unwrap_or_default();
    let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= MIN_VERSION => Ok(()),
        _ => Err(unusable(format!("`{program_name}` reports its version as {reported:?}"))),
    }
}

#[async_trait]
impl SandboxProvider for Bubblewrap {
    fn name(&self) -> &'static str {
        "bubblewrap"
    }

    async fn run(&self, job: &Job) -> Result<Report, SandboxError> {
        let filter = self.filter()?;
        let staged = work_dir::prepare(job)?;
        let command = self.command(job, staged.path(), filter);
        let limits = job.limits.clone();
        let mut report =
            supervise::supervise(command, limits, process_tree::kill_namespace).await?;
        match report.stderr.strip_prefix(READY) {
            Some(rest) => report.stderr = rest.to_owned(),
            None => return Err(setup_error(&report)),
        }
        if let (Some(to), Termination::Exited(_)) = (job.keep.clone(), report.termination) {
            let archive = staged.path().join(ARCHIVE);
            let max_bytes = job.limits.file_bytes();
            let unpack = move || kept::unpack(&archive, &to, max_bytes);
            let unpacked = on_thread("unpacking the files", unpack);
            if unpacked.await?? == Err(kept::TooLarge) {
                report.termination = Termination::FilesLimit;
            }
        }
        Ok(report)
    }

    /// Makes a sandbox without files and looks for the required programs.
    async fn preflight(&self, job: &Job) -> Result<(), SandboxError> {
        let requires = required(job).map(str::to_owned).collect();
        let Job { readable, limits, .. } = job.clone();
        let job = Job { command: ":".to_owned(), readable, requires, limits, ..Job::default() };
        self.run(&job).await.map(drop)
    }
}

/// Why the sandbox was not set up, from the output of `bwrap`.
fn setup_error(report: &Report) -> SandboxError {
    let message = report.stderr.trim();
    if let Some(program) = message.strip_prefix(MISSING) {
        return SandboxError::MissingProgram(program.to_owned());
    }
    let hint = match message {
        "" if report.termination == Termination::TimedOut => {
            "the sandbox was not set up within the time limit"
        }
        _ if message.contains("namespace") || message.contains("Operation not permitted") => {
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu \
             kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that allows them)"
        }
        _ => "see the message of bubblewrap",
    };
    SandboxError::NoIsolation(format!("{message:?}; {hint}"))
}
