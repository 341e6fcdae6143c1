//! Attempts to hold more memory than the limit of 100 MiB: each has a sandbox of its own, once for
//! each mechanism of accounting. None allocates more than 400 MiB in the end.

pub(super) const MEMORY: &[(&str, &str)] = &[
    (
        "in one process",
        "x = bytearray(400 * MIB); touch(ctypes.addressof((ctypes.c_char * 1).from_buffer(x)), len(x)); hold(400)",
    ),
    (
        "in many processes",
        "for _ in range(10):\n\
         \x20   if os.fork() == 0: x = b'x' * (40 * MIB); time.sleep(3); os._exit(0)\n\
         time.sleep(1); hold(400)",
    ),
    (
        "in files without a name",
        "fds = [os.memfd_create('x') for _ in range(10)]\n\
         for fd in fds:\n\
         \x20   for _ in range(40): os.write(fd, b'x' * MIB)\n\
         hold(400)",
    ),
    (
        "in files that were sent and closed",
        "a, b = socket.socketpair()\n\
         for _ in range(10):\n\
         \x20   fd = os.memfd_create('x')\n\
         \x20   for _ in range(40): os.write(fd, b'x' * MIB)\n\
         \x20   socket.send_fds(a, [b'x'], [fd]); os.close(fd)\n\
         hold(400)",
    ),
    (
        "in files of a thread with its own table",
        "def work():\n\
         \x20   try:\n\
         \x20       call('unshare', 0x400)\n\
         \x20       fds = [os.memfd_create('x') for _ in range(10)]\n\
         \x20       for fd in fds:\n\
         \x20           for _ in range(40): os.write(fd, b'x' * MIB)\n\
         \x20       hold(400)\n\
         \x20   except OSError as error: print('refused', error, flush=True)\n\
         t = threading.Thread(target=work); t.start(); t.join()",
    ),
    (
        "in files that are mapped, not touched, and closed",
        "for _ in range(20):\n\
         \x20   fd = os.memfd_create('x')\n\
         \x20   for _ in range(20): os.write(fd, b'x' * MIB)\n\
         \x20   mapped(20 * MIB, 1, fd); os.close(fd)\n\
         hold(400)",
    ),
    (
        "in processes whose first thread has exited",
        "def work():\n\
         \x20   time.sleep(0.2); x = b'x' * (40 * MIB); time.sleep(3); os._exit(0)\n\
         for _ in range(10):\n\
         \x20   if os.fork() == 0: threading.Thread(target=work).start(); call('exit', 0)\n\
         time.sleep(1.2); hold(400)",
    ),
    (
        "in a shared mapping of a process whose first thread has exited",
        "def work():\n\
         \x20   try: touch(mapped(400 * MIB, 0x21), 400 * MIB); hold(400)\n\
         \x20   except OSError as error: print('refused', error, flush=True)\n\
         threading.Thread(target=work).start(); call('exit', 0)",
    ),
    (
        "in a shared mapping",
        "touch(mapped(400 * MIB, 0x21), 400 * MIB); hold(400)",
    ),
    (
        "in a shared mapping without page tables",
        "at = mapped(400 * MIB, 0x21)\n\
         for n in range(100): touch(at + n * 4 * MIB, 4 * MIB); C.madvise(at + n * 4 * MIB, 4 * MIB, 4)\n\
         hold(400)",
    ),
    (
        "in shared mappings with one page left",
        "for n in range(20): at = mapped(20 * MIB, 0x21); touch(at, 20 * MIB); C.munmap(at + 4096, 20 * MIB - 4096)\n\
         hold(400)",
    ),
    (
        "in mappings of /dev/zero with one page left",
        "fd = os.open('/dev/zero', os.O_RDWR)\n\
         for n in range(20): at = mapped(20 * MIB, 1, fd); touch(at, 20 * MIB); C.munmap(at + 4096, 20 * MIB - 4096)\n\
         hold(400)",
    ),
    (
        "in tables of pages that are only read",
        "n = 0\n\
         for _ in range(800):\n\
         \x20   at = C.mmap(None, 256 * MIB, 1, 0x4022, -1, 0)\n\
         \x20   if at in (None, ctypes.c_void_p(-1).value): checked(-1)\n\
         \x20   C.madvise(at, 256 * MIB, 15)\n\
         \x20   for k in range(128): ctypes.string_at(at + k * 2 * MIB, 1); n += 4096\n\
         hold(n >> 20)",
    ),
    (
        "in buffers of stream sockets",
        "held = 0; keep = []\n\
         try:\n\
         \x20   while held < 400 * MIB:\n\
         \x20       pair = socket.socketpair(); keep.append(pair)\n\
         \x20       for s in pair:\n\
         \x20           s.setblocking(False); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)\n\
         \x20           try:\n\
         \x20               while True: held += s.send(b'x' * 65000)\n\
         \x20           except BlockingIOError: pass\n\
         except OSError: pass\n\
         hold(held >> 20)",
    ),
    (
        "in buffers of datagram sockets",
        "held = 0; keep = []\n\
         try:\n\
         \x20   while held < 400 * MIB:\n\
         \x20       s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind('/tmp/%d' % len(keep)); keep.append(s)\n\
         \x20       for _ in range(20):\n\
         \x20           c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); c.setblocking(False)\n\
         \x20           try: held += c.sendto(b'x' * 200000, s.getsockname())\n\
         \x20           except BlockingIOError: pass\n\
         \x20           c.close()\n\
         except OSError: pass\n\
         hold(held >> 20)",
    ),
    (
        "in connections that are never accepted",
        "held = 0; s = socket.socket(socket.AF_UNIX); s.bind('/tmp/s'); s.listen(4096)\n\
         while held < 400 * MIB:\n\
         \x20   c = socket.socket(socket.AF_UNIX); c.setblocking(False); c.connect('/tmp/s')\n\
         \x20   try:\n\
         \x20       while True: held += c.send(b'x' * 65000)\n\
         \x20   except BlockingIOError: pass\n\
         \x20   c.close()\n\
         hold(held >> 20)",
    ),
    (
        "in buffers of TCP",
        "held = 0; keep = []; l = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen(200)\n\
         try:\n\
         \x20   while held < 400 * MIB:\n\
         \x20       a = socket.create_connection(l.getsockname(), timeout=1); b, _ = l.accept(); keep.append((a, b)); a.setblocking(False)\n\
         \x20       a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30); b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 30)\n\
         \x20       try:\n\
         \x20           while True: held += a.send(b'x' * 65000)\n\
         \x20       except BlockingIOError: pass\n\
         except OSError: pass\n\
         hold(held >> 20)",
    ),
    (
        "in buffers of UDP",
        "held = 0; keep = []\n\
         try:\n\
         \x20   while len(keep) < 90:\n\
         \x20       s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 30)\n\
         \x20       s.bind(('127.0.0.1', 0)); keep.append(s)\n\
         \x20       for _ in range(100): s.sendto(b'x' * 60000, s.getsockname())\n\
         except OSError: pass\n\
         for s in keep:\n\
         \x20   s.setblocking(False)\n\
         \x20   try:\n\
         \x20       while True: held += len(s.recv(65536))\n\
         \x20   except OSError: pass\n\
         hold(held >> 20)",
    ),
    (
        "in pipes",
        "held = 0\n\
         for _ in range(8):\n\
         \x20   r, w = os.pipe()\n\
         \x20   if os.fork(): os.close(w); held += int(os.read(r, 20) or b'0'); os.close(r); continue\n\
         \x20   keep = []; mine = 0\n\
         \x20   try:\n\
         \x20       while mine < 50 * MIB:\n\
         \x20           pipe = os.pipe(); keep.append(pipe)\n\
         \x20           try: fcntl.fcntl(pipe[1], 1031, MIB)\n\
         \x20           except OSError: pass\n\
         \x20           os.set_blocking(pipe[1], False)\n\
         \x20           try:\n\
         \x20               while True: mine += os.write(pipe[1], b'x' * 65536)\n\
         \x20           except BlockingIOError: pass\n\
         \x20   except OSError: pass\n\
         \x20   os.write(w, b'%d' % mine); os.close(w); time.sleep(3); os._exit(0)\n\
         hold(held >> 20)",
    ),
    (
        "in empty files",
        "n = 0\n\
         while n < 400_000:\n\
         \x20   if n % 2000 == 0: os.mkdir('/tmp/d%d' % (n // 2000))\n\
         \x20   os.close(os.open('/tmp/d%d/%d' % (n // 2000, n), os.O_CREAT | os.O_WRONLY)); n += 1\n\
         hold(n >> 10)",
    ),
    (
        "in symbolic links with long names",
        "n = 0\n\
         while n < 300_000:\n\
         \x20   if n % 2000 == 0: os.mkdir('/dev/shm/d%d' % (n // 2000))\n\
         \x20   os.symlink('y' * 120, '/dev/shm/d%d/%s%d' % (n // 2000, 'x' * 240, n)); n += 1\n\
         hold(n // 700)",
    ),
    (
        "in files that are deleted but open",
        "for name in ('/tmp/', '/dev/shm/', ''):\n\
         \x20   for n in range(3):\n\
         \x20       fd = os.open(name + str(n), os.O_CREAT | os.O_RDWR); os.unlink(name + str(n))\n\
         \x20       for _ in range(45): os.write(fd, b'x' * MIB)\n\
         hold(400)",
    ),
];
