"""Compares Core Data models with the model files that the importer makes of them.

    core_data_models.py IMPORTER FOLDER

Reads every `contents` below FOLDER with Python's XML parser, and compares entities, attributes,
relationships and indexes with what `model convert` prints; that must pass `model check`. Prints a line per model that differs
or is refused, then the counts of those that are carried over wholly and with notices.
"""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

TYPES = {
    "Integer 16": "integer16", "Integer 32": "integer32", "Integer 64": "integer64", "Float": "float", "Double": "double",
    "Decimal": "decimal", "Boolean": "boolean", "String": "string", "Date": "date", "Binary": "binary", "UUID": "uuid",
    "URI": "uri", "Transformable": "json",
}
RULES = {"Nullify": "nullify", "Cascade": "cascade", "Deny": "deny", "No Action": "noAction"}


def attributes(elements, composites, before="", optional=False):
    """The attributes that a store keeps, as (name, type, optional)."""
    for element in elements:
        if element.get("transient") == "YES":
            continue
        name, may_lack = before + element.get("name"), optional or element.get("optional") == "YES"
        if element.get("attributeType") == "Composite":
            yield from attributes(composites[element.get("composite")], composites, name + ".", may_lack)
        elif element.get("attributeType") in TYPES:
            yield name, TYPES[element.get("attributeType")], may_lack


def differences(path, model):
    root = ElementTree.parse(path).getroot()
    composites = {one.get("name"): one.findall("attribute") for one in root.findall("composite")}
    entities = model["entities"]
    for entity in root.findall("entity"):
        name = entity.get("name")
        if not entity.findall("attribute") and not entity.findall("relationship") and not entity.get("parentEntity"):
            if name not in entities:
                continue
        mine = entities.get(name)
        if mine is None:
            yield f"{name} is not there"
            continue
        if mine.get("parent") != entity.get("parentEntity") or mine.get("abstract", False) != (entity.get("isAbstract") == "YES"):
            yield f"{name}: parent or abstract"
        if mine.get("renamingIdentifier") != entity.get("elementID"):
            yield f"{name}: renamingIdentifier"
        wanted = list(attributes(entity.findall("attribute"), composites))
        own = mine.get("attributes", {})
        if [one[0] for one in wanted] != list(own):
            yield f"{name}: attributes {list(own)}"
            continue
        identifier = identifier_of(name, entities)
        for attribute, kind, optional in wanted:
            if own[attribute]["type"] != kind:
                yield f"{name}.{attribute}: {own[attribute]['type']}"
            if own[attribute].get("optional", False) != (optional and attribute not in identifier):
                yield f"{name}.{attribute}: optional"
        yield from relationship_differences(name, entity.findall("relationship"), mine.get("relationships", {}))
        yield from index_differences(name, entity, mine, identifier)


def identifier_of(name, entities):
    while name:
        if entities[name].get("identifier"):
            return entities[name]["identifier"]
        name = entities[name].get("parent")
    return []


def relationship_differences(name, elements, own):
    if [one.get("name") for one in elements] != list(own):
        yield f"{name}: relationships {list(own)}"
        return
    for element in elements:
        mine, path = own[element.get("name")], f"{name}.{element.get('name')}"
        is_to_many = element.get("toMany") == "YES"
        wanted = {
            "entity": element.get("destinationEntity"), "toMany": is_to_many, "inverse": element.get("inverseName"),
            "optional": element.get("optional") == "YES", "deleteRule": RULES[element.get("deletionRule", "Nullify")],
            "ordered": element.get("ordered") == "YES" if is_to_many else None,
        }
        found = {
            "entity": mine["entity"], "toMany": mine.get("toMany", False), "inverse": mine.get("inverse"),
            "optional": mine.get("optional", True), "deleteRule": mine.get("deleteRule"), "ordered": mine.get("ordered"),
        }
        if wanted != found:
            yield f"{path}: {found}, not {wanted}"
        for key in ("minCount", "maxCount"):
            count = int(element.get(key, "0"))
            if mine.get(key) != (count if is_to_many and count > 0 else None):
                yield f"{path}: {key}"


def index_differences(name, entity, mine, identifier):
    wanted = [[one.get("value") for one in unique] for unique in entity.findall("uniquenessConstraints/uniquenessConstraint")]
    wanted += [[one.get("property") for one in index] for index in entity.findall("fetchIndex")]
    for index in entity.findall("compoundIndexes/compoundIndex"):
        wanted.append([part.strip() for one in index for part in one.get("value").split(",")])
    wanted += [[one.get("name")] for one in entity.findall("attribute") if one.get("indexed") == "YES"]
    for index in wanted:
        if index != identifier and index not in mine.get("indexes", []):
            yield f"{name}: no index of {index}"


def main(importer, folder):
    wholly, noted = 0, 0
    for base, folders, files in sorted(os.walk(folder)):
        folders.sort()
        if "contents" not in files:
            continue
        path = os.path.join(base, "contents")
        converted = subprocess.run([importer, "model", "convert", path], capture_output=True, text=True)
        if converted.returncode != 0:
            print(f"{path}: refused: {converted.stderr}")
            continue
        check = subprocess.run([importer, "model", "check", "-"], input=converted.stdout, capture_output=True, text=True)
        if check.returncode != 0:
            print(f"{path}: {check.stdout}")
        for difference in differences(path, json.loads(converted.stdout)):
            print(f"{path}: {difference}")
        if converted.stderr:
            noted += 1
        else:
            wholly += 1
    print(f"wholly {wholly}, with notices {noted}")


main(*sys.argv[1:])
