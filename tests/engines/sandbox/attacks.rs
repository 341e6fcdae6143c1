//! Attacks by hostile programs: each is contained, and the next row is unaffected.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use dsrs_metrics::sandbox::{Limits, Report, Termination};
use dsrs_metrics_tests::can_isolate;

use super::python;

fn five_seconds() -> Limits {
    Limits {
        time_secs: 5,
        ..Limits::default()
    }
}

/// Asserts that a row after an attack runs normally.
#[track_caller]
fn next_row_is_unaffected() {
    let report = python("open('a', 'w').write('x'); print(6 * 7)", five_seconds());
    assert_eq!(
        (report.termination, &*report.stdout),
        (Termination::Exited(0), "42\n"),
        "{}",
        report.stderr
    );
}

/// The number of processes on this machine whose command line contains the marker.
pub(super) fn alive(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(marker))
        .count()
}

#[test]
fn nothing_is_written_outside_the_work_directory() {
    if !can_isolate() {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("pwned");
    let program = format!(
        "import os\n\
         wrote = []\n\
         for path in [{target:?}, '/usr/pwned', '/etc/pwned', '/pwned', '/in/pwned', '/dev/pwned', '/proc/sys/kernel/hostname', '/bin/pwned', '../../pwned']:\n\
         \x20   try:\n\
         \x20       open(path, 'w').write('x'); wrote.append(path)\n\
         \x20   except OSError: pass\n\
         open('mine', 'w').write('x'); open('/tmp/mine', 'w').write('x')\n\
         print(wrote)",
        target = target.display().to_string()
    );
    let report = python(&program, five_seconds());
    assert_eq!(
        (report.termination, &*report.stdout),
        (Termination::Exited(0), "[]\n"),
        "{}",
        report.stderr
    );
    assert!(!target.exists());
    next_row_is_unaffected();
}

#[test]
fn no_secret_file_or_variable_is_visible() {
    if !can_isolate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "hunter2").unwrap();
    let here = std::env::current_exe().unwrap();
    let program = format!(
        "import os, glob\n\
         for path in [{:?}, {:?}, '/root', '/home', '/etc/passwd', '/etc/shadow', '/proc/1/root/etc/shadow', '/var', '/run']:\n\
         \x20   print(os.path.exists(path), end=' ')\n\
         print(sorted(os.environ))\n\
         seen = b''\n\
         for path in glob.glob('/proc/*/environ'):\n\
         \x20   try: seen += open(path, 'rb').read()\n\
         \x20   except PermissionError: assert path != '/proc/self/environ'\n\
         print([v for v in seen.split(b'\\0') if v.startswith((b'CARGO', b'USER', b'RUST'))])",
        secret.display().to_string(),
        here.display().to_string(),
    );
    let report = python(&program, five_seconds());
    let expected = format!(
        "{}['HOME', 'LANG', 'PATH', 'PWD', 'PYTHONNOUSERSITE', 'TMPDIR']\n[]\n",
        "False ".repeat(9)
    );
    assert_eq!(report.stdout, expected, "{}", report.stderr);
    assert!(
        std::env::vars().any(|(name, _)| name.starts_with("CARGO")),
        "the host has variables to hide"
    );
    next_row_is_unaffected();
}

#[test]
fn no_socket_reaches_the_host() {
    if !can_isolate() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let program = format!(
        "import socket\n\
         for address in [('127.0.0.1', {port}), ('1.1.1.1', 53)]:\n\
         \x20   try:\n\
         \x20       socket.create_connection(address, timeout=1).send(b'x'); print('out')\n\
         \x20   except OSError: print('no')\n"
    );
    let report = python(&program, five_seconds());
    assert_eq!(report.stdout, "no\nno\n", "{}", report.stderr);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "no connection was made");
    next_row_is_unaffected();
}

#[test]
fn a_fork_bomb_is_bounded() {
    if !can_isolate() {
        return;
    }
    let program = "import os, time\n\
                   while True:\n\
                   \x20   try: os.fork()\n\
                   \x20   except OSError: time.sleep(0.01)\n\
                   # fork bomb\n";
    let started = Instant::now();
    let limits = Limits {
        time_secs: 2,
        processes: 20,
        ..Limits::default()
    };
    let watch = std::thread::spawn(|| {
        let mut most = 0;
        for _ in 0..30 {
            most = alive("main.py").max(most);
            std::thread::sleep(Duration::from_millis(50));
        }
        most
    });
    let report = python(program, limits);
    assert_eq!(report.termination, Termination::TimedOut);
    assert!(
        started.elapsed() < Duration::from_secs(6),
        "{:?}",
        started.elapsed()
    );
    // Includes processes of other tests that run concurrently.
    let most = watch.join().unwrap();
    assert!(most < 200, "{most} processes");
    next_row_is_unaffected();
}

