//! What a manifest's schemas name: sizes and members of structs, values of enums, ranges of L1.

use super::cursor::{Cursor, Parsed, quoted};
use layouts::ChipLayout;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A bound above the number of structs: tt-metal describes about 25.
const MOST_STRUCTS: usize = 1024;

/// What bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schema {
    /// An unsigned integer.
    Unsigned,
    /// A signed integer.
    Signed,
    /// A struct of [`FabricManifest::structs`](super::FabricManifest::structs).
    Struct(String),
    /// A value of [`FabricManifest::enums`](super::FabricManifest::enums).
    Enum(String),
    /// Entries smaller than a byte, the least significant bit first, in the named format.
    Packed(String),
    /// Bytes without a description.
    Bytes,
    /// Padding.
    Pad,
}

/// Size and schema of a range of bytes: one element or an array of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// What one element is.
    pub schema: Schema,
    /// Bytes of the whole.
    pub bytes: u32,
    /// Number of elements of an array or of entries of a packed table; none for one element.
    pub count: Option<u32>,
    /// Bits of an entry of a packed table.
    pub bits_per_entry: Option<u32>,
}

impl ElementType {
    /// Returns the bytes of one element; of a packed table, all.
    pub fn element_bytes(&self) -> u32 {
        match (self.bits_per_entry, self.count) {
            (None, Some(count)) => self.bytes / count.max(1),
            _ => self.bytes,
        }
    }
}

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructMember {
    /// Its name.
    pub name: String,
    /// Its offset in bytes.
    pub offset: u32,
    /// Its size and schema.
    pub ty: ElementType,
}

/// Size and members of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructLayout {
    /// Bytes of the struct.
    pub bytes: u32,
    /// Its members, in order.
    pub members: Vec<StructMember>,
}

/// A range of a router's L1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct L1Region {
    /// First address.
    pub address: u32,
    /// Its size and schema.
    pub ty: ElementType,
    /// Whether the host clears it before the router starts.
    pub cleared_by_host: bool,
}

impl L1Region {
    /// Returns its addresses.
    pub fn range(&self) -> Range<u64> {
        let start = u64::from(self.address);
        start..start + u64::from(self.ty.bytes)
    }
}

/// What the readers of a manifest ask: its structs and enums, and the layout of its chips.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) layout: &'a ChipLayout,
    pub(super) structs: &'a BTreeMap<String, StructLayout>,
    pub(super) enums: &'a BTreeMap<String, BTreeMap<String, u32>>,
}

impl Context<'_> {
    /// Reads a region; its address and size lie inside L1.
    pub(super) fn region(&self, at: &Cursor<'_>) -> Parsed<L1Region> {
        let region = L1Region {
            address: at.get("address")?.number()?,
            ty: self.element_type(at)?,
            cleared_by_host: at.get("cleared_by_host")?.flag()?,
        };
        let (range, l1) = (region.range(), self.layout.eth.l1_bytes);
        let what =
            || format!("is {:#x} to {:#x}, past the end of L1 at {l1:#x}", range.start, range.end);
        if range.end <= l1 { Ok(region) } else { Err(at.refused(what())) }
    }

    /// Reads a region that can be null.
    pub(super) fn optional_region(&self, at: Cursor<'_>) -> Parsed<Option<L1Region>> {
        at.present().map(|at| self.region(&at)).transpose()
    }

    /// Reads a schema that is an enum, and returns the enum's name.
    pub(super) fn enum_of(&self, at: &Cursor<'_>) -> Parsed<String> {
        match schema(at)?.0 {
            Schema::Enum(name) if self.enums.contains_key(&name) => Ok(name),
            _ => Err(at.refused(format!("is {}, no enum of the manifest", at.shown()))),
        }
    }

    /// Reads a type whose struct or enum the manifest describes.
    fn element_type(&self, at: &Cursor<'_>) -> Parsed<ElementType> {
        let ty = element_type(at)?;
        if let Some(what) = self.contradiction(&ty) {
            return Err(at.get("schema")?.refused(what));
        }
        Ok(ty)
    }

    /// Returns what a type contradicts: an unknown name, or the size of its struct.
    fn contradiction(&self, ty: &ElementType) -> Option<String> {
        match &ty.schema {
            Schema::Enum(name) if !self.enums.contains_key(name) => {
                Some(format!("is the enum {}, which the manifest does not describe", quoted(name)))
            }
            Schema::Struct(name) => {
                let (bytes, shown) = (ty.element_bytes(), quoted(name));
                match self.structs.get(name) {
                    Some(layout) if layout.bytes == bytes => None,
                    Some(StructLayout { bytes: its, .. }) => {
                        Some(format!("is the struct {shown} of {its} bytes in {bytes} bytes"))
                    }
                    None => {
                        Some(format!("is the struct {shown}, which the manifest does not describe"))
                    }
                }
            }
            _ => None,
        }
    }
}

