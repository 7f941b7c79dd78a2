#!/usr/bin/env python3
"""crowd.py ORIGIN COOKIE N SECONDS: opens N WebSockets of the page; the first half read, the others never do.

Prints how many of those that read got data in the last two seconds, and how many of the others were dropped."""
import selectors
import socket
import sys
import time

origin, cookie, n, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
host, port = origin.removeprefix("http://").rsplit(":", 1)
HEAD = (f"GET /socket HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {origin}\r\nCookie: {cookie}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


def connect():
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.connect((host, int(port)))
    one.sendall(HEAD.encode())
    return one


readers = [connect() for _ in range(n // 2)]
others = [connect() for _ in range(n - n // 2)]
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