#[test]
fn a_memory_bomb_is_bounded_in_one_process_and_in_many() {
    if !can_isolate() {
        return;
    }
    let limits = Limits {
        memory_mb: 200,
        time_secs: 10,
        ..Limits::default()
    };
    let one = python(
        "x = []\nwhile True: x.append(bytearray(1 << 20))",
        limits.clone(),
    );
    // Without a cgroup, memory that `/proc` does not show is refused.
    let is_bounded = |report: &Report| {
        matches!(report.termination, Termination::Exited(code) if code != 0)
            || report.termination == Termination::MemoryLimit
    };
    assert!(is_bounded(&one), "{one:?}");
    let many = "import os, time\n\
                for _ in range(8):\n\
                \x20   try: os.fork()\n\
                \x20   except OSError: pass\n\
                x = bytearray(os.urandom(1)) * (100 << 20)\n\
                time.sleep(9)";
    let many = python(many, limits.clone());
    assert_eq!(
        many.termination,
        Termination::MemoryLimit,
        "{}",
        many.stderr
    );
    let memfds = "import os, time\n\
                    for n in range(20):\n\
                    \x20   f = os.memfd_create('x')\n\
                    \x20   for _ in range(60): os.write(f, b'x' * (1 << 20))\n\
                    \x20   time.sleep(0.05)\n\
                    time.sleep(9)";
    let memfds = python(memfds, limits.clone());
    assert!(is_bounded(&memfds), "{memfds:?}");
    let shared = python(
        "import mmap, time\nm = mmap.mmap(-1, 900 << 20)\nfor i in range(0, 900 << 20, 4096): m[i] = 1\ntime.sleep(9)",
        limits,
    );
    assert!(is_bounded(&shared), "{shared:?}");
    next_row_is_unaffected();
}

/// Each process stays far below the limit per process.
#[test]
fn many_small_processes_are_one_memory_bomb() {
    if !can_isolate() {
        return;
    }
    let limits = Limits {
        memory_mb: 300,
        time_secs: 20,
        ..Limits::default()
    };
    let program = "import os, time\n\
                   for _ in range(30):\n\
                   \x20   if os.fork() == 0:\n\
                   \x20       x = b'x' * (40 << 20)\n\
                   \x20       time.sleep(15); os._exit(0)\n\
                   time.sleep(15)";
    let started = Instant::now();
    let report = python(program, limits);
    assert_eq!(
        report.termination,
        Termination::MemoryLimit,
        "{}",
        report.stderr
    );
    assert!(
        started.elapsed() < Duration::from_secs(12),
        "{:?}",
        started.elapsed()
    );
    next_row_is_unaffected();
}

/// Memory that is not attributed to any process. The seccomp filter refuses the calls that allocate
/// it.
#[test]
fn no_memory_is_allocated_outside_of_processes() {
    if !can_isolate() {
        return;
    }
    let program = "import ctypes\n\
                   c = ctypes.CDLL(None, use_errno=True)\n\
                   for call in (lambda: c.shmget(0, 1 << 26, 0o1600), lambda: c.semget(0, 1000, 0o1600),\n\
                   \x20            lambda: c.msgget(0, 0o1600), lambda: c.syscall(425, 8, 0), lambda: c.syscall(447, 0)):\n\
                   \x20   print(call(), ctypes.get_errno())";
    let report = python(program, five_seconds());
    assert_eq!(report.stdout, "-1 1\n".repeat(5), "{}", report.stderr);
    next_row_is_unaffected();
}

#[test]
fn ten_gigabytes_of_output_are_not_read() {
    if !can_isolate() {
        return;
    }
    let limits = Limits {
        output_kb: 64,
        time_secs: 20,
        ..Limits::default()
    };
    let program = "import sys\nfor _ in range(10 * 1024): sys.stdout.write('x' * (1 << 20))";
    for stream in ["stdout", "stderr"] {
        let started = Instant::now();
        let report = python(&program.replace("stdout", stream), limits.clone());
        assert_eq!(report.termination, Termination::OutputLimit);
        assert!(report.stdout.len() + report.stderr.len() <= 64 * 1024);
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{:?}",
            started.elapsed()
        );
    }
    next_row_is_unaffected();
}

#[test]
fn a_symbolic_link_to_the_host_is_not_followed() {
    if !can_isolate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "untouched").unwrap();
    let program = format!(
        "import os\n\
         os.symlink({:?}, 'out')\n\
         try: print(open('out').read())\n\
         except OSError: print('no')\n\
         try: open('out', 'w').write('x'); print('wrote')\n\
         except OSError: print('no')\n",
        victim.display().to_string()
    );
    let report = python(&program, five_seconds());
    assert_eq!(report.stdout, "no\nno\n", "{}", report.stderr);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "untouched");
    next_row_is_unaffected();
}

