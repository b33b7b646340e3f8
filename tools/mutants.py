"""Where in C source a fault can be planted, and which: the half of tools/mutate that knows C.

It knows as much of C as this repository's form needs: a function's brace stands alone in the first column, a binary operator has spaces
on both sides, and every block has braces. A fault never changes the number of lines, so that an object file differs only where the
behaviour may.
SPDX-License-Identifier: Apache-2.0
"""
import bisect
import collections
import re

TOKEN = re.compile(
    r"(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*)"
    r"|(?P<text>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
    r"|(?P<number>\b(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*\b)"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<sign>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])",
    re.DOTALL | re.MULTILINE)
SWAPS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
    "&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="], "*=": ["/="], "/=": ["*="], "++": ["--"], "--": ["++"],
}
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
AROUND_OPERAND = {"&&", "||", "?", ":", ",", ";", "=", "return"} | set(OPENING) | CLOSING
ASSERTIONS = {"must", "_Static_assert", "static_assert"}
GIVES_BACK = re.compile(r"(?:\w+_)?(?:free|done)$")  # without such a call memory leaks; the asan suite looks for that
NO_EXPRESSION = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "break", "continue", "goto",
                 "const", "struct", "union", "enum", "static", "typedef", "auto_free", "void", "bool", "char", "int", "unsigned"}

# At [start, end) of the file's text stands `old`, the fault puts `new` there.
Place = collections.namedtuple("Place", "path function start end old new kind")
Token = collections.namedtuple("Token", "kind text start end")


