//! Isolation by `bwrap`: namespaces of the Linux kernel, without any privilege.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use tempfile::TempPath;

use super::{
    Ending, Job, Limits, Report, SandboxError, SandboxProvider, calls, stage, supervise, tree,
};

/// What is shown of the host, read-only: programs and libraries, no configuration but the linker's, no home.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"];
const CONFIGURATION: [&str; 5] = [
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
];

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The least version: from here on a sandbox can be kept from making sandboxes, and its folders have sizes.
const LEAST: (u32, u32) = (0, 8);

/// What the sandbox says on standard error before the command is run. As long as it has not, the isolation is not made.
const READY: &str = "dsrs-sandbox: ready\n";

/// Runs first in the sandbox, as its process 1: when it ends, the kernel ends all others.
const INIT: &str = r#"
ulimit -n 512 2>/dev/null
ulimit -c 0 && ulimit -t "$1" && ulimit -f "$2" && ulimit -d "$3" || exit 1
ulimit -u "$4" 2>/dev/null || ulimit -p "$4" || exit 1
cp -R /in/. . || exit 1
echo "dsrs-sandbox: ready" >&2
/bin/sh -c "$5"
exit $?
"#;

const INSTALL: &str = "install bubblewrap 0.8 or newer (`apt-get install bubblewrap`, `dnf install bubblewrap`, \
                       `apk add bubblewrap`)";

/// Runs commands in a sandbox made by bubblewrap (`bwrap`, 0.8 or newer).
///
/// The command sees programs and libraries of the host, read-only, its work folder (`/box/work`, in memory, the only place it can
/// write besides `/tmp` and `/dev/shm`), and what the job makes readable. It has no network, none of the host's environment,
/// no process of the host in sight, no privilege and no way to more namespaces; calls that hold memory where no process is
/// seen to have it (System V's shared memory, semaphores and queues, `io_uring`, secret memory) are refused. Everything it started is dead when
/// [`run`](SandboxProvider::run) returns. If the harness runs as root, commands run as `nobody`.
///
/// ```no_run
/// use dsrs_metrics::sandbox::{Bubblewrap, Ending, Job, SandboxProvider};
///
/// # async fn run() -> Result<(), dsrs_metrics::sandbox::SandboxError> {
/// let job = Job { command: "cat hello.txt".to_owned(), files: vec![("hello.txt".to_owned(), "hi".to_owned())], ..Job::default() };
/// let report = Bubblewrap::new().run(&job).await?;
/// assert_eq!((report.ending, &*report.stdout), (Ending::Exited(0), "hi"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Bubblewrap {
    program: PathBuf,
    /// The filter of system calls, once the program is known to be there.
    checked: Arc<OnceLock<Result<TempPath, SandboxError>>>,
}

impl Default for Bubblewrap {
    fn default() -> Self {
        Self::new()
    }
}

impl Bubblewrap {
    /// With the `bwrap` of the `PATH`.
    #[must_use]
    pub fn new() -> Self {
        Self::at("bwrap")
    }

    /// With another `bwrap`.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), checked: Arc::default() }
    }

    /// Whether the program is there and new enough; asked once. The filter of system calls that it is given.
    fn check(&self) -> Result<&Path, SandboxError> {
        let check = || version(&self.program).and_then(|()| calls::file());
        self.checked.get_or_init(check).as_deref().map_err(Clone::clone)
    }

    fn command(&self, job: &Job, staged: &Path, filter: &Path) -> Command {
        // The filter is handed over as an open file.
        let mut bwrap = Command::new("/bin/sh");
        bwrap.args(["-c", "exec \"$@\" 9<\"$0\""]).arg(filter).arg(&self.program);
        bwrap.args(["--seccomp", "9"]);
        // What the outer process inherits could be read from inside, so it inherits nothing.
        let path = std::env::var_os("PATH");
        bwrap.env_clear().envs(path.map(|path| ("PATH", path))).current_dir("/").process_group(0);
        if rustix::process::geteuid().is_root() {
            bwrap.uid(stage::NOBODY).gid(stage::NOBODY);
        }
        bwrap.args(["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]);
        bwrap.args(["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]);
        bwrap.args(["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]);
        for (name, value) in
            [("PATH", PATH), ("HOME", "/box/home"), ("TMPDIR", "/tmp"), ("LANG", "C.UTF-8")]
        {
            bwrap.args(["--setenv", name, value]);
        }
        folders(&mut bwrap, job, staged);
        bwrap.args(["--", "/bin/sh", "-c", INIT, "sandbox"]).args(init_arguments(&job.limits));
        bwrap.arg(&job.command);
        bwrap
    }
}

/// The private root. Whatever is made anew is read-only at the end, but for the work folder and shared memory.
fn folders(bwrap: &mut Command, job: &Job, staged: &Path) {
    for path in SYSTEM {
        match fs::read_link(path) {
            Ok(target) => _ = bwrap.arg("--symlink").arg(target).arg(path),
            Err(_) => _ = bwrap.args(["--ro-bind-try", path, path]),
        }
    }
    for path in CONFIGURATION {
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
    bwrap.arg("--ro-bind").arg(staged).arg("/in");
    bwrap.args(["--chdir", "/box/work", "--remount-ro", "/"]);
}

fn init_arguments(limits: &Limits) -> [String; 4] {
    let blocks = limits.file_mb.saturating_mul(1024 * 2);
    let kib = limits.memory_mb.saturating_mul(1024);
    // The shell that starts the command is one process more.
    [limits.cpu_secs(), blocks, kib, limits.processes.saturating_add(1)]
        .map(|limit| limit.to_string())
}

fn version(program: &Path) -> Result<(), SandboxError> {
    let none = |why: String| SandboxError::NoIsolation(format!("{why}; {INSTALL}"));
    let said = Command::new(program)
        .arg("--version")
        .output()
        .map_err(|error| none(format!("`{}` cannot be started ({error})", program.display())))?;
    let said = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    let number = said.rsplit(' ').next().unwrap_or_default();
    let mut parts = number.split('.').map_while(|part| part.parse::<u32>().ok());
    match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) if (major, minor) >= LEAST => Ok(()),
        _ => Err(none(format!("`{}` is {said:?}", program.display()))),
    }
}

#[async_trait]
impl SandboxProvider for Bubblewrap {
    fn name(&self) -> &'static str {
        "bubblewrap"
    }

    async fn run(&self, job: &Job) -> Result<Report, SandboxError> {
        let filter = self.check()?;
        let staged = stage::stage(job)?;
        let command = self.command(job, staged.path(), filter);
        let limits = job.limits.clone();
        let mut report = supervise::supervise(command, limits, tree::end_namespace).await?;
        match report.stderr.strip_prefix(READY) {
            Some(rest) => report.stderr = rest.to_owned(),
            None => return Err(not_made(&report)),
        }
        Ok(report)
    }
}

/// Why the command was never reached.
fn not_made(report: &Report) -> SandboxError {
    let said = report.stderr.trim();
    let hint = match said {
        "" if report.ending == Ending::TimedOut => "it was not made in time",
        said if said.contains("namespace") || said.contains("Operation not permitted") => {
            "the system must allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu \
             kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that allows them)"
        }
        _ => "see what bubblewrap said",
    };
    SandboxError::NoIsolation(format!("{said:?}: {hint}"))
}
