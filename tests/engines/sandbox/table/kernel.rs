//! Attacks on the kernel: calls, sockets and processes. Each is one attempt, and many share a
//! sandbox, each in a process of its own.

pub(super) const KERNEL: &[(&str, &str)] = &[
    (
        "read the session keyring",
        "escaped(call('keyctl', 0, -3, 0))",
    ),
    (
        "create a session keyring",
        "escaped(call('keyctl', 1, b'mine'))",
    ),
    (
        "search the session keyring",
        "escaped(call('keyctl', 10, -3, b'user', b'api_token', 0))",
    ),
    (
        "add a key to the session",
        "escaped(call('add_key', b'user', b'k', b'v', 1, -3))",
    ),
    (
        "add a key to the user session",
        "escaped(call('add_key', b'user', b'k', b'v', 1, -5))",
    ),
    (
        "add a key to the user",
        "escaped(call('add_key', b'user', b'k', b'v', 1, -4))",
    ),
    (
        "request a key",
        "escaped(call('request_key', b'user', b'k', 0, -3))",
    ),
    (
        "create a stream socket of the hypervisor",
        "escaped(socket.socket(40, socket.SOCK_STREAM))",
    ),
    (
        "create a datagram socket of the hypervisor",
        "escaped(socket.socket(40, socket.SOCK_DGRAM))",
    ),
    (
        "create a packet socket",
        "escaped(socket.socket(17, socket.SOCK_RAW, 3))",
    ),
    (
        "create a raw socket",
        "escaped(socket.socket(2, socket.SOCK_RAW, 1))",
    ),
    (
        "create a socket of the crypto API",
        "escaped(socket.socket(38, socket.SOCK_SEQPACKET))",
    ),
    (
        "create a Bluetooth socket",
        "escaped(socket.socket(31, socket.SOCK_RAW, 1))",
    ),
    (
        "create a CAN socket",
        "escaped(socket.socket(29, socket.SOCK_RAW, 1))",
    ),
    (
        "create a TIPC socket",
        "escaped(socket.socket(30, socket.SOCK_STREAM))",
    ),
    (
        "create a pair of TIPC sockets",
        "escaped(socket.socketpair(30, socket.SOCK_STREAM))",
    ),
    (
        "create an XDP socket",
        "escaped(socket.socket(44, socket.SOCK_RAW))",
    ),
    (
        "create an SCTP socket",
        "escaped(socket.socket(2, socket.SOCK_STREAM, 132))",
    ),
    (
        "create an MPTCP socket",
        "escaped(socket.socket(2, socket.SOCK_STREAM, 262))",
    ),
    (
        "listen to kernel events",
        "escaped(socket.socket(16, socket.SOCK_RAW, 15))",
    ),
    (
        "configure the firewall",
        "escaped(socket.socket(16, socket.SOCK_RAW, 12))",
    ),
    (
        "exchange messages by netlink",
        "escaped(socket.socket(16, socket.SOCK_RAW, 2))",
    ),
    (
        "attach to process 1",
        "escaped(call('ptrace', 16, 1, 0, 0))",
    ),
    (
        "seize the parent",
        "escaped(call('ptrace', 0x4206, os.getppid(), 0, 0))",
    ),
    (
        "read the memory of process 1 by a call",
        "b = ctypes.create_string_buffer(8); v = (ctypes.c_ulong * 2)(ctypes.addressof(b), 8)\n\
         escaped(call('process_vm_readv', 1, v, 1, v, 1, 0))",
    ),
    (
        "write the memory of the parent by a call",
        "b = ctypes.create_string_buffer(8); v = (ctypes.c_ulong * 2)(ctypes.addressof(b), 8)\n\
         escaped(call('process_vm_writev', os.getppid(), v, 1, v, 1, 0))",
    ),
    (
        "take a descriptor of process 1",
        "escaped(call('pidfd_getfd', call('pidfd_open', 1, 0), 1, 0))",
    ),
    (
        "read the memory of process 1 by a file",
        "escaped(open('/proc/1/mem', 'rb', 0))",
    ),
    (
        "write the memory of process 1 by a file",
        "escaped(open('/proc/1/mem', 'r+b', 0))",
    ),
    (
        "write the memory of the command's shell",
        "escaped(open(f'/proc/{SHELL}/mem', 'r+b', 0))",
    ),
    (
        "read the shell that starts the command",
        "escaped(open('/init/sh', 'rb').read(4))",
    ),
    (
        "make the shell readable",
        "os.chmod('/init/sh', 0o755); escaped()",
    ),
    (
        "replace the shell",
        "os.rename('/init/sh', '/init/x'); escaped()",
    ),
    (
        "read the environment of process 1",
        "escaped(open('/proc/1/environ', 'rb').read())",
    ),
    (
        "list the descriptors of process 1",
        "escaped(os.listdir('/proc/1/fd'))",
    ),
    (
        "allocate System V shared memory",
        "escaped(call('shmget', 0, MIB, 0o1600))",
    ),
    (
        "allocate System V semaphores",
        "escaped(call('semget', 0, 1000, 0o1600))",
    ),
    (
        "create a System V message queue",
        "escaped(call('msgget', 0, 0o1600))",
    ),
    (
        "create an io_uring",
        "escaped(call('io_uring_setup', 8, ctypes.create_string_buffer(256)))",
    ),
    ("allocate secret memory", "escaped(call('memfd_secret', 0))"),
    (
        "create a BPF map",
        "escaped(call('bpf', 0, struct.pack('IIII', 2, 4, 4, 1) + bytes(100), 116))",
    ),
    (
        "open a performance counter",
        "escaped(call('perf_event_open', struct.pack('IIQ', 1, 112, 0) + bytes(96), 0, -1, -1, 0))",
    ),
    (
        "call by the x32 ABI",
        "if platform.machine() == 'x86_64': escaped(checked(C.syscall(0x40000000 + 29, 0, MIB, 0o1600)))",
    ),
    (
        "mount a file system",
        "escaped(call('mount', b'x', b'/tmp', b'tmpfs', 0, 0))",
    ),
    (
        "make the root writable",
        "escaped(call('mount', 0, b'/', 0, 32 | 4096, 0))",
    ),
    (
        "unmount a file system",
        "escaped(call('umount2', b'/tmp', 2))",
    ),
    (
        "unmount what hides a directory",
        "escaped(call('umount2', b'/usr/src', 2))",
    ),
    (
        "replace the root",
        "escaped(call('pivot_root', b'/tmp', b'/tmp'))",
    ),
    ("change the root", "os.chroot('/tmp'); escaped()"),
    (
        "create a user namespace",
        "escaped(call('unshare', 0x10000000))",
    ),
    (
        "create a mount namespace",
        "escaped(call('unshare', 0x20000))",
    ),
    (
        "create a process in a user namespace",
        "escaped(call('clone3', struct.pack('11Q', 0x10000000, *[0] * 3, 17, *[0] * 6), 88))",
    ),
    (
        "enter the namespace of process 1",
        "escaped(call('setns', os.open('/proc/1/ns/mnt', 0), 0))",
    ),
    (
        "enter another namespace by its process",
        "escaped(call('setns', call('pidfd_open', 1, 0), 0x20000))",
    ),
    ("open a file system", "escaped(call('fsopen', b'tmpfs', 0))"),
    (
        "clone the tree of mounts",
        "escaped(call('open_tree', -100, b'/', 1))",
    ),
    (
        "open a file by its handle",
        "escaped(call('open_by_handle_at', 0, bytes(64), 0))",
    ),
    (
        "load a module",
        "escaped(call('init_module', b'x', 1, b''))",
    ),
    ("load a kernel", "escaped(call('kexec_load', 0, 0, 0, 0))"),
    (
        "control the reboot key",
        "escaped(call('reboot', 0xfee1dead, 672274793, 0, 0))",
    ),
    (
        "set the clock",
        "escaped(call('clock_settime', 0, (ctypes.c_long * 2)(0, 0)))",
    ),
    (
        "use a file as swap space",
        "open('/tmp/s', 'w').close(); escaped(call('swapon', b'/tmp/s', 0))",
    ),
    (
        "keep accounts of processes",
        "escaped(call('acct', b'/tmp/a'))",
    ),
    (
        "read the kernel log",
        "escaped(call('syslog', 3, ctypes.create_string_buffer(9), 9))",
    ),
    (
        "watch a whole file system",
        "escaped(call('fanotify_init', 4, 0))",
    ),
    ("become root", "os.setuid(0); escaped()"),
    ("change groups", "os.setgroups([0]); escaped()"),
    (
        "take the highest priority",
        "os.setpriority(os.PRIO_PROCESS, 0, -20); escaped()",
    ),
    (
        "take real-time priority",
        "escaped(call('sched_setscheduler', 0, 1, ctypes.byref(ctypes.c_int(1))))",
    ),
    (
        "change the host name",
        "escaped(call('sethostname', b'x', 1))",
    ),
    (
        "raise a limit",
        "names = [n for n in dir(resource) if n in ('RLIMIT_DATA', 'RLIMIT_NPROC', 'RLIMIT_FSIZE', 'RLIMIT_CPU', 'RLIMIT_NOFILE', 'RLIMIT_CORE')]\n\
         for name in names:\n\
         \x20   try: resource.setrlimit(getattr(resource, name), (-1, -1)); escaped(name)\n\
         \x20   except ValueError: pass",
    ),
    (
        "stop process 1",
        "for s in (signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM): os.kill(1, s)\n\
         time.sleep(0.1)\n\
         if open('/proc/1/stat').read().split()[2] in 'TZX': escaped()",
    ),
];
