//! Values as text: on one line like gdb, or over several lines (`{:#}`) if long.

use std::fmt;
use std::sync::Arc;

use crate::value::Value;

/// The longest value on one line in the alternate form, in bytes.
const LINE: usize = 88;

/// The deepest nesting written over several lines.
const MAX_LEVEL: usize = 16;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return pretty(f, self, 0);
        }
        match self {
            Value::Unsigned(value) => write!(f, "{value}"),
            Value::Signed(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value}"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Char(value) => write!(f, "{value:?}"),
            Value::Enum { name: Some(name), .. } => f.write_str(name),
            Value::Enum { name: None, value } => write!(f, "{value}"),
            Value::Pointer(value) => write!(f, "{value:#x}"),
            Value::Struct(members) => members_as_text(f, members),
            Value::Array(elements) => elements_as_text(f, elements),
            Value::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Value::Unread => f.write_str("<unread>"),
            Value::Opaque => f.write_str("<opaque>"),
        }
    }
}

fn members_as_text(
    f: &mut fmt::Formatter<'_>,
    members: &[(Option<Arc<str>>, Value)],
) -> fmt::Result {
    f.write_str("{")?;
    for (at, (name, value)) in members.iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        match name {
            Some(name) => write!(f, "{comma}{name} = {value}")?,
            None => write!(f, "{comma}{value}")?,
        }
    }
    f.write_str("}")
}

/// Writes elements. Runs of equal elements are counted, like in gdb: `0 <repeats 31 times>`.
fn elements_as_text(f: &mut fmt::Formatter<'_>, elements: &[Value]) -> fmt::Result {
    const THRESHOLD: usize = 10;
    f.write_str("{")?;
    let mut rest = elements;
    let mut comma = "";
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|value| *value == first).count();
        let shown = if same >= THRESHOLD { same } else { 1 };
        write!(f, "{comma}{first}")?;
        if shown > 1 {
            write!(f, " <repeats {shown} times>")?;
        }
        rest = rest.get(shown..).unwrap_or_default();
        comma = ", ";
    }
    f.write_str("}")
}

/// Writes each member, and each element that is not a number, on its own line.
fn pretty(f: &mut fmt::Formatter<'_>, value: &Value, level: usize) -> fmt::Result {
    let line = value.to_string();
    if level >= MAX_LEVEL || line.len() + level * 4 <= LINE {
        return f.write_str(&line);
    }
    let indent = (level + 1) * 4;
    match value {
        Value::Struct(members) => {
            f.write_str("{\n")?;
            for (name, value) in members {
                write!(f, "{:indent$}", "")?;
                if let Some(name) = name {
                    write!(f, "{name} = ")?;
                }
                pretty(f, value, level + 1)?;
                f.write_str(",\n")?;
            }
        }
        Value::Array(elements) if !elements.iter().all(is_number) => {
            f.write_str("{\n")?;
            let mut rest = elements.as_slice();
            while let Some(first) = rest.first() {
                let same = rest.iter().take_while(|value| *value == first).count();
                write!(f, "{:indent$}", "")?;
                pretty(f, first, level + 1)?;
                let times =
                    if same > 1 { format!(" <repeats {same} times>") } else { String::new() };
                writeln!(f, "{times},")?;
                rest = rest.get(same..).unwrap_or_default();
            }
        }
        _ => return f.write_str(&line),
    }
    write!(f, "{:1$}}}", "", level * 4)
}

fn is_number(value: &Value) -> bool {
    !matches!(value, Value::Struct(_) | Value::Array(_))
}
