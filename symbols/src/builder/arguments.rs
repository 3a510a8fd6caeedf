//! Template arguments of classes and functions.

use std::borrow::Cow;

use gimli::constants as dw;

use super::Builder;
use crate::die::Die;
use crate::spelling::Speller;
use crate::storage::{Storage, storage};
use crate::types::Argument;
use crate::units::DieId;

/// The most arguments accepted.
const MAX_ARGUMENTS: usize = 1 << 12;

/// Returns the arguments of a record or function in order, those of packs included.
pub(crate) fn arguments(builder: &mut Builder<'_, '_>, id: DieId) -> Vec<Argument> {
    let mut arguments = Vec::new();
    for (die, name) in parameters(builder, id) {
        arguments.extend(argument(builder, &die, name));
    }
    arguments
}

/// Returns the parameters' entries; those of a pack have the pack's name.
pub(crate) fn parameters<'a>(
    builder: &mut Builder<'_, 'a>,
    id: DieId,
) -> Vec<(Die<'a>, Option<Cow<'a, str>>)> {
    let view = builder.view;
    let mut found: Vec<(DieId, Option<DieId>)> = Vec::new();
    let mut packs = Vec::new();
    let walked = view.children(id, |child| {
        if child.tag() == dw::DW_TAG_GNU_template_parameter_pack {
            packs.push(child.id);
        } else if is_parameter(child) {
            found.push((child.id, None));
        }
        found.len() < MAX_ARGUMENTS
    });
    let mut error = walked.err();
    for pack in packs {
        let inside = view.children(pack, |child| {
            if is_parameter(child) {
                found.push((child.id, Some(pack)));
            }
            found.len() < MAX_ARGUMENTS
        });
        error = error.or(inside.err());
    }
    if let Some(error) = error {
        builder.complain(id, &error.to_string());
    }
    // Entries are in source order; packs keep their place.
    found.sort_unstable_by_key(|(die, _)| *die);
    let named = found.into_iter().filter_map(|(id, pack)| {
        let die = view.die(id)?;
        let own = view.name(&die);
        let name = own.or_else(|| view.name(&view.die(pack?)?));
        Some((die, name))
    });
    named.collect()
}

fn is_parameter(die: &Die<'_>) -> bool {
    matches!(
        die.tag(),
        dw::DW_TAG_template_type_parameter
            | dw::DW_TAG_template_value_parameter
            | dw::DW_TAG_GNU_template_template_param
    )
}

fn argument<'a>(
    builder: &mut Builder<'_, 'a>,
    die: &Die<'a>,
    name: Option<Cow<'a, str>>,
) -> Option<Argument> {
    let view = builder.view;
    let name = name.map(Into::into);
    if die.tag() == dw::DW_TAG_GNU_template_template_param {
        let template = view.string(die, dw::DW_AT_GNU_template_name)?;
        return Some(Argument { name, type_name: template.into(), value: None });
    }
    let speller = Speller { view, index: builder.index };
    let target = view.reference(die, dw::DW_AT_type);
    let type_name = target.map_or_else(|| "void".into(), |target| speller.name(target).into());
    if die.tag() == dw::DW_TAG_template_type_parameter {
        return Some(Argument { name, type_name, value: None });
    }
    let ty = builder.scalar_target(die);
    let value = ty.and_then(|ty| match storage(view, die, Some(&ty)) {
        Some(Storage::Constant(bytes)) => Some(ty.decode(&bytes)),
        _ => None,
    });
    Some(Argument { name, type_name, value })
}
