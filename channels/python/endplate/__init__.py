"""Endplate's robots, channels, messages and recordings.

    import endplate

    with endplate.Robot() as robot:
        waist = robot.device("waist")
        robot.ready(waist)
        goal_rad = waist.state().position[0] + 0.1
        for tick in robot.ticks(0.005):
            state = waist.state()
            if state.doubts or not state.follows:
                continue
            waist.put(position=[goal_rad], valid_s=0.02)

Every type of message that `ach types` lists is a class: joint-state is JointState.  Lists of numbers are numpy
arrays if numpy is installed, else memoryviews; both show the memory of the message, so an element can be set in place.
Words are strings, flags are frozensets of strings.  Times are nanoseconds of the robot's clock,
now_ns(): CLOCK_MONOTONIC, or its virtual clock, on which a bench runs.  endplate-python(7) is the guide.
"""
from .ach import Error, Removed, Timeout
from .channel import Channel, create, unlink
from .client import NotReady
from .clock import now_ns
from .device import Device, State
from .message import TYPES, Message, WrongMessage, asdict, parse
from .recording import Recording
from .robot import Robot, Tick
from .trajectory import Trajectory

globals().update({cls.__name__: cls for cls in TYPES.values()})

__all__ = ["Channel", "Device", "Error", "Message", "NotReady", "Recording", "Removed", "Robot", "State", "TYPES",
           "Tick", "Timeout", "Trajectory", "WrongMessage", "asdict", "create", "now_ns", "parse", "unlink",
           *(cls.__name__ for cls in TYPES.values())]
