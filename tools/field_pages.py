"""Compares the tables of fields (src/core/model/*_fields.def) with docs/api/openapi.yaml and the pages of the file formats.

Each field of a table that users can see must have its property in the API's description and its row in the page. A finding
names the field and the place where the field is missing.
"""
import re

OPENAPI = "docs/api/openapi.yaml"
# object: (schemas that users send, schema of an edit, schemas that the API shows, page)
OBJECTS = {
    "task": (["TaskSubmit"], "TaskEdit", ["Task"], "docs/dev/formats/task-file.md"),
    "pool": (["PoolCreate"], None, ["Pool"], "docs/dev/formats/server-file.md"),
    "flavor": (["FlavorCreate"], None, ["Flavor"], "docs/dev/formats/server-file.md"),
    "network": (["NetworkCreate"], None, ["Network"], "docs/dev/formats/server-file.md"),
    "node": ([], None, ["Node"], "docs/dev/formats/agent-protocol.md"),
    "account": (["DepartmentCreate", "ProjectCreate"], None, ["Department", "Project"], "docs/dev/formats/server-file.md"),
    "quota": (["QuotaSet"], None, ["Quota"], "docs/dev/formats/server-file.md"),
}
# Fields that the API shows in another form, or that are the second spelling of another field.
NOT_SHOWN = {
    "task": {"entrypoint", "array"},
    "node": {"slots", "cpu", "memory", "gpu_memory"},  # names under `resources`
    "account": {"parent"},  # a project shows its `department`
}


def arguments(text):
    """The arguments of one FIELD(…), split at the commas outside inner parentheses."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()]


def fields_of(text):
    """The rows of a table: [(name, kind of value, change, group)]."""
    rows = []
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for begun in re.finditer(r"\bFIELD\(", text):
        depth, end = 1, begun.end()
        while depth > 0:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        name, kept, _, change, group, _ = arguments(text[begun.end():end - 1])
        rows.append((name, kept.split("(")[0], change, group))
    return rows


def schema_of(openapi, name):
    """The text of one schema. Schemas that it includes by a YAML anchor are not followed."""
    found = re.search(rf"^    {name}:.*?(?=^    [A-Z]\w*:|\Z)", openapi, flags=re.M | re.S)
    return found.group(0) if found else ""


def properties_of(schema):
    """The names under every `properties:` of a schema. A `description:` beside them is a word of the format, not a property."""
    names, blocks = set(), set()
    for line in schema.splitlines():
        found = re.match(r"( *)(\w+):", line)
        if not found:
            continue
        indent = len(found.group(1))
        blocks = {block for block in blocks if block <= indent}
        if indent in blocks:
            names.add(found.group(2))
        elif found.group(2) == "properties":
            blocks.add(indent + 2)
    return names


def an(thing):
    return f"an {thing}" if thing[0] in "aeiou" else f"a {thing}"


def differences(read):
    """The findings: which field is missing where. `read` gives the text of a file of the repository."""
    found, openapi = [], read(OPENAPI)
    for thing, (sent, edit, shown, page) in OBJECTS.items():
        text = read(page)
        for name, kind, change, group in fields_of(read(f"src/core/model/{thing}_fields.def")):
            if group == "HIDDEN":
                continue
            label = f"{name}_ms" if kind == "DURATION" else name
            places = [(schema, name) for schema in sent if not (thing == "account" and name == "parent")]
            places += [(edit, name)] if edit and change.startswith("EDIT") else []
            places += [(schema, label) for schema in shown if name not in NOT_SHOWN.get(thing, ())]
            found += [f"{OPENAPI}: the schema {schema} has no '{key}', a field of {an(thing)}"
                      for schema, key in places if key not in properties_of(schema_of(openapi, schema))]
            if not re.search(rf"\b{name}\b", text):
                found.append(f"{page}: no word about '{name}', a field of {an(thing)}")
    return found
