//! The table of attacks: small Python programs, each contained while an honest program
//! runs beside it.
//!
//! The programs use `prelude.py`. A program whose attack succeeds prints `ESCAPED`. A program with a
//! bug prints `BROKEN`, so that the test does not count it as contained.

mod bombs;
mod host;
mod kernel;
mod memory;

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use dsrs_metrics::sandbox::{
    Accounting, Bubblewrap, Job, Limits, Report, SandboxProvider, Termination,
};
use dsrs_metrics_tests::can_isolate;
use futures_util::future::{join, join_all};

use super::block_on;
use bombs::{BOMBS, Contained, STATES};

/// How many attacks run at once.
const AT_ONCE: usize = 4;

fn job(command: &str, main: &str, limits: Limits) -> Job {
    let files = [
        ("prelude.py", include_str!("prelude.py")),
        ("main.py", main),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    Job {
        command: command.to_owned(),
        files: files.into(),
        limits,
        ..Job::default()
    }
}

/// A job of one attack. The shell of the command survives it, to exit with 7.
fn attack(code: &str, limits: Limits) -> Job {
    let mut job = job(
        "python3 main.py; exit 7",
        "import prelude\nprelude.run(open('attack').read())",
        limits,
    );
    job.files.push(("attack".to_owned(), code.to_owned()));
    job
}

/// A job of several attacks.
fn attacks(all: &[(&str, String)]) -> Job {
    let limits = Limits {
        time_secs: 60,
        ..Limits::default()
    };
    let mut job = job(
        "python3 main.py; exit $?",
        include_str!("several.py"),
        limits,
    );
    job.files.push((
        "attacks.json".to_owned(),
        serde_json::to_string(all).unwrap(),
    ));
    job
}

fn honest(seconds: f64) -> Job {
    job(
        &format!("python3 main.py {seconds}"),
        include_str!("honest.py"),
        Limits::default(),
    )
}

/// Runs jobs at once, with an honest program beside them, and returns their reports.
#[track_caller]
fn run_beside_honest(provider: &Bubblewrap, jobs: &[Job]) -> Vec<Report> {
    let honest = honest(0.2);
    let all: Vec<&Job> = jobs.iter().chain([&honest]).collect();
    let mut reports = block_on(join_all(all.iter().map(|job| provider.run(job))));
    assert_is_honest(&reports.pop().unwrap().unwrap());
    reports
        .into_iter()
        .map(|it| it.unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

#[track_caller]
fn assert_is_honest(report: &Report) {
    let expected = (Termination::Exited(0), "honest\n");
    assert_eq!(
        (report.termination, &*report.stdout),
        expected,
        "{}",
        report.stderr
    );
}

#[track_caller]
fn assert_contained(name: &str, printed: &str) {
    let is_mistake = printed.contains("BROKEN");
    assert!(
        !printed.contains("ESCAPED") && !is_mistake,
        "attack `{name}`: {printed}"
    );
}

/// Runs attacks that are attempts of a moment, in one sandbox.
#[track_caller]
fn assert_all_contained(all: &[(&str, String)]) {
    assert_all_contained_with(&[], all);
}

/// As [`assert_all_contained`], in a sandbox with the installations of these programs.
#[track_caller]
fn assert_all_contained_with(requires: &[&str], all: &[(&str, String)]) {
    let requires = requires.iter().map(|&program| program.to_owned()).collect();
    let job = Job {
        requires,
        ..attacks(all)
    };
    let report = run_beside_honest(&Bubblewrap::new(), &[job]).pop().unwrap();
    assert_eq!(
        report.termination,
        Termination::Exited(0),
        "{}\n{}",
        report.stdout,
        report.stderr
    );
    let printed: Vec<(String, String)> = report
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ran: Vec<&str> = printed.iter().map(|(name, _)| &**name).collect();
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    assert_eq!(ran, names);
    for (name, printed) in &printed {
        assert!(!printed.is_empty(), "attack `{name}` printed nothing");
        assert_contained(name, printed);
    }
}

fn owned(all: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    all.iter()
        .map(|&(name, code)| (name, code.to_owned()))
        .collect()
}

/// The mechanisms of this system by which memory is accounted.
fn mechanisms() -> Vec<Accounting> {
    let best = Bubblewrap::new().accounting().unwrap();
    if best == Accounting::PerTask {
        vec![best]
    } else {
        vec![best, Accounting::PerTask]
    }
}

#[test]
fn the_table_has_at_least_seventy_attacks_with_different_names() {
    let mut names: Vec<&str> = kernel::KERNEL.iter().map(|it| it.0).collect();
    names.extend(host::HOST.iter().chain(memory::MEMORY).map(|it| it.0));
    names.extend(
        BOMBS
            .iter()
            .map(|it| it.0)
            .chain(STATES.iter().map(|it| it.0)),
    );
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count >= 70, "{count} attacks");
}

/// The table would notice an escape, and an attack that does not run at all.
#[test]
#[should_panic(expected = "attack `control`: ESCAPED from nothing")]
fn an_escape_is_noticed() {
    if !can_isolate() {
        panic!("attack `control`: ESCAPED from nothing");
    }
    assert_all_contained(&owned(&[("control", "escaped('from nothing')")]));
}

#[test]
#[should_panic(expected = "attack `control`: BROKEN NameError")]
fn a_mistake_in_an_attack_is_noticed() {
    if !can_isolate() {
        panic!("attack `control`: BROKEN NameError");
    }
    assert_all_contained(&owned(&[("control", "no_such_function()")]));
}

#[test]
fn attacks_on_the_kernel_are_contained() {
    if can_isolate() {
        assert_all_contained(&owned(kernel::KERNEL));
    }
}

#[test]
fn attempts_to_reach_the_host_are_contained() {
    if !can_isolate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (secret, path) = (folder.path().join("secret"), folder.path().join("socket"));
    std::fs::write(&secret, "hunter2").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let (tcp, udp) = (
        TcpListener::bind("127.0.0.1:0").unwrap(),
        UdpSocket::bind("127.0.0.1:0").unwrap(),
    );
    let name = format!("dsrs-metrics-{}", std::process::id());
    let by_name = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let by_path = UnixListener::bind(&path).unwrap();
    let replace = |code: &str| {
        code.replace("{secret}", &secret.display().to_string())
            .replace("{unix}", &path.display().to_string())
            .replace("{abstract}", &name)
            .replace("{tcp}", &tcp.local_addr().unwrap().port().to_string())
            .replace("{udp}", &udp.local_addr().unwrap().port().to_string())
    };
    let all: Vec<_> = host::HOST
        .iter()
        .map(|&(name, code)| (name, replace(code)))
        .collect();
    assert_all_contained(&all);
    let mut programs = vec!["python3", "cargo", "node"];
    programs.retain(|program| super::toolchains::is_installed(program));
    assert_all_contained_with(&programs, &all);
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    by_name.set_nonblocking(true).unwrap();
    by_path.set_nonblocking(true).unwrap();
    // No connection arrived.
    let connections = [
        tcp.accept().map(drop),
        by_name.accept().map(drop),
        by_path.accept().map(drop),
    ];
    let errors = connections.map(|connection| connection.map_err(|error| error.kind()));
    assert_eq!(errors, [Err(std::io::ErrorKind::WouldBlock); 3]);
    let received = udp.recv(&mut [0; 8]).map_err(|error| error.kind());
    assert_eq!(
        received,
        Err(std::io::ErrorKind::WouldBlock),
        "a datagram left the sandbox"
    );
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "hunter2");
}

#[test]
fn memory_beyond_the_limit_is_not_held() {
    if !can_isolate() {
        return;
    }
    let limits = Limits {
        memory_mb: 100,
        time_secs: 30,
        ..Limits::default()
    };
    for accounting in mechanisms() {
        let provider = Bubblewrap::new().with_accounting(accounting);
        for batch in memory::MEMORY.chunks(AT_ONCE) {
            let jobs: Vec<Job> = batch
                .iter()
                .map(|it| attack(it.1, limits.clone()))
                .collect();
            for ((name, _), report) in batch.iter().zip(run_beside_honest(&provider, &jobs)) {
                let name = format!("{name}, {accounting}");
                println!(
                    "{name}: {:?}, {:?}",
                    report.termination,
                    report.stdout.trim()
                );
                assert_contained(&name, &report.stdout);
                let stopped = report.termination == Termination::MemoryLimit;
                let refused =
                    report.stdout.contains("refused") || report.stdout.contains("holding");
                assert!(stopped || refused, "attack `{name}`: {report:?}");
                assert_ne!(report.termination, Termination::TimedOut, "attack `{name}`");
            }
        }
    }
}

#[test]
fn bombs_and_forgeries_are_contained() {
    if !can_isolate() {
        return;
    }
    let limits = Limits {
        time_secs: 2,
        output_kb: 64,
        processes: 24,
        disk_mb: 16,
        file_mb: 8,
        ..Limits::default()
    };
    for batch in BOMBS.chunks(AT_ONCE) {
        let jobs: Vec<Job> = batch
            .iter()
            .map(|it| attack(it.2, limits.clone()))
            .collect();
        let reports = run_beside_honest(&Bubblewrap::new(), &jobs);
        for ((name, contained, _), report) in batch.iter().zip(reports) {
            assert_contained(name, &report.stdout);
            match contained {
                Contained::Stopped(by) => assert_eq!(report.termination, *by, "attack `{name}`"),
                Contained::Exits => assert!(
                    matches!(report.termination, Termination::Exited(code) if code != 0),
                    "attack `{name}`: {report:?}"
                ),
                Contained::Any => {
                    assert_ne!(
                        report.termination,
                        Termination::Exited(0),
                        "attack `{name}`"
                    );
                }
            }
        }
    }
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    assert!(
        !lines.any(|line| String::from_utf8_lossy(&line).contains("86397.25")),
        "a daemon is left"
    );
}

#[test]
fn a_row_leaves_nothing_for_the_next() {
    if !can_isolate() {
        return;
    }
    let (provider, limits) = (
        Bubblewrap::new(),
        Limits {
            time_secs: 10,
            ..Limits::default()
        },
    );
    for batch in STATES.chunks(AT_ONCE) {
        for step in [1, 2] {
            let code =
                |it: &(&str, &'static str, &'static str)| if step == 1 { it.1 } else { it.2 };
            let jobs: Vec<Job> = batch
                .iter()
                .map(|it| attack(code(it), limits.clone()))
                .collect();
            for ((name, ..), report) in batch.iter().zip(run_beside_honest(&provider, &jobs)) {
                assert_contained(name, &report.stdout);
                assert_eq!(
                    report.termination,
                    Termination::Exited(7),
                    "{name}: {report:?}"
                );
            }
        }
    }
}

/// The kernel limits descriptors in flight and `inotify` instances per user.
#[test]
fn rows_do_not_share_the_limits_of_a_user() {
    const EXHAUST: &str = "n = 0; keep = []\n\
        try:\n\
        \x20   while True:\n\
        \x20       pair = socket.socketpair(); keep.append(pair)\n\
        \x20       for _ in range(100): socket.send_fds(pair[0], [b'x'], [0] * 2); n += 2\n\
        except OSError as error: print(n, error.errno, flush=True)\n\
        try:\n\
        \x20   while n < 10 ** 6: checked(C.inotify_init()); n += 1\n\
        except OSError as error: print(error.errno, flush=True)\n\
        time.sleep(3)";
    if !can_isolate() {
        return;
    }
    let owner = std::fs::metadata("/proc/self").unwrap();
    if std::os::unix::fs::MetadataExt::uid(&owner) != 0 {
        println!("skipped: commands run as users of their own only if the current user is root");
        return;
    }
    let provider = Bubblewrap::new();
    let (exhausting, honest) = (attack(EXHAUST, Limits::default()), honest(2.0));
    let both = join(provider.run(&exhausting), provider.run(&honest));
    let (took, beside) = block_on(both);
    let took = took.unwrap();
    assert!(
        took.stdout.contains("109") || took.stdout.contains("24"),
        "{took:?}"
    );
    assert_is_honest(&beside.unwrap());
}

/// A child process by pipes, a thread, and memory that both share.
const NODE: &str = "const { Worker } = require('worker_threads'); \
    console.log(require('child_process').execSync('echo hi').toString().trim()); \
    const shared = new Int32Array(new SharedArrayBuffer(4)); \
    const w = new Worker('require(\\'worker_threads\\').workerData[0] = 3', { eval: true, workerData: shared }); \
    w.on('exit', () => console.log('worker', shared[0]))";

/// What tests need, under the mechanism that refuses most.
#[test]
fn honest_programs_run_under_every_accounting() {
    if !can_isolate() {
        return;
    }
    let multiprocessing = "import multiprocessing as m\n\
        def f(x): return x * x\n\
        if __name__ == '__main__':\n\
        \x20   with m.Pool(3) as pool: print(pool.map(f, [1, 2, 3]))\n\
        \x20   v = m.Value('i', 1); a = m.Array('d', 100); q = m.Queue(); q.put(v.value); print(q.get())\n\
        \x20   import concurrent.futures as c\n\
        \x20   with c.ProcessPoolExecutor(2) as e: print(sum(e.map(f, range(4))))\n\
        \x20   import asyncio; print(asyncio.run(asyncio.sleep(0, 'done')))";
    for accounting in mechanisms() {
        let provider = Bubblewrap::new().with_accounting(accounting);
        let limits = Limits {
            memory_mb: 200,
            ..Limits::default()
        };
        let several = job("python3 main.py", multiprocessing, limits);
        let report = run_beside_honest(&provider, &[several]).pop().unwrap();
        assert_eq!(
            report.stdout, "[1, 4, 9]\n1\n14\ndone\n",
            "{accounting}: {}",
            report.stderr
        );
        if std::path::Path::new("/usr/bin/node").exists() {
            let node = Job {
                command: format!("node -e \"{NODE}\""),
                ..Job::default()
            };
            let report = run_beside_honest(&provider, &[node]).pop().unwrap();
            assert_eq!(
                report.stdout, "hi\nworker 3\n",
                "{accounting}: {}",
                report.stderr
            );
        }
        assert_eq!(provider.accounting(), Some(accounting));
        assert!(Accounting::used().contains(&accounting));
    }
}
