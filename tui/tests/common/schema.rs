//! Validates `--json` output against its schema. The schemas are the golden files; only the
//! keywords in them are known.

use serde_json::{Map, Value};
use std::fs;
use std::path::PathBuf;

/// Keywords without effect on a value, and those that are checked below.
const KEYWORDS: [&str; 20] = [
    "$schema",
    "$defs",
    "title",
    "description",
    "format",
    "$ref",
    "type",
    "const",
    "enum",
    "anyOf",
    "oneOf",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "additionalProperties",
    "default",
];

/// The path of the golden file of a name.
pub(crate) fn golden_path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/schema");
    folder.join(format!("{}.json", name.replace(' ', "-")))
}

/// Checks that the answer to these arguments matches the schema of their verb.
pub(crate) fn conforms(arguments: &[&str], answer: &Value) {
    let path = if arguments.contains(&"--dry-run") {
        golden_path("dry-run")
    } else {
        let words: Vec<&str> =
            arguments.iter().filter(|word| !word.starts_with('-')).copied().collect();
        let names = words.iter().enumerate().flat_map(|(at, word)| {
            let longer = words.get(at + 1).map(|next| format!("{word} {next}"));
            longer.into_iter().chain([(*word).to_owned()])
        });
        let mut paths = names.map(|name| golden_path(&name));
        paths.find(|path| path.exists()).unwrap_or_else(|| panic!("no schema: {arguments:?}"))
    };
    let root: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    if let Err(fault) = check(&root, &root, answer) {
        panic!("{arguments:?} prints what {} does not allow: {fault}", path.display());
    }
}

/// The differences between a value and its schema.
fn check(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let schema = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(schema) => schema,
        other => return Err(format!("no schema: {other}")),
    };
    if let Some(word) = schema.keys().find(|word| !KEYWORDS.contains(&word.as_str())) {
        return Err(format!("the keyword {word} is not known here"));
    }
    if let Some(Value::String(reference)) = schema.get("$ref") {
        let found = root.pointer(&reference[1..]).ok_or(format!("no {reference}"))?;
        check(root, found, value)?;
    }
    if let Some(kinds) = schema.get("type") {
        let is = |kind: &Value| kind.as_str().is_some_and(|kind| is_of(kind, value));
        let fits = kinds.as_array().map_or_else(|| is(kinds), |kinds| kinds.iter().any(is));
        fits.then_some(()).ok_or(format!("{value} is not of the type {kinds}"))?;
    }
    if schema.get("const").is_some_and(|only| only != value)
        || schema.get("enum").is_some_and(|all| !all.as_array().unwrap().contains(value))
    {
        return Err(format!("{value} is not of the values of {schema:?}"));
    }
    for several in ["anyOf", "oneOf"].iter().filter_map(|word| schema.get(*word)) {
        let several = several.as_array().unwrap().iter();
        let faults: Vec<_> = several.map(|one| check(root, one, value)).collect();
        if faults.iter().all(Result::is_err) {
            return Err(format!("{value} is nothing of {faults:?}"));
        }
    }
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            let bound = |word: &str| schema.get(word).and_then(Value::as_f64);
            if bound("minimum").is_some_and(|least| number < least)
                || bound("maximum").is_some_and(|most| number > most)
            {
                return Err(format!("{number} is out of bounds"));
            }
            Ok(())
        }
        Value::Array(items) => {
            let bound = |word: &str| schema.get(word).and_then(Value::as_u64);
            let length = items.len() as u64;
            if bound("minItems").is_some_and(|least| length < least)
                || bound("maxItems").is_some_and(|most| length > most)
            {
                return Err(format!("{length} items"));
            }
            let of = schema.get("items");
            items.iter().try_for_each(|item| of.map_or(Ok(()), |of| check(root, of, item)))
        }
        Value::Object(object) => check_object(root, schema, object),
        _ => Ok(()),
    }
}

/// Every required key is present, and every key is described.
fn check_object(
    root: &Value,
    schema: &Map<String, Value>,
    object: &Map<String, Value>,
) -> Result<(), String> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for key in required.filter_map(Value::as_str) {
        object.contains_key(key).then_some(()).ok_or(format!("no key {key}"))?;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let other = schema.get("additionalProperties");
    for (key, value) in object {
        let of = properties.and_then(|properties| properties.get(key)).or(other);
        match of {
            Some(of) => check(root, of, value).map_err(|fault| format!("{key}: {fault}"))?,
            None if properties.is_none() => {}
            None => return Err(format!("the key {key} is not described")),
        }
    }
    Ok(())
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_that_the_schema_does_not_allow_is_found() {
        let root = json!({
            "type": "object", "required": ["a"], "properties": {
                "a": {"$ref": "#/$defs/A"}, "b": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
                "c": {"type": "array", "items": {"type": "string"}, "maxItems": 1},
                "d": {"additionalProperties": {"type": "boolean"}}, "e": {"const": 1},
            },
            "$defs": {"A": {"anyOf": [{"type": "null"}, {"properties": {"x": {"type": "number"}}}]}},
        });
        let good = json!({"a": {"x": 1.5}, "b": null, "c": ["s"], "d": {"any": true}, "e": 1});
        assert_eq!(check(&root, &root, &good), Ok(()));
        for (key, value) in [
            ("a", json!({"x": "s"})),
            ("a", json!({"y": 1})),
            ("b", json!(256)),
            ("b", json!(-1)),
            ("b", json!(1.5)),
            ("c", json!(["s", "t"])),
            ("c", json!([1])),
            ("d", json!({"any": 1})),
            ("e", json!(2)),
            ("f", json!(0)),
        ] {
            let mut bad = good.clone();
            bad[key] = value;
            assert!(check(&root, &root, &bad).is_err(), "{bad}");
        }
        assert!(check(&root, &root, &json!({"b": 1})).is_err());
    }
}
