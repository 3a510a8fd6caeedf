//! Bytes of L1 that are composed by member names and written at once.

use super::records::{size, variable};
use super::{ControlError, image};
use images::{Image, ImageMap, Mailbox};
use layouts::CoreKind;
use std::sync::Arc;

/// Bytes of a range of L1.
pub(super) struct L1Range {
    pub(super) start: u64,
    pub(super) bytes: Vec<u8>,
}

impl L1Range {
    pub(super) fn zeros(start: u64, len: u64) -> Self {
        Self { start, bytes: vec![0; len as usize] }
    }

    /// Puts the low `size` bytes of a value at an address. Outside the range it does nothing.
    pub(super) fn put(&mut self, at: u64, size: usize, value: u64) {
        let start = at.checked_sub(self.start).map(|start| start as usize);
        let place = start.and_then(|start| self.bytes.get_mut(start..start.checked_add(size)?));
        if let (Some(place), Some(value)) = (place, value.to_le_bytes().get(..size)) {
            place.copy_from_slice(value);
        }
    }

    /// Puts a value at a path of the image's debug information, in the size of that member.
    pub(super) fn put_named(
        &mut self,
        image: &Image,
        path: &str,
        value: u64,
    ) -> Result<(), ControlError> {
        let place = variable(image, path)?;
        self.put(place.address(), place.field.size.min(8) as usize, value);
        Ok(())
    }
}

/// Returns the arguments of a kernel, composed by the members of their type.
pub fn arguments<N: AsRef<str>>(
    kernel: &Image,
    type_name: &str,
    values: &[(N, u32)],
) -> Result<Vec<u8>, ControlError> {
    let missing = |what: &str| ControlError::NoMember(kernel.name.clone(), what.to_owned());
    let mut range = L1Range::zeros(0, size(kernel, type_name)?);
    for (member, value) in values {
        let member = member.as_ref();
        let field = kernel.symbols.field(&format!("{type_name}.{member}"));
        let field = field.map_err(|_| missing(member))?;
        range.put(field.offset, field.size.min(8) as usize, (*value).into());
    }
    Ok(range.bytes)
}

/// Returns an initial mailbox: zeros, unset waypoints, core information, and the go signal INIT,
/// which firmware acknowledges.
pub(super) fn fresh_mailbox(image: &Image, start: u64) -> Result<L1Range, ControlError> {
    const UNSET: u8 = b'X';
    let mailbox = mailbox(image)?;
    let start = start.min(mailbox.base);
    let mut range = L1Range::zeros(start, mailbox.base + mailbox.bytes - start);
    for at in 0..mailbox.waypoint_bytes.saturating_mul(mailbox.waypoint_count) {
        range.put(mailbox.waypoints + at, 1, UNSET.into());
    }
    range.put(mailbox.go_signal, 1, mailbox.signals.init.into());
    let (columns, rows) = (image.layout.tiles.columns, image.layout.tiles.rows);
    range.put_named(image, "mailboxes->core_info.noc_size_x", columns.into())?;
    range.put_named(image, "mailboxes->core_info.noc_size_y", rows.into())?;
    let kind = if image.core == CoreKind::Erisc { "ACTIVE_ETH" } else { "WORKER" };
    let magic = image.symbols.constant(&format!("CoreMagicNumber::{kind}"));
    if let Some(magic) = magic.and_then(|magic| magic.as_u64()) {
        range.put_named(image, "mailboxes->core_info.core_magic_number", magic)?;
    }
    Ok(range)
}

/// Returns the mailbox that an image describes.
///
/// # Errors
/// `NoMember` if it describes none.
pub fn mailbox(image: &Image) -> Result<&Mailbox, ControlError> {
    let missing = || ControlError::NoMember(image.name.clone(), "mailboxes".to_owned());
    image.mailbox.as_ref().ok_or_else(missing)
}

/// Returns the value of a constant, from the first of these images that has it, else from any
/// image.
pub(super) fn constant(
    images: &ImageMap,
    first: &[&Arc<Image>],
    name: &str,
) -> Result<u64, ControlError> {
    let known = constant_in(first.iter().copied(), name);
    let known = known.or_else(|| constant_in(images.all(), name));
    let first_name = first.first().map_or_else(String::new, |image| image.name.clone());
    known.ok_or_else(|| ControlError::NoMember(first_name, name.to_owned()))
}

/// Returns the value of a constant, from the first of these images that has it.
pub(super) fn constant_in<'a>(
    mut images: impl Iterator<Item = &'a Arc<Image>>,
    name: &str,
) -> Option<u64> {
    images.find_map(|image| image.symbols.constant(name)?.as_u64())
}

/// Returns the value of a constant of the image of this name.
pub fn constant_of(images: &ImageMap, name: &str, constant: &str) -> Result<u32, ControlError> {
    Ok(self::constant(images, &[&image(images, name)?], constant)? as u32)
}
