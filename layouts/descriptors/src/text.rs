//! Protobuf's text format, read by message descriptions of this crate; each error has its line.

use layouts::TextError;
use miette::Diagnostic as _;
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage as _, Value};
use protox::file::{File, FileResolver};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The message descriptions of this crate.
const FILES: [(&str, &str); 3] = [
    ("mesh_graph.proto", include_str!("../proto/mesh_graph.proto")),
    ("systems.proto", include_str!("../proto/systems.proto")),
    ("physical_system.proto", include_str!("../proto/physical_system.proto")),
];

/// Deepest nesting of messages that is read. The parser recurses; a cabling descriptor of three levels nests 12.
const MOST_NESTED: usize = 64;

/// Returns an error of a text.
pub(crate) fn wrong(line: u64, what: impl Into<String>) -> TextError {
    TextError { line, what: what.into() }
}

struct Shipped;

impl FileResolver for Shipped {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let file = FILES.iter().find(|(file, _)| *file == name);
        let (name, text) = file.ok_or_else(|| protox::Error::file_not_found(name))?;
        File::from_source(name, text)
    }
}

fn pool() -> Result<&'static DescriptorPool, TextError> {
    static POOL: OnceLock<Result<DescriptorPool, String>> = OnceLock::new();
    let compiled = POOL.get_or_init(|| {
        let mut compiler = protox::Compiler::with_file_resolver(Shipped);
        let opened = compiler.open_files(FILES.map(|(name, _)| name));
        opened.map_err(|error| error.to_string())?;
        Ok(compiler.descriptor_pool())
    });
    compiled.as_ref().map_err(|error| wrong(0, error))
}

/// A text that was read, with its message.
pub(crate) struct Text<'a> {
    /// The lines of each word, comments aside.
    words: BTreeMap<&'a str, Vec<u64>>,
    message: DynamicMessage,
}

impl<'a> Text<'a> {
    /// Reads a message of this name.
    pub(crate) fn read(name: &str, text: &'a str) -> Result<Self, TextError> {
        let kind = pool()?.get_message_by_name(name);
        let kind = kind.ok_or_else(|| wrong(0, format!("no message is called {name}")))?;
        check_nesting(text)?;
        let message = DynamicMessage::parse_text_format(kind, text).map_err(|error| {
            let at = error.labels().and_then(|mut labels| labels.next());
            let line = at.map_or(0, |label| line_at(text, label.offset()));
            wrong(line, error.to_string())
        })?;
        let mut words: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        for (line, text) in (1..).zip(text.lines()) {
            let code = text.split('#').next().unwrap_or_default();
            let marks = |letter: char| !letter.is_alphanumeric() && !"_-.".contains(letter);
            for word in code.split(marks).filter(|word| !word.is_empty()) {
                words.entry(word).or_default().push(line);
            }
        }
        Ok(Self { words, message })
    }

    /// Returns the message.
    pub(crate) fn message(&self) -> Message<'_> {
        Message(Some(&self.message))
    }

    /// Returns the lines in which a word stands, such as the name of a field, in order.
    pub(crate) fn lines(&self, word: &str) -> &[u64] {
        self.words.get(word).map_or(&[], Vec::as_slice)
    }

    /// Returns the line in which a word stands for the `index`th time from a line on, from 0; 0 if it does not.
    pub(crate) fn line(&self, word: &str, from: u64, index: usize) -> u64 {
        let lines = self.lines(word);
        let first = lines.partition_point(|line| *line < from);
        lines.get(first + index).copied().unwrap_or_default()
    }
}

fn line_at(text: &str, offset: usize) -> u64 {
    let before = text.as_bytes().iter().take(offset);
    1 + before.filter(|byte| **byte == b'\n').count() as u64
}

/// Calls with each line, the depth of brackets at its begin, and the deepest in it.
fn by_depth<'a>(text: &'a str, mut see: impl FnMut(u64, &'a str, usize, usize)) {
    let mut depth = 0_usize;
    for (line, text) in (1..).zip(text.lines()) {
        let (begin, mut most) = (depth, depth);
        // A string ends in its line.
        let mut quote = None;
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match (letter, quote) {
                ('\\', Some(_)) => drop(letters.next()),
                ('"' | '\'', None) => quote = Some(letter),
                (_, Some(open)) if open == letter => quote = None,
                ('#', None) => break,
                ('{' | '<' | '[', None) => depth += 1,
                ('}' | '>' | ']', None) => depth = depth.saturating_sub(1),
                _ => {}
            }
            most = most.max(depth);
        }
        see(line, text, begin, most);
    }
}

