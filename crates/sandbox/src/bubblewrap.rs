//! Isolates commands with `bwrap`, which uses Linux namespaces and needs no privileges.
//!
//! The file is long because the options of one command are decided together.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;

use tempfile::TempPath;

use super::accounting::{Accounting, Meter, Parent};
use super::bind_mounts::BindMounts;
use super::init::{
    ARCHIVE_BYTES, Archived, INIT, MAX_LIMIT, READY, SHELL, START, init_arguments, setup_error,
    split_archive,
};
use super::programs::{Programs, Search};
use super::supervise::{Prepared, on_thread};
use super::work_dir::{self, FILES, PROGRAM, READ_ONLY};
use super::{
    Job, Report, SandboxError, SandboxProvider, Termination, archive, host, seccomp, supervise,
};

/// Host paths that are mounted read-only. They contain programs and libraries, but no home directory.
const SYSTEM_PATHS: [&str; 7] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
];

/// The only host configuration that is mounted: the linker's configuration and the time zone.
const CONFIG_PATHS: [&str; 5] = [
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
];

/// Directories below [`SYSTEM_PATHS`] that contain host configuration and sources instead of programs or libraries. An
/// empty directory hides each of them.
const HIDDEN_PATHS: [&str; 4] = ["/usr/local/etc", "/usr/local/src", "/usr/src", "/usr/etc"];

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// New namespaces and a new session, without capabilities, as user 1000.
const ISOLATION: &str = "--unshare-all --unshare-user --disable-userns --cap-drop ALL --uid 1000 --gid 1000 \
                         --hostname sandbox --die-with-parent --new-session --as-pid-1 --clearenv \
                         --setenv HOME /box/home --setenv TMPDIR /tmp --setenv LANG C.UTF-8 --setenv PYTHONNOUSERSITE 1";

/// A provider that runs commands in a sandbox created by bubblewrap.
///
/// This provider requires `bwrap` 0.8 or newer.
///
/// The command can read the host's programs and libraries in `/usr` and `/bin`, and the paths in [`Job::readable`]. The
/// programs in [`Job::requires`] are looked up in the host's `PATH`. For each of these programs, the command can read
/// the installation but nothing next to it.
///
/// The command can write only to its work directory (`/box/work`), `/tmp` and `/dev/shm`. All three are in memory.
///
/// The command has no network, no host environment variables, no view of host processes and no privileges. It cannot
/// create more namespaces. When [`run`](SandboxProvider::run) returns, all processes that the command started are dead.
///
/// Seccomp filters refuse system calls that allocate memory outside of any process (System V shared memory, semaphores
/// and message queues, `io_uring`, secret memory, `bpf`, performance counters). They also refuse kernel keyrings, calls
/// that control other processes (`ptrace`, `process_vm_readv` and `process_vm_writev`, `pidfd_getfd`), and sockets
/// other than Unix, IPv4, IPv6 and `NETLINK_ROUTE`.
///
/// Programs that need any of these calls fail, such as debuggers and the leak sanitizer. You can turn the sanitizer off
/// with `ASAN_OPTIONS=detect_leaks=0`.
///
/// Memory is limited by one of the mechanisms in [`Accounting`]. Call [`accounting`](SandboxProvider::accounting) to
/// find out which.
///
/// If the current process runs as root, each command runs as a separate user. Otherwise, all commands run as the
/// current user and can use up resources that the kernel limits per user: descriptors sent over sockets, `inotify`
/// instances, and pipe memory.
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
    wanted: Option<Accounting>,
    /// `PATH`, if it differs from the current process's `PATH`.
    path: Option<OsString>,
    /// The installations of required programs. Each is looked up once.
    programs: Arc<Mutex<HashMap<Required, Found>>>,
    /// What every sandbox needs, determined once before the first command.
    system: Arc<OnceLock<Result<System, SandboxError>>>,
}

