"""A robot: its devices, ticks in step with its clock, the e-stop and requests."""
from __future__ import annotations

import asyncio
import ctypes
import math
import os
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

from . import ach
from .channel import Channel
from .client import HANDLE, Handle, lib
from .client import Tick as CTick
from .device import _LEVEL, Device, _address
from .message import TYPES, Message
from .trajectory import Trajectory

_LOOK_S = 0.005  # between two looks at devices that are not ready
# A wait in C does not end at ^C: it gets the last part of a tick, and Python sleeps before, in slices, since a virtual
# clock may stand still.
_LAST_NS, _SLICE_NS = 1_000_000, 50_000_000
_VERBS = TYPES["request"].FIELDS["verb"].words


@dataclass(frozen=True)
class Tick:
    """t_ns: when it was due, by the robot's clock; late_s: how much later it is now; skipped: ticks left out since the
    previous one; clock: whether the robot's clock runs."""

    t_ns: int
    period_s: float
    late_s: float
    skipped: int
    clock: bool


class Ticker:
    """Ticks of one loop, with a handle of its own, so that several loops have each their period."""

    def __init__(self, robot: Robot, period_s: float) -> None:
        self._robot, self._period_ns, self._handle = robot, round(period_s * 1e9), Handle(robot.name)
        self._pool = ThreadPoolExecutor(1, "endplate-ticks")  # it starts a thread at the first use
        self._tick = CTick()

    def wait(self) -> Tick:
        tick = self._tick
        due_ns = tick.t_ns + tick.period_ns
        while 2 * _LAST_NS < (left_ns := due_ns - lib.endplate_now_ns()) <= tick.period_ns:
            time.sleep(min(left_ns - _LAST_NS, _SLICE_NS) / 1e9)
            self._handle.check()
        self._handle.call("ticks", lib.endplate_wait, HANDLE, self._period_ns, ctypes.byref(tick))
        self._robot._handle.check()
        return Tick(tick.t_ns, tick.period_ns / 1e9, tick.late_ns / 1e9, tick.skipped, bool(tick.clock))

    def __iter__(self) -> Iterator[Tick]:
        try:
            while True:
                known = self._tick.t_ns or self._period_ns <= 2 * _SLICE_NS  # else the first may be far away
                yield self.wait() if known else self._pool.submit(self.wait).result()
        finally:
            self._close()

    async def __aiter__(self) -> AsyncIterator[Tick]:
        try:
            while True:
                yield await asyncio.wrap_future(self._pool.submit(self.wait))
        finally:
            self._close()

    def _close(self) -> None:
        self._handle.close()  # by the thread that waits, if one does
        self._pool.shutdown(wait=False)


