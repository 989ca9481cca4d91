//! Checks results against the schemas that `fathom schema` prints.

use serde_json::{Map, Value};

use super::{fathom, run};

/// Checks that a document is what the schema of a result says, and has no key that the schema lacks.
#[track_caller]
pub(crate) fn expect_result(name: &str, text: &str) {
    let document = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}: {text:.2000}"));
    expect_results(name, &[document]);
}

/// Checks several documents.
#[track_caller]
pub(crate) fn expect_results(name: &str, documents: &[Value]) {
    let mut schema = serde_json::from_str(&run(&mut fathom(["schema", name])).expect_clean().stdout).unwrap();
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    for document in documents {
        let errors: Vec<String> =
            validator.iter_errors(document).map(|error| format!("{}: {error:.400}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

/// Refuses keys that a schema does not name, which documents of a later program may have.
fn close(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    close_parts(schema);
    let has = |words: &[&str]| words.iter().any(|word| schema.contains_key(*word));
    if has(&["properties", "oneOf", "anyOf", "allOf", "$ref"]) && !has(&["additionalProperties"]) {
        schema.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// Closes the schemas of the values in a document. Schemas that describe the same value remain open, because each
/// names some of its keys.
fn close_parts(schema: &mut Map<String, Value>) {
    for (word, value) in schema {
        let parts = value.as_object_mut().into_iter().flat_map(Map::values_mut);
        match word.as_str() {
            "properties" => parts.for_each(close),
            "$defs" => parts.filter_map(Value::as_object_mut).for_each(close_parts),
            "items" | "additionalProperties" => close(value),
            "prefixItems" => value.as_array_mut().into_iter().flatten().for_each(close),
            "oneOf" | "anyOf" | "allOf" => {
                let same = value.as_array_mut().into_iter().flatten();
                same.filter_map(Value::as_object_mut).for_each(close_parts);
            }
            _ => {}
        }
    }
}
