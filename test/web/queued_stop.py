#!/usr/bin/env python3
"""queued_stop.py LINK SENT: a stop by the link of achctl web --foxglove, all of it sent at once and while no achweb may be
there to read it.  Creates the file SENT then, and prints the answer of the achweb that comes."""
import json
import re
import socket
import struct
import sys

link, sent = sys.argv[1:3]
host, path = re.fullmatch("ws://([^/]*)(/.*)", link).groups()
STOP = 0  # the id of the service


def frame(opcode, data):
    """Of a client: masked, with zeros."""
    return bytes([0x80 | opcode, 0x80 | len(data)]) + bytes(4) + data


call = struct.pack("<BIII", 2, STOP, 7, 4) + b"json" + b"{}"
request = "\r\n".join((f"GET {path} HTTP/1.1", "Host: " + host, "Connection: Upgrade", "Upgrade: websocket",
                       "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                       "Sec-WebSocket-Protocol: foxglove.sdk.v1", "", "")).encode()
one = socket.create_connection((host.split(":")[0], int(host.split(":")[1])), timeout=60)
one.sendall(request + frame(2, call))
with open(sent, "w", encoding="ascii"):
    pass
data = b""


def take(n):
    """The next n bytes."""
    global data
    while len(data) < n:
        data += one.recv(65536) or sys.exit(f"the connection was closed after {data!r}")
    taken, data = data[:n], data[n:]
    return taken


while b"\r\n\r\n" not in data:
    data += one.recv(65536) or sys.exit(f"the connection was closed after {data!r}")
head, data = data.split(b"\r\n\r\n", 1)
if b" 101 " not in head:
    sys.exit(head.decode())
while True:
    opcode, size = take(2)
    size = int.from_bytes(take(2), "big") if size == 126 else int.from_bytes(take(8), "big") if size == 127 else size
    message = take(size)
    if opcode & 15 == 1:
        text = json.loads(message)
        if text["op"] == "advertiseServices":
            assert text["services"][0] == text["services"][0] | {"id": STOP, "name": "/stop"}, text
        if text["op"] == "serviceCallFailure":
            sys.exit(text["message"])
    elif message[0] == 3:
        print(message[13 + struct.unpack_from("<I", message, 9)[0]:].decode())
        break
