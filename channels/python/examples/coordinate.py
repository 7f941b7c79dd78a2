#!/usr/bin/python3
"""coordinate.py: moves two joints of a device so that both arrive at the same time.

    coordinate.py DEVICE JOINT TARGET_RAD JOINT TARGET_RAD SECONDS

Both follow one path, from where they stand to the targets.  If the driver is restarted, or stops following, the path
begins again where the joints then stand.
"""
import sys

import endplate


def share(s):
    """Of the path: velocity and acceleration are 0 at both ends."""
    return s**3 * (10 + s * (6 * s - 15)) if s < 1 else 1.0


def coordinate(name, targets, seconds):
    with endplate.Robot() as robot:
        device = robot.device(name, "joint-state")
        robot.ready(device, timeout_s=5)
        index, begin, t_s = {joint: device.joint(joint) for joint in targets}, None, 0.0
        for tick in robot.ticks(0.005):
            state = device.state()
            if state.doubts or not state.follows:
                begin = None
                continue
            if t_s >= seconds + 0.5:  # drivers reach a target by a ramp of their own
                break
            if begin is None:
                begin, t_s = {joint: state.position[i] for joint, i in index.items()}, 0.0
            t_s += tick.period_s
            done = share(t_s / seconds)
            try:
                device.put(position={j: begin[j] + done * (to - begin[j]) for j, to in targets.items()}, valid_s=0.02)
            except endplate.NotReady:
                begin = None
        print(*(f"{state.position[i]:.3f}" for i in index.values()))


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    try:
        coordinate(sys.argv[1], dict(zip(sys.argv[2:6:2], map(float, sys.argv[3:6:2]))), float(sys.argv[6]))
    except (endplate.Error, ValueError) as why:
        sys.exit(f"coordinate.py: {why}")