/// The names of required programs, and the job's [`Job::folder`].
type Required = (Vec<String>, Option<PathBuf>);

type Found = Result<Programs, SandboxError>;

/// What every sandbox on this system needs.
#[derive(Debug)]
struct System {
    parent: Parent,
    filters: Vec<TempPath>,
}

impl Default for Bubblewrap {
    fn default() -> Self {
        Self::new()
    }
}

impl Bubblewrap {
    /// Creates a provider that uses the `bwrap` found in `PATH`.
    pub fn new() -> Self {
        Self::with_program("bwrap")
    }

    /// Creates a provider that uses the `bwrap` at this path.
    pub fn with_program(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            wanted: None,
            path: None,
            programs: Arc::default(),
            system: Arc::default(),
        }
    }

    /// Sets the directories to search for the programs in [`Job::requires`].
    ///
    /// The directories are separated by colons. The default is the current process's `PATH`.
    ///
    /// ```
    /// use dsrs_metrics::metrics::{Isolation, TestPass};
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::sandbox::Bubblewrap;
    ///
    /// let provider = Bubblewrap::new().with_path("/srv/tests/.venv/bin:/usr/bin:/bin");
    /// let isolation = Isolation::with_provider(provider);
    /// let metric = TestPass::builder().command("pytest").isolation(isolation).build();
    /// ```
    pub fn with_path(self, path: impl Into<OsString>) -> Self {
        Self {
            path: Some(path.into()),
            programs: Arc::default(),
            ..self
        }
    }

    /// Sets the mechanism that limits memory.
    ///
    /// The default is the best mechanism that this system supports. If you set a mechanism that is not supported, no
    /// command runs.
    pub fn with_accounting(self, accounting: Accounting) -> Self {
        Self {
            wanted: Some(accounting),
            system: Arc::default(),
            ..self
        }
    }

    /// Checks the system once.
    fn system(&self) -> Result<&System, SandboxError> {
        let check = || {
            let parent = Parent::find(self.wanted)?;
            let filters = seccomp::write_filters(parent.accounting())?;
            Ok(System { parent, filters })
        };
        self.system
            .get_or_init(check)
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Finds the installations of the programs that a job requires, once for all its rows.
    fn programs(&self, job: &Job) -> Found {
        let names: Vec<String> = required(job).map(str::to_owned).collect();
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |(names, folder): &Required| {
            let path = self.path.clone().or_else(|| std::env::var_os("PATH"));
            let search = Search::new(path.unwrap_or_default(), folder.as_deref(), &SYSTEM_PATHS);
            search.find_all(names.iter().map(String::as_str))
        };
        let key = (names, job.folder.clone());
        programs.entry(key).or_insert_with_key(find).clone()
    }

    /// Writes the job's files and assembles the command, on the thread that supervises the command. The files to keep
    /// are written to `archive`.
    fn prepare(&self, job: &Job, archive: Option<&Path>) -> Result<Prepared, SandboxError> {
        let System { parent, filters } = self.system()?;
        let user = host::user_of_this_thread();
        let staged = work_dir::prepare(job, user)?;
        let meter = parent.meter(&job.limits)?;
        if let (Some(archive), Some(user)) = (archive, user) {
            work_dir::give(archive, user)?;
        }
        let programs = self.programs(job)?;
        let is_new = |path: &PathBuf| !job.readable.iter().any(|it| path.starts_with(it));
        let installed = programs.readable.iter().filter(|path| is_new(path));
        let paths = job.readable.iter().chain(installed).cloned();
        let mounts = BindMounts::new(paths, user, staged.path())?;
        let mut command = self.start(mounts.shell(), &meter, filters, archive);
        // The sandboxed command could read the outer process's environment, so the environment is cleared there too.
        let path = std::env::var_os("PATH");
        command
            .env_clear()
            .envs(path.map(|path| ("PATH", path)))
            .current_dir("/")
            .process_group(0);
        if let Some(user) = user.filter(|_| !mounts.starts_as_root()) {
            command.uid(user).gid(user);
        }
        isolate(&mut command, &programs.path);
        if required(job).any(|program| program == "cargo") {
            // Otherwise, cargo waits for a network before it reports a missing dependency.
            command.args(["--setenv", "CARGO_NET_OFFLINE", "true"]);
        }
        let accounting = parent.accounting();
        mount(&mut command, job, staged.path(), &mounts, accounting);
        command.args(["--", SHELL, "-c", INIT, SHELL]);
        command.args(init_arguments(&job.limits));
        command.args([&*job.command, if job.keep.is_some() { "keep" } else { "" }]);
        command.args(required(job));
        Ok(Prepared {
            command,
            limits: job.limits.clone(),
            meter,
            trailer: if job.keep.is_some() { ARCHIVE_BYTES } else { 0 },
            _dir: staged,
        })
    }

    /// Returns the start of the command line after the shell, with the filters as open files.
    fn start(
        &self,
        mut command: Command,
        meter: &Meter,
        filters: &[TempPath],
        archive: Option<&Path>,
    ) -> Command {
        let none = Path::new("");
        command.args(["-c", START, "start"]);
        command.arg(if meter.must_join() { "join" } else { "go" });
        command.arg(archive.unwrap_or(none));
        command.args([0, 1, 2].map(|at| filters.get(at).map_or(none, |file| file)));
        command.arg(&self.program);
        for descriptor in (3..).take(filters.len()) {
            command.args(["--add-seccomp-fd", &i32::to_string(&descriptor)]);
        }
        command
    }
}

