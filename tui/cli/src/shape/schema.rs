//! JSON Schemas, derived from the output structs on request.

use crate::output::Answer;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of a verb's `--json` output; its description is the comment of the struct.
pub(crate) fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(unfold));
    let mut generator = settings.into_generator();
    let description = T::json_schema(&mut generator).remove("description");
    let mut schema = generator.into_root_schema_for::<Answer<T>>();
    if let Some(description) = description {
        schema.insert("description".to_owned(), description);
        unfold(&mut schema);
    }
    schema
}

/// Joins the lines of a comment.
fn unfold(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
}
