#!/usr/bin/env python3
"""armer.py FILE [LINK SOCKET]: with a link, logs in at the local socket and keeps the session in FILE; without one, prints
the level that this session sees, asks to arm for that, and prints the answer."""
import os
import pickle
import sys

from session import Session

if len(sys.argv) > 2:
    with open(sys.argv[1], "wb") as to:
        pickle.dump(Session(*sys.argv[2:]), to)
    sys.exit()
with open(sys.argv[1], "rb") as kept:
    session = pickle.load(kept)
session.client, session.count, session.challenge = os.urandom(16).hex(), 0, "-"  # another load of the page
page = session.page()
while (robot := page.read())["op"] != "robot" or not robot.get("seen"):
    pass
print(robot["level"], end=" ", flush=True)
print(session.post("/act", {"do": "arm", "seen": robot["seen"]})["text"])
