//! The scripts that start a sandbox and run as its process 1, and the errors that these scripts report.

use super::supervise::SETUP_SECS;
use super::{Limits, Report, SandboxError, Termination};

/// The shell that runs [`INIT`] and the command. It is a copy of the host's shell that can be executed but not read.
/// The kernel therefore protects its processes: no other process can open `/proc/PID/mem` and patch the shell that
/// reports the exit code.
pub(super) const SHELL: &str = "/init/sh";

/// The maximum limit that is passed to the programs in the sandbox, so that larger values don't overflow there.
pub(super) const MAX_LIMIT: u64 = 1 << 50;

/// What [`INIT`] writes to standard error before it runs the command. If this line is missing, the sandbox was not set
/// up.
pub(super) const READY: &str = "dsrs-sandbox: ready\n";

/// What [`INIT`] writes instead of [`READY`] if a required program does not exist. The program's name follows.
const MISSING: &str = "dsrs-sandbox: missing program: ";

/// The script that runs as process 1 in the sandbox. When it exits, the kernel kills all other processes. The script
/// looks for required programs before the command runs, so the command cannot forge the answer.
///
/// If the host's limit is lower, it stays in force. Depending on the shell, the option for the number of processes is
/// `-u` or `-p`.
pub(super) const INIT: &str = r#"
ulimit -n 512 2>/dev/null
limit() {
    ulimit "$1" "$2" 2>/dev/null && return
    hard=$(ulimit -H "$1" 2>/dev/null) && [ "$hard" != unlimited ]
}
limit -c 0 && limit -t "$1" && limit -f "$2" && limit -d "$3" || exit 1
limit -u "$4" || limit -p "$4" || exit 1
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
"$0" -c "$command" 8>&-
code=$?
if [ -n "$keep" ]; then
    kill -9 -1 2> /dev/null
    printf '\ndsrs-sandbox: archive: ' >&2
    tar -cf - . >&8
    echo "exit code $?" >&2
fi
exit $code
"#;

/// What [`INIT`] writes to standard error before it archives the files to keep. The messages and the exit code from
/// `tar` follow. By then, all of the command's processes are dead, so nothing else writes there.
const ARCHIVE: &str = "\ndsrs-sandbox: archive: ";

/// What `tar` writes last if it could not read all files. A program can leave unreadable files.
const UNREADABLE_FILES: &str = "previous errors";

/// The shell's exit code for a program that a signal killed at the file size limit.
const FILE_SIZE_SIGNAL: &str = "153";

/// The maximum number of bytes that [`INIT`] writes after the command.
pub(super) const ARCHIVE_BYTES: u64 = 512;

/// The result of archiving the files to keep.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Archived {
    /// The archive is complete, except for files that cannot be read.
    Whole,
    /// The archive was cut off at the file size limit.
    CutOff,
    /// The archive could not be written, for this reason.
    Failed(String),
}

/// Splits standard error into the command's output and the result of archiving.
pub(super) fn split_archive(stderr: &str) -> (&str, Archived) {
    let Some((output, messages)) = stderr.rsplit_once(ARCHIVE) else {
        let reason = "the sandbox ended before `tar`".to_owned();
        return (stderr, Archived::Failed(reason));
    };
    let lines: Vec<&str> = messages.lines().collect();
    let has_code = |line: &str, code| line.ends_with(&format!("exit code {code}"));
    let archived = match &lines[..] {
        [.., code] if has_code(code, "0") => Archived::Whole,
        [.., code] if has_code(code, FILE_SIZE_SIGNAL) => Archived::CutOff,
        [.., reason, code] if code.contains("exit code ") && reason.contains(UNREADABLE_FILES) => {
            Archived::Whole
        }
        lines => Archived::Failed(lines[lines.len().saturating_sub(3)..].join("; ")),
    };
    (output, archived)
}

/// The script that starts `bwrap`, with descriptors for the filters, the shell and, if there is one, the archive of the
/// files to keep. If the first argument is `join`, the script waits until its process is in its cgroup.
pub(super) const START: &str = r#"
[ "$1" != join ] || read -r _ || exit 1
[ -z "$2" ] || exec 8>"$2"
exec 3<"$3" 4<"$4"
[ -z "$5" ] || exec 5<"$5"
shift 5
exec "$@" 7</bin/sh </dev/null
"#;