/// Adds the options for namespaces, privileges and the environment.
fn isolate(bwrap: &mut Command, programs: &[PathBuf]) {
    bwrap.args(ISOLATION.split_whitespace());
    let system = std::env::split_paths(PATH).collect::<Vec<_>>();
    let programs = programs.iter().filter(|dir| !system.contains(dir));
    // A directory whose name contains a colon cannot be in `PATH`.
    let path = std::env::join_paths(programs.chain(&system));
    bwrap
        .args(["--setenv", "PATH"])
        .arg(path.unwrap_or_else(|_| PATH.into()));
}

/// Adds the options that build the private root file system. The root is remounted read-only at the
/// end; the work directory, `/tmp` and `/dev/shm` stay writable.
fn mount(
    bwrap: &mut Command,
    job: &Job,
    staged: &Path,
    readable: &BindMounts,
    accounting: Accounting,
) {
    for path in SYSTEM_PATHS {
        match fs::read_link(path) {
            Ok(target) => _ = bwrap.arg("--symlink").arg(target).arg(path),
            Err(_) => _ = bwrap.args(["--ro-bind-try", path, path]),
        }
    }
    for path in CONFIG_PATHS {
        bwrap.args(["--ro-bind-try", path, path]);
    }
    let hidden = hidden_paths();
    for path in &hidden {
        bwrap.args(["--size", "4096", "--tmpfs"]).arg(path);
    }
    bwrap.args(["--proc", "/proc", "--dev", "/dev"]);
    if accounting == Accounting::PerTask {
        // A shared mapping of /dev/zero is memory that `/proc` no longer shows once it is unmapped. /dev/full reads the
        // same and cannot be mapped.
        bwrap.args(["--dev-bind", "/dev/full", "/dev/zero"]);
    }
    // `bwrap` rejects a size of 0.
    let disk = (job.limits.disk_mb.min(MAX_LIMIT >> 20) << 20).max(1);
    let writable = format!(
        "--size {disk} --tmpfs /dev/shm --remount-ro /dev --size {disk} --tmpfs /box --dir /box/work \
         --dir /box/home --size {disk} --tmpfs /tmp"
    );
    bwrap.args(writable.split(' '));
    readable.bind(bwrap);
    for path in &hidden {
        bwrap.arg("--remount-ro").arg(path);
    }
    bwrap.arg("--ro-bind").arg(staged.join(FILES)).arg("/in");
    for (path, _) in &job.read_only {
        let inner = |part: &Component<'_>| matches!(part, Component::Normal(_));
        let path: PathBuf = Path::new(path).components().filter(inner).collect();
        let from = staged.join(READ_ONLY).join(&path);
        let to = Path::new("/box/work").join(path);
        bwrap.arg("--ro-bind").args([from, to]);
    }
    if job.program.is_some() {
        let (from, to) = (staged.join(PROGRAM), "/program".into());
        bwrap.arg("--ro-bind").args([from, to]);
    }
    bwrap.args(["--perms", "0111", "--ro-bind-data", "7", SHELL]);
    bwrap.args(["--chdir", "/box/work", "--remount-ro", "/"]);
}

