//! Many records of one type as a kernel wants them, by the names of its members.

use crate::ControlError;
use decode::images::Image;

/// Bytes of a type of the image.
pub fn size(image: &Image, of: &str) -> Result<u64, ControlError> {
    let size = image.symbols.type_named(of).and_then(|ty| ty.size());
    size.ok_or_else(|| ControlError::NoMember(image.name.clone(), of.to_owned()))
}

/// The records one after the other. All have the same members, which are looked up once.
pub fn records<const N: usize>(
    image: &Image,
    of: &str,
    members: [&str; N],
    records: impl Iterator<Item = [u32; N]>,
) -> Result<Vec<u8>, ControlError> {
    let field = |member: &str| {
        let path = format!("{of}.{member}");
        let field = image.symbols.field(&path);
        field.map_err(|_| ControlError::NoMember(image.name.clone(), path))
    };
    let fields = members.into_iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let stride = size(image, of)? as usize;
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
