//! Arrays of records for kernels, built by the names of the type's members.

use crate::ControlError;
use images::Image;

/// Returns the size of a type of the image, in bytes.
pub fn size(image: &Image, type_name: &str) -> Result<u64, ControlError> {
    let size = image.symbols.type_named(type_name).and_then(|ty| ty.size());
    size.ok_or_else(|| ControlError::NoMember(image.name.clone(), type_name.to_owned()))
}

/// Returns the bytes of an array of records. All set the same members, which are resolved once.
pub fn records<const N: usize>(
    image: &Image,
    type_name: &str,
    members: [&str; N],
    records: impl Iterator<Item = [u32; N]>,
) -> Result<Vec<u8>, ControlError> {
    let field = |member: &str| {
        let path = format!("{type_name}.{member}");
        let field = image.symbols.field(&path);
        field.map_err(|_| ControlError::NoMember(image.name.clone(), path))
    };
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
