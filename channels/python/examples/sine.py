#!/usr/bin/python3
"""sine.py: moves a joint to and fro around where it stands: sine.py DEVICE JOINT AMPLITUDE_RAD PERIOD_S SECONDS"""
import math
import sys

import endplate


def say(text):
    print(f"sine.py: {text}", file=sys.stderr)


def wait_for(robot, device):
    """Until it follows references; says what is in the way, and gives up after five seconds."""
    try:
        robot.ready(device, timeout_s=0.5)
    except endplate.Timeout as why:
        say(f"waits: {why}")
        robot.ready(device, timeout_s=5)


def sine(name, joint, amplitude_rad, period_s, seconds):
    with endplate.Robot() as robot:
        device = robot.device(name, "joint-state")
        wait_for(robot, device)
        index, incarnation, centre_rad, t_s = device.joint(joint), None, None, 0.0
        for tick in robot.ticks(0.005):
            if t_s >= seconds:
                break
            state, swing_rad = device.state(), amplitude_rad * math.sin(2 * math.pi * t_s / period_s)
            if state.doubts or not state.follows:
                wait_for(robot, device)
                centre_rad = None
                continue
            if incarnation not in (None, state.incarnation):
                say(f"incarnation {state.incarnation}: goes on from where the joint stands")
            incarnation = state.incarnation
            if centre_rad is None:
                centre_rad = state.position[index] - swing_rad
            try:
                device.put(position={joint: centre_rad + swing_rad}, valid_s=0.02)
                t_s += tick.period_s
            except endplate.NotReady as why:  # it was restarted a moment ago, or the level was raised
                say(why)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    try:
        sine(sys.argv[1], sys.argv[2], *map(float, sys.argv[3:]))
    except (endplate.Error, ValueError) as why:
        sys.exit(f"sine.py: {why}")
