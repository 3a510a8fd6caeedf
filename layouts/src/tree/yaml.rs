//! YAML as a tree.

use super::{Node, TextError, Value};
use granit_parser::{Event, Parser, ScalarStyle};
use std::collections::{BTreeMap, BTreeSet};

/// Values of a text at most, those counted again that anchors keep and aliases repeat.
const MOST_VALUES: usize = 1 << 20;

/// Bytes of a scalar that count as a value.
const VALUE_BYTES: usize = 64;

/// Lists and mappings inside each other at most.
const DEEPEST: usize = 255;

/// A list or mapping whose end is still to come; keys and values of a mapping in turn.
struct Open {
    line: u64,
    anchor: usize,
    values: Vec<Node>,
}

pub(super) fn tree(text: &str) -> Result<Node, TextError> {
    let (mut root, mut open) = (None, Vec::<Open>::new());
    let (mut anchors, mut count) = (BTreeMap::<usize, Node>::new(), 0);
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) =
            event.map_err(|error| TextError::new(error.marker().line() as u64, error.info()))?;
        let line = span.start.line() as u64;
        let complain = |what: &str| Err(TextError::new(line, what));
        count += 1;
        if count > MOST_VALUES {
            return complain("it has too many values");
        }
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                (Node { line, value: Value::Scalar { text: text.into_owned(), plain } }, anchor)
            }
            Event::SequenceStart(_, anchor, _) | Event::MappingStart(_, anchor, _) => {
                open.push(Open { line, anchor, values: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { line, anchor, values }) = open.pop() else { continue };
                let value = match event {
                    Event::MappingEnd => Value::Map(pairs(values)?),
                    _ => Value::List(values),
                };
                (Node { line, value }, anchor)
            }
            Event::Alias(anchor) => {
                let Some(node) = anchors.get(&anchor) else {
                    return complain("an alias stands inside of what it repeats");
                };
                let (size, depth) = measure(node);
                count += size;
                if open.len() + depth > DEEPEST {
                    return complain("lists and mappings are nested too deep");
                }
                if count > MOST_VALUES {
                    return complain("its aliases repeat too much");
                }
                (node.clone(), 0)
            }
            Event::DocumentStart(..) if root.is_some() => {
                return complain("a second document begins");
            }
            _ => continue,
        };
        if anchor != 0 {
            count += measure(&node).0;
            if count > MOST_VALUES {
                return complain("its anchors keep too much");
            }
            anchors.insert(anchor, node.clone());
        }
        match open.last_mut() {
            Some(open) => open.values.push(node),
            None => root = Some(node),
        }
    }
    let nothing = Value::Scalar { text: String::new(), plain: true };
    Ok(root.unwrap_or(Node { line: 0, value: nothing }))
}

/// Keys with their values; each key is a scalar and stands there once.
fn pairs(values: Vec<Node>) -> Result<Vec<(Node, Node)>, TextError> {
    let (mut pairs, mut seen) = (Vec::new(), BTreeSet::new());
    let mut values = values.into_iter();
    while let (Some(key), Some(value)) = (values.next(), values.next()) {
        let Value::Scalar { text, .. } = &key.value else {
            return Err(TextError::new(key.line, "a key must be a word or a number"));
        };
        if !seen.insert(text.clone()) {
            return Err(TextError::new(key.line, format!("duplicate mapping key: {text}")));
        }
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// How many values there are in a value, itself included, and how deep they are nested. A long scalar
/// counts as several.
fn measure(node: &Node) -> (usize, usize) {
    let add = |(size, depth): (usize, usize), node| {
        let (more, below) = measure(node);
        (size + more, depth.max(below))
    };
    let (size, depth) = match &node.value {
        Value::Scalar { text, .. } => return (1 + text.len() / VALUE_BYTES, 0),
        Value::List(items) => items.iter().fold((1, 0), add),
        Value::Map(pairs) => pairs.iter().map(|(_, value)| value).fold((1 + pairs.len(), 0), add),
    };
    (size, depth + 1)
}
