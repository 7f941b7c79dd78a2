"""type.py ROWS COLUMNS STEP... -- COMMAND...: a person at a terminal.

Runs the command in a terminal of this size and does the steps one after the other:
see:TEXT waits until the screen has shown TEXT since the last key, key:KEYS types them,
size:ROWSxCOLUMNS resizes the terminal, run:COMMAND does something elsewhere.
Then waits for the command to end; the exit status is its own.
"""
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

rows, columns, *script = sys.argv[1:]
command = script[script.index("--") + 1:]
script = script[:script.index("--")]
pid, tty = pty.fork()
if not pid:
    os.environ["TERM"] = "vt100"
    os.execvp(command[0], command)

def resize(rows, columns):
    fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.kill(pid, signal.SIGWINCH)

seen = ""
def read():
    global seen
    try:
        seen += os.read(tty, 65536).decode(errors="replace")
    except OSError:
        return False
    return True

def wait_for(text):
    end = time.monotonic() + 60
    while text not in re.sub("\x1b(\\[[0-9;?]*[A-Za-z]|[()][A-Z0-9])|\x0f", "", seen):
        if time.monotonic() > end or not (select.select([tty], [], [], 1)[0] == [] or read()):
            print("not seen:", text, "in", repr(seen[-2000:]))
            os.kill(pid, signal.SIGTERM) # for it to clean up
            sys.exit(1)

resize(int(rows), int(columns))
for step in script:
    verb, _, rest = step.partition(":")
    if verb == "see":
        wait_for(rest)
    elif verb == "size":
        resize(*map(int, rest.split("x")))
    elif verb == "run":
        os.system(rest)
    elif verb == "key":
        seen = ""
        os.write(tty, rest.encode())
    else:
        sys.exit("type.py: " + step + ": there is no such step")
while read():
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
if status:
    print(repr(seen[-2000:]))
sys.exit(status)
