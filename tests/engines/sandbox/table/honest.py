"""A program that does what tested programs do, for a while."""
from prelude import *

until = time.time() + float(sys.argv[1])
while True:
    a, b = socket.socketpair()
    socket.send_fds(a, [b'x'], [0])
    for fd in socket.recv_fds(b, 1, 1)[1]:
        os.close(fd)
    a.close(), b.close()
    os.close(checked(C.inotify_init()))
    for name in ('file', '/tmp/file', '/dev/shm/file'):
        open(name, 'w').write('x' * 1000)
        assert len(open(name).read()) == 1000
    assert subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout == 'hi\n'
    sums = []
    threads = [threading.Thread(target=lambda: sums.append(sum(range(1000)))) for _ in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert sums == [499500] * 4
    with socket.socket() as server, socket.socket() as client:
        server.bind(('127.0.0.1', 0)), server.listen()
        client.connect(server.getsockname()), client.send(b'x')
    assert bytes(20 * MIB) == bytearray(20 * MIB)
    if time.time() > until:
        break
    time.sleep(0.05)
print('honest')
