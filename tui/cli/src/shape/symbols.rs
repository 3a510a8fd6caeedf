//! The JSON of `symbols`: types, values and source places of an ELF.

use super::{CodeInstruction, Decoded};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// A type; empty lists are omitted, except `members`.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Layout<'a> {
    /// Its name, as given.
    pub(crate) name: &'a str,
    /// struct, class, union, enum, array, pointer, base, function, void or incomplete.
    pub(crate) kind: &'static str,
    /// Its size in bytes; null if it is not known.
    pub(crate) size: Option<u64>,
    /// Of a typedef or qualified type: the type behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) canonical_type: Option<&'a str>,
    /// Its members and bases in the order of their declaration.
    pub(crate) members: Vec<Member<'a>>,
    /// Its holes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) holes: Vec<Hole>,
    /// Its own bases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) bases: Vec<Base<'a>>,
    /// Its virtual bases and those of its bases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) virtual_bases: Vec<VirtualBase<'a>>,
    /// Its static members.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) static_members: Vec<Static<'a>>,
    /// The arguments of its template.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) template_arguments: Vec<Argument<'a>>,
    /// The names of an enumeration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) enumerators: Vec<Enumerator<'a>>,
}

/// Bytes or bits of a type that belong to no member.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Hole {
    /// The byte of its first bit.
    pub(crate) offset: u64,
    /// Number of whole bytes.
    pub(crate) size: u64,
    /// Its first bit, from the start of the type.
    pub(crate) bit_offset: u64,
    /// Its length in bits.
    pub(crate) bit_size: u64,
    /// Whether it is at the end.
    pub(crate) padding: bool,
}

/// A base of a type.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Base<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its offset in bytes; null for a virtual base, whose place depends on the object's vtable.
    pub(crate) offset: Option<u64>,
    /// Its size in bytes.
    pub(crate) size: Option<u64>,
    /// public, protected or private.
    pub(crate) access: &'static str,
    /// Whether it is a virtual base.
    pub(crate) r#virtual: bool,
}

/// A virtual base of a type or of its bases.
#[derive(Serialize, JsonSchema)]
pub(crate) struct VirtualBase<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its size in bytes.
    pub(crate) size: Option<u64>,
}

/// A static member of a type.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Static<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its type.
    pub(crate) r#type: &'a str,
    /// Its value; null if the debug information does not have it.
    pub(crate) value: Option<Decoded<'a>>,
    /// public, protected or private.
    pub(crate) access: &'static str,
}

/// An argument of a template.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Argument<'a> {
    /// The parameter's name; null if it has none.
    pub(crate) name: Option<&'a str>,
    /// The argument's type, or that of its value.
    pub(crate) r#type: &'a str,
    /// The argument's value; null for a type.
    pub(crate) value: Option<Decoded<'a>>,
}

/// A name of an enumeration.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Enumerator<'a> {
    /// The name.
    pub(crate) name: &'a str,
    /// Its value.
    pub(crate) value: i128,
}

/// A member of a type.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Member<'a> {
    /// Its name; null if it has none.
    pub(crate) name: Option<&'a str>,
    /// Its offset in bytes; of a bit-field the offset of the byte of its first bit.
    pub(crate) offset: u64,
    /// The size of its declared type in bytes; null if it is not known.
    pub(crate) size: Option<u64>,
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    /// Of a bit-field: its length in bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bit_size: Option<u64>,
    /// Of a bit-field: its first bit, from the start of the outer type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bit_offset: Option<u64>,
    /// If its type has no name: that type's members, with offsets from its start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<Member<'a>>,
}

/// A place in source.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Source<'a> {
    /// The function, with the marks of a clone of it, such as `[clone .constprop.0]`; null if it
    /// is not known.
    pub(crate) function: Option<Cow<'a, str>>,
    /// The source file; null if it is not known.
    pub(crate) file: Option<&'a str>,
    /// The line; null if it is not known.
    pub(crate) line: Option<u32>,
}

/// The places in source of an address.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Frames<'a> {
    /// The address.
    pub(crate) addr: u64,
    /// The inlined functions there, innermost first, then the function itself.
    pub(crate) frames: Vec<Source<'a>>,
}

/// An expression by the contents of a file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Valued<'a> {
    /// The given expression.
    pub(crate) expression: &'a str,
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    /// Its size in bytes; null if it is not known.
    pub(crate) size: Option<u64>,
    /// Its value; null if the file does not contain it.
    pub(crate) value: Option<Decoded<'a>>,
    /// The source of the value: constant (the debug information, or computed), file (data that is
    /// never written) or initial (the initial data of a variable). Null if the file does not
    /// contain it.
    pub(crate) source: Option<&'static str>,
    /// Its place in words.
    pub(crate) storage: String,
    /// Its address, as a core sees it; null if it has none.
    pub(crate) address: Option<u64>,
    /// The section of this address.
    pub(crate) section: Option<&'a str>,
    /// Why only its core can read it; null if it is readable from outside.
    pub(crate) private: Option<String>,
    /// Its places by program counter, if it moves.
    pub(crate) ranges: Vec<Range>,
}

/// A place of a variable for a range of program counters.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Range {
    /// The first program counter.
    pub(crate) begin: u64,
    /// The first program counter after the range.
    pub(crate) end: u64,
    /// The place in words.
    pub(crate) storage: String,
}

/// The code of a source line.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Line<'a> {
    /// The file, as given.
    pub(crate) file: &'a str,
    /// The line.
    pub(crate) line: u32,
    /// Its code, by address.
    pub(crate) code: Vec<LineCode<'a>>,
}

/// A run of code of a line.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LineCode<'a> {
    /// Its first address.
    pub(crate) begin: u64,
    /// The first address after it.
    pub(crate) end: u64,
    /// The source file.
    pub(crate) file: &'a str,
    /// The functions around it, innermost first.
    pub(crate) frames: Vec<Source<'a>>,
}

/// The functions of a name.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Functions<'a> {
    /// All functions with the name.
    pub(crate) functions: Vec<Function<'a>>,
}

/// A function with all its code.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Function<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its mangled name; null if it has none.
    pub(crate) linkage_name: Option<&'a str>,
    /// The file of its declaration.
    pub(crate) file: Option<&'a str>,
    /// The line of its declaration.
    pub(crate) line: Option<u32>,
    /// The size of all its parts in bytes.
    pub(crate) size: u64,
    /// Its own code.
    pub(crate) parts: Vec<FunctionPart<'a>>,
    /// Its copies in other functions.
    pub(crate) inlined: Vec<Inlined<'a>>,
}

/// A run of a function's own code.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FunctionPart<'a> {
    /// Its first address.
    pub(crate) begin: u64,
    /// The first address after it.
    pub(crate) end: u64,
    /// Its symbol; null if it has none.
    pub(crate) symbol: Option<&'a str>,
    /// Its instructions, with `--disassemble`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<Vec<CodeInstruction>>,
}

/// An inlined copy of a function.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Inlined<'a> {
    /// Its first address.
    pub(crate) begin: u64,
    /// The first address after it.
    pub(crate) end: u64,
    /// The function that contains it.
    pub(crate) into: Option<&'a str>,
    /// The file of the call.
    pub(crate) file: Option<&'a str>,
    /// The line of the call.
    pub(crate) line: Option<u32>,
    /// Its instructions, with `--disassemble`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<Vec<CodeInstruction>>,
}

/// Names of a file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Names<'a> {
    /// types, variables, enumerators, functions or files.
    pub(crate) kind: &'static str,
    /// The names.
    pub(crate) names: Vec<&'a str>,
}
