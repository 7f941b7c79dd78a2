#!/usr/bin/python3
"""logger.py: states of a device with joints as CSV on stdout, a line for each: logger.py DEVICE HZ [COUNT]

Goes on when the driver is restarted, or its channel is removed; the column incarnation shows it.
"""
import asyncio
import sys

import endplate


def line(state):
    joints = (f"{p:.6f},{v:.6f},{a:.3f}" for p, v, a in zip(state.position, state.velocity, state.current))
    return ",".join([f"{state.header.t_sample_ns / 1e9:.6f}", f"{state.age_s:.6f}", str(state.incarnation),
                     state.lifecycle, "|".join(sorted(state.doubts)), *joints])


async def log(name, hz, count):
    """As a task of asyncio, beside which a program may do something else."""
    with endplate.Robot() as robot:
        device, why = robot.device(name, "joint-state"), ""
        print("t_sample_s,age_s,incarnation,lifecycle,doubts,position_rad,velocity_rad_s,current_a,...")
        async for _ in robot.aticks(1 / hz):
            state = device.state()
            if state.why and state.why != why:
                print(f"logger.py: {state.why}", file=sys.stderr)
            why = state.why
            if state.message and state.is_new:
                print(line(state), flush=True)
                count -= 1
            if count == 0:
                break


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    try:
        asyncio.run(log(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else -1))
    except (endplate.Error, ValueError, ZeroDivisionError) as why:
        sys.exit(f"logger.py: {why}")
    except KeyboardInterrupt:
        pass
