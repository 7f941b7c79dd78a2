"""Recordings of ach record; ach(1) describes the file."""
import mmap
import os
import re
import struct
import warnings
import zlib
from array import array

from .message import WrongMessage, numpy, parse

_MAGIC = b"achrec1\n"
_HEAD = struct.Struct("<IIIHHqQ")
_START, _CHANNEL, _MESSAGE, _LOSS, _END = range(1, 6)
_PART = re.compile(r"(\w+)(?:\[(\d+)\])?$")


class Series:
    """The messages of one channel: series[7] is a message, series["position"] a column of all of them.

    t_ns is when each was read and number its number in the channel, arrays both; missed counts messages that the
    recorder lost."""

    def __init__(self, name, file):
        self.name, self.missed = name, 0
        self.t_ns, self.number = array("q"), array("Q")
        self._file, self._at, self._len, self._table = file, array("Q"), array("Q"), None

    def __len__(self):
        return len(self._at)

    def raw(self, i):
        """The bytes of a message."""
        return self._file[self._at[i]:self._at[i] + self._len[i]]

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._column(key)
        return parse(self.raw(range(len(self))[key]))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    @property
    def cls(self):
        """The class of its messages; WrongMessage: they are not all of one, or of another version."""
        return type(self._checked()[0]) if len(self) else None

    def _checked(self):
        if self._table is None:
            first = None
            for i in range(len(self)):
                try:
                    message = parse(self.raw(i), first and type(first))
                except WrongMessage as e:
                    raise WrongMessage(f"{self.name}: message {self.number[i]}: {e}") from None
                first = first or message
            data = b"".join(map(self.raw, range(len(self))))
            table = numpy and len(self) and numpy.frombuffer(data, _dtype(type(first).FIELDS, first.SIZE))
            self._table = (first, table)
        return self._table

    def _column(self, path):
        """One value of each message; an array if they are numbers and numpy is there, else a list.

        A list field has a row per message, as long as the longest; what a message does not count is NaN, or 0.
        """
        if not len(self):
            return []
        first, table = self._checked()
        steps, field = _steps(type(first), path)
        if numpy and field.codec.plain:
            return _table_column(table, steps)
        return _pad([_value(message, steps) for message in self], field)


class Recording:
    """A file of ach record, read as a whole: recording["waist-state"]["position"].

    channels: the Series by name; start_ns and start_realtime_ns: the same moment by both clocks.
    cut: the file has no end, as that of a recorder that was killed; damaged: bytes that were left out."""

    def __init__(self, path):
        self.path, self.channels, self.start_ns, self.start_realtime_ns = os.fspath(path), {}, None, None
        self.cut, self.damaged = True, 0
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            self._file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        if self._file[:len(_MAGIC)] != _MAGIC:
            raise ValueError(f"{self.path}: is not a recording of ach record")
        self._read()
        for series in self.channels.values() if numpy else ():
            series.t_ns, series.number = numpy.array(series.t_ns), numpy.array(series.number)
        if self.damaged:
            warnings.warn(f"{self.path}: {self.damaged} bytes are damaged and left out", stacklevel=2)

    def __getitem__(self, channel):
        return self.channels[channel]

    def __iter__(self):
        return iter(self.channels)

    def __len__(self):
        return len(self.channels)

    def _head(self, at):
        """(len, body_crc, kind, channel, t_ns, number); None: there is no sound head."""
        raw = self._file[at:at + _HEAD.size]
        if len(raw) < _HEAD.size or zlib.crc32(raw[4:]) != int.from_bytes(raw[:4], "little"):
            return None
        return _HEAD.unpack(raw)[1:]

    def _read(self):
        at, size, numbers = len(_MAGIC), len(self._file), {}
        while at + _HEAD.size <= size:
            head = self._head(at)
            if head is None:
                self.damaged += 1
                at += 1
                continue
            length, body_crc, kind, channel, t_ns, number = head
            body, at = at + _HEAD.size, at + _HEAD.size + length
            if at > size:
                return  # cut inside this record
            if zlib.crc32(self._file[body:at]) != body_crc:
                self.damaged += _HEAD.size + length
                continue
            self._take(numbers, kind, channel, t_ns, number, body, length)

    def _take(self, numbers, kind, channel, t_ns, number, body, length):
        if kind == _START:
            self.start_ns, self.start_realtime_ns = t_ns, number
        elif kind == _CHANNEL:
            name = self._file[body + 16:body + length].decode(errors="replace")
            numbers[channel] = self.channels.setdefault(name, Series(name, self._file))
        elif kind == _END:
            self.cut = False
        elif kind == _LOSS and channel in numbers:
            numbers[channel].missed += number
        elif kind == _MESSAGE and channel in numbers:
            series = numbers[channel]
            series.t_ns.append(t_ns)
            series.number.append(number)
            series._at.append(body)
            series._len.append(length)


# ---- columns ----


def _steps(cls, path):
    """[(field, index or None)] of a path such as common.bus[0].sent, and its last field."""
    steps, fields = [], cls.FIELDS
    for part in path.split("."):
        match = _PART.match(part)
        field = match and fields.get(match[1])
        if not field:
            raise KeyError(f"{cls.TYPE} has no field {path}")
        index = None if match[2] is None else int(match[2])
        if index is not None and not (field.room and index < field.room):
            raise KeyError(f"{cls.TYPE} has no field {path}")
        if field.kind == "group" and field.room and index is None:
            raise KeyError(f"{path}: say which, such as {field.name}[0]")
        steps.append((field, index))
        fields = field.codec.fields if field.kind == "group" else {}
    if field.kind == "group":
        raise KeyError(f"{path} is a group of fields")
    return steps, field


def _nothing(field):
    return float("nan") if field.kind == "f64" else field.codec.get(bytearray(field.size), 0)


def _value(message, steps):
    for field, index in steps:
        value = getattr(message, field.name)
        if index is not None and index >= len(value):
            return _nothing(steps[-1][0])
        message = value if index is None else value[index]
    return list(message) if steps[-1][0].room and steps[-1][1] is None else message


def _pad(column, field):
    longest = max((len(v) for v in column if isinstance(v, list)), default=0)
    return [v + [_nothing(field)] * (longest - len(v)) if isinstance(v, list) else v for v in column]


def _table_column(table, steps):
    last, missing = steps[-1][0], numpy.zeros(len(table), bool)
    for field, index in steps:
        counts = table[field.counted_by] if field.counted_by else None
        table = table[field.name]
        if index is not None:
            missing = missing | (index >= counts) if counts is not None else missing
            table = table[:, index]
    nothing = _nothing(last)
    if last.room and steps[-1][1] is None and counts is not None:
        room = min(int(counts.max()), last.room)
        table = numpy.where(numpy.arange(room) >= counts[:, None], table.dtype.type(nothing), table[:, :room])
    if missing.any():
        table = table.copy()
        table[missing] = nothing
    return table


def _dtype(fields, size):
    formats = []
    for field in fields.values():
        if field.kind == "group":
            one = _dtype(field.codec.fields, field.size)
        else:
            one = "<" + field.codec.format if hasattr(field.codec, "format") else f"S{field.size}"
        formats.append((one, (field.room,)) if field.room else one)
    return numpy.dtype({"names": list(fields), "formats": formats, "offsets": [f.offset for f in fields.values()],
                        "itemsize": size})
