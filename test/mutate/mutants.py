"""mutants.py: a C source, changed in one place at a time.

Reads tokens, not syntax: what comes out need not compile, but a change stays within one expression or statement.
Comments, strings and directives other than #define are left alone.
"""
import re

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      | (?P<string>(?:u8|[LuU])?"(?:\\.|[^"\\\n])*")
      | (?P<char>'(?:\\.|[^'\\\n])+')
      | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*
                 | (?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fFlL]? | \d+[eE][+-]?\d+[fFlL]?
                 | \d+[uUlL]*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[^\s\w])
    """, re.VERBOSE | re.DOTALL)

# One change each, or two where both matter.
OPERATORS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "<<": [">>"], ">>": ["<<"], "<<=": [">>="], ">>=": ["<<="],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "&=": ["|="], "|=": ["&="], "^=": ["|="],
    "++": ["--"], "--": ["++"], "%": ["*"], "/": ["*"], "^": ["&"],
}
BINARY = {"+": "-", "-": "+", "*": "/", "&": "|", "|": "&"}  # where they have a left side
WORDS = {"true": "false", "false": "true"}
TRUTH = {"<", "<=", ">", ">=", "==", "!=", "&&", "||", "!"}  # a condition with one of these is changed by it
TYPES = {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "bool", "struct", "enum",
         "union", "const", "volatile", "static", "extern", "register", "typeof", "__auto_type", "_Alignas",
         "_Static_assert", "typedef", "inline"}
KEYWORDS = {"return", "case", "else", "do", "sizeof", "goto"}  # no left side of an operator
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
ENDS = ASSIGN | {",", ";", "{", "}", "?", ":", "&&", "||", "<", "<=", ">", ">=", "==", "!=", "return"}  # of an operand
CLOSER = {"(": ")", "[": "]", "{": "}"}


class Token:
    def __init__(self, kind, text, start, macro):
        self.kind, self.text, self.start, self.end, self.macro = kind, text, start, start + len(text), macro


class Mutant:
    """edits are (start, end, text) in the source; before and after the lines they touch, in one line."""

    def __init__(self, source, edits, function):
        self.edits = sorted(edits)
        self.function = function
        first = source.rfind("\n", 0, self.edits[0][0]) + 1
        last = source.find("\n", self.edits[-1][1])
        self.line = source.count("\n", 0, self.edits[0][0]) + 1
        self.text = source
        for start, end, new in reversed(self.edits):
            # Lines below keep their numbers.
            self.text = self.text[:start] + new + "\n" * source.count("\n", start, end) + self.text[end:]
        self.before = " ".join(source[first:last].split())
        self.after = " ".join(self.text[first:len(self.text) - (len(source) - last)].split())


def tokens_of(source):
    """The tokens that may be changed: without comments, and of directives only what #define stands for."""
    directives = []
    for m in re.finditer(r"^[ \t]*#[ \t]*(\w+)(?:[^\n\\]|\\.|\\\n)*", source, re.MULTILINE):
        body = m.end()
        if m[1] == "define":
            body = re.compile(r"[ \t]*#[ \t]*define[ \t]+\w+(\([^)]*\))?").match(source, m.start()).end()
        directives.append((m.start(), body, m.end()))
    found = []
    for m in TOKEN.finditer(source):
        inside = next((d for d in directives if d[0] <= m.start() < d[2]), None)
        if m.lastgroup == "comment" or m[0] == "\\" or inside and m.start() < inside[1]:
            continue
        found.append(Token(m.lastgroup, m[0], m.start(), bool(inside)))
    return found