/// Reads the enums.
pub(super) fn enums(at: &Cursor<'_>) -> Parsed<BTreeMap<String, BTreeMap<String, u32>>> {
    let of = |entry: Cursor<'_>| {
        let values = entry.get("values")?;
        let value = |value: Cursor<'_>| Ok((value.key().to_owned(), value.number()?));
        let values = values.entries()?.map(value).collect::<Parsed<_>>()?;
        Ok((entry.key().to_owned(), values))
    };
    at.entries()?.map(of).collect()
}

/// Reads the structs. Members lie inside their structs, and no struct contains itself.
pub(super) fn structs(at: &Cursor<'_>) -> Parsed<BTreeMap<String, StructLayout>> {
    if at.entries()?.nth(MOST_STRUCTS).is_some() {
        return Err(at.refused(format!("has more than {MOST_STRUCTS} structs")));
    }
    let of = |entry: Cursor<'_>| Ok((entry.key().to_owned(), layout(&entry)?));
    let structs = at.entries()?.map(of).collect::<Parsed<_>>()?;
    match endless(&structs) {
        Some(name) => Err(at.get(name)?.refused("contains itself")),
        None => Ok(structs),
    }
}

/// Returns a struct that contains itself, perhaps inside another.
fn endless(structs: &BTreeMap<String, StructLayout>) -> Option<&str> {
    let mut finite = BTreeSet::new();
    loop {
        let known = finite.len();
        for (name, layout) in structs {
            let mut inner = layout.members.iter().filter_map(|member| match &member.ty.schema {
                // A name without a description is refused later.
                Schema::Struct(name) => structs.get_key_value(name).map(|(name, _)| name),
                _ => None,
            });
            if inner.all(|inner| finite.contains(inner)) {
                finite.insert(name);
            }
        }
        if finite.len() == known {
            return structs.keys().find(|name| !finite.contains(name)).map(String::as_str);
        }
    }
}

/// Checks that each member's struct or enum is described.
pub(super) fn resolve(at: &Cursor<'_>, context: &Context<'_>) -> Parsed<()> {
    for (name, layout) in context.structs {
        for member in &layout.members {
            if let Some(what) = context.contradiction(&member.ty) {
                let what = format!("has a member {} that {what}", quoted(&member.name));
                return Err(at.get(name)?.refused(what));
            }
        }
    }
    Ok(())
}

fn layout(at: &Cursor<'_>) -> Parsed<StructLayout> {
    let bytes = at.get("size")?.number()?;
    let members = at.get("members")?;
    let members = members.list()?.map(|member| {
        let found = StructMember {
            name: member.get("name")?.text()?.to_owned(),
            offset: member.get("offset")?.number()?,
            ty: element_type(&member)?,
        };
        let end = u64::from(found.offset) + u64::from(found.ty.bytes);
        let what = || format!("has a member {} past its end", quoted(&found.name));
        if end <= u64::from(bytes) { Ok(found) } else { Err(at.refused(what())) }
    });
    Ok(StructLayout { bytes, members: members.collect::<Parsed<_>>()? })
}

/// Reads size, schema and number of elements.
fn element_type(at: &Cursor<'_>) -> Parsed<ElementType> {
    let optional = |key| at.find(key).map(|at| at.number()).transpose();
    let (schema, integer_bytes) = schema(&at.get("schema")?)?;
    let ty = ElementType {
        schema,
        bytes: at.get("size")?.number()?,
        count: optional("num_elements")?,
        bits_per_entry: optional("bits_per_entry")?,
    };
    let each: Option<u32> = optional("size_per_element")?;
    let (count, bytes) = (u64::from(ty.count.unwrap_or(1)), u64::from(ty.bytes));
    let fits = match (ty.bits_per_entry, each) {
        (Some(bits), _) => bits > 0 && count * u64::from(bits) <= bytes * 8,
        (None, Some(each)) => each > 0 && count * u64::from(each) == bytes,
        (None, None) => ty.count.is_none(),
    };
    let integer = integer_bytes.is_none_or(|bytes| bytes == ty.element_bytes());
    if fits && integer && count > 0 {
        Ok(ty)
    } else {
        Err(at.get("size")?.refused("contradicts the schema or the number of elements"))
    }
}

/// Reads a schema; of an integer also its bytes.
fn schema(at: &Cursor<'_>) -> Parsed<(Schema, Option<u32>)> {
    let text = at.text()?;
    let schema = match (text, text.split_once(':')) {
        ("bytes", _) => Schema::Bytes,
        ("pad", _) => Schema::Pad,
        (_, Some(("struct", name))) => Schema::Struct(name.to_owned()),
        (_, Some(("enum", name))) => Schema::Enum(name.to_owned()),
        (_, Some(("packed", name))) => Schema::Packed(name.to_owned()),
        ("u8" | "u16" | "u32" | "u64", _) => Schema::Unsigned,
        ("i8" | "i16" | "i32" | "i64", _) => Schema::Signed,
        _ => return Err(at.refused(format!("is {}, an unknown schema", quoted(text)))),
    };
    let bits = text.get(1..).and_then(|bits| bits.parse::<u32>().ok());
    Ok((schema, bits.map(|bits| bits / 8)))
}
