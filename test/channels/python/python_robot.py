"""endplate.Robot on a bench robot whose device waist has two joints.  python_robot.py [CLASS]"""
import asyncio
import ctypes
import gc
import inspect
import math
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import typing
import unittest

if os.environ.get("WITHOUT_NUMPY"):
    sys.modules["numpy"] = None

import endplate  # noqa: E402
from endplate import client, message  # noqa: E402

CLASSES = [endplate.Robot, endplate.Device, endplate.Trajectory, endplate.State, endplate.Tick]
EXAMPLES = "channels/python/examples"


def saved_pid(name):
    with open(os.path.join(os.environ["ENDPLATE_RUN"], "state", name), encoding="utf-8") as file:
        return int(next(line for line in file if line.startswith("pid ")).split()[1])


def clock_pid():
    with open(os.path.join(os.environ["ENDPLATE_RUN"], "clock"), "rb") as file:
        return struct.unpack("=QqI", file.read(20))[2]


class Case(unittest.TestCase):
    def setUp(self):
        self.robot = endplate.Robot()
        self.addCleanup(self.robot.close)
        self.waist = self.robot.device("waist", "joint-state")

    def refused(self, status, text, call, *arguments, **options):
        """Error of that status with that text; returns it."""
        with self.assertRaises(endplate.Error) as caught:
            call(*arguments, **options)
        self.assertEqual(status, caught.exception.status, caught.exception)
        self.assertIn(text, str(caught.exception))
        return caught.exception

    def child(self, program, *arguments):
        process = subprocess.Popen([sys.executable, "-W", "error", "-c", program, *arguments], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def followed(self):
        """A state of the waist that follows references."""
        self.robot.ready(self.waist, timeout_s=30)
        return self.waist.state()


class Interface(unittest.TestCase):
    def test_every_public_function_has_type_hints(self):
        for cls in CLASSES:
            for name, function in inspect.getmembers(cls, lambda member: inspect.isfunction(member)):
                if name.startswith("_") and name != "__init__":
                    continue
                with self.subTest(f"{cls.__name__}.{name}"):
                    hints = typing.get_type_hints(function, None, vars(endplate))
                    self.assertEqual(set(inspect.signature(function).parameters) - {"self"}, set(hints) - {"return"})
                    self.assertIn("return", hints)
        folder = os.path.dirname(endplate.__file__)
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))

    def test_page_describes_every_method(self):
        with open("channels/python/endplate-python.7", encoding="utf-8") as file:
            page = file.read()
        for cls in CLASSES[:3]:
            for name in vars(cls):
                if not name.startswith("_"):
                    self.assertTrue(re.search(rf"\.It (Fn|Li) {name}\b", page), f"{cls.__name__}.{name}")

    def test_structs_are_those_of_the_header(self):
        rows = [(f"struct endplate_{struct.__name__.lower()}", name, getattr(struct, name).offset)
                for struct in (client.View, client.Tick) for name, _ in struct._fields_]
        program = "#include <stdio.h>\n#include \"channels/client/endplate.h\"\nint main(void) {\n" + "".join(
            f'printf("%zu\\n", offsetof({struct}, {name}));\n' for struct, name, _ in rows) + "".join(
            f'printf("%zu\\n", sizeof(struct endplate_{struct}));\n' for struct in ("view", "tick")) + "}\n"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cc", "-I.", "-x", "c", "-o", f"{folder}/program", "-"], input=program, text=True,
                           check=True)
            printed = subprocess.run([f"{folder}/program"], capture_output=True, text=True, check=True).stdout
        self.assertEqual([offset for _, _, offset in rows] + [ctypes.sizeof(client.View), ctypes.sizeof(client.Tick)],
                         [int(line) for line in printed.split()])


