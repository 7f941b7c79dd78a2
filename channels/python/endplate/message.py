"""Messages: a class for each type, made from the layouts in types.json."""
import math
import struct

from .ach import LAYOUT

try:
    import numpy
except ImportError:
    numpy = None

NAN = struct.pack("<d", math.nan)
_FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "i64": "q", "f64": "d",
            "word": "I", "flags": "I"}


class WrongMessage(ValueError):
    """Bytes that are not a message of the type and version expected."""


# ---- a value and its bytes ----


class _Number:
    plain = True  # a list of it can be shown as an array

    def __init__(self, field):
        self.format = _FORMATS[field["type"]]
        self._struct = struct.Struct("<" + self.format)

    def get(self, buf, at):
        return self._struct.unpack_from(buf, at)[0]

    def set(self, buf, at, value):
        self._struct.pack_into(buf, at, value)


class _Word(_Number):
    plain = False

    def __init__(self, field):
        super().__init__(field)
        self._words = field["words"]

    def get(self, buf, at):
        value = super().get(buf, at)
        return self._words[value] if value < len(self._words) else value

    def set(self, buf, at, value):
        if isinstance(value, str):
            if value not in self._words:
                raise ValueError(f'"{value}" is not one of {", ".join(self._words)}')
            value = self._words.index(value)
        super().set(buf, at, value)


class _Flags(_Word):
    def get(self, buf, at):
        bits = _Number.get(self, buf, at)
        known = frozenset(word for i, word in enumerate(self._words) if bits >> i & 1)
        rest = bits >> len(self._words) << len(self._words)
        return known | {rest} if rest else known  # bits without a word stay a number

    def set(self, buf, at, value):
        bits = 0
        for word in [value] if isinstance(value, (str, int)) else value:
            if isinstance(word, str) and word not in self._words:
                raise ValueError(f'"{word}" is not one of {", ".join(self._words)}')
            bits |= 1 << self._words.index(word) if isinstance(word, str) else word
        _Number.set(self, buf, at, bits)


class _Text:
    plain = False

    def __init__(self, field):
        self._size = field["size"]

    def get(self, buf, at):
        return bytes(buf[at:at + self._size]).split(b"\0", 1)[0].decode(errors="replace")

    def set(self, buf, at, value):
        data = value.encode()
        if len(data) >= self._size or b"\0" in data:
            raise ValueError(f"{value!r} is not text of at most {self._size - 1} bytes")
        buf[at:at + self._size] = data.ljust(self._size, b"\0")


class _Inner:
    plain = False

    def __init__(self, field):
        self._group = GROUPS[field["group"]]
        self.fields = self._group.FIELDS

    def get(self, buf, at):
        return self._group._view(buf, at)

    def set(self, buf, at, value):
        for key, item in (value if isinstance(value, dict) else asdict(value)).items():
            if key not in self.fields:
                raise ValueError(f"has no field {key}")
            setattr(self._group._view(buf, at), key, item)


_CODECS = {"word": _Word, "flags": _Flags, "name": _Text, "text": _Text, "group": _Inner}


# ---- fields ----


class Field:
    """A field of a message or group; unit, words and room (of a list) describe it."""

    def __init__(self, field):
        self.name, self.kind, self.unit, self.words = field["name"], field["type"], field["unit"], field["words"]
        self.offset, self.size, self.room = field["offset"], field["size"], field["count"]
        self.counted_by = field["counted_by"]
        self.codec = _CODECS.get(self.kind, _Number)(field)
        self.counts = []  # lists whose length this field is

    def __get__(self, group, owner=None):
        if group is None:
            return self
        buf, at = group._buf, group._base + self.offset
        if self.room is None:
            return self.codec.get(buf, at)
        n = self.used(group)
        if not self.codec.plain:
            return tuple(self.codec.get(buf, at + i * self.size) for i in range(n))
        if numpy:
            return numpy.ndarray((n,), "<" + self.codec.format, buf, at)
        return memoryview(buf)[at:at + n * self.size].cast(self.codec.format)

    def __set__(self, group, value):
        try:
            if self.room is None:
                self._set_one(group, value)
            else:
                self._set_list(group, list(value))
        except (ValueError, TypeError, AttributeError, struct.error) as e:
            raise ValueError(f"{self.name}: {e}") from None

    def used(self, group):
        """Elements that count."""
        return min(getattr(group, self.counted_by), self.room) if self.counted_by else self.room

    def clear(self, group, first):
        """Elements from first on are as in a new message."""
        at, end = self.offset + first * self.size, self.offset + self.room * self.size
        group._buf[group._base + at:group._base + end] = group._NEW[at:end]

    def _set_one(self, group, value):
        rooms = [field.room for field in self.counts]
        if rooms and value > min(rooms):
            raise ValueError(f"{value} is more than the {min(rooms)} that there is room for")
        self.codec.set(group._buf, group._base + self.offset, value)
        for field in self.counts:
            field.clear(group, value)

    def _set_list(self, group, values):
        if len(values) > self.room or (not self.counted_by and len(values) < self.room):
            raise ValueError(f"length {len(values)}; there is room for {self.room}")
        if self.counted_by and not getattr(group, self.counted_by):
            setattr(group, self.counted_by, len(values))
        if len(values) != self.used(group):
            raise ValueError(f"length {len(values)}, but {self.counted_by} is {self.used(group)}")
        for i, value in enumerate(values):
            self.codec.set(group._buf, group._base + self.offset + i * self.size, value)


