//! Walks a path through types: members by name, including those of anonymous members and bases, and
//! indexes.

use std::sync::Arc;

use crate::error::Error;
use crate::field::{Field, MemberPlace};
use crate::path::{PathStep, Steps};
use crate::types::{Array, Kind, Member, Record, Type, TypeData};

/// The deepest nesting of anonymous members and bases searched.
const MAX_NESTING: usize = 16;

/// The member of `std::array` that holds its elements.
const ELEMENTS: &str = "_M_elems";

/// The most records searched for one name: a hostile file nests the same record many times.
const MAX_SEARCHED: usize = 4096;

/// Follows the steps from `root`; does not follow pointers.
pub(crate) fn walk(root: &Type, steps: Steps<'_>) -> Result<MemberPlace, Error> {
    let mut place = MemberPlace::whole(root);
    for step in steps {
        match step? {
            PathStep::Member(name) => member(&mut place, name)?,
            PathStep::Index(at) => index(&mut place, at)?,
            PathStep::Through(name) => {
                let in_type = place.ty.name().to_owned();
                return Err(match place.ty.plain().kind() {
                    Kind::Pointer(_) => Error::InMemory { in_type },
                    _ => Error::NoParts { in_type, step: format!("->{name}") },
                });
            }
        }
    }
    Ok(place)
}

pub(crate) fn member(place: &mut MemberPlace, name: &str) -> Result<(), Error> {
    if place.ty.record().is_none() {
        return Err(no_parts(&place.ty, format!(".{name}")));
    }
    let mut budget = MAX_SEARCHED;
    let Some((base, member)) = find(&place.ty, name, MAX_NESTING, &mut budget) else {
        let (in_type, member) = (place.ty.name().into(), name.to_owned());
        let bases = place.ty.record().map(Record::all_virtual_bases).unwrap_or_default();
        let base =
            bases.into_iter().find(|base| find(base, name, MAX_NESTING, &mut budget).is_some());
        return Err(match base.map(|base| base.name().into()) {
            Some(base) => Error::InVirtualBase { in_type, member, base },
            None => Error::NoMember { in_type, member },
        });
    };
    let inner = of_member(member);
    let inner = Field { offset: inner.offset.saturating_add(base), ..inner };
    let ty = member.ty.clone();
    place.field = place.field.then(inner);
    place.ty = ty;
    Ok(())
}

pub(crate) fn index(place: &mut MemberPlace, index: u64) -> Result<(), Error> {
    let whole = place.ty.clone();
    if is_std_array(&whole) {
        member(place, ELEMENTS)?;
    }
    let Some(array) = place.ty.array() else {
        return Err(no_parts(&whole, format!("[{index}]")));
    };
    // An open array (`[]`) has no length to check the index against.
    if let Some(length) = array.lengths.first().copied().flatten()
        && index >= length
    {
        return Err(Error::OutOfRange { in_type: whole.name().into(), index, length });
    }
    let element = element(&place.ty, array);
    let inner = Field::whole(&element);
    let offset = index.saturating_mul(inner.size);
    place.field = place.field.then(Field { offset, ..inner });
    place.ty = element;
    Ok(())
}

/// Whether a type is a `std::array` of libstdc++.
fn is_std_array(ty: &Type) -> bool {
    let elements = |member: &Member| member.name.as_deref() == Some(ELEMENTS);
    ty.plain().name().starts_with("std::array<") && ty.members().iter().any(elements)
}

fn no_parts(ty: &Type, step: String) -> Error {
    match ty.plain().kind() {
        Kind::Pointer(_) => Error::Dereference { in_type: ty.name().into() },
        _ => Error::NoParts { in_type: ty.name().into(), step },
    }
}

/// Returns the result of one index into an array: its element, or an array with one dimension less,
/// which has no debug entry of its own.
pub(crate) fn element(whole: &Type, array: &Array) -> Type {
    let lengths = array.lengths.get(1..).unwrap_or_default().to_vec();
    if lengths.is_empty() {
        return array.element.clone();
    }
    let name = without_first_length(whole.plain().name()).into();
    let array = Array { element: array.element.clone(), lengths };
    let size = array.count().zip(array.element.size()).and_then(|(n, size)| n.checked_mul(size));
    Type(Arc::new(TypeData { id: whole.0.id, name, size, kind: Kind::Array(array) }))
}

/// Returns `bank_noc_xy_t [2][12]` without its `[2]`.
fn without_first_length(name: &str) -> String {
    let mut depth = 0usize;
    let open = name.bytes().position(|byte| {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b'[' && depth == 0
    });
    let parts = open.and_then(|open| name.split_at_checked(open));
    match parts.and_then(|(left, right)| Some((left, right.split_once(']')?.1))) {
        Some((left, right)) => format!("{left}{right}"),
        None => name.to_owned(),
    }
}

/// Returns a member by name, and the offset of the anonymous member or base that contains it.
fn find<'t>(
    ty: &'t Type,
    name: &str,
    nesting: usize,
    budget: &mut usize,
) -> Option<(u64, &'t Member)> {
    let members = ty.members();
    if let Some(member) = members.iter().find(|member| member.name.as_deref() == Some(name)) {
        return Some((0, member));
    }
    let nesting = nesting.checked_sub(1)?;
    *budget = budget.checked_sub(1)?;
    members.iter().filter(|member| member.name.is_none()).find_map(|member| {
        let (offset, found) = find(&member.ty, name, nesting, budget)?;
        Some((offset.saturating_add(member.offset), found))
    })
}

/// Returns the field of a member in its record.
pub(crate) fn of_member(member: &Member) -> Field {
    let field = Field { offset: member.offset, ..Field::whole(&member.ty) };
    match member.bits {
        None => field,
        Some(bits) => Field {
            bit_size: u32::try_from(bits.size).unwrap_or(u32::MAX),
            bit_shift: (bits.offset % 8) as u32,
            ..field
        },
    }
}