class Source:
    def __init__(self, source):
        self.source, self.mutants, self.tokens = source, [], tokens_of(source)
        self.functions = {}  # token -> name
        self.code = [i for i, t in enumerate(self.tokens) if not t.macro]
        self.statements()
        for i in range(len(self.tokens)):
            self.token(i)
        seen, kept = {source}, []
        for m in sorted(self.mutants, key=lambda m: (m.edits, m.after)):
            if m.text not in seen:
                kept.append(m)
            seen.add(m.text)
        self.mutants = kept

    def change(self, i, edits):
        self.mutants.append(Mutant(self.source, edits, self.functions.get(i, "(file)")))

    def replace(self, i, new):
        self.change(i, [(self.tokens[i].start, self.tokens[i].end, new)])

    # ---- single tokens ----

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_cast(self, i):
        """Does the ) at i end a cast?"""
        words = []
        while i > 0 and self.text(i - 1) != "(":
            i -= 1
            words.append(self.text(i))
        return bool(words) and all(w == "*" or re.match(r"[A-Za-z_]", w) for w in words) and (
            "*" in words or any(w in TYPES or w.endswith("_t") for w in words)) and self.text(i - 2) != "sizeof"

    def has_left_side(self, i):
        before = self.tokens[i - 1] if i else None
        if not before or before.macro != self.tokens[i].macro or before.text in KEYWORDS:
            return False
        if before.text == ")":
            return not self.is_cast(i - 1)
        if before.text == "]":
            return True
        return before.kind in ("number", "char", "string") or before.kind == "name"

    def is_declarator(self, i):
        """Is the * at i that of "struct bus *bus"?"""
        before = self.text(i - 1)
        return before in TYPES or before.endswith("_t") or before == "*" or \
            self.text(i - 2) in ("struct", "enum", "union")

    def is_array_size(self, i):
        """Is the number at i a part of the 3 in "double t[3]"?  More room than is used makes no difference."""
        while self.text(i) not in ("[", ";", "{", "}", ""):
            i -= 1
        if self.text(i) != "[":
            return False
        end = i
        while self.text(i - 1) not in (";", "{", "}", "(", "=", ""):
            i -= 1
        before = self.text(i - 1)
        return before not in ("(", "=") and (self.text(i) in TYPES or self.text(i).endswith("_t")) and i < end

    def is_descriptor_bound(self, i):
        """Is the number at i the 0 of "fd < 0"?  1 is standard output, which no test has closed."""
        return self.text(i) == "0" and self.text(i - 1) in ("<", ">=") and self.text(i - 2).endswith("fd")

    def token(self, i):
        t = self.tokens[i]
        if t.kind == "number" and not self.is_array_size(i) and not self.is_descriptor_bound(i):
            for new in numbers(t.text):
                self.replace(i, new)
        elif t.kind == "char":
            self.replace(i, "(%s + 1)" % t.text)
        elif t.kind == "name" and t.text in WORDS:
            self.replace(i, WORDS[t.text])
        elif t.kind == "op":
            self.operator(i)

    def operand(self, i, step):
        """The tokens of the operand that begins, or with step -1 ends, at i; and where the next one is."""
        found, depth = [], 0
        opening, closing = (("(", "["), (")", "]"))[::step]
        while self.text(i) and (depth or self.text(i) not in ENDS and self.text(i) not in closing):
            depth += (self.text(i) in opening) - (self.text(i) in closing)
            found.append(self.text(i))
            i += step
        return found[::step], i

    def is_choice(self, i):
        """Is the comparison at i that of "a < b ? a : b" or "if (a < b) a = b;"?  Equal ones may be either."""
        left, before = self.operand(i - 1, -1)
        right, after = self.operand(i + 1, 1)
        between = {"?": ":", ")": "="}.get(self.text(after))
        if not between or between == "=" and self.text(before - 1) != "if":
            return False
        first, at = self.operand(after + 1, 1)
        second, end = self.operand(at + 1, 1)
        return self.text(at) == between and self.text(end) in (";", ",", ")") and \
            (first, second) in ((left, right), (right, left))

    def operator(self, i):
        t = self.tokens[i]
        for new in OPERATORS.get(t.text, []):
            if new in (t.text + "=", t.text[0]) and t.text[0] in "<>" and (
                    self.is_choice(i) or self.text(i - 1).endswith("fd") and self.text(i + 1) == "0"):
                continue  # 0 is standard input
            self.replace(i, new)
        if t.text in BINARY and self.has_left_side(i):
            if t.text != "*" or not self.is_declarator(i):
                self.replace(i, BINARY[t.text])
        elif t.text == "-" and re.fullmatch(r"E[A-Z0-9]+", self.text(i + 1)):
            for new in "0", "-EXFULL":  # no error, and an error that no code returns
                self.change(i, [(t.start, self.tokens[i + 1].end, new)])
        elif t.text in ("-", "!", "~"):
            self.replace(i, "")
        elif t.text == "?":
            self.ternary(i)

    def ternary(self, i):
        first, depth = i, 0
        while first > 0:
            before = self.text(first - 1)
            depth += before in (")", "]")
            depth -= before in ("(", "[")
            if depth < 0 or not depth and (before in ASSIGN or before in (",", ";", "{", "}", "?", ":", "return")):
                break
            first -= 1
        self.negate(first, i)

    def negate(self, first, end):
        """Turns round the condition in the tokens from first to before end, if no operator in it does that."""
        if first < end and not any(self.text(k) in TRUTH for k in range(first, end)):
            self.change(first, [(self.tokens[first].start, self.tokens[first].start, "!("),
                                (self.tokens[end - 1].end, self.tokens[end - 1].end, ")")])

    # ---- statements; positions are those in self.code ----

    def at(self, c):
        return self.text(self.code[c]) if c < len(self.code) else ""

    def match(self, c):
        """The bracket that closes the one at c."""
        opening, depth = self.at(c), 0
        while c < len(self.code):
            depth += (self.at(c) == opening) - (self.at(c) == CLOSER[opening])
            if not depth:
                return c
            c += 1
        raise ValueError("a bracket is not closed")

    def until(self, c, *ends):
        """The first of ends at or after c that is not in brackets."""
        while self.at(c) not in ends:
            if c >= len(self.code):
                raise ValueError("%s is missing" % " or ".join(ends))
            c = self.match(c) + 1 if self.at(c) in CLOSER else c + 1
        return c

    def statements(self):
        c = 0
        while c < len(self.code):
            end = self.match(c) if self.at(c) == "{" else c
            if end > c and self.at(c - 1) == ")":  # a function's
                name = c - 1
                while self.match(name) != c - 1 if self.at(name) == "(" else True:
                    name -= 1
                for k in range(self.code[name - 1], self.code[end]):
                    self.functions[k] = self.at(name - 1)
                self.statement(c)
            c = end + 1

    def condition(self, first, end):
        if first < end:
            self.negate(self.code[first], self.code[end - 1] + 1)

    def statement(self, c):
        """Goes through the statement that begins at c; returns where the next one begins."""
        word = self.at(c)
        if word == "{":
            end = self.match(c)
            c += 1
            while c < end:
                c = self.statement(c)
            return end + 1
        if word in ("if", "while", "switch", "for"):
            end = self.match(c + 1)
            if word == "for":
                middle = self.until(c + 2, ";")
                self.condition(middle + 1, self.until(middle + 1, ";"))
            elif word != "switch":
                self.condition(c + 2, end)
            c = self.statement(end + 1)
            return self.statement(c + 1) if word == "if" and self.at(c) == "else" else c
        if word == "do":
            c = self.statement(c + 1)
            end = self.match(c + 1)
            self.condition(c + 2, end)
            return end + 2
        if word in ("case", "default"):
            end = self.until(c, ":")
            if word == "case":
                self.delete(c, end, "")
            return end + 1
        if self.at(c + 1) == ":":
            return c + 2
        end = self.until(c, ";")
        if not self.is_declaration(c) and (word not in ("return", "goto") or end == c + 1) and end > c:
            self.delete(c, end, ";")
        return end + 1

    def delete(self, c, end, left):
        self.change(self.code[c], [(self.tokens[self.code[c]].start, self.tokens[self.code[end]].end, left)])

    def is_declaration(self, c):
        if self.at(c) in TYPES:
            return True
        if self.at(c) in ("return", "break", "continue", "goto") or self.tokens[self.code[c]].kind != "name":
            return False
        n = c + 1
        while self.at(n) == "*":
            n += 1
        return bool(re.match(r"[A-Za-z_]", self.at(n)))


def numbers(text):
    """Numbers to put in place of this one."""
    digits = re.match(r"0[xX][0-9a-fA-F]+|[0-9.]+(?:[eE][+-]?\d+)?", text)[0]
    suffix = text[len(digits):]
    if re.search(r"[.eE]", digits) and not digits.lower().startswith("0x"):
        return ["1.0" + suffix] if float(digits) == 0 else ["(%s * 2)" % text]
    value = int(digits, 16 if digits[:2].lower() == "0x" else 8 if digits[0] == "0" else 10)
    if value < 2:
        return [str(1 - value) + suffix]
    if digits[:2].lower() == "0x":  # a mask: its lowest bit, its highest
        return ["0x%X%s" % (value ^ bit, suffix) for bit in sorted({1, 1 << value.bit_length() - 1})]
    return [str(value + 1) + suffix]


def mutants(source):
    return Source(source).mutants
