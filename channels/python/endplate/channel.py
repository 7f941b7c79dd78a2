"""Channels: shared memory in which the newest message wins."""
import ctypes
from time import monotonic_ns

from . import ach
from .clock import BEGIN_NS, now_ns, robot_clock
from .message import TYPES, Message, parse

_SLICE_NS = 100_000_000  # one wait inside libach: between two, Python handles signals and the channel may be removed
_ROOM = max(cls.SIZE for cls in TYPES.values())
_OK, _OVERFLOW, _EAGAIN, _MISSED, _TIMEOUT = (
    ach.STATUS.index("ACH_" + name) for name in ("OK", "OVERFLOW", "EAGAIN", "MISSED_FRAME", "TIMEOUT"))


def class_of(kind):
    if kind is None or (isinstance(kind, type) and issubclass(kind, Message)):
        return kind
    if kind not in TYPES:
        raise ValueError(f'"{kind}" is not a type of message; there are {", ".join(TYPES)}')
    return TYPES[kind]


def create(name, kind=None, *, count=None, size=None, mode=None, replace=False):
    """Makes a channel, for messages of a type (a name or a class) or for count messages of size bytes.

    mode is who may read and write, 0o660, whatever the umask; replace replaces an existing channel."""
    cls, attr = class_of(kind), ach.CreateAttr()
    if cls is None and (count is None or size is None):
        raise ValueError("create needs a type, or count and size")
    ach.lib.ach_create_attr_init(attr)
    ach.check(name, ach.lib.ach_create_attr_set_truncate(attr, replace))
    if mode is not None:
        ach.check(name, ach.lib.ach_create_attr_set_mode(attr, mode, 0xffffffff))
    ach.check(name, ach.lib.ach_create(name.encode(), count or cls.RETAINED, size or cls.SIZE, attr))


def unlink(name):
    """Removes a channel; processes that have it open get Removed, or go on among themselves if they are not Python."""
    ach.check(name, ach.lib.ach_unlink(name.encode()))


class Channel:
    """An open channel, to read and to write; not for two threads at once.

    kind: the type of its messages (a name or a class), others raise WrongMessage; None: any of Endplate's.
    raw: messages are bytes, of any program.
    After a message was read, number is its number in the channel and missed how many before it were overwritten unseen.
    """

    def __init__(self, name, kind=None, *, raw=False):
        self.name, self.number, self.missed = name, 0, 0
        self._class, self._raw, self._handle, self._sequence = class_of(kind), raw, None, None
        self._buf = ctypes.create_string_buffer(_ROOM)
        self.reopen()

    def reopen(self):
        """Opens the channel that has the name now, from its oldest message on."""
        self.close()
        handle = ach.ChannelHandle()
        ach.check(self.name, ach.lib.ach_open(handle, self.name.encode(), None))
        self._handle, self._cursor = handle, ach.cursor(handle)

    def close(self):
        if self._handle is not None:
            ach.lib.ach_close(self._handle)
            self._handle = self._sequence = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            self.close()

    # ---- reading ----

    def newest(self):
        """The newest message, whether it was read before or not; None: there is none."""
        self._check_name()
        return self._take(self._get(ach.O_LAST | ach.O_COPY))

    def next(self, timeout_s=None, *, deadline_ns=None):
        """The oldest message that was not read yet; waits for it, without a limit by default.

        timeout_s is real time, deadline_ns a time of the robot's clock (now_ns).  Timeout: it has passed; Removed: none
        can come any more."""
        return self._wait(0, timeout_s, deadline_ns)

    def wait(self, timeout_s=None, *, deadline_ns=None):
        """As next, but the newest of the messages that were not read yet."""
        return self._wait(ach.O_LAST, timeout_s, deadline_ns)

    def flush(self):
        """Skips all messages that are there."""
        ach.check(self.name, ach.lib.ach_flush(self._open()))

    def __iter__(self):
        """Every message, for ever."""
        while True:
            yield self.next()

    # ---- writing ----

    def put(self, message, *, valid_ns=None):
        """Publishes a message, or bytes.

        In the header, what is 0 is filled in: both times are now, and sequence counts on.  valid_ns: it is valid for
        that long from now.  The message itself stays as it is, so it can be changed and put again."""
        self._check_name()
        data = self._finished(message, valid_ns)._buf if isinstance(message, Message) else bytearray(message)
        ach.check(self.name, ach.lib.ach_put(self._open(), _buffer(data), len(data)))

    # ---- how ----

    def _open(self):
        if self._handle is None:
            raise ach.Error(f"{self.name}: the channel is closed", "ACH_CLOSED")
        return self._handle

    def _check_name(self):
        unlinked = ctypes.c_int()
        ach.check(self.name, ach.lib.ach_unlinked(self._open(), unlinked))
        if unlinked:
            raise ach.Removed(f"{self.name} was removed", "ACH_ENOENT")

    def _get(self, options, wait_ns=None):
        """The length of the message, now in _buf; None: there is none."""
        before, size, timeout = self._cursor.value, ctypes.c_size_t(), None
        if wait_ns is not None:
            options |= ach.O_WAIT | ach.O_RELTIME
            timeout = ach.Timespec(*divmod(wait_ns, 1_000_000_000))
        while True:
            status = ach.lib.ach_get(self._open(), self._buf, len(self._buf), size, timeout, options)
            if status != _OVERFLOW:
                break
            self._buf = ctypes.create_string_buffer(size.value)
        if status in (_EAGAIN, _TIMEOUT):
            return None
        if status not in (_OK, _MISSED):
            raise ach.failure(self.name, status)
        self.number = self._cursor.value
        self.missed = max(self.number - before - 1, 0) if before else 0
        return size.value

    def _take(self, size):
        if size is None:
            return None
        data = bytearray(memoryview(self._buf)[:size])
        return bytes(data) if self._raw else parse(data, self._class)

    def _wait(self, options, timeout_s, deadline_ns):
        clock = now_ns
        if timeout_s is not None:
            deadline_ns, clock = monotonic_ns() + int(timeout_s * 1e9), monotonic_ns
            changes = None
        else:
            foreign = deadline_ns is not None and (deadline_ns < BEGIN_NS) != (now_ns() < BEGIN_NS)
            changes = -1 if foreign else robot_clock.changes
        while True:
            left = _SLICE_NS if deadline_ns is None else deadline_ns - clock()
            if deadline_ns is not None and changes is not None and changes != robot_clock.changes:
                left = 0  # the deadline is one of another clock
            size = self._get(options, max(0, min(left, _SLICE_NS)))
            if size is not None:
                return self._take(size)
            self._check_name()
            if left <= 0:
                raise ach.Timeout(f"{self.name}: no message in time", "ACH_TIMEOUT")

    def _next_sequence(self, message):
        if self._sequence is None:  # counts on from the newest message
            cursor, number, missed = self._cursor.value, self.number, self.missed
            size = self._get(ach.O_LAST | ach.O_COPY)
            self._cursor.value, self.number, self.missed = cursor, number, missed
            try:
                self._sequence = parse(bytearray(self._buf[:size or 0]), type(message)).header.sequence
            except ValueError:
                self._sequence = 0
        return self._sequence + 1

    def _finished(self, message, valid_ns):
        message, now = message._for_put(), now_ns()
        header = message.header
        header.sequence = self._sequence = header.sequence or self._next_sequence(message)
        header.t_sample_ns = header.t_sample_ns or now
        header.t_publish_ns = header.t_publish_ns or now
        if valid_ns is not None:
            header.valid_until_ns = now + valid_ns
        return message


def _buffer(data):
    return (ctypes.c_char * len(data)).from_buffer(data) if data else None
