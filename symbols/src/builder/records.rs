//! The members of structures, classes and unions: offsets, bases and both kinds of bit-field.

use gimli::{AttributeValue, Operation, constants as dw};

use super::{Builder, arguments};
use crate::die::{Die, DieView, number};
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
    if bits.is_none() && die.attr(dw::DW_AT_bit_size).is_some() {
        builder.complain(die.id, "the place of the bit-field is invalid");
        return None;
    }
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
/// from the highest bit of its storage unit (`DW_AT_bit_offset`): below 0 if it ends past the unit.
fn bits(die: &Die<'_>, location: u64, ty: &Type) -> Option<Bits> {
    let size = die.udata(dw::DW_AT_bit_size)?;
    let start = location.checked_mul(8)?;
    if let Some(offset) = die.udata(dw::DW_AT_data_bit_offset) {
        return Some(Bits { size, offset: start.checked_add(offset)? });
    }
    let Some(from_top) = die.attr(dw::DW_AT_bit_offset).and_then(number) else {
        return Some(Bits { size, offset: start });
    };
    let storage = i128::from(die.udata(dw::DW_AT_byte_size).or(ty.size())?) * 8;
    // LLVM writes a number below 0 as an unsigned one of 64 bits.
    let offset = i128::from(start) + storage - i128::from(from_top as i64) - i128::from(size);
    Some(Bits { size, offset: u64::try_from(offset).ok()? })
}
