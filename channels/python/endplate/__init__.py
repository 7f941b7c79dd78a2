"""Endplate's channels, messages and recordings.

    import endplate

    with endplate.Channel("waist-state") as states, endplate.Channel("waist-ref") as refs:
        state = states.wait(timeout_s=1)
        ref = endplate.JointRef(mode=["position"], position=[state.position[0] + 0.1])
        ref.header.for_incarnation = state.header.incarnation
        refs.put(ref, valid_ns=20_000_000)

Every type of message that `ach types` lists is a class: joint-state is JointState.  Lists of numbers are numpy
arrays if numpy is installed, else memoryviews; both show the memory of the message, so an element can be set in place.
Words are strings, flags are frozensets of strings.  Times are nanoseconds of the robot's clock,
now_ns(): CLOCK_MONOTONIC, or its virtual clock, on which a bench runs.
"""
from .ach import Error, Removed, Timeout
from .channel import Channel, create, unlink
from .clock import now_ns
from .message import TYPES, Message, WrongMessage, asdict, parse
from .recording import Recording

globals().update({cls.__name__: cls for cls in TYPES.values()})

__all__ = ["Channel", "Error", "Message", "Recording", "Removed", "TYPES", "Timeout", "WrongMessage", "asdict",
           "create", "now_ns", "parse", "unlink", *(cls.__name__ for cls in TYPES.values())]
