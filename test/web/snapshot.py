#!/usr/bin/env python3
"""snapshot.py LINK PATTERN [SOCKET]: logs in with a link of achctl web, and reads snapshots of the robot until one, as
JSON without blanks, matches the pattern; prints that one.  SOCKET: the local socket that serves the page."""
import json
import re
import socket
import sys
import time

link, pattern = sys.argv[1:3]
local = sys.argv[3] if len(sys.argv) > 3 else None
origin, token = link.split("/#")
host = origin.removeprefix("http://")
END = time.monotonic() + 60


def connect():
    if not local:
        name, port = host.rsplit(":", 1)
        return socket.create_connection((name.strip("[]"), int(port)), timeout=60)
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(60)
    one.connect(local)
    return one


def ask(one, first, *lines, body=""):
    """Sends a request; its answer's head, and what came behind it."""
    head = [first + " HTTP/1.1", "Host: " + host, "Origin: " + origin, *lines]
    if body:
        head += [f"Content-Length: {len(body)}", "Content-Type: application/json", "X-Endplate: 1"]
    one.sendall(("\r\n".join(head) + "\r\n\r\n" + body).encode())
    got = b""
    while b"\r\n\r\n" not in got:
        got += one.recv(65536) or sys.exit(f"{first}: ended after {got!r}")
    head, rest = got.split(b"\r\n\r\n", 1)
    return head.decode(), rest


login, _ = ask(connect(), "POST /login", body=json.dumps({"token": token}))
cookie = re.search("Set-Cookie: ([^;]*)", login) or sys.exit(login)
page = connect()
head, data = ask(page, "GET /socket", "Cookie: " + cookie[1], "Connection: Upgrade", "Upgrade: websocket",
                 "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
if " 101 " not in head:
    sys.exit(head)


def take(n):
    """The next n bytes."""
    global data
    while len(data) < n:
        data += page.recv(65536) or sys.exit("the socket was closed")
    taken, data = data[:n], data[n:]
    return taken


text = ""
while time.monotonic() < END:
    size = take(2)[1]  # frames of the server are whole and not masked
    size = int.from_bytes(take(2), "big") if size == 126 else int.from_bytes(take(8), "big") if size == 127 else size
    message = json.loads(take(size))
    if message["op"] == "robot":
        text = json.dumps(message, separators=(",", ":"))
        if re.search(pattern, text):
            print(text)
            sys.exit()
sys.exit("no snapshot matches; the last one: " + text)