#[test]
fn a_daemon_does_not_survive_its_row() {
    if !can_isolate() {
        return;
    }
    // A daemon: it forks twice and closes all streams, so the supervisor does not wait for it.
    let program = "import os, sys\n\
                   if os.fork() == 0:\n\
                   \x20   os.setsid()\n\
                   \x20   if os.fork() == 0:\n\
                   \x20       for n in range(3): os.close(n)\n\
                   \x20       os.execvp('sleep', ['sleep', '86399.25'])\n\
                   \x20   os._exit(0)\n\
                   import time; time.sleep(0.3)\n\
                   print('detached')";
    let started = Instant::now();
    let report = python(program, five_seconds());
    assert_eq!(
        (report.termination, &*report.stdout),
        (Termination::Exited(0), "detached\n")
    );
    assert_eq!(alive("86399.25"), 0, "it is dead when the row is finished");
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "the supervisor did not wait for it"
    );
    let timed_out = python(
        &program.replace("time.sleep(0.3)", "time.sleep(60)"),
        Limits {
            time_secs: 1,
            ..Limits::default()
        },
    );
    assert_eq!(timed_out.termination, Termination::TimedOut);
    assert_eq!(alive("86399.25"), 0, "it is dead after a timeout too");
    next_row_is_unaffected();
}

#[test]
fn no_signal_reaches_the_parent() {
    if !can_isolate() {
        return;
    }
    let program = "import os, signal\n\
                   for pid in [os.getppid(), 1, -1]:\n\
                   \x20   for number in (signal.SIGTERM, signal.SIGUSR1):\n\
                   \x20       signal.signal(number, signal.SIG_IGN)\n\
                   \x20       try: os.kill(pid, number)\n\
                   \x20       except OSError: pass\n\
                   print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit())[-1] < 100)";
    let report = python(program, five_seconds());
    // The shell that started the program may have been killed, but this process was not.
    assert!(
        report.stdout.is_empty() || report.stdout == "True\n",
        "{report:?}"
    );
    next_row_is_unaffected();
}

#[test]
fn the_disk_cannot_be_filled() {
    if !can_isolate() {
        return;
    }
    let limits = Limits {
        disk_mb: 32,
        file_mb: 8,
        time_secs: 10,
        ..Limits::default()
    };
    let program = "import os, signal\n\
                   signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n\
                   for folder in ('.', '/tmp', '/dev/shm', '/box'):\n\
                   \x20   total = 0\n\
                   \x20   for n in range(100):\n\
                   \x20       try:\n\
                   \x20           with open(f'{folder}/f{n}', 'wb', buffering=0) as f:\n\
                   \x20               while True: total += f.write(b'x' * (1 << 20))\n\
                   \x20       except OSError as e: last = e.errno\n\
                   \x20   print(folder, total <= 32 << 20, last)";
    let report = python(program, limits);
    let expected = ". True 28\n/tmp True 28\n/dev/shm True 28\n/box True 28\n";
    assert_eq!(report.stdout, expected, "{}", report.stderr);
    let one = "import signal\n\
               signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n\
               f = open('f', 'wb', buffering=0); total = 0\n\
               try:\n\
               \x20   while True: total += f.write(b'x' * (1 << 20))\n\
               except OSError as e: print(total >> 20, e.errno)";
    let one = python(
        one,
        Limits {
            disk_mb: 32,
            file_mb: 8,
            ..five_seconds()
        },
    );
    assert_eq!(one.stdout, "8 27\n", "{}", one.stderr);
    next_row_is_unaffected();
}

#[test]
fn no_further_sandbox_is_made_inside() {
    if !can_isolate() {
        return;
    }
    let report = python(
        "import subprocess\n\
         print(subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode != 0)\n\
         print(open('/proc/self/status').read().split('CapEff:')[1].split()[0])\n\
         print(open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0])",
        five_seconds(),
    );
    assert_eq!(
        report.stdout, "True\n0000000000000000\n1\n",
        "{}",
        report.stderr
    );
}

#[test]
fn a_run_whose_future_is_dropped_is_killed() {
    if !can_isolate() {
        return;
    }
    use dsrs_metrics::sandbox::{Bubblewrap, Job, SandboxProvider};
    let command = "exec sleep 86398.25".to_owned();
    let job = Job {
        command,
        limits: Limits {
            time_secs: 100,
            ..Limits::default()
        },
        ..Job::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let provider = Bubblewrap::new();
    runtime.block_on(async {
        let run = provider.run(&job);
        assert!(
            tokio::time::timeout(Duration::from_millis(500), run)
                .await
                .is_err()
        );
    });
    let until = Instant::now() + Duration::from_secs(3);
    while alive("86398.25") > 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(alive("86398.25"), 0);
}

#[test]
fn the_standard_input_is_empty() {
    if !can_isolate() {
        return;
    }
    let report = python("import sys; print(repr(sys.stdin.read()))", five_seconds());
    assert_eq!(report.stdout, "''\n");
}
