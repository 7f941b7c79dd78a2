"""libach by ctypes.  Sizes and numbers come from types.json, which `ach types --json` wrote when this was built."""
import ctypes
import json
import pathlib

LAYOUT = json.loads((pathlib.Path(__file__).parent / "types.json").read_text(encoding="utf-8"))
_ACH = LAYOUT["ach"]
STATUS = _ACH["status"]
O_WAIT, O_LAST, O_COPY, O_RELTIME = (_ACH["get"][key] for key in ("wait", "last", "copy", "reltime"))
_SEQ_NUM = _ACH["offsetof"]["ach_channel_t.seq_num"]


def _opaque(name):
    size = _ACH["sizeof"][name]
    return type(name, (ctypes.Structure,), {"_fields_": [("words", ctypes.c_uint64 * (size // 8))]})


ChannelHandle = _opaque("ach_channel_t")
Attr = _opaque("ach_attr_t")
CreateAttr = _opaque("ach_create_attr_t")


class Timespec(ctypes.Structure):
    _fields_ = [("tv_sec", ctypes.c_long), ("tv_nsec", ctypes.c_long)]  # 64 bit on all that Endplate runs on


_CHANNEL, _STATUS, _SIZE, _P = ctypes.POINTER(ChannelHandle), ctypes.c_int, ctypes.c_size_t, ctypes.POINTER
_PROTOTYPES = {
    "ach_create": (_STATUS, [ctypes.c_char_p, _SIZE, _SIZE, _P(CreateAttr)]),
    "ach_create_attr_init": (None, [_P(CreateAttr)]),
    "ach_create_attr_set_truncate": (_STATUS, [_P(CreateAttr), ctypes.c_int]),
    "ach_create_attr_set_mode": (_STATUS, [_P(CreateAttr), ctypes.c_uint, ctypes.c_uint]),
    "ach_open": (_STATUS, [_CHANNEL, ctypes.c_char_p, _P(Attr)]),
    "ach_close": (_STATUS, [_CHANNEL]),
    "ach_unlink": (_STATUS, [ctypes.c_char_p]),
    "ach_unlinked": (_STATUS, [_CHANNEL, _P(ctypes.c_int)]),
    "ach_flush": (_STATUS, [_CHANNEL]),
    "ach_put": (_STATUS, [_CHANNEL, ctypes.c_void_p, _SIZE]),
    "ach_get": (_STATUS, [_CHANNEL, ctypes.c_void_p, _SIZE, _P(_SIZE), _P(Timespec), ctypes.c_int]),
    "ach_errstr": (ctypes.c_char_p, []),
    "ach_result_to_string": (ctypes.c_char_p, [ctypes.c_int]),
}


def load(library, prototypes):
    """The library of the build or the prefix that this module is in; elsewhere the one that the system finds."""
    here = pathlib.Path(__file__).resolve().parent
    built = here.parent.name == "python"  # BUILD/python/endplate; else PREFIX/lib/python3.11/dist-packages/endplate
    installed = here.parent.name == "dist-packages" and here.parents[2].name == "lib"
    beside = [here.parents[1] / library] * built + [here.parents[2] / library] * installed
    loaded = ctypes.CDLL(next((str(path) for path in beside if path.exists()), library))
    for name, (result, arguments) in prototypes.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


lib = load(_ACH["library"], _PROTOTYPES)


class Error(Exception):
    """A call of libach or libendplate failed, with the library's own text.

    status is the name of the result, such as "ACH_ENOENT" of the one and "ENOENT" of the other."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


class Timeout(Error, TimeoutError):
    """No message came in time, or another writer is stopped in the middle of a message."""


class Removed(Error):
    """The channel was removed, or replaced by another of its name: open it again."""


def failure(name, status):
    """The exception for a call on the channel that returned status."""
    details = lib.ach_errstr().decode(errors="replace")
    text = details or lib.ach_result_to_string(status).decode()
    if name not in text:
        text = f"{name}: {text}"
    return (Timeout if STATUS[status] == "ACH_TIMEOUT" else Error)(text, STATUS[status])


def check(name, status):
    if status:
        raise failure(name, status)


def cursor(handle):
    """The sequence number of the newest message that the handle has seen, to read and to set."""
    return ctypes.c_uint64.from_buffer(handle, _SEQ_NUM)
