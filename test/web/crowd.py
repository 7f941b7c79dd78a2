#!/usr/bin/env python3
"""crowd.py LINK N SECONDS: logs in with a link of achctl web and opens N WebSockets of the page; the first half read, the others never do.

Prints how many of those that read got data in the last two seconds, and how many of the others were dropped."""
import selectors
import sys
import time

sys.dont_write_bytecode = True
from session import Session

session, n, seconds = Session(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
readers = [session.page(4096).socket for _ in range(n // 2)]
others = [session.page(4096).socket for _ in range(n - n // 2)]
watch = selectors.DefaultSelector()
for one in readers:
    watch.register(one, selectors.EVENT_READ)
last = {}
end = time.monotonic() + seconds
while time.monotonic() < end:
    for key, _ in watch.select(0.1):
        try:
            data = key.fileobj.recv(65536)
        except ConnectionResetError:
            data = b""
        if data:
            last[key.fileobj] = time.monotonic()
        else:
            watch.unregister(key.fileobj)
alive = sum(end - at < 2 for at in last.values())
dropped = 0
for one in others:  # what is left in the buffers, then the end
    one.settimeout(1)
    try:
        while one.recv(65536):
            pass
        dropped += 1
    except ConnectionResetError:
        dropped += 1
    except TimeoutError:
        pass
print(alive, dropped)
