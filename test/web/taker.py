#!/usr/bin/env python3
"""taker.py PORT STOP: tries to listen on the port, at each address and with each option, until the file STOP exists.
Prints where it succeeded, and keeps that until then; ends with status 0 if it did, 1 if it never did after at least one
try of each kind."""
import itertools
import os
import socket
import sys
import time

port, stop = int(sys.argv[1]), sys.argv[2]
FAMILIES = {"127.0.0.1": socket.AF_INET, "0.0.0.0": socket.AF_INET, "::1": socket.AF_INET6, "::": socket.AF_INET6}
OPTIONS = ((), (socket.SO_REUSEADDR,), (socket.SO_REUSEPORT,), (socket.SO_REUSEADDR, socket.SO_REUSEPORT))


def take(address, options):
    """A socket that listens, or None."""
    one = socket.socket(FAMILIES[address])
    try:
        for option in options:
            one.setsockopt(socket.SOL_SOCKET, option, 1)
        one.bind((address, port))
        one.listen()
        return one
    except OSError:
        one.close()
        return None


for tries in itertools.count():
    for address, options in itertools.product(FAMILIES, OPTIONS):
        taken = take(address, options)
        if taken:
            print("taken:", address, options, flush=True)
            while not os.path.exists(stop):
                time.sleep(0.01)
            sys.exit(0)
    if not tries:
        print("tried", flush=True)
    if os.path.exists(stop):
        sys.exit(f"not once in {tries + 1} rounds")