/// Refuses a text whose brackets nest deeper than the parser may recurse.
fn check_nesting(text: &str) -> Result<(), TextError> {
    let mut deep = None;
    by_depth(text, |line, _, _, most| {
        if most > MOST_NESTED {
            deep = deep.or(Some(line));
        }
    });
    let what = format!("it nests deeper than {MOST_NESTED} messages");
    deep.map_or(Ok(()), |line| Err(wrong(line, what)))
}

/// Returns the fields with which a line begins outside all brackets.
pub(crate) fn top_fields(text: &str) -> BTreeSet<&str> {
    let mut fields = BTreeSet::new();
    by_depth(text, |_, text, begin, _| {
        let word = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let (field, rest) = text.trim_start().split_at(text.trim_start().find(word).unwrap_or(0));
        if begin == 0 && rest.trim_start().starts_with([':', '{', '<']) {
            fields.insert(field);
        }
    });
    fields
}

/// A message by the names of its fields; none if it is not set. What is not set has its default, as in proto3.
#[derive(Clone, Copy)]
pub(crate) struct Message<'a>(Option<&'a DynamicMessage>);

impl<'a> Message<'a> {
    /// Whether the field is set.
    pub(crate) fn has(self, field: &str) -> bool {
        self.0.is_some_and(|message| message.has_field_by_name(field))
    }

    fn value(self, field: &str) -> Option<&'a Value> {
        match self.0?.get_field_by_name(field)? {
            Cow::Borrowed(value) => Some(value),
            Cow::Owned(_) => None,
        }
    }

    fn list(self, field: &str) -> &'a [Value] {
        self.value(field).and_then(Value::as_list).unwrap_or_default()
    }

    /// Returns a number; 0 for a negative one.
    pub(crate) fn wide(self, field: &str) -> u64 {
        let value = self.value(field);
        let signed = value.and_then(Value::as_i32).and_then(|number| u64::try_from(number).ok());
        let number =
            value.and_then(|value| value.as_u64().or_else(|| value.as_u32().map(u64::from)));
        number.or(signed).unwrap_or_default()
    }

    /// Returns a number of 32 bits; 0 for a negative one.
    pub(crate) fn number(self, field: &str) -> u32 {
        self.wide(field) as u32
    }

    /// Returns a list of numbers, also of enumerated ones.
    pub(crate) fn numbers(self, field: &str) -> Vec<i32> {
        let number = |value: &Value| value.as_i32().or_else(|| value.as_enum_number());
        self.list(field).iter().filter_map(number).collect()
    }

    /// Returns the name of an enumerated value; an empty one if it is not set.
    pub(crate) fn named(self, field: &str) -> String {
        let name = || {
            let number = self.value(field)?.as_enum_number()?;
            let field = self.0?.descriptor().get_field_by_name(field)?;
            Some(field.kind().as_enum()?.get_value(number)?.name().to_owned())
        };
        name().unwrap_or_default()
    }

    /// Returns a string.
    pub(crate) fn words(self, field: &str) -> &'a str {
        self.value(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a list of strings.
    pub(crate) fn all_words(self, field: &str) -> Vec<&'a str> {
        self.list(field).iter().filter_map(Value::as_str).collect()
    }

    /// Returns a message.
    pub(crate) fn one(self, field: &str) -> Message<'a> {
        Message(self.value(field).and_then(Value::as_message))
    }

    /// Returns a list of messages.
    pub(crate) fn all(self, field: &str) -> impl Iterator<Item = Message<'a>> + use<'a> {
        self.list(field).iter().map(|value| Message(value.as_message()))
    }

    /// Returns messages by their keys.
    pub(crate) fn map(self, field: &str) -> BTreeMap<&'a str, Message<'a>> {
        let entries = self.value(field).and_then(Value::as_map).into_iter().flatten();
        entries
            .filter_map(|(key, value)| Some((key.as_str()?, Message(value.as_message()))))
            .collect()
    }
}
