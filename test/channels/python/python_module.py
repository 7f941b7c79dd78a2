"""The Python module against ach(1): what one writes the other reads.  python_module.py [CLASS]; ACH is the tool."""
import copy
import json
import math
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import zlib

if os.environ.get("WITHOUT_NUMPY"):
    sys.modules["numpy"] = None

import endplate  # noqa: E402
from endplate import message  # noqa: E402

ACH = os.environ["ACH"]
REALS = [0.1, -2.5e-9, 1e300, math.inf, -math.inf, -0.0]


def ach(*arguments, given=None):
    return subprocess.run([ACH, *arguments], input=given, capture_output=True, text=True, check=True).stdout


def echoed(channel, *options):
    return [json.loads(line) for line in ach("echo", "--json", *options, channel).splitlines()]


def eventually(condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("never came true")


def holds(path, data):
    if not os.path.exists(path):
        return False
    with open(path, "rb") as file:
        return data in file.read()


def as_json(group):
    """What ach echo --json prints of a group."""
    def one(field, value):
        if field.kind == "group":
            return as_json(value)
        if field.kind == "word":
            return str(value)
        if field.kind == "flags":
            words = [word for word in field.words if word in value]
            return "|".join(words + [hex(bits) for bits in value if isinstance(bits, int)]) or "-"
        if field.kind == "f64":
            return None if math.isnan(value) else str(float(value)) if math.isinf(value) else value
        return value
    fields = ((f, getattr(group, name)) for name, f in group.FIELDS.items() if name != "reserved")
    return {f.name: one(f, v) if f.room is None else [one(f, x) for x in (v.tolist() if f.codec.plain else v)]
            for f, v in fields}


class Filler:
    """Gives every field of a message a value of its own."""

    FIXED = ("type", "version", "size", "reserved")

    def __init__(self, full):
        self.full, self.n = full, 0

    def value(self, field):
        self.n += 1
        n = self.n
        if field.kind == "word":
            return field.words[n % len(field.words)] if n % 7 else 1000 + n
        if field.kind == "flags":
            return {field.words[n % len(field.words)], field.words[0], *([1 << 31] if n % 3 else [])}
        if field.kind in ("name", "text"):
            return ("ü\"\\\n%d " % n * 9)[:field.size // 2]
        if field.kind == "f64":
            return REALS[n % len(REALS)] if n % 2 else n / 7
        bits = field.size * 8
        return (n * 2**bits // 997) % 2**bits if field.kind[0] == "u" else -n * 2**bits // 2 // 4999

    def fill(self, group):
        counts = {f.counted_by for f in group.FIELDS.values() if f.counted_by}
        for name in counts:
            room = min(f.room for f in group.FIELDS[name].counts)
            setattr(group, name, room if self.full else min(room, 2))
        for name, field in group.FIELDS.items():
            if field.kind == "group":
                value = getattr(group, name)
                for inner in value if field.room else [value]:
                    self.fill(inner)
            elif name not in (*counts, *self.FIXED):
                setattr(group, name, [self.value(field) for _ in range(field.used(group))] if field.room
                        else self.value(field))


class Case(unittest.TestCase):
    def setUp(self):
        self.names = []
        self.children = []

    def tearDown(self):
        for child in self.children:
            child.kill()
            child.wait()
        for name in self.names:
            try:
                endplate.unlink(name)
            except endplate.Error:
                pass

    def make(self, what, kind=None, **options):
        name = f"test-python-{os.getpid()}-{len(self.names)}-{what}"
        self.names.append(name)
        endplate.create(name, kind, **options)
        return name

    def start(self, *arguments, **options):
        self.children.append(subprocess.Popen(arguments, **options))
        return self.children[-1]

    def refused(self, exception, text, call, *arguments, **options):
        with self.assertRaises(exception) as caught:
            call(*arguments, **options)
        self.assertEqual(text, str(caught.exception))
        return caught.exception


class Messages(Case):
    def test_every_field_of_every_type_is_what_the_tool_prints(self):
        for name, cls in endplate.TYPES.items():
            for full in (False, True):
                with self.subTest(type=name, full=full):
                    channel, given = self.make("out", cls), cls()
                    Filler(full).fill(given)
                    with endplate.Channel(channel, cls) as c:
                        c.put(given)
                        self.assertEqual(given, c.newest())
                    self.assertEqual({"type": name, **as_json(given)}, echoed(channel)[0])

    def test_every_field_of_every_type_comes_back_from_the_tool(self):
        for name, cls in endplate.TYPES.items():
            with self.subTest(type=name):
                channel, given = self.make("in", cls), cls()
                Filler(True).fill(given)
                ach("put", channel, "--type", name, "--json", "-", given=json.dumps(as_json(given)))
                with endplate.Channel(channel) as c:
                    self.assertEqual(given, c.next())

    def test_layouts_are_those_of_the_tool(self):
        self.assertEqual([line.split()[0] for line in ach("types").splitlines()[1:]], list(endplate.TYPES))
        self.assertEqual("rad/s", endplate.JointState.FIELDS["velocity"].unit)
        self.assertEqual(endplate.TYPES["force-torque"], endplate.ForceTorque)

    def test_page_describes_every_name(self):
        with open("channels/python/endplate-python.7", encoding="utf-8") as file:
            page = file.read()
        names = [f"endplate.{name}" for name in endplate.__all__ if name not in (c.__name__ for c in
                                                                                 endplate.TYPES.values())]
        methods = [f".It Fn {name}" for name in vars(endplate.Channel) if not name.startswith("_")]
        self.assertEqual([], [name for name in names + methods if name not in page])

    def test_new_message_makes_nothing_up(self):
        battery = endplate.Battery(cell=[3.3, 3.4])
        self.assertTrue(math.isnan(battery.voltage))
        self.assertEqual((2, 0, frozenset()), (battery.cell_count, battery.age_ns, battery.alarms))
        battery.cell_count = 1
        battery.cell_count = 2
        self.assertTrue(math.isnan(battery.cell[1]))
        self.assertTrue(all(math.isnan(x) for x in endplate.Imu().acceleration))

    def test_lists_are_arrays_in_the_message(self):
        imu = endplate.Imu(acceleration=[1, 2, 3])
        imu.acceleration[1] = 9.81
        self.assertEqual([1, 9.81, 3], imu.acceleration.tolist())
        self.assertEqual("memoryview" if os.environ.get("WITHOUT_NUMPY") else "ndarray",
                         type(imu.acceleration).__name__)

    def test_copy_has_memory_of_its_own(self):
        imu = endplate.Imu(samples=1)
        for other in (copy.copy(imu), copy.deepcopy(imu)):
            other.samples = 2
            self.assertEqual((1, 2), (imu.samples, other.samples))
        common = copy.copy(imu.common)
        common.epoch = 9
        self.assertEqual(0, imu.common.epoch)

    def test_words_and_flags_are_strings(self):
        state = endplate.JointState(joint=["a", "b"], status=[{"homed", "moving"}, "fault"])
        state.common.lifecycle = "active"
        self.assertEqual(("active", ("a", "b")), (state.common.lifecycle, state.joint))
        self.assertIn("homed", state.status[0])
        self.assertEqual({"homed", "moving"}, state.status[0])

    def test_groups_take_dicts(self):
        clock = endplate.Clock(bus=[{"name": "x", "load": 0.5}, {"name": "y"}], header={"sequence": 7})
        self.assertEqual(("y", 7, 2), (clock.bus[1].name, clock.header.sequence, clock.bus_count))
        clock.bus[1].load = 0.25
        self.assertEqual([0.5, 0.25], [bus["load"] for bus in endplate.asdict(clock)["bus"]])

    def test_wrong_values_are_refused(self):
        imu, ref = endplate.Imu(), endplate.JointRef(mode=["none"])
        for text, call in [
            ("imu has no field x", lambda: endplate.Imu(x=1)),
            ("acceleration: length 2; there is room for 3", lambda: setattr(imu, "acceleration", [1, 2])),
            ("position: length 2, but count is 1", lambda: setattr(ref, "position", [1, 2])),
            ("count: 99 is more than the 48 that there is room for", lambda: setattr(ref, "count", 99)),
            ('mode: "what" is not one of none, position, velocity, current, compliant',
             lambda: setattr(ref, "mode", ["what"])),
            ("source: '%s' is not text of at most 23 bytes" % ("x" * 24), lambda: endplate.Event(source="x" * 24)),
            ("header: has no field x", lambda: setattr(imu, "header", {"x": 1})),
        ]:
            self.refused(ValueError, text, call)
        self.assertRaises(ValueError, setattr, imu, "samples", -1)
        self.assertRaises(ValueError, setattr, imu, "samples", "many")
        self.assertRaises(AttributeError, setattr, imu, "sample", 1)

    def test_bytes_that_are_not_a_message_are_refused(self):
        imu = bytes(endplate.Imu())
        for text, data in [
            ("3 bytes are not a message of Endplate's", b"abc"),
            ("100 bytes of an unknown type", bytes(100)),
            (f"imu of version 77; this module knows version {endplate.Imu.VERSION}",
             imu[:4] + struct.pack("<H", 77) + imu[6:]),
            (f"imu of {len(imu) - 8} bytes with size {len(imu)} in its header; expected {len(imu)}", imu[:-8]),
        ]:
            self.refused(endplate.WrongMessage, text, endplate.parse, data)


class Channels(Case):
    def test_header_is_filled_in(self):
        channel = self.make("x-ref", "joint-ref")
        ach("put", channel, "--json", '{"header":{"sequence":41}}')
        before = endplate.now_ns()
        ref = endplate.JointRef(mode=["velocity"], velocity=[1])
        with endplate.Channel(channel) as c:
            c.put(ref, valid_ns=20_000_000)
            c.put(ref)
            self.assertEqual(0, c.number)
            self.assertEqual([41, 42, 43], [c.next(0).header.sequence for _ in range(3)])
        first = echoed(channel)[1]["header"]
        self.assertLessEqual(before, first["t_publish_ns"])
        self.assertEqual((first["t_publish_ns"], first["t_publish_ns"] + 20_000_000),
                         (first["t_sample_ns"], first["valid_until_ns"]))
        self.assertEqual(0, ref.header.sequence)

    def test_reference_that_was_not_given_is_refused(self):
        channel = self.make("y-ref", "joint-ref")
        with endplate.Channel(channel) as c:
            self.refused(ValueError, "mode[1] is position, but there is no position", c.put,
                         endplate.JointRef(mode=["none", "position"]))
            c.put(endplate.JointRef(mode=["none", "position"], position=[math.nan, 1]))
        self.assertEqual(([0, 1], [0, 0]), (echoed(channel)[0]["position"], echoed(channel)[0]["velocity"]))

    def test_nan_and_infinity_go_through(self):
        channel = self.make("nan", "imu")
        with endplate.Channel(channel) as c:
            c.put(endplate.Imu(acceleration=[math.nan, math.inf, -math.inf]))
            self.assertEqual([None, "inf", "-inf"], echoed(channel)[0]["acceleration"])
            ach("put", channel, "--type", "imu", "--json", "-",
                given=json.dumps({"acceleration": [math.nan, math.inf, -math.inf]}))
            got = c.wait(0).acceleration.tolist()
            self.assertTrue(math.isnan(got[0]))
            self.assertEqual([math.inf, -math.inf], got[1:])

    def test_newest_next_and_wait(self):
        channel = self.make("order", "imu", count=4)
        with endplate.Channel(channel, "imu") as c, endplate.Channel(channel) as writer:
            self.assertIsNone(c.newest())
            for i in range(3):
                writer.put(endplate.Imu(samples=i))
            self.assertEqual([0, 1], [c.next().samples for _ in range(2)])
            for i in range(3, 9):
                writer.put(endplate.Imu(samples=i))
            self.assertEqual((5, 3), (c.next().samples, c.missed))
            self.assertEqual((8, 2, 9), (c.wait().samples, c.missed, c.number))
            self.assertEqual((8, 0), (c.newest().samples, c.missed))
            self.refused(endplate.Timeout, f"{channel}: no message in time", c.next, 0)
            self.refused(endplate.Timeout, f"{channel}: no message in time", c.wait, deadline_ns=endplate.now_ns())
            writer.put(endplate.Imu(samples=9))
            c.flush()
            self.assertRaises(TimeoutError, c.next, 0)

    def test_wait_wakes_for_a_message(self):
        channel = self.make("wake", "imu")
        with endplate.Channel(channel) as c:
            threading.Timer(0.05, ach, ["put", channel, "--type", "imu", "--json", '{"samples":5}']).start()
            self.assertEqual(5, c.next(60).samples)

    def test_stream_of_the_tool_arrives_in_order(self):
        n = 3000
        channel = self.make("stream", "imu", count=n)
        feed = self.start(ACH, "put", channel, "--type", "imu", "--json", "-", stdin=subprocess.PIPE, text=True)
        lines = "".join('{"samples":%d}\n' % i for i in range(n))
        writer = threading.Thread(target=feed.communicate, args=[lines])
        writer.start()
        with endplate.Channel(channel) as c:
            self.assertEqual([(i, 0) for i in range(n)], [(c.next(60).samples, c.missed) for _ in range(n)])
        writer.join()
        self.assertEqual(0, feed.returncode)

    def test_killed_writers_leave_the_channel_sound(self):
        channel = self.make("killed", "imu")
        with endplate.Channel(channel) as c:
            for i in range(5):
                writer = self.start(ACH, "put", channel, "--type", "imu", "--json", '{"samples":7}', "--hz", "10000")
                c.flush()
                for _ in range(20):
                    self.assertEqual(7, c.next(60).samples)
                writer.kill()
                writer.wait()
                c.flush()
                self.assertRaises(endplate.Timeout, c.next, 0.01)
                c.put(endplate.Imu(samples=i))
                self.assertEqual(i, c.next(0).samples)

    def test_removed_channel_raises_and_can_be_opened_again(self):
        channel = self.make("removed", "imu")
        with endplate.Channel(channel) as c:
            c.put(endplate.Imu(samples=1))
            threading.Timer(0.05, ach, ["rm", channel]).start()
            self.assertEqual(1, c.next().samples)
            text = f"{channel} was removed"
            self.refused(endplate.Removed, text, c.next)  # it waited for ever otherwise
            self.refused(endplate.Removed, text, c.newest)
            self.refused(endplate.Removed, text, c.put, endplate.Imu())
            self.assertRaises(endplate.Error, c.reopen)
            self.refused(endplate.Error, f"{channel}: the channel is closed", c.newest)
            endplate.create(channel, "imu")
            ach("put", channel, "--type", "imu", "--json", '{"samples":2}')
            c.reopen()
            self.assertEqual(2, c.newest().samples)

    def test_replaced_channel_is_a_removed_one(self):
        channel = self.make("replaced", "imu")
        with endplate.Channel(channel) as c:
            endplate.create(channel, "imu", replace=True)
            self.assertRaises(endplate.Removed, c.newest)

    def test_messages_of_another_type_are_refused(self):
        channel = self.make("other", count=4, size=4096)
        with endplate.Channel(channel, "imu") as c, endplate.Channel(channel, raw=True) as raw:
            ach("put", channel, "--type", "estop", "--json", "{}")
            self.refused(endplate.WrongMessage, "a message of type estop; expected imu", c.newest)
            raw.put(b"hello")
            self.refused(endplate.WrongMessage, "5 bytes are not a message of Endplate's", c.next)
            self.assertEqual(b"hello", raw.newest())
            raw.put(bytes(16000))  # larger than any message of Endplate's
            self.assertEqual(16000, len(raw.newest()))
        self.refused(ValueError, '"imo" is not a type of message; there are ' + ", ".join(endplate.TYPES),
                     endplate.Channel, channel, "imo")

    def test_errors_have_the_words_of_ach(self):
        name = f"test-python-{os.getpid()}-none"
        for status, call in [
            ("ACH_ENOENT", lambda: endplate.Channel(name)),
            ("ACH_ENOENT", lambda: endplate.unlink(name)),
            ("ACH_INVALID_NAME", lambda: endplate.Channel("a/b")),
            ("ACH_EEXIST", lambda: endplate.create(self.make("twice", "imu"), "imu") or
             endplate.create(self.names[-1], "imu")),
            ("ACH_OVERFLOW", lambda: endplate.Channel(self.make("small", count=1, size=8)).put(endplate.Imu())),
        ]:
            with self.subTest(status=status), self.assertRaises(endplate.Error) as caught:
                call()
            self.assertEqual(status, caught.exception.status)
        self.assertIn("no such channel", str(self.assertRaisesAny(endplate.Channel, name)))

    def assertRaisesAny(self, call, *arguments):
        with self.assertRaises(endplate.Error) as caught:
            call(*arguments)
        return caught.exception

    def test_mode_is_exact(self):
        channel = self.make("mode", "imu", mode=0o640)
        self.assertEqual("0640", json.loads(ach("info", "--json", "--for", "0", channel))["mode"])

    def test_interrupt_ends_a_wait(self):
        channel = self.make("interrupt", "imu")
        child = self.start(sys.executable, "-c", "import endplate, sys\nc = endplate.Channel(sys.argv[1])\n"
                           "print('waits', flush=True)\nc.next()", channel, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        self.assertEqual("waits\n", child.stdout.readline())
        child.send_signal(signal.SIGINT)
        self.assertIn("KeyboardInterrupt", child.communicate()[1])


class Recordings(Case):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "recording")
        self.addCleanup(self.folder.cleanup)

    @staticmethod
    def record(kind, channel=0, t_ns=0, number=0, body=b""):
        rest = struct.pack("<IIHHqQ", len(body), zlib.crc32(body), kind, channel, t_ns, number)
        return struct.pack("<I", zlib.crc32(rest)) + rest + body

    def write(self, *records):
        with open(self.path, "wb") as file:
            file.write(b"achrec1\n" + self.record(1, 0, 5, 1000) + b"".join(records))
        return self.path

    def channel(self, number, name):
        return self.record(2, number, body=struct.pack("<4I", 64, 1472, 0o600, 3) + name.encode())

    def test_thousands_of_messages_become_columns(self):
        n = 4000
        channel, other = self.make("rec", "joint-state", count=n), self.make("rec2", "imu")
        recorder = self.start(ACH, "record", "-o", self.path, channel, other)
        eventually(lambda: holds(self.path, other.encode()))  # it reads both from now on
        with endplate.Channel(channel) as c, endplate.Channel(other) as c2:
            state = endplate.JointState(joint=["a", "b"])
            for i in range(n):
                state.position = [i, -i]
                state.common.bus_count = i % 2
                if i % 2:
                    state.common.bus[0].sent = i
                state.common.lifecycle = "active" if i % 2 else "holding"
                c.put(state)
            c2.put(endplate.Imu(acceleration=[1, 2, 3], samples=5))
        eventually(lambda: os.path.getsize(self.path) > n * endplate.JointState.SIZE)
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(0, recorder.wait())
        recording = endplate.Recording(self.path)
        series = recording[channel]
        self.assertEqual(({channel, other}, n, 0, False, endplate.JointState),
                         (set(recording), len(series), series.missed, recording.cut, series.cls))
        position = series["position"]
        self.assertEqual([[i, -i] for i in range(n)], [list(row) for row in position])
        self.assertEqual([-i for i in range(n)], list(series["position[1]"]))
        self.assertEqual(list(range(1, n + 1)), list(series["header.sequence"]))
        self.assertEqual([i if i % 2 else 0 for i in range(n)], list(series["common.bus[0].sent"]))
        self.assertEqual(["holding", "active"], series["common.lifecycle"][:2])
        self.assertEqual(["a", "b"], series["joint"][0])
        self.assertTrue(math.isnan(series["temperature"][0][0]))
        self.assertEqual([[1, 2, 3]], [list(row) for row in recording[other]["acceleration"]])
        shown = [json.loads(line) for line in ach("echo", "--json", "--only", channel, self.path).splitlines()]
        self.assertEqual([m["t_ns"] for m in shown], list(series.t_ns))
        self.assertEqual([m["number"] for m in shown], list(series.number))
        self.assertEqual(shown[-1]["message"], {"type": "joint-state", **as_json(series[-1])})
        self.assertLessEqual(recording.start_ns, series.t_ns[0])
        kinds = ("list", "array") if os.environ.get("WITHOUT_NUMPY") else ("ndarray", "ndarray")
        self.assertEqual(kinds, (type(position).__name__, type(series.t_ns).__name__))

    def test_shorter_lists_are_padded(self):
        bodies = [bytearray(bytes(endplate.Battery(cell=[3.0] * 3))) for _ in range(3)]
        for body, n in zip(bodies, (1, 3, 0)):  # and something behind what counts
            struct.pack_into("<I", body, endplate.Battery.FIELDS["cell_count"].offset, n)
        self.write(self.channel(0, "b"), *(self.record(3, 0, i, i, b) for i, b in enumerate(bodies)), self.record(5))
        battery = endplate.Recording(self.path)["b"]
        column = [[None if math.isnan(x) else x for x in row] for row in battery["cell"]]
        self.assertEqual([[3, None, None], [3, 3, 3], [None] * 3], column)
        self.assertEqual([True, False, True], [math.isnan(x) for x in battery["cell[1]"]])

    def test_losses_cuts_and_damage_are_seen(self):
        imu = bytes(endplate.Imu(samples=1))
        head = [self.channel(0, "a"), self.channel(1, "b"), self.record(3, 0, 10, 1, imu)]
        self.write(*head, self.record(4, 0, 11, 25), self.record(3, 0, 12, 27, imu))
        recording = endplate.Recording(self.path)
        self.assertEqual((True, 25, [1, 27], [10, 12], 0, 5, 1000),
                         (recording.cut, recording["a"].missed, list(recording["a"].number), list(recording["a"].t_ns),
                          len(recording["b"]), recording.start_ns, recording.start_realtime_ns))
        self.assertEqual([], recording["b"]["samples"])
        whole = self.record(3, 0, 12, 2, imu)
        damaged_body = whole[:-1] + b"x"
        for name, records, numbers, damaged in [
            ("cut", [whole[:-1]], [1], 0),
            ("cut in the head", [whole[:20]], [1], 0),
            ("body", [damaged_body, whole], [1, 2], len(whole)),
            ("head", [b"x" * 50, whole], [1, 2], 50),
        ]:
            with self.subTest(name), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                recording = endplate.Recording(self.write(*head, *records))
                self.assertEqual((numbers, damaged, bool(damaged)),
                                 (list(recording["a"].number), recording.damaged, bool(caught)))

    def test_wrong_fields_and_messages_are_named(self):
        imu = bytes(endplate.Imu())
        old = imu[:4] + struct.pack("<H", 1) + imu[6:]
        self.write(self.channel(0, "a"), self.record(3, 0, 0, 1, imu), self.channel(1, "b"),
                   self.record(3, 1, 0, 9, old))
        recording = endplate.Recording(self.path)
        for path in ("x", "header.x", "acceleration[3]", "samples[0]", "common", "common.bus.sent", "a b"):
            self.assertRaises(KeyError, recording["a"].__getitem__, path)
        self.refused(endplate.WrongMessage, f"b: message 9: imu of version 1; this module knows version "
                     f"{endplate.Imu.VERSION}",
                     recording["b"].__getitem__, "samples")
        with open(self.path, "wb") as file:
            file.write(b"what")
        self.refused(ValueError, f"{self.path}: is not a recording of ach record", endplate.Recording, self.path)

    def test_without_numpy_nothing_else_differs(self):
        self.assertEqual(message.numpy is None, bool(os.environ.get("WITHOUT_NUMPY")))


if __name__ == "__main__":
    unittest.main()