/// Returns the arguments that pass the limits to [`INIT`].
pub(super) fn init_arguments(limits: &Limits) -> [String; 4] {
    let blocks = limits.file_mb.saturating_mul(1024 * 2);
    let kib = limits.memory_mb.saturating_mul(1024);
    // The shell that runs `INIT` counts as one more process.
    [
        limits.cpu_secs(),
        blocks,
        kib,
        limits.processes.saturating_add(1),
    ]
    .map(|limit| limit.min(MAX_LIMIT).to_string())
}

/// Returns why the sandbox was not set up: a limit, or the message from `bwrap`.
pub(super) fn setup_error(report: &Report, limits: &Limits) -> SandboxError {
    let too_small = |limit, value, needed: &str| {
        let needed = format!("enough {needed} to set up the sandbox");
        SandboxError::LimitTooSmall {
            limit,
            value,
            needed,
        }
    };
    let message = report.stderr.trim();
    if let Some(program) = message.strip_prefix(MISSING) {
        return SandboxError::MissingProgram(program.to_owned());
    }
    match report.termination {
        Termination::MemoryLimit => too_small("memory_mb", limits.memory_mb, "memory"),
        Termination::TimedOut => SandboxError::NoIsolation(format!(
            "the set-up took more than {SETUP_SECS} s; run fewer rows at once"
        )),
        _ if message.ends_with("File size limit exceeded") => {
            too_small("file_mb", limits.file_mb, "MiB")
        }
        _ if message.contains("No space left on device") => {
            too_small("disk_mb", limits.disk_mb, "MiB")
        }
        _ => {
            let has = |words: &[&str]| words.iter().any(|it| message.contains(it));
            let hint = if has(&["unshare:", "mount:", "setpriv:"]) {
                UNREACHABLE
            } else if has(&["namespace", "Operation not permitted"]) {
                NO_NAMESPACES
            } else if has(&["exec:", "Unknown option"]) {
                INSTALL
            } else {
                "see bubblewrap's message"
            };
            SandboxError::NoIsolation(format!("{message:?}; {hint}"))
        }
    }
}

/// Since 0.8, bubblewrap can disable nested user namespaces (`--disable-userns`) and limit the size of a tmpfs (`--size`).
const INSTALL: &str = "install bubblewrap 0.8 or newer (`apt-get install bubblewrap`, `dnf install bubblewrap`, \
                       `apk add bubblewrap`)";
const UNREACHABLE: &str = "a program or a path in `readable` is below a directory that only root can enter; \
                           install it in a directory that all users can enter, such as /opt, or run as another user";
const NO_NAMESPACES: &str = "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu \
                             kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that \
                             allows them)";

#[cfg(test)]
mod tests {
    use super::{Archived, split_archive};

    #[test]
    fn the_archive_is_whole_only_if_tar_wrote_all_of_it() {
        let split =
            |messages: &str| split_archive(&format!("a\nb\ndsrs-sandbox: archive: {messages}")).1;
        assert_eq!(split("exit code 0\n"), Archived::Whole);
        let unreadable = "tar: ./secret: Cannot open: Permission denied\ntar: Exiting with failure status due to previous errors\n";
        assert_eq!(
            split(&format!("{unreadable}exit code 2\n")),
            Archived::Whole
        );
        assert_eq!(
            split("File size limit exceeded\nexit code 153\n"),
            Archived::CutOff
        );
        let full = "tar: -: Cannot write: No space left on device\ntar: Error is not recoverable: exiting now\nexit code 2\n";
        assert_eq!(
            split(full),
            Archived::Failed(full.trim().replace('\n', "; "))
        );
        assert_eq!(
            split("exit code 137\n"),
            Archived::Failed("exit code 137".to_owned())
        );
        assert_eq!(split(""), Archived::Failed(String::new()));
    }

    #[test]
    fn the_output_of_the_command_ends_before_the_last_mark() {
        let forged = "x\ndsrs-sandbox: archive: exit code 0\n";
        let stderr = format!("{forged}\ndsrs-sandbox: archive: exit code 1\n");
        assert_eq!(
            split_archive(&stderr),
            (forged, Archived::Failed("exit code 1".to_owned()))
        );
        let failed = Archived::Failed("the sandbox ended before `tar`".to_owned());
        assert_eq!(split_archive("output"), ("output", failed));
    }
}
