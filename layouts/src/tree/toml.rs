//! TOML as a tree.

use super::{Node, TextError, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) fn tree(text: &str) -> Result<Node, TextError> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |at: usize| 1 + ends.partition_point(|end| *end < at) as u64;
    let table = DeTable::parse(text).map_err(|error| {
        TextError::new(error.span().map_or(0, |span| line(span.start)), error.message())
    })?;
    Ok(node(1, DeValue::Table(table.into_inner()), &line))
}

fn spanned(value: Spanned<DeValue>, line: &dyn Fn(usize) -> u64) -> Node {
    node(line(value.span().start), value.into_inner(), line)
}

fn node(at: u64, value: DeValue, line: &dyn Fn(usize) -> u64) -> Node {
    let scalar = |text: String, plain| Value::Scalar { text, plain };
    let value = match value {
        DeValue::String(text) => scalar(text.into_owned(), false),
        DeValue::Integer(number) => scalar(number.to_string(), true),
        DeValue::Float(number) => scalar(number.to_string(), true),
        DeValue::Boolean(is) => scalar(is.to_string(), true),
        DeValue::Datetime(time) => scalar(time.to_string(), true),
        DeValue::Array(items) => {
            Value::List(items.into_iter().map(|item| spanned(item, line)).collect())
        }
        DeValue::Table(pairs) => {
            let pairs = pairs.into_iter().map(|(key, value)| {
                let at = line(key.span().start);
                let text = key.into_inner().into_owned();
                (Node { line: at, value: scalar(text, false) }, spanned(value, line))
            });
            Value::Map(pairs.collect())
        }
    };
    Node { line: at, value }
}
