"""Compares docs/dev/formats/agent-protocol.md with the tables of the agent's messages (src/wire/agent.c).

Every field of a table must stand in the page's example of the table's message. A field that a message may leave out may stand in
the page's text instead. Every field of an example must be in the table.
"""
import re

PAGE = "docs/dev/formats/agent-protocol.md"
TABLE = re.compile(r"(?:\b(\w+)_table|\[AGENT_(\w+)\]) = RECORD_JSON_TABLE\(")
ROW = re.compile(r'RECORD_JSON_ROW\((\w+), [\w.]+, "(\w+)"(.*)')
# struct: the table with the fields that all messages of the struct share
HEADS = {"agent_order": "order", "agent_report": "report"}


def tables_of(sources):
    """{message: (struct, {field: may it be left out})} in the order of the sources."""
    tables, name = {}, None
    for line in "\n".join(sources).splitlines():
        begun, row = TABLE.search(line), ROW.search(line)
        if begun:
            name = (begun.group(1) or begun.group(2)).lower()
        if row:
            fields = tables.setdefault(name, (row.group(1), {}))[1]
            rest = row.group(3)
            fields[row.group(2)] = ".required" not in rest and (".sparse" in rest or "unwritten" in rest)
    return tables


def examples_of(page):
    """The page's JSON objects, nested objects included: type, key under which the object stands, its fields, whether … shortens it."""
    found, stack = [], []
    for token in re.finditer(r'"([^"]*)"(:?)|[{}]|, …', page):
        text = token.group(0)
        if text == "{":
            stack.append({"type": "", "under": stack[-1]["last"] if stack else "", "fields": [], "last": "", "short": False})
        elif text == "}":
            found.append(stack.pop())
        elif stack and text == ", …":
            stack[-1]["short"] = True
        elif stack and token.group(2):
            stack[-1]["last"] = token.group(1)
            stack[-1]["fields"].append(token.group(1))
        elif stack and stack[-1]["last"] == "type":
            stack[-1]["type"] = token.group(1)
    return found


def example_for(name, fields, examples):
    """The example of a message: found by its type or by its key, else the object without a type that has most of the fields."""
    named = [e for e in examples if e["type"] == name or e["under"] in (name, name + "s")]
    loose = sorted((e for e in examples if not e["type"]), key=lambda e: -len(set(fields) & set(e["fields"])))
    return (named or loose)[0]


def differences(sources, page):
    tables, examples, found = tables_of(sources), examples_of(page), []
    for name, (struct, own) in tables.items():
        if name in HEADS.values():
            continue
        head = tables[HEADS[struct]][1] if struct in HEADS else {}
        fields = {**head, **own}
        example = example_for(name, fields, examples)
        for field, optional in fields.items():
            told = optional and re.search(rf'`"?{field}\b', page)
            if field not in example["fields"] and not told and not (example["short"] and field in head):
                found.append(f"{PAGE}: the message '{name}' has the field '{field}', which the page does not name")
        found += [f"{PAGE}: the page names '{field}' in '{name}', which no table has"
                  for field in example["fields"] if field not in fields]
    if not tables:
        found.append(f"{PAGE}: no tables of messages were found in the sources")
    return found
