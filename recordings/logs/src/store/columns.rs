//! The columns of the Parquet files: the fields of a row, after its day.

use crate::row::{Row, Text};
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::arrow::error::ArrowError;
use std::sync::Arc;

/// The columns, with this type of texts. Times are UTC, without a zone, which every engine compares alike.
pub(super) fn schema(text: &DataType) -> SchemaRef {
    let time = DataType::Timestamp(TimeUnit::Microsecond, None);
    let column = |name, kind: &DataType, may_lack| Field::new(name, kind.clone(), may_lack);
    Arc::new(Schema::new(vec![
        column("day", &DataType::Date32, false),
        column("time", &time, false),
        column("clock", text, false),
        column("host", text, false),
        column("source", text, false),
        column("kind", text, false),
        column("name", text, false),
        column("trouble", &DataType::Boolean, false),
        column("board", text, true),
        column("tray", &DataType::Int32, true),
        column("chip", &DataType::Int32, true),
        column("channel", &DataType::Int32, true),
        column("cable", text, true),
        column("place", text, true),
        column("value", &DataType::Int64, true),
        column("change", &DataType::Int64, true),
        column("text", text, true),
        column("signature", text, true),
    ]))
}

/// Rows of one day, in days since the Unix epoch.
pub(super) fn batch(day: i32, rows: &[Row]) -> Result<RecordBatch, ArrowError> {
    let texts = |of: fn(&Row) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
    };
    let maybe = |of: fn(&Row) -> &Option<Text>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| of(row).as_deref()).collect::<StringArray>())
    };
    let small = |of: fn(&Row) -> Option<i32>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Int32Array>())
    };
    let large = |of: fn(&Row) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Int64Array>())
    };
    let times = rows.iter().map(|row| row.time_micros);
    let troubles = rows.iter().map(|row| Some(row.trouble));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Date32Array::from_value(day, rows.len())),
        Arc::new(TimestampMicrosecondArray::from_iter_values(times)),
        texts(|row| row.clock.word()),
        texts(|row| &row.host),
        texts(|row| &row.source),
        texts(|row| row.kind.word()),
        texts(|row| &row.name),
        Arc::new(troubles.collect::<BooleanArray>()),
        maybe(|row| &row.board),
        small(|row| row.tray),
        small(|row| row.chip),
        small(|row| row.channel),
        maybe(|row| &row.cable),
        maybe(|row| &row.place),
        large(|row| row.value),
        large(|row| row.change),
        maybe(|row| &row.text),
        maybe(|row| &row.signature),
    ];
    RecordBatch::try_new(schema(&DataType::Utf8), columns)
}

/// How the columns of a file differ from these, in words; none if they do not.
pub(super) fn difference(found: &Schema) -> Option<String> {
    schema(&DataType::Utf8).fields().iter().find_map(|wanted| {
        let name = wanted.name();
        match found.field_with_name(name) {
            Ok(field) if is_alike(field.data_type(), wanted.data_type()) => None,
            Ok(field) => {
                let (is, wanted) = (field.data_type(), wanted.data_type());
                Some(format!(
                    "its column `{name}` is {is}, not {wanted}: it is no log of meshscope"
                ))
            }
            Err(_) => Some(format!("it has no column `{name}`: it is no log of meshscope")),
        }
    })
}

/// Other programs that write the same rows may have other types of texts.
fn is_alike(found: &DataType, wanted: &DataType) -> bool {
    found == wanted || (found.is_string() && wanted.is_string())
}
