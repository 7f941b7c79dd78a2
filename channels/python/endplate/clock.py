"""The robot's time: CLOCK_MONOTONIC, or the virtual clock of the robot that the environment names (endplate(7))."""
import glob
import mmap
import os
import struct
import time

_MAGIC = 0x32656d6974686361  # a page begins with this, the time in nanoseconds, and the process that keeps it
_HEAD = struct.Struct("=QqI")
BEGIN_NS = 99_000_000_000_000_000  # of virtual clocks; CLOCK_MONOTONIC is before it
_LOOK_NS = 50_000_000  # real time between two looks at the file of a clock that is not there, or stands still


def _means(path):
    """Does the robot of that clock have its channels where this process opens them?"""
    wanted = f"\nprefix {os.environ.get('ENDPLATE_PREFIX', '')}\nchannels {os.environ.get('ACH_DIR', '')}\nend\n"
    try:
        with open(os.path.join(os.path.dirname(path), "robot"), encoding="utf-8") as robot:
            return robot.read().endswith(wanted)
    except OSError:
        return False


def _find():
    """The path of the page, or None."""
    run, user = os.environ.get("ENDPLATE_RUN"), os.environ.get("XDG_RUNTIME_DIR")
    if run:
        return os.path.join(run, "clock")
    found = glob.glob("/run/endplate/*/clock") + (glob.glob(f"{user}/endplate/*/clock") if user else [])
    found = [path for path in found if _means(path)]
    return found[0] if len(found) == 1 else None


def _lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class _Clock:
    def __init__(self):
        self._page, self._file, self._seen_ns, self._look_ns = None, None, 0, 0
        self.changes = 0  # how often it was another clock than before: a deadline of the former one has no meaning

    def _open(self):
        self._page, path = None, _find()
        try:
            with open(path or "", "rb") as file:
                page = mmap.mmap(file.fileno(), mmap.PAGESIZE, prot=mmap.PROT_READ)
                magic, _, pid = _HEAD.unpack_from(page)
                if magic == _MAGIC and _lives(pid):
                    self._page, self._file = page, (path, os.fstat(file.fileno()).st_ino)
        except (OSError, ValueError):
            pass

    def _look(self):
        """The robot may have been started since, or started again, on a clock or in real time."""
        try:
            if self._page and os.stat(self._file[0]).st_ino == self._file[1]:
                return
        except OSError:
            pass
        before = self._file if self._page else None
        self._open()
        self.changes += before != (self._file if self._page else None)

    def now_ns(self):
        real_ns = time.monotonic_ns()
        now_ns = _HEAD.unpack_from(self._page)[1] if self._page else 0
        if (not now_ns or now_ns == self._seen_ns) and real_ns >= self._look_ns:
            self._look_ns = real_ns + _LOOK_NS
            self._look()
            now_ns = _HEAD.unpack_from(self._page)[1] if self._page else 0
        self._seen_ns = now_ns
        return now_ns or real_ns


robot_clock = _Clock()
now_ns = robot_clock.now_ns
