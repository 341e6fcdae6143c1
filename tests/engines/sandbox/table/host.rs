//! Attempts to reach the host: its files, devices, processes and sockets. Many share a sandbox.
//! `{tcp}`, `{udp}`, `{abstract}`, `{unix}` and `{secret}` are replaced by the ports, paths and secrets of
//! the host that the test has created.

pub(super) const HOST: &[(&str, &str)] = &[
    (
        "read a file of the host",
        "escaped(open('{secret}').read())",
    ),
    ("read passwords", "escaped(open('/etc/shadow').read())"),
    ("read the users", "escaped(open('/etc/passwd').read())"),
    (
        "list home directories",
        "escaped(os.listdir('/home'), os.listdir('/root'))",
    ),
    (
        "find a file of a home directory that is not part of a toolchain",
        "private = {'.bashrc', '.profile', '.bash_history', '.netrc', '.gitconfig', '.ssh', '.cache', '.config', '.aws', 'credentials.toml', 'settings.toml', 'registry'}\n\
         for top in ('/root', '/home'):\n\
         \x20   for folder, folders, files in os.walk(top):\n\
         \x20       if '/toolchains/' in folder or '/versions/' in folder: folders.clear(); continue\n\
         \x20       found = private & {*folders, *files}\n\
         \x20       if found: escaped(folder, found)\n\
         print('refused')",
    ),
    (
        "list configuration below /usr/local",
        "if os.listdir('/usr/local/etc'): escaped()",
    ),
    (
        "list sources below /usr/local",
        "if os.listdir('/usr/local/src'): escaped()",
    ),
    (
        "list the sources of the host",
        "if os.listdir('/usr/src'): escaped()",
    ),
    (
        "list state and sockets",
        "escaped(os.listdir('/var'), os.listdir('/run'))",
    ),
    ("list devices of the system", "escaped(os.listdir('/sys'))"),
    (
        "reach the host through process 1",
        "escaped(open('/proc/1/root/etc/shadow').read())",
    ),
    (
        "leave the root by its parent",
        "escaped(open('/proc/self/root/../../etc/passwd').read())",
    ),
    (
        "follow a symbolic link to the host",
        "os.symlink('{secret}', '/tmp/link'); escaped(open('/tmp/link').read())",
    ),
    (
        "read the memory of the machine",
        "escaped(open('/proc/kcore', 'rb').read(4), open('/dev/mem', 'rb'))",
    ),
    (
        "read messages of the kernel",
        "escaped(open('/dev/kmsg').read(1))",
    ),
    (
        "open a device of the host",
        "[escaped(d) for d in ('vda', 'sda', 'kvm', 'fuse', 'net/tun') if os.path.exists('/dev/' + d)]",
    ),
    (
        "create a block device",
        "os.mknod('/tmp/n', stat.S_IFBLK | 0o666, os.makedev(254, 0)); escaped()",
    ),
    (
        "create a character device",
        "os.mknod('/tmp/c', stat.S_IFCHR | 0o666, os.makedev(1, 1)); escaped()",
    ),
    (
        "change a setting of the kernel",
        "open('/proc/sys/kernel/hostname', 'w').write('x'); escaped()",
    ),
    (
        "trigger a request to the kernel",
        "open('/proc/sysrq-trigger', 'w').write('h'); escaped()",
    ),
    (
        "write outside of the private directories",
        "for folder in ('/', '/usr', '/usr/bin', '/usr/local', '/usr/src', '/usr/local/etc', '/etc', '/dev', '/in', '/init', '/bin'):\n\
         \x20   try: open(folder + '/pwned', 'w'); escaped(folder)\n\
         \x20   except OSError: pass",
    ),
    (
        "change an input file",
        "os.chmod('/in/main.py', 0o777); escaped()",
    ),
    (
        "run a file as its owner",
        "open('/tmp/s', 'w').write('#!/bin/sh\\nid -u'); os.chmod('/tmp/s', 0o4755)\n\
         out = subprocess.run(['/tmp/s'], capture_output=True, text=True).stdout.strip()\n\
         if out != '1000': escaped(out)",
    ),
    (
        "become another user by a program",
        "for command in ('su -c id', 'sudo -n id', 'newgrp root -c id', 'pkexec id'):\n\
         \x20   run = subprocess.run(command, shell=True, capture_output=True, stdin=subprocess.DEVNULL)\n\
         \x20   if run.returncode == 0: escaped(command)",
    ),
    (
        "make a sandbox inside",
        "for command in ('unshare -Ur true', 'unshare -m true', 'bwrap --bind / / true', 'chroot /tmp true', 'nsenter -t 1 -a true'):\n\
         \x20   run = subprocess.run(command, shell=True, capture_output=True)\n\
         \x20   if run.returncode == 0: escaped(command)",
    ),
    (
        "find variables of the host",
        "if set(os.environ) - {'HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR', 'LC_CTYPE', 'PYTHONNOUSERSITE', 'CARGO_NET_OFFLINE'}: escaped(dict(os.environ))",
    ),
    (
        "find an open file of the host",
        "links = [os.readlink('/proc/self/fd/' + fd) for fd in os.listdir('/proc/self/fd') if os.path.lexists('/proc/self/fd/' + fd)]\n\
         if [l for l in links if not l.startswith(('pipe:', '/dev/null', '/proc/', '/box', '/tmp', 'anon'))]: escaped(links)",
    ),
    (
        "find a process of the host",
        "pids = [int(p) for p in os.listdir('/proc') if p.isdigit()]\n\
         if max(pids) > 2000: escaped(pids)",
    ),
    (
        "open the terminal",
        "fd = os.open('/dev/tty', os.O_RDWR); fcntl.ioctl(fd, 0x5412, b'x'); escaped()",
    ),
    (
        "type into the terminal of the input",
        "fcntl.ioctl(0, 0x5412, b'x'); escaped()",
    ),
    (
        "connect to the host by TCP",
        "socket.create_connection(('127.0.0.1', {tcp}), timeout=1); escaped()",
    ),
    (
        "send to the host by UDP",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', {udp})); s.send(b'x')",
    ),
    (
        "connect by an abstract name",
        "s = socket.socket(socket.AF_UNIX); s.connect('\\0{abstract}'); escaped()",
    ),
    (
        "connect by a path",
        "s = socket.socket(socket.AF_UNIX); s.connect('{unix}'); escaped()",
    ),
    (
        "connect by IPv6",
        "s = socket.socket(socket.AF_INET6); s.connect(('::1', {tcp})); escaped()",
    ),
    (
        "find a network interface",
        "if [name for _, name in socket.if_nameindex() if name != 'lo']: escaped(socket.if_nameindex())",
    ),
];
