#!/usr/bin/python3
"""twoarms.py [ROUNDS]: moves both arms of Krang through waypoints, until a wrist meets more than 20 N.

All joints arrive together, within the limits of the robot file.  Exit status 1: a force stopped them.
"""
import sys

import endplate

WAYPOINTS = [
    {"larm": {"5": 0.6, "7": -0.8, "9": 0.3}, "rarm": {"5": -0.6, "7": 0.8, "9": -0.3}},
    {"larm": {"5": 0.6, "7": -0.2, "9": 0.9}, "rarm": {"5": -0.6, "7": 0.2, "9": -0.9}},
    {"larm": {"5": 0, "7": 0, "9": 0}, "rarm": {"5": 0, "7": 0, "9": 0}},
]

try:
    with endplate.Robot() as robot:
        robot.ready(*map(robot.device, ("larm", "rarm", "lft", "rft")))
        move = robot.trajectory()
        move.until("lft", "force", 20)
        move.until("rft", "force", 20)
        for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
            for waypoint in WAYPOINTS:
                move.add(waypoint)
            if move.run() == "stopped":
                sys.exit(f"twoarms.py: {move.why}")
except endplate.Error as why:
    print(f"twoarms.py: {why}", file=sys.stderr)
    sys.exit(111)