/// Returns the existing directories in [`HIDDEN_PATHS`] that have no symbolic links in their paths.
fn hidden_paths() -> Vec<PathBuf> {
    let paths = HIDDEN_PATHS
        .iter()
        .filter_map(|path| fs::canonicalize(path).ok());
    // A link can lead outside the mounted directories, where there is nothing to hide.
    let mut paths: Vec<_> = paths
        .filter(|path| path.starts_with("/usr") && path.is_dir())
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the programs that must exist: the job's programs, and the one that [`INIT`] uses to archive files.
fn required(job: &Job) -> impl Iterator<Item = &str> {
    job.requires
        .iter()
        .map(String::as_str)
        .chain(job.keep.as_ref().map(|_| "tar"))
}

#[async_trait]
impl SandboxProvider for Bubblewrap {
    fn name(&self) -> &'static str {
        "bubblewrap"
    }

    fn accounting(&self) -> Option<Accounting> {
        self.system().ok().map(|system| system.parent.accounting())
    }

    async fn run(&self, job: &Job) -> Result<Report, SandboxError> {
        self.system()?;
        let (provider, job) = (self.clone(), job.clone());
        let (limits, keep) = (job.limits.clone(), job.keep.clone());
        let archive = keep.as_ref().map(|_| work_dir::archive()).transpose()?;
        let path = archive.as_ref().map(|archive| archive.to_path_buf());
        let prepare = move || provider.prepare(&job, path.as_deref());
        let mut report = supervise::supervise(prepare).await?;
        match report.stderr.strip_prefix(READY) {
            Some(rest) => report.stderr = rest.to_owned(),
            None => return Err(setup_error(&report, &limits)),
        }
        if let (Some(to), Some(archive), Termination::Exited(_)) =
            (keep, archive, report.termination)
        {
            let (output, archived) = split_archive(&report.stderr);
            report.stderr = output.to_owned();
            let max_bytes = limits.file_bytes();
            let unpack = move || match archived {
                Archived::Whole => archive::unpack(&archive, &to, max_bytes),
                Archived::CutOff => Ok(false),
                Archived::Failed(_) if archive::is_cut_off(&archive, max_bytes)? => Ok(false),
                Archived::Failed(reason) => {
                    let advice = "check the free space in the temporary folder (TMPDIR)";
                    let reason = format!("{reason}; {advice}");
                    Err(SandboxError::io("archiving the program's files", reason))
                }
            };
            if !on_thread("unpacking the files", unpack).await?? {
                report.termination = Termination::FilesLimit;
            }
        }
        Ok(report)
    }

    /// Creates a sandbox without the row's files and looks for the required programs.
    async fn preflight(&self, job: &Job) -> Result<(), SandboxError> {
        let job = Job {
            command: ":".to_owned(),
            readable: job.readable.clone(),
            requires: required(job).map(str::to_owned).collect(),
            limits: job.limits.clone(),
            folder: job.folder.clone(),
            ..Job::default()
        };
        self.run(&job).await.map(drop)
    }
}
