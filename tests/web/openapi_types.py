"""Writes the schemas of an OpenAPI file as TypeScript types: openapi_types.py OPENAPI.yaml OUT.d.ts

The types let TypeScript's checker compare the pages with the API.
"""

import json
import pathlib
import sys
from typing import Any

import yaml

Schema = dict[str, Any]


def reference(schema: Schema) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]


def object_type(schema: Schema) -> str:
    required = set(schema.get("required", []))
    fields = [
        f"{json.dumps(name)}{'' if name in required else '?'}: {type_of(field)};"
        for name, field in schema.get("properties", {}).items()
    ]
    if schema.get("additionalProperties") is True:
        fields.append("[name: string]: any;")
    return "{ " + " ".join(fields) + " }"


def plain_type(schema: Schema) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return f"Array<{type_of(schema['items'])}>"
    if kind == "object" or "properties" in schema:
        return object_type(schema)
    return {"integer": "number", "number": "number", "string": "string", "boolean": "boolean"}.get(str(kind), "any")


def type_of(schema: Schema) -> str:
    if "$ref" in schema:
        return reference(schema)
    parts = schema.get("allOf")
    text = " & ".join(f"({type_of(part)})" for part in parts) if parts else plain_type(schema)
    return f"({text}) | null" if schema.get("nullable") else text


def main() -> None:
    api = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text())
    lines = [f"export type {name} = {type_of(schema)};" for name, schema in api["components"]["schemas"].items()]
    out = pathlib.Path(sys.argv[2])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
