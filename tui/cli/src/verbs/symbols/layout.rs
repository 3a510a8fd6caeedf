//! `symbols type`: a type's members with offsets, sizes and holes.

use super::{load, wrong};
use crate::output::{json, text};
use crate::shape::{
    Argument, Base, Decoded, Enumerator, Hole, Layout, Member, Static, VirtualBase,
};
use crate::target::Style;
use console::exit::{Failure, Outcome};
use std::path::Path;
use symbols::{Kind, Record, Type};

/// Unnamed types nested deeper than this are not opened.
const MAX_DEPTH: usize = 24;

/// Limit of members, as a hostile file can nest one type in itself many times over.
const MAX_MEMBERS: usize = 1 << 16;

/// `symbols type`.
pub(super) fn run(style: Style, name: &str, elf: &Path) -> Result<Outcome, Failure> {
    let symbols = load(elf)?;
    let found = match symbols.type_named(name) {
        Some(found) => found,
        None => symbols.member(name).map_err(|e| wrong(&symbols, &e))?.ty,
    };
    if !style.json {
        text(&found.layout_text())?;
        return Ok(Outcome::Healthy);
    }
    let plain = found.plain();
    let mut budget = MAX_MEMBERS;
    let other = matches!(found.kind(), Kind::Alias(_) | Kind::Qualified(_));
    let mut layout = Layout {
        name,
        kind: kind(plain),
        size: found.size(),
        canonical_type: other.then(|| plain.name()),
        members: members(&found, MAX_DEPTH, &mut budget),
        ..Layout::default()
    };
    match plain.kind() {
        Kind::Enum(enumeration) => {
            let names = enumeration.enumerators.iter();
            layout.enumerators =
                names.map(|e| Enumerator { name: &e.name, value: e.value }).collect();
        }
        Kind::Record(record) => {
            layout.holes = holes(plain);
            layout.bases = bases(record);
            layout.virtual_bases = virtual_bases(record);
            layout.static_members = statics(record);
            layout.template_arguments = arguments(record);
        }
        _ => {}
    }
    json(layout)?;
    Ok(Outcome::Healthy)
}

fn kind(plain: &Type) -> &'static str {
    match plain.kind() {
        Kind::Base(_) => "base",
        Kind::Enum(_) => "enum",
        Kind::Record(record) => record.keyword.as_str(),
        Kind::Array(_) => "array",
        Kind::Pointer(_) => "pointer",
        Kind::Function => "function",
        Kind::Void => "void",
        Kind::Alias(_) | Kind::Qualified(_) | Kind::Unknown => "incomplete",
    }
}

fn members<'a>(of: &'a Type, depth: usize, budget: &mut usize) -> Vec<Member<'a>> {
    let mut rows = Vec::new();
    for m in of.members() {
        let Some(left) = budget.checked_sub(1) else { break };
        *budget = left;
        rows.push(member(m, depth, budget));
    }
    rows
}

fn member<'a>(m: &'a symbols::Member, depth: usize, budget: &mut usize) -> Member<'a> {
    // A named type has its own page.
    let inner = m.ty.array().map_or(&m.ty, |array| &array.element);
    let nameless = matches!(inner.kind(), Kind::Record(record) if record.anonymous);
    Member {
        members: match depth.checked_sub(1) {
            Some(depth) if nameless => members(inner, depth, budget),
            _ => Vec::new(),
        },
        name: m.name.as_deref(),
        offset: m.offset,
        size: m.ty.size(),
        kind: m.ty.name(),
        bit_size: m.bits.map(|b| b.size),
        bit_offset: m.bits.map(|b| b.offset),
    }
}

fn holes(plain: &Type) -> Vec<Hole> {
    let holes = plain.holes().into_iter().map(|hole| Hole {
        offset: hole.bit_offset / 8,
        size: hole.bit_size / 8,
        bit_offset: hole.bit_offset,
        bit_size: hole.bit_size,
        padding: hole.padding,
    });
    holes.collect()
}

fn bases(record: &Record) -> Vec<Base<'_>> {
    let fixed = record.members.iter().filter(|m| m.base).map(|m| Base {
        name: m.ty.name(),
        offset: Some(m.offset),
        size: m.ty.size(),
        access: m.access.as_str(),
        r#virtual: false,
    });
    let hidden = record.virtual_bases.iter().map(|base| Base {
        name: base.ty.name(),
        offset: None,
        size: base.ty.size(),
        access: base.access.as_str(),
        r#virtual: true,
    });
    fixed.chain(hidden).collect()
}

/// The virtual bases that bases bring too.
fn virtual_bases(record: &Record) -> Vec<VirtualBase<'_>> {
    let bases = record.all_virtual_bases().into_iter();
    bases.map(|ty| VirtualBase { name: ty.name(), size: ty.size() }).collect()
}

fn statics(record: &Record) -> Vec<Static<'_>> {
    let statics = record.statics.iter().map(|m| Static {
        name: &m.name,
        r#type: &m.type_name,
        value: m.value.as_ref().map(Decoded::of),
        access: m.access.as_str(),
    });
    statics.collect()
}

fn arguments(record: &Record) -> Vec<Argument<'_>> {
    let arguments = record.arguments.iter().map(|argument| Argument {
        name: argument.name.as_deref(),
        r#type: &argument.type_name,
        value: argument.value.as_ref().map(Decoded::of),
    });
    arguments.collect()
}
