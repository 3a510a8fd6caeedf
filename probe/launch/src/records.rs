//! What an image describes, by its name, and arrays of records for kernels, built by the names of the
//! type's members.

use crate::ControlError;
use images::Image;
use layouts::NocAddr;
use machine::snapshot::{Snapshot, Span};
use symbols::{Field, Located};

fn missing(image: &Image, what: &str) -> ControlError {
    ControlError::NoMember(image.name.clone(), what.to_owned())
}

/// Returns the size of a type of the image, in bytes.
pub fn size(image: &Image, type_name: &str) -> Result<u64, ControlError> {
    let size = image.symbols.type_named(type_name).and_then(|ty| ty.size());
    size.ok_or_else(|| missing(image, type_name))
}

/// Returns a member of a type of the image, by a path that begins with the type.
pub fn field(image: &Image, path: &str) -> Result<Field, ControlError> {
    image.symbols.field(path).map_err(|_| missing(image, path))
}

/// Returns a variable of the image, or a part of one.
pub fn variable(image: &Image, path: &str) -> Result<Located, ControlError> {
    image.symbols.locate(path).map_err(|_| missing(image, path))
}

/// Returns a word that was read.
pub fn word_read(snapshot: &Snapshot, addr: NocAddr) -> Result<u32, ControlError> {
    snapshot.word(addr).map_err(|reason| ControlError::Access { addr, reason })
}

/// Returns bytes that were read.
pub fn bytes_read(snapshot: &Snapshot, Span { addr, len }: Span) -> Result<&[u8], ControlError> {
    snapshot.bytes(addr, len).map_err(|reason| ControlError::Access { addr, reason })
}

/// Returns the bytes of an array of records. All set the same members, which are resolved once.
pub fn records<const N: usize>(
    image: &Image,
    type_name: &str,
    members: [&str; N],
    records: impl Iterator<Item = [u32; N]>,
) -> Result<Vec<u8>, ControlError> {
    let field = |member: &str| field(image, &format!("{type_name}.{member}"));
    let fields = members.into_iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let stride = size(image, type_name)? as usize;
    let mut bytes = Vec::new();
    for record in records {
        let start = bytes.len();
        bytes.resize(start + stride, 0);
        for (field, value) in fields.iter().zip(record) {
            let (at, size) = (start + field.offset as usize, field.size.min(4) as usize);
            let place = bytes.get_mut(at..at + size);
            if let (Some(place), Some(value)) = (place, value.to_le_bytes().get(..size)) {
                place.copy_from_slice(value);
            }
        }
    }
    Ok(bytes)
}
