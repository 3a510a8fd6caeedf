//! The members of structures, classes and unions: offsets, bases and both kinds of bit-field.

use gimli::{AttributeValue, Operation, constants as dw};

use super::{Builder, arguments};
use crate::die::{Die, DieView};
use crate::spelling::Speller;
use crate::storage::{Storage, storage};
use crate::types::{
    AccessSpecifier, Bits, Keyword, Member, Record, StaticMember, Type, VirtualBase,
};
use crate::units::DieId;

/// Reads the members, bases and static members of a record.
pub(super) fn record(builder: &mut Builder<'_, '_>, id: DieId, keyword: Keyword) -> Record {
    let view = builder.view;
    let mut found: Vec<Die<'_>> = Vec::new();
    let walked = view.children(id, |child| {
        let wanted =
            matches!(child.tag(), dw::DW_TAG_inheritance | dw::DW_TAG_member | dw::DW_TAG_variable);
        if wanted && let Some(die) = view.die(child.id) {
            found.push(die);
        }
        true
    });
    if let Err(error) = walked {
        builder.complain(id, &error.to_string());
    }
    let anonymous = view.full_name(id).is_none();
    let arguments = arguments::arguments(builder, id);
    let mut record = Record {
        keyword,
        members: Vec::new(),
        virtual_bases: Vec::new(),
        statics: Vec::new(),
        arguments,
        anonymous,
    };
    for die in &found {
        let access = access(die, keyword);
        if die.tag() == dw::DW_TAG_inheritance && is_virtual(die) {
            record.virtual_bases.push(VirtualBase { ty: builder.target(die), access });
        } else if is_static(die) {
            record.statics.extend(static_member(builder, die, access));
        } else {
            record.members.extend(member(builder, die, access));
        }
    }
    record
}

/// Whether an entry is a static member; in DWARF 4 it is a member with only a declaration.
fn is_static(die: &Die<'_>) -> bool {
    die.tag() == dw::DW_TAG_variable
        || (die.tag() == dw::DW_TAG_member && die.flag(dw::DW_AT_declaration))
}

fn is_virtual(die: &Die<'_>) -> bool {
    let plain = AttributeValue::Virtuality(dw::DW_VIRTUALITY_none);
    die.attr(dw::DW_AT_virtuality).is_some_and(|virtuality| virtuality != plain)
}

/// Returns the access of a member; without an attribute, the keyword's default.
fn access(die: &Die<'_>, keyword: Keyword) -> AccessSpecifier {
    match die.attr(dw::DW_AT_accessibility) {
        Some(AttributeValue::Accessibility(dw::DW_ACCESS_public)) => AccessSpecifier::Public,
        Some(AttributeValue::Accessibility(dw::DW_ACCESS_protected)) => AccessSpecifier::Protected,
        Some(AttributeValue::Accessibility(dw::DW_ACCESS_private)) => AccessSpecifier::Private,
        _ if keyword == Keyword::Class => AccessSpecifier::Private,
        _ => AccessSpecifier::Public,
    }
}

fn static_member<'a>(
    builder: &mut Builder<'_, 'a>,
    die: &Die<'a>,
    access: AccessSpecifier,
) -> Option<StaticMember> {
    let view = builder.view;
    let name = view.name(die)?.into();
    let speller = Speller { view, index: builder.index };
    let target = view.reference(die, dw::DW_AT_type);
    let type_name = target.map_or_else(|| "void".into(), |target| speller.name(target).into());
    let ty = builder.scalar_target(die);
    let value = ty.and_then(|ty| match storage(view, die, Some(&ty)) {
        Some(Storage::Constant(bytes)) => Some(ty.decode(&bytes)),
        _ => None,
    });
    Some(StaticMember { name, type_name, value, access })
}

fn member<'a>(
    builder: &mut Builder<'_, 'a>,
    die: &Die<'a>,
    access: AccessSpecifier,
) -> Option<Member> {
    let view = builder.view;
    let base = die.tag() == dw::DW_TAG_inheritance;
    let Some(location) = location(view, die) else {
        builder.complain(die.id, "its offset in the record is computed at run time");
        return None;
    };
    let ty = builder.target(die);
    let bits = bits(die, location, &ty);
    let offset = bits.map_or(location, |bits| bits.offset / 8);
    let name = if base { None } else { view.name(die) };
    Some(Member { name: name.map(Into::into), offset, ty, bits, base, access })
}

/// Returns the byte offset of a member; 0 without an attribute, as in unions and DWARF 5
/// bit-fields.
fn location(view: &DieView<'_>, die: &Die<'_>) -> Option<u64> {
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
