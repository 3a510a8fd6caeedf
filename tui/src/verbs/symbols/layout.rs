//! `symbols type`: a type's members with offsets, sizes and holes.

use super::{load, wrong};
use crate::exit::{Failure, Outcome};
use crate::output::{json, text};
use crate::shape::{Layout, Member};
use crate::verbs::Style;
use std::path::Path;
use symbols::Type;

/// `symbols type`.
pub(super) fn run(style: Style, name: &str, elf: &Path) -> Result<Outcome, Failure> {
    let symbols = load(elf)?;
    let found = match symbols.type_named(name) {
        Some(found) => found,
        None => symbols.member(name).map_err(|e| wrong(elf, &e))?.ty,
    };
    if style.json {
        json(&Layout { name, size: found.size(), members: members(&found) })?;
    } else {
        text(&found.layout_text())?;
    }
    Ok(Outcome::Healthy)
}

fn members(of: &Type) -> Vec<Member<'_>> {
    let one = |m: &'_ symbols::Member| -> (Option<u64>, Option<u64>) {
        (m.bits.map(|b| b.size), m.bits.map(|b| b.offset))
    };
    let members = of.members().iter();
    members
        .map(|m| {
            let (bit_size, bit_offset) = one(m);
            Member {
                name: m.name.as_deref(),
                offset: m.offset,
                size: m.ty.size(),
                kind: m.ty.name(),
                bit_size,
                bit_offset,
            }
        })
        .collect()
}
