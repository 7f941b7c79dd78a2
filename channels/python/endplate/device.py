"""A device of a robot: its states and references."""
from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import ach
from .channel import _ROOM, class_of
from .client import HANDLE, PASSING, NotReady, View, lib
from .message import GROUPS, TYPES, Message, parse

if TYPE_CHECKING:
    from .robot import Robot

_LOOKS = 20  # for the event of a refusal
_NEVER = 2**63 - 1  # INT64_MAX: an age that is not known
_COMMON = GROUPS["msg_common"].FIELDS
_LIFE, _LEVEL = _COMMON["lifecycle"].words, _COMMON["level"].words
_DEVICE_INFO = TYPES["device-info"]


class State:
    """A look at a device: what endplate_state(3) says about its newest state, whose fields are attributes too.

    doubts is empty if the state can be trusted.  Without a state message is None, and fields raise NotReady."""

    def __init__(self, device: Device, view: View, message: Message | None, why: str) -> None:
        self.message: Message | None = message
        self.doubts: frozenset[str] = _words(view.doubts)
        self.follows: bool = bool(view.follows)
        self.is_new: bool = bool(view.is_new)
        self.incarnation: int = view.incarnation
        self.lifecycle: str = _LIFE[view.lifecycle] if view.lifecycle < len(_LIFE) else str(view.lifecycle)
        self.level: str = _LEVEL[view.level] if view.level < len(_LEVEL) else str(view.level)
        self.refused: int = view.refused
        self.refusal: str = device._text(lib.endplate_refusal) if view.refused else ""
        self.missed: int = view.missed
        self.age_s: float = _seconds(view.age_ns)
        self.silent_s: float = _seconds(view.silent_ns)
        self.now_ns: int = view.now_ns
        self.why: str = why

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.message is None:
            raise NotReady(self.why, "ENODATA")
        return getattr(self.message, name)

    def __repr__(self) -> str:
        return f"State(doubts={set(self.doubts) or {}}, follows={self.follows}, message={self.message!r})"