# ---- groups and messages ----


class Group:
    """Fields as attributes, in the memory of the message that they belong to."""

    __slots__ = ("_buf", "_base")
    FIELDS, SIZE, _NEW = {}, 0, b""

    @classmethod
    def _view(cls, buf, base):
        group = object.__new__(cls)
        group._buf, group._base = buf, base
        return group

    def __eq__(self, other):
        return type(self) is type(other) and bytes(self) == bytes(other)

    def __copy__(self):
        return self._view(bytearray(bytes(self)), 0)

    def __bytes__(self):
        return bytes(self._buf[self._base:self._base + self.SIZE])

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in asdict(self).items())})"


class Message(Group):
    """A message.  A new one has NaN in every real number that is not given, and 0 or "" elsewhere; lists that count
    together have one length.  TYPE, NUMBER, VERSION and SIZE are those of the type, FIELDS describes its fields."""

    __slots__ = ()
    TYPE, NUMBER, VERSION = None, 0, 0

    def __init__(self, **values):
        self._buf, self._base = bytearray(self._NEW), 0
        for name, value in values.items():
            if name not in self.FIELDS:
                raise ValueError(f"{self.TYPE} has no field {name}")
            setattr(self, name, value)

    def _for_put(self):
        """Its bytes.  Of the lists that a word chooses from, as mode does, those not chosen are 0 where not given."""
        copy = self._view(bytearray(self._buf), 0)
        for words, name in self._CHOICES:
            for i, word in enumerate(getattr(self, words)):
                at = self.FIELDS[name].offset + i * 8
                if not math.isnan(struct.unpack_from("<d", copy._buf, at)[0]):
                    continue
                if word == name:
                    raise ValueError(f"{words}[{i}] is {word}, but there is no {name}")
                struct.pack_into("<d", copy._buf, at, 0)
        return copy


def asdict(group):
    """A message as dicts, lists and plain values."""
    def plain(field, value):
        if field.kind == "group":
            return [asdict(item) for item in value] if field.room is not None else asdict(value)
        return value if field.room is None else value.tolist() if field.codec.plain else list(value)
    return {name: plain(field, getattr(group, name)) for name, field in group.FIELDS.items() if name != "reserved"}


def parse(data, expected=None):
    """The message in data.  WrongMessage: not a message, or not of the class expected."""
    header = GROUPS["msg_header"]
    if len(data) < header.SIZE:
        raise WrongMessage(f"{len(data)} bytes are not a message of Endplate's")
    head = header._view(data, 0)
    cls = _BY_NUMBER.get(head.type)
    if cls is None:
        raise WrongMessage(f"{len(data)} bytes of an unknown type")
    if expected and cls is not expected:
        raise WrongMessage(f"a message of type {cls.TYPE}; expected {expected.TYPE}")
    if head.version != cls.VERSION:
        raise WrongMessage(f"{cls.TYPE} of version {head.version}; this module knows version {cls.VERSION}")
    if not head.size == len(data) == cls.SIZE:
        raise WrongMessage(f"{cls.TYPE} of {len(data)} bytes with size {head.size} in its header; expected {cls.SIZE}")
    return cls._view(data if isinstance(data, bytearray) else bytearray(data), 0)


# ---- the classes ----


def _new(layout):
    """The bytes of a new group: NaN where there is a real number, else 0."""
    new = bytearray(layout["size"])
    for f in layout["fields"]:
        one = NAN if f["type"] == "f64" else GROUPS[f["group"]]._NEW if f["group"] else bytes(f["size"])
        new[f["offset"]:f["offset"] + f["size"] * (f["count"] or 1)] = one * (f["count"] or 1)
    return bytes(new)


def _choices(fields):
    """(words, list): a word of the first chooses from the second."""
    return [(f.name, word) for f in fields.values() if f.kind == "word" and f.counted_by for word in f.words
            if word in fields and fields[word].counted_by == f.counted_by]


def _make(name, base, layout, **constants):
    fields = {f["name"]: Field(f) for f in layout["fields"]}
    for field in fields.values():
        if field.counted_by:
            fields[field.counted_by].counts.append(field)
    return type(name, (base,), {"__slots__": (), "FIELDS": fields, "SIZE": layout["size"], "_NEW": _new(layout),
                                "_CHOICES": _choices(fields), **fields, **constants})


def _camel(name):
    return "".join(part.capitalize() for part in name.replace("_", "-").split("-"))


def _make_type(t):
    cls = _make(_camel(t["name"]), Message, t, TYPE=t["name"], NUMBER=t["number"], VERSION=t["version"],
                RETAINED=t["retained"])
    new = cls()
    new.header.type, new.header.version, new.header.size = cls.NUMBER, cls.VERSION, cls.SIZE
    cls._NEW = bytes(new)
    return cls


GROUPS = {}
for _layout in LAYOUT["groups"]:
    GROUPS[_layout["name"]] = _make(_camel(_layout["name"].removeprefix("msg_")), Group, _layout)
TYPES = {t["name"]: _make_type(t) for t in LAYOUT["types"]}
_BY_NUMBER = {cls.NUMBER: cls for cls in TYPES.values()}
