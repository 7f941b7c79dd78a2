"""session.py: a program that logs in to achweb with a link of achctl web, as its page does (launch/achweb/proof.h)."""
import hashlib
import hmac
import json
import os
import socket


def fields(*words):
    return b"".join(str(len(w)).encode() + b":" + w for w in (word.encode() for word in words))


def mac(key, *words):
    return hmac.new(key, fields(*words), hashlib.sha256)


def digest(body):
    return hashlib.sha256(body).hexdigest()


class Session:
    """local: the local socket that serves the page."""

    def __init__(self, link, local=None):
        self.origin, token = link.split("/#")
        self.host = self.origin.removeprefix("http://")
        self.local = local
        self.client, self.count, self.challenge = os.urandom(16).hex(), 0, "-"
        key = bytes.fromhex(token)
        self.id = mac(key, "id").hexdigest()[:32]
        self.look, self.act = mac(key, "look").digest(), mac(key, "act").digest()
        answer = self.post("/login", {})
        self.id = answer["session"]
        self.look, self.act = (mac(key, "session", self.client, self.id).digest() for key in (self.look, self.act))

    def key(self, path):
        return self.act if path == "/act" else self.look

    def connect(self, buffer=None):
        one = socket.socket(socket.AF_UNIX if self.local else socket.AF_INET)
        one.settimeout(60)
        if buffer:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        # Names below localhost are for browsers.
        one.connect(self.local or ("127.0.0.1", int(self.host.rsplit(":", 1)[1])))
        return one

    def claim(self, method, path, body=b""):
        """The header X-Endplate, and the count that it has."""
        self.count += 1
        proof = mac(self.key(path), "ask", self.challenge, self.client, str(self.count), method, path, digest(body))
        return " ".join([self.id, self.client, str(self.count), self.challenge, proof.hexdigest()]), str(self.count)

    def send(self, one, first, lines, body=b""):
        """Sends a request; its answer's head, and what came behind it."""
        head = [first + " HTTP/1.1", "Host: " + self.host, "Origin: " + self.origin, *lines]
        one.sendall(("\r\n".join(head) + "\r\n\r\n").encode() + body)
        got = b""
        while b"\r\n\r\n" not in got:
            got += one.recv(65536) or exit(f"{first}: ended after {got!r}")
        head, rest = got.split(b"\r\n\r\n", 1)
        return head.decode(), rest

    def post(self, path, what):
        body = json.dumps(what).encode()
        for _ in range(3):
            claim, count = self.claim("POST", path, body)
            used, one = self.challenge, self.connect()
            head, rest = self.send(one, "POST " + path, [f"Content-Length: {len(body)}", "Content-Type: application/json",
                                                         "X-Endplate: " + claim, "Connection: close"], body)
            while more := one.recv(65536):
                rest += more
            one.close()
            status = head.split()[1]
            proof = mac(self.key(path), "answer", used, self.client, count, status, digest(rest)).hexdigest()
            if f"X-Endplate: {proof}" not in head.split("\r\n"):
                exit(f"{path}: not proven: {head} {rest!r}")
            answer = json.loads(rest)
            if status != "409":
                return answer
            self.challenge = answer["challenge"]
        return exit(f"{path}: no answer")

    def page(self, buffer=None):
        return Page(self, buffer)


class Page:
    """A WebSocket of the page."""

    def __init__(self, session, buffer=None):
        self.session, self.socket = session, session.connect(buffer)
        head, self.data = session.send(self.socket, "GET /socket", [
            "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="])
        if " 101 " not in head:
            exit(head)
        self.greet()
        if self.read()["op"] == "again":
            self.greet()
            self.read()

    def greet(self):
        claim, self.count = self.session.claim("GET", "/socket")
        self.number = 0
        mask = os.urandom(4)
        bytes_ = claim.encode()
        self.socket.sendall(bytes([0x81, 0xFE]) + len(bytes_).to_bytes(2, "big") + mask +
                            bytes(b ^ mask[i % 4] for i, b in enumerate(bytes_)))

    def take(self, n):
        """The next n bytes."""
        while len(self.data) < n:
            self.data += self.socket.recv(65536) or exit("the socket was closed")
        taken, self.data = self.data[:n], self.data[n:]
        return taken

    def read(self):
        """The next message; frames of the server are whole and not masked."""
        size = self.take(2)[1]
        size = int.from_bytes(self.take({126: 2, 127: 8}[size]), "big") if size > 125 else size
        front, body = self.take(size).split(b"\n", 1)
        proof, number, challenge = front.decode().split()
        self.number += 1
        right = mac(self.session.look, "snapshot", self.session.client, self.count, number, challenge, digest(body))
        if int(number) != self.number or proof != right.hexdigest():
            exit(f"message {number} is not proven")
        self.session.challenge = challenge
        return json.loads(body)
