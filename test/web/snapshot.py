#!/usr/bin/env python3
"""snapshot.py LINK PATTERN [SOCKET]: logs in with a link of achctl web, and reads snapshots of the robot until one, as
JSON without blanks, matches the pattern; prints that one.  SOCKET: the local socket that serves the page."""
import json
import os
import re
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # python3 -I does not
from session import Session

pattern = sys.argv[2]
page = Session(sys.argv[1], *sys.argv[3:4]).page()
END = time.monotonic() + 60
text = ""
while time.monotonic() < END:
    message = page.read()
    if message["op"] == "robot":
        text = json.dumps(message, separators=(",", ":"))
        if re.search(pattern, text):
            print(text)
            sys.exit()
sys.exit("no snapshot matches; the last one: " + text)
