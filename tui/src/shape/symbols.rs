//! The JSON of `symbols`: what an ELF says of types, values and places in source.

use super::Decoded;
use schemars::JsonSchema;
use serde::Serialize;

/// A type; lists that it has nothing of are left out, but `members`.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Layout<'a> {
    /// Its name as it was asked for.
    pub(crate) name: &'a str,
    /// struct, class, union, enum, array, pointer, base, function, void or incomplete.
    pub(crate) kind: &'static str,
    /// Its size in bytes; null if it is not known.
    pub(crate) size: Option<u64>,
    /// Of a typedef or qualified type: the type without these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) canonical_type: Option<&'a str>,
    /// Its members and bases in the order of their declaration.
    pub(crate) members: Vec<Member<'a>>,
    /// Where nothing is.
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
    /// The arguments of the template that it was made from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) template_arguments: Vec<Argument<'a>>,
    /// Of an enumeration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) enumerators: Vec<Enumerator<'a>>,
}

/// Bytes or bits of a type that no member has.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Hole {
    /// The byte that has its first bit.
    pub(crate) offset: u64,
    /// Its whole bytes.
    pub(crate) size: u64,
    /// Its first bit, from the start of the type.
    pub(crate) bit_offset: u64,
    /// Its length in bits.
    pub(crate) bit_size: u64,
    /// It is at the end.
    pub(crate) padding: bool,
}

/// A base of a type.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Base<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Where it is, in bytes; null for a virtual one, which lies where the vtable of an object says.
    pub(crate) offset: Option<u64>,
    /// Its size in bytes.
    pub(crate) size: Option<u64>,
    /// public, protected or private.
    pub(crate) access: &'static str,
    /// It is a virtual base.
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
    /// The type that was given, or that of the value.
    pub(crate) r#type: &'a str,
    /// The value that was given; null for a type.
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
    /// Its offset in bytes; of a bit-field that of the byte that has its first bit.
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
    /// If its type has no name to ask for: that type's members, with offsets from its start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<Member<'a>>,
}

/// A place in source.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Source<'a> {
    /// The function; null if it is not known.
    pub(crate) function: Option<&'a str>,
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
    /// What was inlined there, innermost first, and then the function itself.
    pub(crate) frames: Vec<Source<'a>>,
}

/// What a file knows of an expression.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Valued<'a> {
    /// The expression as it was given.
    pub(crate) expression: &'a str,
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    /// Its size in bytes; null if it is not known.
    pub(crate) size: Option<u64>,
    /// Its value; null if the file does not know it.
    pub(crate) value: Option<Decoded<'a>>,
    /// Where the value is from: constant (the debug information, or it was computed), file (data that nobody writes) or initial (data with which
    /// it starts). Null if the file does not know it.
    pub(crate) source: Option<&'static str>,
    /// In words where it is.
    pub(crate) storage: String,
    /// Its address, as a core sees it; null if it has none.
    pub(crate) address: Option<u64>,
    /// The section that has this address.
    pub(crate) section: Option<&'a str>,
    /// Why only its core can read it; null if others can.
    pub(crate) private: Option<String>,
    /// Where it is at which program counter, if it moves.
    pub(crate) ranges: Vec<Range>,
}

/// Where something that moves is for a while.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Range {
    /// The first program counter.
    pub(crate) begin: u64,
    /// The first one behind.
    pub(crate) end: u64,
    /// In words where it is.
    pub(crate) storage: String,
}

/// The code of a source line.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Line<'a> {
    /// The file as it was given.
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
    /// The first address behind it.
    pub(crate) end: u64,
    /// The source file.
    pub(crate) file: &'a str,
    /// The functions around it, innermost first.
    pub(crate) frames: Vec<Source<'a>>,
}

/// Functions of a name.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Functions<'a> {
    /// All that have the name.
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
    /// The first address behind it.
    pub(crate) end: u64,
    /// Its symbol; null if it has none.
    pub(crate) symbol: Option<&'a str>,
}

/// A copy of a function in another one.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Inlined<'a> {
    /// Its first address.
    pub(crate) begin: u64,
    /// The first address behind it.
    pub(crate) end: u64,
    /// The function that it is in.
    pub(crate) into: Option<&'a str>,
    /// The file of the call.
    pub(crate) file: Option<&'a str>,
    /// The line of the call.
    pub(crate) line: Option<u32>,
}

/// Names of a file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Names<'a> {
    /// types, variables, enumerators, functions or files.
    pub(crate) kind: &'static str,
    /// The names.
    pub(crate) names: Vec<&'a str>,
}
