//! Attempts to take other resources, to outlive the row, or to change its result. Each has a sandbox
//! of its own, with 2 seconds, 64 KiB of output, 24 processes and 16 MiB of files.

use dsrs_metrics::sandbox::Termination;

/// What contains an attack.
#[derive(Debug, Clone, Copy)]
pub(super) enum Contained {
    /// The attempt of the program is refused, and the program terminates by itself.
    Exits,
    /// The sandbox stops it.
    Stopped(Termination),
    /// One of both, depending on the scheduler.
    Any,
}

use Contained::{Any, Exits, Stopped};

pub(super) const BOMBS: &[(&str, Contained, &str)] = &[
    (
        "fork without end",
        Any,
        "started = time.time()\n\
         while time.time() - started < 9:\n\
         \x20   try: os.fork()\n\
         \x20   except OSError: time.sleep(0.01)\n\
         escaped('nine seconds')",
    ),
    (
        "start threads without end",
        Exits,
        "n = 0\n\
         try:\n\
         \x20   while n < 500: threading.Thread(target=time.sleep, args=(1,), daemon=True).start(); n += 1\n\
         \x20   escaped(n)\n\
         except RuntimeError: print('refused', n, flush=True)",
    ),
    (
        "open files without end",
        Exits,
        "fds = [os.open('/dev/null', 0) for _ in range(5000)]; escaped(len(fds))",
    ),
    (
        "write to standard output without end",
        Stopped(Termination::OutputLimit),
        "while True: sys.stdout.write('x' * 65536)",
    ),
    (
        "write to standard error without end",
        Stopped(Termination::OutputLimit),
        "while True: sys.stderr.write('x' * 65536)",
    ),
    (
        "write to standard error slowly",
        Any,
        "while True: sys.stderr.write('x' * 100); sys.stderr.flush(); time.sleep(0.0001)",
    ),
    (
        "sleep",
        Stopped(Termination::TimedOut),
        "time.sleep(60); escaped()",
    ),
    (
        "sleep and ignore all signals",
        Stopped(Termination::TimedOut),
        "for s in range(1, 65):\n\
         \x20   try: signal.signal(s, signal.SIG_IGN)\n\
         \x20   except (OSError, ValueError): pass\n\
         time.sleep(60); escaped()",
    ),
    (
        "compute and ignore the limit of processor time",
        Stopped(Termination::TimedOut),
        "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
    ),
    (
        "take all processors",
        Stopped(Termination::TimedOut),
        "for _ in range(20):\n\
         \x20   if os.fork() == 0: break\n\
         while True: pass",
    ),
    (
        "stop the process group",
        Stopped(Termination::TimedOut),
        "os.kill(0, signal.SIGSTOP); time.sleep(60); escaped()",
    ),
    ("kill all processes", Exits, "os.kill(-1, signal.SIGKILL)"),
    (
        "kill the shell of the command",
        Exits,
        "os.kill(SHELL, signal.SIGKILL); time.sleep(0.2)",
    ),
    (
        "recurse without end",
        Any,
        "resource.setrlimit(resource.RLIMIT_STACK, (64 * MIB, 64 * MIB))\n\
         sys.setrecursionlimit(10 ** 9)\n\
         def f(): f()\n\
         threading.stack_size(32 * MIB); t = threading.Thread(target=f); t.start(); t.join()",
    ),
    (
        "fill the work directory",
        Exits,
        "while True: open('a', 'ab').write(b'x' * MIB)",
    ),
    (
        "fill the private directories",
        Exits,
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); total = 0\n\
         for folder in ('.', '/tmp', '/dev/shm', '/box/home'):\n\
         \x20   for n in range(100):\n\
         \x20       try: total += open(f'{folder}/f{n}', 'wb', 0).write(b'x' * MIB)\n\
         \x20       except OSError: break\n\
         if total > 3 * 16 * MIB: escaped(total)",
    ),
    (
        "leave a daemon",
        Exits,
        "if os.fork() == 0:\n\
         \x20   os.setsid()\n\
         \x20   if os.fork() == 0:\n\
         \x20       for n in range(3): os.close(n)\n\
         \x20       os.execvp('sleep', ['sleep', '86397.25'])\n\
         \x20   os._exit(0)\n\
         time.sleep(0.3)",
    ),
    (
        "patch the shell that reports the exit code",
        Exits,
        "for pid in (1, SHELL):\n\
         \x20   for line in open(f'/proc/{pid}/maps'):\n\
         \x20       at, end = (int(x, 16) for x in line.split()[0].split('-'))\n\
         \x20       if 'r-xp' not in line: continue\n\
         \x20       f = open(f'/proc/{pid}/mem', 'r+b', 0); f.seek(at); f.write(b'\\x90' * (end - at)); escaped()",
    ),
    (
        "trace the shell that reports the exit code",
        Exits,
        "for pid in (SHELL, 1): escaped(call('ptrace', 16, pid, 0, 0))",
    ),
    (
        "set the exit code by the limits of the shell",
        Any,
        "for name in (resource.RLIMIT_CPU, resource.RLIMIT_DATA): resource.prlimit(SHELL, name, (0, 0)); resource.prlimit(1, name, (0, 0))",
    ),
    (
        "forge the message of a ready sandbox",
        Exits,
        "sys.stderr.write('dsrs-sandbox: ready\\n' * 3)",
    ),
    (
        "exhaust the watches of the kernel",
        Exits,
        "n = 0\n\
         try:\n\
         \x20   while n < 100000: checked(C.inotify_init()); n += 1\n\
         except OSError: pass\n\
         print('instances', n, flush=True)",
    ),
];

/// What a row leaves for the next: the first program of each writes, the second looks for it and
/// reports it as an escape.
pub(super) const STATES: &[(&str, &str, &str)] = &[
    (
        "a file in /tmp",
        "open('/tmp/left', 'w').write('x')",
        "if os.path.exists('/tmp/left'): escaped()",
    ),
    (
        "a file in /dev/shm",
        "open('/dev/shm/left', 'w').write('x')",
        "if os.path.exists('/dev/shm/left'): escaped()",
    ),
    (
        "a file at home",
        "open('/box/home/left', 'w').write('x')",
        "if os.path.exists('/box/home/left') or os.path.exists(os.environ['HOME'] + '/left'): escaped()",
    ),
    (
        "a file in the work directory",
        "open('left', 'w').write('x')",
        "if os.path.exists('left'): escaped()",
    ),
    (
        "a message queue",
        "call('mq_open', b'left', 0o102, 0o666, 0)",
        "escaped(call('mq_open', b'left', 0o2, 0, 0))",
    ),
    (
        "a key that everyone may read",
        "key = call('add_key', b'user', b'left', b'secret', 6, -5); call('keyctl', 5, key, 0x3f3f3f3f)",
        "if 'left' in open('/proc/keys').read(): escaped()",
    ),
    (
        "a key in the session",
        "call('add_key', b'user', b'left', b'secret', 6, -3)",
        "escaped(call('keyctl', 10, -3, b'user', b'left', 0))",
    ),
    (
        "System V shared memory",
        "call('shmget', 4711, 4096, 0o1666)",
        "escaped(call('shmget', 4711, 4096, 0o666))",
    ),
    (
        "a socket with an abstract name",
        "s = socket.socket(socket.AF_UNIX); s.bind('\\0left'); s.listen(1); time.sleep(0.5)",
        "s = socket.socket(socket.AF_UNIX); s.connect('\\0left'); escaped()",
    ),
];
