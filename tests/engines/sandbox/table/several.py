"""Runs each attack of `attacks.json` in a process of its own, and prints what it printed."""
import json
import prelude
from prelude import *

for name, code in json.load(open('attacks.json')):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 1)
        os.close(reader)
        os.close(writer)
        signal.alarm(10)
        prelude.run(code)
        os._exit(0)
    os.close(writer)
    printed = open(reader, 'rb').read().decode()
    os.waitpid(child, 0)
    print(json.dumps([name, printed]), flush=True)