class Robots(Case):
    def test_device_says_what_it_is(self):
        self.followed()
        info = self.waist.info()
        self.assertEqual(("pciod", "joint-state", "joint-ref", 2),
                         (info.driver, info.state_type, info.ref_type, info.count))
        self.assertEqual([0.43] * 2, list(info.velocity))
        self.assertTrue(all(-2.88 <= low < high <= 0 for low, high in zip(info.position_min, info.position_max)))
        self.assertEqual(0.005, info.period_ns / 1e9)
        self.assertIn("position", info.modes[0])
        self.assertEqual("rad/s", endplate.DeviceInfo.FIELDS["velocity"].unit)
        self.assertEqual([0, 1], [self.waist.joint(name) for name in info.joint])
        self.refused("ENOENT", "elbow", self.waist.joint, "elbow")

    def test_state_says_what_is_in_doubt(self):
        state = self.followed()
        self.assertEqual((frozenset(), True, "run"), (state.doubts, state.follows, state.level))
        self.assertEqual((2, 2), (state.count, len(state.position)))
        self.assertLess(state.age_s, 0.1)
        wiast = self.robot.device("wiast").state()
        self.assertEqual(({"silent"}, None, math.inf), (wiast.doubts, wiast.message, wiast.age_s))
        with self.assertRaises(endplate.NotReady) as caught:
            wiast.position
        self.assertEqual("wiast: no state; is its driver running?", str(caught.exception))
        self.refused("EPROTO", "waist", self.robot.device("waist", "imu").state)
        self.refused("EINVAL", "w/x", self.robot.device, "w/x")
        self.waist.max_age(1e-9)
        self.assertIn("old", self.waist.state().doubts)

    def test_nothing_wrong_is_put(self):
        put = self.waist.put
        self.assertIsInstance(self.refused("ENODATA", "no state was seen", put, position=[0, 0]), endplate.NotReady)
        self.followed()
        for status, text, options in [
            ("ERANGE", "waist", {"position": [-1, -1], "valid_s": 0.9}),
            ("ERANGE", "waist", {"position": [-1, -1], "valid_s": 0}),
            ("EDOM", "position of joint 1 is nan, not a finite number", {"position": [-1, math.nan]}),
            ("EDOM", "position of joint 0 is inf", {"position": {0: math.inf}}),
            ("ENOENT", "elbow", {"position": {"elbow": -1}}),
        ]:
            with self.subTest(text):
                self.refused(status, text, put, **options)
        for text, options in [
            ("waist: position has 3 values, but the device 2 joints", {"position": [-1, -1, -1]}),
            ("joint-ref has no field torque", {"torque": [1, 1]}),
            ("waist: joint 1 has mode position, but no value for it", {"mode": "position", "position": {0: -1}}),
            ("waist: joint 0 has mode compliant, but no value for it", {"mode": "compliant", "velocity": [0, 0]}),
        ]:
            with self.subTest(text), self.assertRaises(ValueError) as caught:
                put(**options)
            self.assertEqual(text, str(caught.exception))
        if message.numpy:
            self.assertRaises(ValueError, put, position=message.numpy.zeros(3))
        self.assertRaises(TypeError, put, endplate.JointRef(), position=[0, 0])

    def test_references_move_the_joints_that_they_name(self):
        array = message.numpy.array if message.numpy else list
        begin = [float(x) for x in self.followed().position]
        goal = [-1.2 if begin[0] < -1.3 else -1.4, begin[1]]
        for n, _ in enumerate(self.robot.ticks(0.005)):
            state = self.waist.state()
            if abs(state.position[0] - goal[0]) < 0.01:
                break
            if n % 3 == 0:
                self.waist.put(position={self.waist.info().joint[0]: goal[0]}, valid_s=0.025)
            elif n % 3 == 1:
                self.waist.put(position=array(goal), valid_s=0.025)
            else:
                self.waist.put(endplate.JointRef(mode=["position", "none"], position=goal), valid_s=0.025)
        self.assertAlmostEqual(begin[1], state.position[1], 2)

    def test_reference_that_the_driver_refused_is_an_error_of_the_next_put(self):
        state = self.followed()
        with self.robot.channel("waist-ref", "joint-ref") as refs:
            ref = endplate.JointRef(mode=["position"] * 2, position=list(state.position))
            ref.header.for_incarnation, ref.header.incarnation = state.incarnation, os.getpid()
            refs.put(ref, valid_ns=900_000_000)
        for _ in self.robot.ticks(0.005):
            state = self.waist.state()
            if state.refused:
                break
        self.assertNotEqual("", state.refusal)
        with self.assertRaises(endplate.Error) as caught:
            for _ in self.robot.ticks(0.005):
                self.waist.state()
                self.waist.put(position=list(state.position))
        self.assertEqual("EREFUSED", caught.exception.status)
        self.assertIn("waist: ", str(caught.exception))
        self.waist.put(position=list(state.position))

    def test_loop_goes_on_when_the_driver_was_killed(self):
        state = self.followed()
        killed, before, put = saved_pid("waist"), state.incarnation, 0
        doubts = set()
        for n, _ in enumerate(self.robot.ticks(0.005)):
            state = self.waist.state()
            doubts |= state.doubts
            if state.incarnation != before and put > 3:
                break
            try:
                self.waist.put(position=[-1.3, -1.3])
                put += 1
            except endplate.NotReady:
                put = 0
            if n == 20:
                os.kill(killed, signal.SIGKILL)
        self.assertIn("restarted", doubts)

    def test_device_outlives_its_robot(self):
        closed = "the robot is closed"
        self.followed()
        ticks = self.robot.ticks(0.005)
        next(ticks)
        self.robot.close()
        self.robot.close()
        for call in (self.waist.state, self.waist.info, lambda: self.waist.put(position=[0, 0]),
                     lambda: self.robot.level, lambda: next(ticks), lambda: self.robot.device("waist"),
                     lambda: self.robot.ask("waist", "get", "x")):
            self.refused("ESHUTDOWN", closed, call)
        waist = endplate.Robot().device("waist")  # which keeps its robot
        gc.collect()
        self.assertEqual("waist", waist.name)
        waist.state()
        waist.loop = waist
        del waist
        gc.collect()

    def test_child_of_fork_opens_its_own(self):
        self.followed()
        pid = os.fork()
        if not pid:
            try:
                self.refused("ESHUTDOWN", "the robot is closed", self.waist.state)
                with endplate.Robot() as own:
                    own.ready(own.device("waist"), timeout_s=30)
                self.robot.close()
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(0, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        self.assertEqual(frozenset(), self.followed().doubts)

    def test_process_has_one_robot(self):
        text = self.refused("EINVAL", "robot other", endplate.Robot, "other")
        self.assertIn("ENDPLATE_RUN", str(text))
        code = "import endplate, os\nendplate.Robot()\nprint(os.environ['ENDPLATE_PREFIX'])"
        environment = {name: value for name, value in os.environ.items() if name != "ENDPLATE_PREFIX"}
        printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        self.assertEqual(os.environ["ENDPLATE_PREFIX"] + "\n", printed.stdout, printed.stderr)

    def test_requests(self):
        self.followed()
        self.assertEqual("clock/5", self.robot.ask(self.waist, "get", "tick"))
        self.refused("ENOTSUP", "waist: ", self.robot.ask, "waist", "get", "nothing")
        self.refused("EPERM", "wiast", self.robot.ask, "wiast", "get", "tick")
        self.assertRaises(ValueError, self.robot.ask, "waist", "jump")


class Trajectories(Case):
    def setUp(self):
        super().setUp()
        self.followed()
        self.move = self.robot.trajectory()

    def goal(self):
        """Waypoints there and back, of which the first is 0.1 rad from where the joints are."""
        self.near = -1.3 if self.waist.state().position[0] < -1.35 else -1.4
        first, second = self.waist.info().joint
        return [{"waist": {first: self.near, second: -1.4}}, {self.waist: [-1.4, math.nan]}]

    def test_joints_arrive_together(self):
        for waypoint in self.goal():
            self.move.add(waypoint)
        self.assertEqual("arrived", self.move.run())
        self.assertAlmostEqual(-1.4, self.waist.state().position[0], 2)
        self.assertEqual("", self.move.why)

    def test_waypoints_are_passed(self):
        def run():
            move = self.robot.trajectory("trapezoid", share=0.5)
            at = list(self.waist.state().position)
            move.add({"waist": [at[0], at[1]]}, 0.1)
            move.pass_({"waist": [at[0] + 0.02, at[1]]}, 0.5, velocity={"waist": [0.05, 0]})
            move.add({"waist": [at[0] + 0.05, at[1]]}, 0.6)
            end = asyncio.run(move.arun())
            self.assertAlmostEqual(at[0] + 0.05, self.waist.state().position[0], 2)
            return end
        while True:
            try:
                self.assertEqual("arrived", run())
                break
            except endplate.Error as why:  # a pause of this machine ends a motion that has its times
                self.assertEqual("ETIME", why.status)

    def test_condition_and_stop_end_it_smoothly(self):
        self.move.add(self.goal()[0])
        self.move.until(self.waist, "velocity", 0.05)
        self.assertEqual("stopped", self.move.run())
        self.assertIn("velocity", self.move.why)
        self.move = self.robot.trajectory()
        self.move.add(self.goal()[0])
        self.move.start()
        ends = []
        for n, _ in enumerate(self.robot.ticks(0.005)):
            if n == 5:
                self.move.stop()
            ends.append(self.move.step())
            if ends[-1] != "runs":
                break
        self.assertEqual({"runs", "stopped"}, set(ends))

    def test_what_cannot_be_meant_is_refused(self):
        self.refused("ENOENT", "elbow", self.move.add, {"waist": {"elbow": -1}})
        self.refused("ERANGE", "waist", self.move.add, {"waist": [-1, 100]})
        self.refused("EINVAL", "colour", self.move.until, "waist", "colour", 1)
        self.refused("ENODATA", "", self.robot.trajectory().start)
        self.assertRaises(endplate.NotReady, self.move.until, "wiast", "force", 1)
        for text, call in [
            ("waist: 3 values, but the device has 2 joints", lambda: self.move.add({"waist": [0, 0, 0]})),
            ("joint x of waist is not in the first waypoint, which names all that move",
             lambda: self.move.add({"waist": {"x": 0}})),
            ('shape "cubic" is not one of quintic, trapezoid', lambda: self.robot.trajectory("cubic")),
        ]:
            with self.subTest(text), self.assertRaises(ValueError) as caught:
                call()
            self.assertEqual(text, str(caught.exception))
        self.refused("EDOM", "", self.robot.trajectory, share=2)
        self.move.close()
        self.move.close()
        self.refused("ESHUTDOWN", "the trajectory is closed", self.move.start)
        other = self.robot.trajectory()
        self.robot.close()
        self.refused("ESHUTDOWN", "closed", other.step)
        other.close()

    def test_cancelled_task_stops_first(self):
        async def main():
            task = asyncio.create_task(self.move.arun())
            async for _ in self.robot.aticks(0.005):
                if abs(self.waist.state().velocity[0]) > 0.05:
                    break
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        self.move.add(self.goal()[0])
        asyncio.run(main())
        self.assertEqual("stopped", self.move.why)
        self.assertEqual("stopped", self.move.step())


class Waits(Case):
    def test_ticks_are_periods_apart(self):
        previous = None
        for n, tick in enumerate(self.robot.ticks(0.0102)):
            if previous:
                self.assertEqual(10_000_000 * (1 + tick.skipped), tick.t_ns - previous)
            if n:  # the first may come before a message of the clock
                previous = tick.t_ns
                self.assertEqual((0.01, True), (tick.period_s, tick.clock))
            if n == 10:
                break
        self.refused("EINVAL", "ticks", next, self.robot.ticks(20))

    def test_ready_says_what_it_waits_for(self):
        wiast = self.robot.device("wiast")
        why = self.refused("ETIMEDOUT", "wiast: no state; is its driver running?", self.robot.ready, self.waist, wiast,
                           timeout_s=0.3)
        self.assertIsInstance(why, TimeoutError)
        with self.assertRaises(endplate.Timeout):
            asyncio.run(self.robot.aready(wiast, timeout_s=0.05))

    def test_tasks_run_beside_each_other(self):
        async def count(period_s, n):
            seen = []
            async for tick in self.robot.aticks(period_s):
                seen.append(tick.t_ns)
                self.waist.state()
                if len(seen) == n:
                    return seen

        async def main():
            await self.robot.aready(self.waist, timeout_s=30)
            fast, slow, answer = await asyncio.gather(count(0.005, 40), count(0.02, 10),
                                                      self.robot.aask("waist", "get", "tick"))
            self.assertEqual("clock/5", answer)
            self.assertLess(max(fast[0], slow[0]), min(fast[-1], slow[-1]))

        asyncio.run(main(), debug=False)

    def begun(self, lifecycle):
        for _ in self.robot.ticks(0.005):
            if self.waist.state().lifecycle == lifecycle:
                return

    def test_cancelled_tasks_end(self):
        async def loop():
            async for _ in self.robot.aticks(5):
                pass

        async def main():
            for task in (loop(), self.robot.aready(self.robot.device("wiast"), timeout_s=1000),
                         self.robot.aask("waist", "home", timeout_s=1000)):
                task = asyncio.create_task(task)
                async for _ in self.robot.aticks(0.005):
                    if "aask" not in str(task) or self.waist.state().lifecycle == "homing":
                        break
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
        self.followed()
        asyncio.run(main())
        self.begun("fault")  # the driver has ended the request
        self.robot.ask("waist", "clear")

    def test_interrupt_cancels_a_request(self):
        self.followed()
        child = self.child("import endplate\nendplate.Robot().ask('waist', 'home', timeout_s=1000)")
        self.begun("homing")
        child.send_signal(signal.SIGINT)
        self.assertIn("KeyboardInterrupt", child.communicate()[1])
        self.begun("fault")
        self.robot.ask("waist", "clear")

    def test_interrupt_ends_ticks_of_a_clock_that_stands_still(self):
        child = self.child("import endplate\nfor n, _ in enumerate(endplate.Robot().ticks(0.05)): n == 3 and "
                           "print('waits', flush=True)")
        self.assertEqual("waits\n", child.stdout.readline())
        clock = clock_pid()
        os.kill(clock, signal.SIGSTOP)
        try:
            now_ns, stands = self.robot.now_ns, 0
            while stands < 10:
                time.sleep(0.01)
                stands, now_ns = stands + 1 if self.robot.now_ns == now_ns else 0, self.robot.now_ns
            child.send_signal(signal.SIGINT)
            self.assertIn("KeyboardInterrupt", child.communicate(timeout=60)[1])
        finally:
            os.kill(clock, signal.SIGCONT)

    def test_interrupt_ends_every_wait(self):
        children = [self.child("import asyncio, endplate, sys\nwith endplate.Robot() as r:\n"
                               f"    print('waits', flush=True)\n    {wait}")
                    for wait in ("for _ in r.ticks(10): pass", "r.ready(r.device('wiast'), timeout_s=1000)",
                                 "for _ in r.ticks(0.005): r.device('waist').state()",
                                 "asyncio.run(r.aready(r.device('wiast'), timeout_s=1000))")]
        for child in children:
            self.assertEqual("waits\n", child.stdout.readline())
            child.send_signal(signal.SIGINT)
        for child in children:
            self.assertIn("KeyboardInterrupt", child.communicate()[1])


class Examples(Case):
    @staticmethod
    def example(name, *arguments):
        return subprocess.Popen([sys.executable, "-W", "error", f"{EXAMPLES}/{name}.py", *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_wrong_arguments_are_named(self):
        runs = [(self.example(name, *arguments), text) for name, arguments, text in [
            ("sine", ["wiast", "0", "0.1", "1", "1"], "sine.py: wiast: no state; is its driver running?"),
            ("sine", [], "sine.py DEVICE JOINT"),
            ("sine", ["waist", "elbow", "0.1", "1", "1"], "sine.py: waist has no joint \"elbow\"; its joints: "),
            ("coordinate", ["waist", "0", "-1"], "coordinate.py DEVICE JOINT"),
            ("logger", ["waist", "0"], "logger.py: "),
        ]]
        for run, text in runs:
            errors = run.communicate()[1]
            with self.subTest(text):
                self.assertEqual(1, run.returncode)
                self.assertIn(text, errors)
                self.assertNotIn("Traceback", errors)

    def test_two_arms_take_at_most_30_lines(self):
        with open(f"{EXAMPLES}/twoarms.py", encoding="utf-8") as file:
            self.assertLessEqual(len(file.readlines()), 30)

    def test_joints_arrive_together_and_are_logged(self):
        log = self.example("logger", "waist", "100", "100")
        run = self.example("coordinate", "waist", "0", "-1.35", "1", "-1.5", "1")
        out, errors = run.communicate()
        self.assertEqual("", errors)
        for goal, reached in zip((-1.35, -1.5), map(float, out.split()), strict=True):
            self.assertAlmostEqual(goal, reached, 1)
        lines = log.communicate()[0].splitlines()
        self.assertEqual((101, "t_sample_s"), (len(lines), lines[0].split(",")[0]))
        sine = self.example("sine", "waist", "0", "0.05", "1", "0.3")
        self.assertEqual("", sine.communicate()[0])
        self.assertEqual(0, sine.returncode)


class Levels(Case):
    def test_level_is_raised_and_obeyed(self):
        self.followed()
        self.assertEqual("run", self.robot.level)
        self.assertRaises(ValueError, self.robot.raise_, "run")
        self.robot.raise_("hold", "by a test")
        for _ in self.robot.ticks(0.005):
            if self.waist.state().level == "hold":
                break
        self.assertEqual("hold", self.robot.level)
        self.refused("ETIMEDOUT", "waist: level hold", self.robot.ready, self.waist, timeout_s=0.1)


if __name__ == "__main__":
    unittest.main(verbosity=int(os.environ.get("VERBOSE", 1)))