class Device:
    """Made by Robot.device; it keeps its robot, and after the robot is closed every call raises Error."""

    def __init__(self, robot: Robot, name: str, kind: str | type[Message] | None = None) -> None:
        cls, self._device = class_of(kind), ctypes.c_void_p()
        self.name: str = name
        self.robot: Robot = robot
        self._count, self._ref, self._refusal, self._looks = None, None, "", 0
        self._buf = ctypes.create_string_buffer(cls.SIZE if cls else _ROOM)
        self._call(lib.endplate_device_open, HANDLE, name.encode(), cls.NUMBER if cls else 0,
                   ctypes.byref(self._device))

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def _call(self, function, *arguments, passes=()):
        return self.robot._handle.call(self.name, function, *arguments, passes=passes)

    def _pointer(self, robot: Robot) -> ctypes.c_void_p:
        """For a call about several devices, which have to be of one robot."""
        if self.robot is not robot:
            raise ach.Error(f"{self.name}: a device of another robot, or of one before a fork", "ESHUTDOWN")
        return self._device

    def _text(self, function) -> str:
        return self.robot._handle.call(self.name, function, self._device).decode(errors="replace")

    # ---- what it is ----

    def info(self) -> Message:
        """Names of joints, limits, modes and rates: a DeviceInfo.  NotReady: its driver does not run."""
        info = _DEVICE_INFO()
        self._call(lib.endplate_device_info, self._device, _address(info._buf))
        return info

    def joint(self, name: str | int) -> int:
        """The index of a joint in states and references.  Error: there is none of that name."""
        return self._call(lib.endplate_joint, self._device, str(name).encode())

    def max_age(self, seconds: float) -> None:
        """For the doubts silent and old; 0.1 s unless set."""
        self._call(lib.endplate_max_age, self._device, round(seconds * 1e9))

    def source(self, source: str | None) -> None:
        """References go to the channel of one source of refmuxd(1), or with None to the device's own again."""
        self._call(lib.endplate_source, self._device, source.encode() if source is not None else None)

    # ---- states ----

    def state(self) -> State:
        """The newest state, whether it was seen before or not; never waits."""
        view, message, why = View(), None, ""
        status = self._call(lib.endplate_state, self._device, self._buf, len(self._buf), ctypes.byref(view),
                            passes=PASSING)
        if status:
            why = f"{self.name}: no state; is its driver running?"
        else:
            size = int.from_bytes(self._buf[_SIZE_AT:_SIZE_AT + 4], "little")
            message = parse(bytearray(memoryview(self._buf)[:size]))
            self._count = message.count if "count" in message.FIELDS else None
            self._ref = TYPES.get(message.TYPE.removesuffix("-state") + "-ref")
        if view.refused or self._looks:
            self._look_for_refusal(view.refused)
        return State(self, view, message, why)

    def _look_for_refusal(self, refused):
        """Was it a reference of this process?  The driver's event that says so may come some ticks later."""
        text = self._text(lib.endplate_refusal)
        self._looks = _LOOKS if refused else self._looks - 1
        if text.startswith(f"process {os.getpid()}:"):
            self._refusal = text
        if text.startswith("process "):
            self._looks = 0

    # ---- references ----

    def put(self, ref: Message | None = None, *, valid_s: float = 0.02, **fields: Any) -> None:
        """Puts a reference, for the incarnation in the state last seen: a message, or its fields.

        A list has a value for each joint, a dict those of some: position={"0": 0.3} leaves the others alone.  mode is
        the list that is given, of several the first of position, velocity and current, unless it is given too.
        NotReady: the driver does not follow now.  Error: it is refused, also if the driver has refused an earlier one
        of this process; nothing was put."""
        refusal, self._refusal = self._refusal, ""
        if refusal:
            raise ach.Error(f"{self.name}: {refusal}", "EREFUSED")
        if ref is None:
            if self._ref is None:
                raise NotReady(f"{self.name}: no state was seen yet, or it takes no references", "ENODATA")
            ref = self._made(self._ref, fields)
        elif fields:
            raise TypeError("put takes a message or fields, not both")
        else:
            ref = ref._for_put()
        self._call(lib.endplate_put, self._device, _address(ref._buf), len(ref._buf), round(valid_s * 1e9))

    def _made(self, cls, fields):
        ref = cls._view(bytearray(cls.SIZE), 0)
        if "count" in cls.FIELDS:
            ref.count = self._count
        for name, values in fields.items():
            field = cls.FIELDS.get(name)
            if field is None:
                raise ValueError(f"{cls.TYPE} has no field {name}")
            if field.counted_by:
                self._set_list(ref, field, values)
            else:
                setattr(ref, name, self._finite(field, values))
        if "mode" in cls.FIELDS:
            self._choose(ref, fields)
        return ref

    def _elements(self, field, values):
        """(joint, value) of a list for all joints, or of a dict for some."""
        if isinstance(values, str):
            values = [values] * self._count
        if isinstance(values, Mapping):
            return [(self.joint(name), value) for name, value in values.items()]
        if len(values) != self._count:
            raise ValueError(f"{self.name}: {field.name} has {len(values)} values, but the device {self._count} joints")
        return list(enumerate(values))

    def _set_list(self, ref, field, values):
        for i, value in self._elements(field, values):
            field.codec.set(ref._buf, field.offset + i * field.size, self._finite(field, value, i))

    def _finite(self, field, value, i=None):
        if field.kind == "f64" and not math.isfinite(value):
            where = field.name if i is None else f"{field.name} of joint {i}"
            raise ach.Error(f"{self.name}: {where} is {value}, not a finite number", "EDOM")
        return value

    def _choose(self, ref, fields):
        """The mode of each joint that has a value and no mode; a mode needs the value that it is about."""
        field = type(ref).FIELDS["mode"]
        given = {word: {i for i, _ in self._elements(field, values)} for word, values in fields.items()
                 if word in field.words}
        modes = list(ref.mode)
        for i, mode in enumerate(modes):
            if "mode" not in fields:
                modes[i] = next((word for word in field.words if i in given.get(word, ())), mode)
            elif mode != "none" and i not in given.get("position" if mode == "compliant" else mode, ()):
                raise ValueError(f"{self.name}: joint {i} has mode {mode}, but no value for it")
        ref.mode = modes


_SIZE_AT = GROUPS["msg_header"].FIELDS["size"].offset


def _address(buf):
    return (ctypes.c_char * len(buf)).from_buffer(buf)


def _words(doubts):
    return frozenset(lib.endplate_doubt_text(doubts).decode().split(", ")) if doubts else frozenset()


def _seconds(ns):
    return math.inf if ns == _NEVER else ns / 1e9
