//! A type's layout as text with offsets, sizes and holes, in the format of gdb's `ptype /o`.

use std::fmt::Write;

use crate::types::{Enumeration, Keyword, Kind, Member, Record, Type};

/// Width of the offset and size columns.
const COLUMNS: usize = 27;

/// The deepest nesting of unnamed records expanded.
const MAX_DEPTH: usize = 24;

/// The longest text; a hostile file can nest one record in itself many times.
const MAX_TEXT: usize = 1 << 20;

impl Type {
    /// Returns the type's layout as text: a record with its members, or one line for other types.
    pub fn layout_text(&self) -> String {
        let mut text = String::new();
        let plain = self.plain();
        match plain.kind() {
            Kind::Record(record) => {
                text.push_str("/* offset      |    size */  type = ");
                // An unnamed record has the name of its typedef.
                let named = if record.anonymous { self } else { plain };
                let name =
                    (named.name() != plain.name() || !record.anonymous).then(|| named.name());
                body(&mut text, plain, name, record, (0, 0));
                text.push_str("}\n");
            }
            Kind::Enum(enumeration) => {
                let _ = writeln!(text, "type = {}", enumerators(plain, enumeration));
            }
            _ => {
                let _ = writeln!(text, "type = {}", plain.name());
            }
        }
        text
    }
}

fn enumerators(ty: &Type, enumeration: &Enumeration) -> String {
    let names = enumeration.enumerators.iter();
    let names: Vec<String> = names.map(|e| format!("{} = {}", e.name, e.value)).collect();
    let word = if enumeration.scoped { "enum class" } else { "enum" };
    let under = enumeration.underlying.as_ref().map(|ty| format!(" : {}", ty.plain().name()));
    format!("{word} {}{} {{{}}}", ty.name(), under.unwrap_or_default(), names.join(", "))
}

/// Writes a record from its keyword to the closing brace, which the caller completes.
fn body(
    text: &mut String,
    ty: &Type,
    name: Option<&str>,
    record: &Record,
    (base, level): (u64, usize),
) {
    let _ = write!(text, "{} ", record.keyword.as_str());
    if let Some(name) = name {
        let _ = write!(text, "{name} ");
    }
    bases(text, record);
    text.push_str("{\n");
    if record.statics.is_empty() && record.members.iter().all(|member| member.base) {
        let _ = writeln!(text, "{:1$}<no data fields>", "", COLUMNS + level + 4);
    }
    let mut end = 0;
    for member in record.members.iter().filter(|member| !member.base) {
        if text.len() > MAX_TEXT {
            text.push_str("...\n");
            break;
        }
        columns(text, record.keyword, member, base, &mut end);
        self::member(text, member, base, level + 4);
    }
    for member in &record.statics {
        let indent = COLUMNS + level + 4;
        let declared = declaration(&member.type_name, &member.name);
        let value = member.value.as_ref().map(|value| format!(" = {value}"));
        let _ = writeln!(text, "{:indent$}static {declared}{};", "", value.unwrap_or_default());
    }
    for base in &record.virtual_bases {
        let indent = COLUMNS + level + 4;
        let _ =
            writeln!(text, "{:indent$}/* {} : its offset is in the vtable */", "", base.ty.name());
    }
    let size = ty.size().unwrap_or(0);
    // The rest may be a virtual base.
    if record.keyword != Keyword::Union && !record.has_virtual_bases() {
        hole(text, end, size.saturating_mul(8), "padding");
    }
    let indent = COLUMNS + level + 4;
    let _ = write!(text, "\n{:indent$}/* total size (bytes): {size:4} */\n", "");
    let _ = write!(text, "{:1$}", "", COLUMNS + level + if level == 0 { 2 } else { 0 });
}

fn bases(text: &mut String, record: &Record) {
    let bases = record.members.iter().filter(|member| member.base);
    let bases = bases.map(|base| format!("{} {}", base.access.as_str(), base.ty.name()));
    let hidden = record.virtual_bases.iter();
    let hidden = hidden.map(|base| format!("{} virtual {}", base.access.as_str(), base.ty.name()));
    let names: Vec<String> = bases.chain(hidden).collect();
    if !names.is_empty() {
        let _ = write!(text, ": {} ", names.join(", "));
    }
}

/// Writes the columns before a member, and the hole before it, if any.
fn columns(text: &mut String, keyword: Keyword, member: &Member, base: u64, end: &mut u64) {
    let size = member.size();
    if keyword == Keyword::Union {
        let _ = write!(text, "/*                {size:6} */");
        return;
    }
    let start = member.bits.map_or(member.offset.saturating_mul(8), |bits| bits.offset);
    hole(text, *end, start, "hole");
    let at = base.saturating_add(member.offset);
    let bit = member.bits.map_or_else(|| "   ".to_owned(), |b| format!(":{:2}", b.offset % 8));
    let _ = write!(text, "/* {at:6}{bit}   |  {size:6} */");
    *end = start.saturating_add(member.bits.map_or(size.saturating_mul(8), |bits| bits.size));
}

fn hole(text: &mut String, end: u64, start: u64, word: &str) {
    if end == 0 || end >= start {
        return;
    }
    let (bytes, bits) = ((start - end) / 8, (start - end) % 8);
    if bits > 0 {
        let _ = writeln!(text, "/* XXX {bits:2}-bit {word:<7}    */");
    }
    if bytes > 0 {
        let _ = writeln!(text, "/* XXX {bytes:2}-byte {word:<7}   */");
    }
}

/// Writes one member; a record defined in place, named or not, is expanded.
fn member(text: &mut String, member: &Member, base: u64, level: usize) {
    let name = member.name.as_deref().unwrap_or_default();
    let _ = write!(text, "{:1$}", "", level);
    if let (Kind::Record(record), true) = (member.ty.kind(), level < MAX_DEPTH * 4) {
        let type_name = (!record.anonymous).then(|| member.ty.name());
        body(text, &member.ty, type_name, record, (base.saturating_add(member.offset), level));
        let space = if name.is_empty() { "" } else { " " };
        let _ = writeln!(text, "}}{space}{name};");
        return;
    }
    let _ = write!(text, "{}", declaration(member.ty.name(), name));
    match member.bits {
        Some(bits) => {
            let _ = writeln!(text, " : {};", bits.size);
        }
        None => text.push_str(";\n"),
    }
}

/// Returns a declaration from a type's name: the declared name goes before the array's lengths, and
/// inside the parentheses of a pointer to an array or function.
pub(crate) fn declaration(ty: &str, name: &str) -> String {
    if let Some((left, right)) =
        outside_templates(ty, "*)").and_then(|at| ty.split_at_checked(at + 1))
    {
        return format!("{left}{name}{right}");
    }
    let brackets = ty.ends_with(']').then(|| ty.rfind(|c: char| !"[]0123456789".contains(c)));
    match brackets.flatten().and_then(|at| ty.split_at_checked(at + 1)) {
        Some((left, right)) => {
            let space = if left.ends_with(['*', '&', ' ']) { "" } else { " " };
            format!("{left}{space}{name}{right}")
        }
        None if ty.ends_with(['*', '&']) => format!("{ty}{name}"),
        None => format!("{ty} {name}"),
    }
}

/// Returns the first position of a mark outside all template arguments.
fn outside_templates(text: &str, mark: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().map(|(at, _)| at).find(|&at| {
        let rest = text.get(at..).unwrap_or_default();
        match rest.bytes().next() {
            Some(b'<') => depth += 1,
            Some(b'>') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && rest.starts_with(mark)
    })
}
