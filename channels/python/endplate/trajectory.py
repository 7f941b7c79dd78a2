"""Motions of several joints that arrive together: endplate_trajectory(3)."""
from __future__ import annotations

import asyncio
import ctypes
import errno
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .ach import Error
from .client import HANDLE, lib
from .device import Device

if TYPE_CHECKING:
    from .robot import Robot

_SHAPES = ("quintic", "trapezoid")
_ENDED = {0: "arrived", 1: "runs", -errno.EINTR: "stopped"}
# Devices, by themselves or by name, with their joints: by name, or a list of them all.
Waypoint = Mapping[str | Device, Mapping[str, float] | Sequence[float]]


class Trajectory:
    """Made by Robot.trajectory.  The first waypoint names all joints that it moves; joints that a later one leaves out,
    or gives NaN, stay.  why: the reason of the library for which it ended, if it did not arrive."""

    def __init__(self, robot: Robot, shape: str = "quintic", share: float = 1.0) -> None:
        self.robot: Robot = robot
        self.why: str = ""
        self._columns, self._devices, self._moved, self._trajectory = {}, {}, set(), ctypes.c_void_p()
        if shape not in _SHAPES:
            raise ValueError(f'shape "{shape}" is not one of {", ".join(_SHAPES)}')
        self._call(lib.endplate_trajectory_open, HANDLE, ctypes.byref(self._trajectory))
        robot._handle.owned.add(self._trajectory.value)
        self._of(lib.endplate_trajectory_shape, _SHAPES.index(shape))
        self._of(lib.endplate_trajectory_share, share)

    def close(self) -> None:
        """Ends it at once: its references expire, and drivers hold.  The robot's close does the same."""
        self.robot._handle.disown(self._trajectory.value)
        self._trajectory.value = None

    def __del__(self) -> None:
        if getattr(self, "_trajectory", None):
            self.close()

    def _call(self, function, *arguments, passes=()):
        return self.robot._handle.call("", function, *arguments, passes=passes)

    def _of(self, function, *arguments, passes=()):
        if self._trajectory.value not in self.robot._handle.owned:
            raise Error("the trajectory is closed", "ESHUTDOWN")
        return self._call(function, self._trajectory, *arguments, passes=passes)

    # ---- the way ----

    def add(self, waypoint: Waypoint, seconds: float = 0.0) -> None:
        """A waypoint where all joints are at rest, seconds after the one before; 0: as soon as the limits allow.

        Error: a position outside of its range, or a joint that there is not."""
        self._of(lib.endplate_trajectory_add, self._row(waypoint, define=True), seconds)

    def pass_(self, waypoint: Waypoint, seconds: float, velocity: Waypoint | None = None,
              acceleration: Waypoint | None = None) -> None:
        """A waypoint that is passed without a stop; its velocities follow from its neighbours unless they are given."""
        row = self._row(waypoint, define=True)
        self._of(lib.endplate_trajectory_pass, row, velocity and self._row(velocity),
                 acceleration and self._row(acceleration), seconds)

    def until(self, device: str | Device, field: str, above: float) -> None:
        """Stops smoothly once that field of a device's state, of a list its norm, is above that, or in doubt."""
        self._device(device).state()  # whose type says which fields there are
        self._of(lib.endplate_trajectory_until, self._device(device)._pointer(self.robot), field.encode(), above)

    # ---- the motion ----

    def start(self) -> None:
        """Plans from where the joints are; while it runs, the waypoints that were added since replace the others."""
        self._of(lib.endplate_trajectory_start)
        self.why = ""

    def step(self) -> str:
        """Once per tick: puts references.  runs, arrived, or stopped: by a condition or stop.  Error: another end."""
        with self.robot._handle.lock:
            end = _ENDED[self._of(lib.endplate_trajectory_step, passes=_ENDED)]
            if end == "stopped":
                self.why = lib.endplate_errstr().decode(errors="replace")
        return end

    def stop(self) -> None:
        """Stops smoothly: steps go on until they return stopped."""
        self._of(lib.endplate_trajectory_stop)

    def run(self) -> str:
        """Starts, and steps until it has arrived or stopped: which of the two.  ^C stops it smoothly first."""
        self.start()
        try:
            return self._end()
        except KeyboardInterrupt:
            self.stop()
            self._end()
            raise

    async def arun(self) -> str:
        """As run, for asyncio; cancelling the task stops it smoothly first."""
        self.start()
        try:
            return await self._aend()
        except asyncio.CancelledError:
            self.stop()
            await self._aend()
            raise

    def _end(self) -> str:
        return next(end for _ in self.robot.ticks(self._period_s()) if (end := self.step()) != "runs")

    async def _aend(self) -> str:
        return await anext(end async for _ in self.robot.aticks(self._period_s()) if (end := self.step()) != "runs")

    def _period_s(self) -> float:
        """That of the fastest driver."""
        return min(device.info().period_ns for device in self._moved) / 1e9

    # ---- joints and columns ----

    def _device(self, device) -> Device:
        if isinstance(device, Device):
            return device
        if device not in self._devices:
            self._devices[device] = self.robot.device(device)
        return self._devices[device]

    def _row(self, values, define=False):
        """A value for each column; of the first waypoint all joints become columns."""
        named = {}
        for device, joints in values.items():
            device = self._device(device)
            if not isinstance(joints, Mapping):
                info = device.info()
                if len(joints) != info.count:
                    raise ValueError(f"{device.name}: {len(joints)} values, but the device has {info.count} joints")
                joints = dict(zip(info.joint, joints))
            named.update({(device.name, str(joint)): (device, value) for joint, value in joints.items()})
        if define and not self._columns:
            for (name, joint), (device, _) in named.items():
                self._columns[name, joint] = self._of(lib.endplate_trajectory_joint, device._pointer(self.robot),
                                                       joint.encode())
                self._moved.add(device)
        row = (ctypes.c_double * len(self._columns))(*[math.nan] * len(self._columns))
        for key, (_, value) in named.items():
            if key not in self._columns:
                raise ValueError(f"joint {key[1]} of {key[0]} is not in the first waypoint, which names all that move")
            row[self._columns[key]] = value
        return row
