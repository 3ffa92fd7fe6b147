"""Validates JSON documents by a JSON Schema, independently of the importer.

    model_schema.py SCHEMA [--library] < documents, one per line

Prints "valid", or "invalid" and the first reason, a line per document. With --library it is the package jsonschema
that judges (exit code 3 if it is not installed); else the few keywords that the model's schema uses are judged here.
"""

import json
import re
import sys

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
}
KNOWN = set(
    "$schema $defs $ref title description type properties required additionalProperties minProperties maxProperties"
    " propertyNames items minItems uniqueItems pattern minLength minimum maximum enum anyOf allOf if then else"
    " dependentSchemas".split()
)


def errors(value, schema, root, place="$"):
    """Yields what is wrong with value."""
    unknown = set(schema) - KNOWN
    if unknown:
        raise SystemExit(f"keywords that this check does not know: {unknown}")
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        yield from errors(value, target, root, place)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(TYPES[name](value) for name in types):
        yield f"{place}: not {types}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: not one of {schema['enum']}"
    for name in ("anyOf",):
        if name in schema and all(any(errors(value, one, root, place)) for one in schema[name]):
            yield f"{place}: none of {name}"
    for one in schema.get("allOf", []):
        yield from errors(value, one, root, place)
    if "if" in schema:
        branch = "else" if any(errors(value, schema["if"], root, place)) else "then"
        yield from errors(value, schema.get(branch, {}), root, place)
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{place}: does not match {schema['pattern']}"
        if len(value) < schema.get("minLength", 0):
            yield f"{place}: too short"
    if TYPES["number"](value):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            yield f"{place}: out of range"
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{place}: too few"
        if schema.get("uniqueItems") and len({json.dumps(one) for one in value}) < len(value):
            yield f"{place}: not unique"
        for index, one in enumerate(value):
            yield from errors(one, schema.get("items", {}), root, f"{place}[{index}]")
    if isinstance(value, dict):
        count = len(value)
        if count < schema.get("minProperties", 0) or count > schema.get("maxProperties", count):
            yield f"{place}: too few or too many members"
        for key in value:
            yield from errors(key, schema.get("propertyNames", {}), root, place)
        for key in schema.get("required", []):
            if key not in value:
                yield f"{place}: {key} is missing"
        for key, one in value.items():
            properties = schema.get("properties", {})
            rest = schema.get("additionalProperties", True)
            if key in properties:
                yield from errors(one, properties[key], root, f"{place}.{key}")
            elif rest is False:
                yield f"{place}: {key} is not known"
            elif rest is not True:
                yield from errors(one, rest, root, f"{place}.{key}")
            if key in schema.get("dependentSchemas", {}):
                yield from errors(value, schema["dependentSchemas"][key], root, place)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    judge = lambda document: errors(document, schema, schema)
    if "--library" in sys.argv:
        try:
            import jsonschema
        except ImportError:
            return 3
        jsonschema.Draft202012Validator.check_schema(schema)
        judge = jsonschema.Draft202012Validator(schema).iter_errors
    for line in sys.stdin:
        reason = next(iter(judge(json.loads(line))), None)
        print("valid" if reason is None else "invalid " + str(reason).split("\n")[0])
    return 0


sys.exit(main())
