"""libendplate by ctypes, as endplate.h declares it, and the exceptions for what it returns."""
import ctypes
import errno
import os
import threading
import weakref

from . import ach

_I64, _PTR, _INT, _TEXT, _P = ctypes.c_int64, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER
_U32, _U64, _F64, _SIZE = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_double, ctypes.c_size_t


class View(ctypes.Structure):
    """struct endplate_view"""
    _fields_ = [("doubts", _U32), ("follows", _U32), ("is_new", _U32), ("incarnation", _U32), ("lifecycle", _U32),
                ("level", _U32), ("refused", _U64), ("missed", _U64), ("age_ns", _I64), ("silent_ns", _I64),
                ("now_ns", _I64)]


class Tick(ctypes.Structure):
    """struct endplate_tick"""
    _fields_ = [("t_ns", _I64), ("period_ns", _I64), ("late_ns", _I64), ("skipped", _U64), ("clock", _U32),
                ("reserved", _U32)]


_ASK = (_INT, [_PTR, _TEXT, _INT, _TEXT, _TEXT, _I64, _PTR])
lib = ach.load("libendplate.so.1", {
    "endplate_open": (_INT, [_P(_PTR), _TEXT]),
    "endplate_close": (None, [_PTR]),
    "endplate_device_open": (_INT, [_PTR, _TEXT, _U32, _P(_PTR)]),
    "endplate_device_info": (_INT, [_PTR, _PTR]),
    "endplate_joint": (_INT, [_PTR, _TEXT]),
    "endplate_ready": (_INT, [_P(_PTR), _SIZE, _I64]),
    "endplate_doubt_text": (_TEXT, [_U32]),
    "endplate_refusal": (_TEXT, [_PTR]),
    "endplate_strerror": (_TEXT, [_INT]),
    "endplate_errstr": (_TEXT, []),
    "endplate_state": (_INT, [_PTR, _PTR, _SIZE, _P(View)]),
    "endplate_max_age": (_INT, [_PTR, _I64]),
    "endplate_put": (_INT, [_PTR, _PTR, _SIZE, _I64]),
    "endplate_source": (_INT, [_PTR, _TEXT]),
    "endplate_wait": (_INT, [_PTR, _I64, _P(Tick)]),
    "endplate_now_ns": (_I64, []),
    "endplate_level": (_INT, [_PTR]),
    "endplate_raise": (_INT, [_PTR, _INT, _TEXT]),
    "endplate_ask": _ASK,
    "endplate_ask_deadline": _ASK,
    "endplate_cancel": (_INT, [_PTR]),
    "endplate_trajectory_open": (_INT, [_PTR, _P(_PTR)]),
    "endplate_trajectory_close": (None, [_PTR]),
    "endplate_trajectory_joint": (_INT, [_PTR, _PTR, _TEXT]),
    "endplate_trajectory_shape": (_INT, [_PTR, _INT]),
    "endplate_trajectory_share": (_INT, [_PTR, _F64]),
    "endplate_trajectory_add": (_INT, [_PTR, _P(_F64), _F64]),
    "endplate_trajectory_pass": (_INT, [_PTR, _P(_F64), _P(_F64), _P(_F64), _F64]),
    "endplate_trajectory_until": (_INT, [_PTR, _PTR, _TEXT, _F64]),
    "endplate_trajectory_start": (_INT, [_PTR]),
    "endplate_trajectory_step": (_INT, [_PTR]),
    "endplate_trajectory_stop": (_INT, [_PTR]),
})

# A program waits for the end of these, or goes on with them: a driver or a person ends them.
PASSING = [-number for number in (errno.ENOENT, errno.ENODATA, errno.ESTALE, errno.EHOSTDOWN, errno.ETIME)]
# After these functions endplate_errstr is of an earlier call.
_PLAIN = (lib.endplate_device_open, lib.endplate_state, lib.endplate_max_age, lib.endplate_source, lib.endplate_wait,
          lib.endplate_level, lib.endplate_raise, lib.endplate_device_info)
_OF_DRIVERS = (lib.endplate_state, lib.endplate_put, lib.endplate_device_info)


class NotReady(ach.Error):
    """The driver does not run, was restarted since its state was read, or does not follow references at present."""


def failure(what, function, status):
    """The exception for a call about what (a device, or "robot") that returned status, in the same thread."""
    text = (function not in _PLAIN and lib.endplate_errstr() or lib.endplate_strerror(status)).decode(errors="replace")
    kind = ach.Timeout if status == -errno.ETIMEDOUT else ach.Error
    if status == -errno.ENODATA or (function in _OF_DRIVERS and status in PASSING):
        kind = NotReady
    return kind(text if what in text else f"{what}: {text}", errno.errorcode.get(-status, str(status)))


class Handle:
    """A struct endplate.  Calls of several threads take turns; after close, or in a child of fork, they raise."""
    _all = weakref.WeakSet()

    def __init__(self, name):
        self.lock, self._robot, self._closing = threading.RLock(), _PTR(), False
        self.owned = set()  # trajectories, which are closed before it
        status = lib.endplate_open(ctypes.byref(self._robot), name.encode() if name is not None else None)
        if status:
            raise failure(f"robot {name}" if name else "robot", lib.endplate_open, status)
        Handle._all.add(self)
        _copy_environment()

    def call(self, what, function, *arguments, passes=()):
        """The result; an exception if it is negative and not among those that pass.  HANDLE stands for the robot."""
        with self.lock:
            self.check()
            try:
                status = function(*(self._robot if a is HANDLE else a for a in arguments))
                if isinstance(status, int) and status < 0 and status not in passes:
                    raise failure(what, function, status)
                return status
            finally:
                if self._closing:
                    self._free()

    def check(self):
        if self._closing or not self._robot:
            raise ach.Error("the robot is closed; a child of fork opens it again", "ESHUTDOWN")

    def cancel(self):
        """Ends a request that another thread waits for."""
        if self._robot:
            lib.endplate_cancel(self._robot)

    def close(self):
        """Frees it, or leaves that to the thread that is in a call."""
        self._closing = True
        if self.lock.acquire(blocking=False):
            self._free()
            self.lock.release()

    def disown(self, trajectory):
        """Closes a trajectory, if it is open."""
        with self.lock:
            if self._robot and trajectory in self.owned:
                self.owned.discard(trajectory)
                lib.endplate_trajectory_close(trajectory)

    def _free(self):
        while self._robot and self.owned:
            lib.endplate_trajectory_close(self.owned.pop())
        robot, self._robot = self._robot, None
        if robot:
            lib.endplate_close(robot)

    def __del__(self):
        if getattr(self, "_robot", None):
            self.close()


HANDLE = object()


def _forked():
    for handle in Handle._all:
        handle.lock, handle._robot, handle.owned = threading.RLock(), None, set()


os.register_at_fork(after_in_child=_forked)

_libc = ctypes.CDLL(None)
_libc.getenv.restype, _libc.getenv.argtypes = _TEXT, [_TEXT]


def _copy_environment():
    """Shows to Python, and to what it starts, the variables that endplate_open has set."""
    for name in ("ENDPLATE_RUN", "ENDPLATE_PREFIX", "ACH_DIR"):
        value = _libc.getenv(name.encode())
        if value is not None:
            os.environ[name] = os.fsdecode(value)
        else:
            os.environ.pop(name, None)
