//! The members of structures, classes and unions: offsets, bases and both kinds of bit-field.

use gimli::{AttributeValue, Operation, constants as dw};

use crate::builder::Builder;
use crate::die::{Die, View};
use crate::types::{Bits, Member, Type};
use crate::units::DieId;

/// Bases and data members of a record, in order.
pub(crate) fn members(builder: &mut Builder<'_, '_>, record: DieId) -> Vec<Member> {
    let view = builder.view;
    let mut found: Vec<Die<'_>> = Vec::new();
    let walked = view.children(record, |child| {
        let keep = match child.tag() {
            dw::DW_TAG_inheritance => true,
            // In DWARF 4 a static member is a member that is only declared.
            dw::DW_TAG_member => !child.flag(dw::DW_AT_declaration),
            _ => false,
        };
        if keep && let Some(die) = view.die(child.id) {
            found.push(die);
        }
        true
    });
    if let Err(error) = walked {
        builder.complain(record, &error.to_string());
    }
    let members = found.iter().map(|die| member(builder, die));
    members.collect::<Vec<_>>().into_iter().flatten().collect()
}

fn member<'a>(builder: &mut Builder<'_, 'a>, die: &Die<'a>) -> Option<Member> {
    let view = builder.view;
    let base = die.tag() == dw::DW_TAG_inheritance;
    let Some(location) = location(view, die) else {
        builder.complain(die.id, "its place in the record is computed at run time");
        return None;
    };
    let ty = builder.target(die);
    let bits = bits(die, location, &ty);
    let offset = bits.map_or(location, |bits| bits.offset / 8);
    let name = if base { None } else { view.name(die) };
    Some(Member { name: name.map(Into::into), offset, ty, bits, base })
}

/// The byte offset of a member; 0 where nothing is said, as in unions and DWARF 5 bit-fields.
fn location(view: &View<'_>, die: &Die<'_>) -> Option<u64> {
    match die.attr(dw::DW_AT_data_member_location) {
        None => Some(0),
        Some(AttributeValue::Exprloc(expression)) => {
            let unit = view.unit(die.unit)?;
            let mut operations = expression.operations(unit.encoding());
            match (operations.next(), operations.next()) {
                (Ok(Some(Operation::PlusConstant { value })), Ok(None)) => Some(value),
                _ => None,
            }
        }
        Some(_) => die.udata(dw::DW_AT_data_member_location),
    }
}

/// Newer compilers count a bit-field from the record's start (`DW_AT_data_bit_offset`), older ones
/// from the highest bit of its storage unit (`DW_AT_bit_offset`).
fn bits(die: &Die<'_>, location: u64, ty: &Type) -> Option<Bits> {
    let size = die.udata(dw::DW_AT_bit_size)?;
    let start = location.checked_mul(8)?;
    if let Some(offset) = die.udata(dw::DW_AT_data_bit_offset) {
        return Some(Bits { size, offset: start.checked_add(offset)? });
    }
    let Some(from_top) = die.udata(dw::DW_AT_bit_offset) else {
        return Some(Bits { size, offset: start });
    };
    let storage = die.udata(dw::DW_AT_byte_size).or(ty.size())?.checked_mul(8)?;
    let from_bottom = storage.checked_sub(from_top)?.checked_sub(size)?;
    Some(Bits { size, offset: start.checked_add(from_bottom)? })
}