class Robot:
    """The robot of that name; without one that of the environment, or the only one on this machine.

    It sets ENDPLATE_RUN, ENDPLATE_PREFIX and ACH_DIR, so a process has one robot.  It is for one thread at a time."""

    def __init__(self, name: str | None = None) -> None:
        self.name: str | None = name
        self._handle = Handle(name)

    def close(self) -> None:
        """Its devices are closed too; what is called afterwards raises Error."""
        self._handle.close()

    def __enter__(self) -> Robot:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Robot({self.name!r})"

    def device(self, name: str, kind: str | type[Message] | None = None) -> Device:
        """A device, whose driver need not run yet; kind: the type of its states, others raise WrongMessage."""
        return Device(self, name, kind)

    def channel(self, name: str, kind: str | type[Message] | None = None) -> Channel:
        """Another channel of the robot, such as waist-event: its name is without the robot's prefix."""
        return Channel(os.environ.get("ENDPLATE_PREFIX", "") + name, kind)

    def trajectory(self, shape: str = "quintic", share: float = 1.0) -> Trajectory:
        """A motion of joints of its devices, quintic or trapezoid, with that share of the velocity limits at most."""
        return Trajectory(self, shape, share)

    # ---- time ----

    @property
    def now_ns(self) -> int:
        """The robot's time."""
        return lib.endplate_now_ns()

    def ready(self, *devices: Device, timeout_s: float = 10.0) -> None:
        """Waits until each device has a state without doubts and follows references, if it takes any.

        Timeout: not in time, which is real time; it says which device, and why."""
        end_s = time.monotonic() + timeout_s
        while not self._are_ready(devices, end_s):
            time.sleep(_LOOK_S)

    async def aready(self, *devices: Device, timeout_s: float = 10.0) -> None:
        """As ready, for asyncio."""
        end_s = time.monotonic() + timeout_s
        while not self._are_ready(devices, end_s):
            await asyncio.sleep(_LOOK_S)

    def _are_ready(self, devices: tuple[Device, ...], end_s: float) -> bool:
        array = (ctypes.c_void_p * len(devices))(*(device._pointer(self) for device in devices))
        try:
            self._handle.call("", lib.endplate_ready, array, len(devices), 0)
        except ach.Timeout:
            if time.monotonic() >= end_s:
                raise
            return False
        return True

    def ticks(self, period_s: float) -> Iterator[Tick]:
        """A tick every period_s, rounded to whole cycles of the robot's clock and in step with it."""
        return iter(Ticker(self, period_s))

    def aticks(self, period_s: float) -> AsyncIterator[Tick]:
        """The same for asyncio; a thread waits, so other tasks run meanwhile."""
        return aiter(Ticker(self, period_s))

    # ---- e-stop ----

    @property
    def level(self) -> str:
        """run, hold or estop, by the rules of drivers; estop if it cannot be read."""
        return _LEVEL[self._handle.call("robot", lib.endplate_level, HANDLE)]

    def raise_(self, level: str, why: str = "") -> None:
        """Raises the level to hold or estop; only a person lowers it (achctl arm)."""
        if level not in ("hold", "estop"):
            raise ValueError(f'level "{level}" is not one of hold, estop; only achctl arm lowers it')
        self._handle.call("robot", lib.endplate_raise, HANDLE, _LEVEL.index(level), why.encode())

    # ---- requests ----

    def ask(self, device: str | Device, verb: str, key: str = "", value: str = "", *, timeout_s: float = 10.0,
            deadline: bool = True) -> str:
        """Asks a driver, and returns the value of its reply; not for a control loop.

        With a deadline the driver ends what it has not done after timeout_s; ^C cancels the request.  Error: refused;
        Timeout: not done in time."""
        asking = _Asking(self, device, verb, key, value, timeout_s, deadline)
        try:
            return asking.future.result()
        except KeyboardInterrupt:
            asking.cancel()
            with suppress(ach.Error):
                asking.future.result()
            raise
        finally:
            asking.close()

    async def aask(self, device: str | Device, verb: str, key: str = "", value: str = "", *, timeout_s: float = 10.0,
                   deadline: bool = True) -> str:
        """As ask, for asyncio; cancelling the task cancels the request."""
        asking = _Asking(self, device, verb, key, value, timeout_s, deadline)
        try:
            return await asyncio.wrap_future(asking.future)
        except asyncio.CancelledError:
            asking.cancel()
            raise
        finally:
            asking.close()


class _Asking:
    """A request that a thread waits for, with a handle of its own: the robot can be used, and closed, meanwhile."""

    def __init__(self, robot: Robot, device: str | Device, verb: str, key: str, value: str, timeout_s: float,
                 deadline: bool) -> None:
        if verb not in _VERBS[1:]:
            raise ValueError(f'verb "{verb}" is not one of {", ".join(_VERBS[1:])}')
        robot._handle.check()
        name = device if isinstance(device, str) else device.name
        function = lib.endplate_ask_deadline if deadline else lib.endplate_ask
        self._handle, self._pool, reply = Handle(robot.name), ThreadPoolExecutor(1), TYPES["reply"]()

        def ask() -> str:
            self._handle.call(name, function, HANDLE, name.encode(), _VERBS.index(verb), key.encode(), value.encode(),
                              _ns(timeout_s), _address(reply._buf))
            return reply.value

        self.future = self._pool.submit(ask)

    def cancel(self) -> None:
        self._handle.cancel()

    def close(self) -> None:
        self._handle.close()
        self._pool.shutdown(wait=False)


def _ns(seconds: float) -> int:
    """The longest wait is a year."""
    return int(min(seconds, 366 * 86400) * 1e9) if not math.isnan(seconds) else 0
