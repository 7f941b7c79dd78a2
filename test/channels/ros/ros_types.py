"""ros_types.py MSG_FOLDER IDL_FOLDER <rosdump: computes the type hashes (REP 2011, RIHS01) of every type from its schema,
and those of endplate_msgs from their .msg and .idl files as well, and compares them.  Knows nothing of Endplate's code."""
import glob
import hashlib
import json
import os
import re
import sys

IDS = {"int8": 2, "uint8": 3, "int16": 4, "uint16": 5, "int32": 6, "uint32": 7, "int64": 8, "uint64": 9, "float32": 10,
       "float64": 11, "char": 3, "bool": 15, "byte": 16, "string": 17}
IDL = {"uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "int32": "int32", "int64": "int64",
       "double": "float64", "boolean": "bool", "octet": "byte"}
ARRAY, BOUNDED, UNBOUNDED, NESTED, BOUNDED_STRING = 48, 96, 144, 1, 21


def field(kind, name, array):
    """A field of a description: kind is "string<=23", "uint8", "std_msgs/Header"; array is "", "[]", "[3]", "[<=3]"."""
    nested, string_capacity, capacity = "", 0, 0
    bound = re.fullmatch(r"string<=(\d+)", kind)
    if bound:
        number, string_capacity = BOUNDED_STRING, int(bound[1])
    elif kind in IDS:
        number = IDS[kind]
    else:
        number, nested = NESTED, kind.replace("/", "/msg/")
    if array:
        size = re.fullmatch(r"\[(<=)?(\d*)\]", array)
        capacity = int(size[2] or 0)
        number += BOUNDED if size[1] else ARRAY if size[2] else UNBOUNDED
    return {"name": name, "type": {"type_id": number, "capacity": capacity, "string_capacity": string_capacity,
                                   "nested_type_name": nested}}


def from_msg(text):
    fields = []
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if not line or "=" in line.replace("<=", ""):  # a constant
            continue
        kind, name = line.split()
        match = re.fullmatch(r"(.+?)(\[[^\]]*\])?", kind)
        fields.append(field(match[1], name, match[2] or ""))
    return fields


def from_idl(text):
    body = re.search(r"struct \w+ \{(.*?)\n    \};", text, re.S)[1]
    fields = []
    for line in body.strip().splitlines():
        line = line.strip()
        if line.startswith("@"):
            continue
        sequence = re.fullmatch(r"sequence<(.+), (\d+)> (\w+);", line)
        member = re.fullmatch(r"(\S+) (\w+)(\[\d+\])?;", line)
        kind, name, array = (sequence[1], sequence[3], f"[<={sequence[2]}]") if sequence else (
            member[1], member[2], member[3] or "")
        string = re.fullmatch(r"string<(\d+)>", kind)
        kind = f"string<={string[1]}" if string else IDL.get(kind, kind.replace("::msg::", "/"))
        fields.append(field(kind, name, array))
    return fields


def describe(name, fields):
    return {"type_name": name, "fields": fields}


def rihs(name, known):
    """The hash of a type, whose description and those of all that it refers to are in known."""
    seen, todo = set(), [name]
    while todo:
        for item in known[todo.pop()]:
            nested = item["type"]["nested_type_name"]
            if nested and nested not in seen:
                seen.add(nested)
                todo.append(nested)
    whole = {"type_description": describe(name, known[name]),
             "referenced_type_descriptions": [describe(other, known[other]) for other in sorted(seen)]}
    text = json.dumps(whole, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=False, indent=None,
                      separators=(", ", ": "), sort_keys=False)
    return "RIHS01_" + hashlib.sha256(text.encode()).hexdigest()


def main():
    messages, idls = sys.argv[1:3]
    wrong, standard, from_files, from_idls = 0, {}, {}, {}
    for line in re.split(r"^\.\n", sys.stdin.read(), flags=re.M)[:-1]:
        head, schema = line.split("\n", 1)
        name, dds, given = head.split()
        package, short = name.split("/msg/")
        parts = re.split(r"^={80}\nMSG: (\S+)\n", schema, flags=re.M)
        known = {name: from_msg(parts[0])}
        for other, text in zip(parts[1::2], parts[2::2]):
            known[other.replace("/", "/msg/")] = from_msg(text)
        standard.update({key: value for key, value in known.items() if not key.startswith("endplate_msgs/")})
        computed = rihs(name, known)
        if computed != given or dds != f"{package}::msg::dds_::{short}_":
            print(f"{name} {dds}: hash {given}, but its schema has {computed}")
            wrong += 1
    from_files.update(standard)
    from_idls.update(standard)
    for path in glob.glob(f"{messages}/*.msg"):
        with open(path, encoding="utf-8") as text:
            from_files["endplate_msgs/msg/" + os.path.basename(path)[:-4]] = from_msg(text.read())
    for path in glob.glob(f"{idls}/*.idl"):
        with open(path, encoding="utf-8") as text:
            from_idls["endplate_msgs/msg/" + os.path.basename(path)[:-4]] = from_idl(text.read())
    for name in sorted(set(from_files) | set(from_idls)):
        if name not in from_files or name not in from_idls or rihs(name, from_files) != rihs(name, from_idls):
            print(f"{name}: .msg and .idl differ, or one is missing")
            wrong += 1
    print(f"{len(from_files)} definitions, {wrong} wrong")
    return 1 if wrong or not from_files else 0


sys.exit(main())