class Source:
    """One file: its tokens, and the faults that fit into its functions."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.token_starts = [token.start for token in self.tokens]
        self.partner, self.level = {}, []
        self.match()

    def match(self):
        """For each bracket's token the one that closes or opens it; for each token how many parentheses, indices and values it is in."""
        open_at, level = [], 0
        for i, token in enumerate(self.tokens):
            if token.text in CLOSING:
                self.partner[i] = open_at.pop()
                self.partner[self.partner[i]] = i
                level -= self.is_value(self.partner[i])
            self.level.append(level)
            if token.text in OPENING:
                open_at.append(i)
                level += self.is_value(i)

    def functions(self):
        """(name, first token, last token) of each body."""
        for i, token in enumerate(self.tokens):
            if token.text != "{" or self.text[token.start - 1] != "\n" or self.tokens[i - 1].text != ")":
                continue
            yield self.tokens[self.partner[i - 1] - 1].text, i + 1, self.partner[i]

    def line(self, offset):
        return bisect.bisect_right(self.starts, offset)

    def statement(self, start, end):
        """The statement that [start, end) is part of, or the head of its block, as offsets."""
        first = bisect.bisect_right(self.token_starts, start) - 1
        last = max(first, bisect.bisect_left(self.token_starts, end) - 1)
        while self.level[first] > 0 or self.tokens[first - 1].text not in (";", "{", "}"):
            first -= 1
        while self.level[last] > 0 or self.tokens[last].text not in (";", "{"):
            last += 1
        return self.tokens[first].start, max(end, self.tokens[last].end)

    def places(self):
        found = []
        for name, first, last in self.functions():
            i = first
            while i < last:
                if self.tokens[i].text in ASSERTIONS and self.tokens[i + 1].text == "(":
                    i = self.partner[i + 1] + 1
                    continue
                found += [Place(self.path, name, start, end, self.text[start:end], new, kind)
                          for start, end, new, kind in self.faults(i)]
                i += 1
        return found

    def faults(self, i):
        """The faults that begin at a token."""
        token, before = self.tokens[i], self.tokens[i - 1]
        if token.kind == "sign":
            yield from self.swapped(i)
        elif token.kind == "number" and not self.is_size(i) and not self.is_least_key(i):
            yield from ((token.start, token.end, new, "constant") for new in off_by_one(token.text))
        elif token.text in ("true", "false"):
            yield token.start, token.end, "false" if token.text == "true" else "true", "constant"
        elif token.text in ("if", "while") and self.tokens[i + 1].text == "(":
            yield from self.negated(self.tokens[i + 1].end, self.tokens[self.partner[i + 1]].start)
        elif token.text == "for":
            yield from self.negated_bound(i + 1)
        if self.level[i] == 0 and (before.text in ("{", "}", ";") or self.is_label(i - 1)):
            yield from self.dropped(i)

    def swapped(self, i):
        token = self.tokens[i]
        around = self.text[token.start - 1:token.start] + self.text[token.end:token.end + 1]
        if token.text == "!":
            yield token.start, token.end, "", "negation dropped"
        elif token.text == "?":
            yield from self.branches(i)
        elif token.text in ("++", "--") or (token.text in SWAPS and around.strip() == "" and len(around) == 2):
            yield from ((token.start, token.end, new, "operator") for new in SWAPS[token.text]
                        if new != BOUNDARY.get(token.text) or not (self.known_unequal(i) or self.same_if_equal(i)))

    def around(self, i):
        """The tokens before and behind the operands of a binary operator."""
        first, last = i - 1, i + 1
        while self.tokens[first].text not in AROUND_OPERAND or self.tokens[first].text in (")", "]"):
            first = self.partner.get(first, first) - 1
        while self.tokens[last].text not in AROUND_OPERAND or self.tokens[last].text in ("(", "["):
            last = self.partner.get(last, last) + 1
        return first, last

    def same_if_equal(self, i):
        """Is it the same for `a == b` whether `a < b` is true? The smaller of two, the larger, what one is above the other."""
        first, last = self.around(i)
        a, b = (" ".join(self.text[x:y].split()) for x, y in ((self.tokens[first + 1].start, self.tokens[i].start),
                                                              (self.tokens[i].end, self.tokens[last].start)))
        if self.tokens[last].text == "?":
            _, _, swapped, _ = next(self.branches(last))
            yes, no = sorted(" ".join(side.split()) for side in swapped.split(" : ", 1)) if " : " in swapped else ("", "")
            return [yes, no] == sorted((a, b)) or (yes == "0" and no in (f"{a} - {b}", f"{b} - {a}"))
        block = " ".join(self.text[self.tokens[last].end:self.tokens[last].end + 200].split())
        return self.tokens[first - 1].text == "if" and (block.startswith((f"{{ {a} = {b}; }}", f"{{ {b} = {a}; }}")))

    def known_unequal(self, i):
        """Has `a != b` been asked just before `a < b`? Then `a <= b` is the same: the last lines of every comparison."""
        first, last = self.around(i)
        start, end = self.tokens[first + 1].start, self.tokens[last - 1].end
        asked = self.text[start:self.tokens[i].start] + "!=" + self.text[self.tokens[i].end:end]
        before = self.text[self.statement_before(i):self.tokens[i].start]
        return "".join(asked.split()) in "".join(before.split())

    def statement_before(self, i):
        """Where the statement of this token begins, or the head of the block that it is the first of."""
        ends = 0
        while ends < 2:
            i -= 1
            ends += self.level[i] == 0 and self.tokens[i].text in (";", "}") or self.tokens[i].text == "{" and not self.is_value(i)
            ends += ends == 1 and self.tokens[i].text in (";", "}") and self.level[i] == 0
        return self.tokens[i].end

    def negated(self, start, end):
        if self.text[start:end] not in ("true", "false"):
            yield start, end, f"!({self.text[start:end]})", "negated"

    def negated_bound(self, opening):
        """The middle of a for (;;)."""
        semicolons = [i for i in range(opening, self.partner[opening]) if self.tokens[i].text == ";"]
        if len(semicolons) == 2 and semicolons[1] > semicolons[0] + 1:
            yield from self.negated(self.tokens[semicolons[0] + 1].start, self.tokens[semicolons[1] - 1].end)

    def branches(self, i):
        """Both sides of a ? b : c change places."""
        middle, depth = i + 1, 0
        while self.tokens[middle].text != ":" or depth > 0:
            depth += {"?": 1, ":": -1}.get(self.tokens[middle].text, 0)
            middle = self.partner[middle] + 1 if self.tokens[middle].text in OPENING else middle + 1
        end = middle + 1
        while self.tokens[end].text not in (",", ";", ")", "]", "}", ":"):
            end = self.partner[end] + 1 if self.tokens[end].text in OPENING else end + 1
        yes = self.text[self.tokens[i + 1].start:self.tokens[middle - 1].end]
        no = self.text[self.tokens[middle + 1].start:self.tokens[end - 1].end]
        between = self.text[self.tokens[middle - 1].end:self.tokens[middle + 1].start]
        yield self.tokens[i + 1].start, self.tokens[end - 1].end, no + between + yes, "branches"

    def dropped(self, i):
        """The statement that begins at this token, if it is no declaration and no block."""
        end = i
        while self.tokens[end].text not in (";", "}"):
            end = self.partner[end] + 1 if self.tokens[end].text in OPENING else end + 1
        if self.tokens[end].text != ";" or end == i or not self.is_statement(i):
            return
        start, stop = self.tokens[i].start, self.tokens[end].start
        yield start, stop, re.sub(r"[^\n]", "", self.text[start:stop]), "dropped"

    def is_statement(self, i):
        word, after = self.tokens[i].text, self.tokens[i + 1].text
        if word in ("break", "continue"):
            return True
        if word == "return":
            return not self.is_last(i)
        if word in NO_EXPRESSION or word in ASSERTIONS or self.tokens[i].kind == "text":
            return False
        if after == "(" and GIVES_BACK.match(word):
            return False
        return word in ("*", "(", "++", "--") or after in ("(", "=", ".", "->", "[", "++", "--") or after.endswith("=")

    def is_last(self, i):
        """Does nothing stand between this statement and the end of its function?"""
        while self.tokens[i].text != ";":
            i = self.partner[i] + 1 if self.tokens[i].text in OPENING else i + 1
        return self.text[self.tokens[i + 1].start - 1] == "\n"

    def is_label(self, i):
        """Does this colon end a case?"""
        if self.tokens[i].text != ":":
            return False
        while self.tokens[i - 1].text not in ("{", "}", ";", "?"):
            i -= 1
            if self.tokens[i].text in ("case", "default"):
                return True
        return False

    def is_size(self, i):
        """A number alone in brackets after a declared name: the size of an array."""
        if self.tokens[i - 1].text != "[" or self.tokens[i + 1].text != "]":
            return False
        kind_of = self.tokens[i - 3]
        return kind_of.kind == "word" and kind_of.text not in ("return", "case")

    def is_least_key(self, i):
        """A 0 that is a whole number of a struct okey {{…}}: a search begins there, and what it finds has numbers from 1 on."""
        if self.tokens[i].text != "0" or self.tokens[i - 1].text not in ("{", ",") or self.tokens[i + 1].text not in ("}", ","):
            return False
        while self.tokens[i].text not in OPENING:
            i = self.partner.get(i, i) - 1
        return self.tokens[i].text == self.tokens[i - 1].text == "{" and "okey" in (self.tokens[i - 3].text, self.tokens[i - 4].text)

    def is_value(self, i):
        """Does this bracket open anything but a block of statements?"""
        return self.tokens[i].text != "{" or self.tokens[i - 1].text in ("=", ",", "{", "(") or self.is_literal(i - 1)

    def is_literal(self, i):
        """(struct x) before a brace; if (x) and a function's head are none."""
        if self.tokens[i].text != ")":
            return False
        before = self.tokens[self.partner[i] - 1]
        return before.kind != "word" or before.text == "return"

    def with_fault(self, place):
        return self.text[:place.start] + place.new + self.text[place.end:]

    def shown(self, place):
        """(line number, the statement before, the statement after), spaces run together: the same when lines move or break elsewhere."""
        start, end = self.statement(place.start, place.end)
        before = " ".join(self.without_comments(start, end).split())
        after = " ".join((self.without_comments(start, place.start) + place.new + self.without_comments(place.end, end)).split())
        return self.line(place.start), before, after

    def without_comments(self, start, end):
        return re.sub(r"/\*.*?\*/", "", self.text[start:end], flags=re.DOTALL)


def off_by_one(number):
    digits = number.rstrip("uUlL")
    value, suffix = int(digits, 0), number[len(digits):]
    return [f"{value + 1}{suffix}"] + ([f"{value - 1}{suffix}"] if value > 0 else [])
