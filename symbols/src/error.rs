//! Errors, as data. An error refuses; a `Problem` accompanies a usable result.

use files::Unusable;
use std::path::Path;

/// Why a file or a question was refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is unreadable.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The requested file.
        path: String,
        /// The operating system's error.
        reason: String,
    },
    /// The bytes do not start with an ELF header.
    #[error("not an ELF file: {}", beginning(.starts))]
    NotElf {
        /// The first bytes, at most eight.
        starts: Vec<u8>,
    },
    /// A 64-bit ELF; the cores are 32-bit.
    #[error("not a 32-bit ELF file: 64-bit")]
    Not32Bit,
    /// A big-endian ELF; the cores are little-endian.
    #[error("not a little-endian ELF file: big-endian")]
    NotLittleEndian,
    /// An ELF for another processor.
    #[error("ELF file for {}, not RISC-V", machine_name(*.machine))]
    NotRiscV {
        /// The `e_machine` field.
        machine: u16,
    },
    /// A required table lies outside the file.
    #[error("truncated: {what} at {offset:#x} to {end:#x}, but the file has {length:#x} bytes")]
    Truncated {
        /// The table.
        what: &'static str,
        /// Its start.
        offset: u64,
        /// Its end.
        end: u64,
        /// The length of the file.
        length: u64,
    },
    /// A path that does not follow `name.member[index]`.
    #[error("cannot follow `{path}`: not a member or index at byte {at}")]
    BadPath {
        /// The whole path.
        path: String,
        /// The first byte that cannot be parsed.
        at: usize,
    },
    /// Text that is not an expression.
    #[error("cannot read `{text}` as an expression: {wanted} {}", rest(.text, *.at))]
    BadExpression {
        /// The whole text.
        text: String,
        /// The first byte that cannot be parsed.
        at: usize,
        /// What is expected there.
        wanted: &'static str,
    },
    /// No type has this name.
    #[error("no type `{name}`")]
    NoType {
        /// The requested name.
        name: String,
    },
    /// No variable, constant or symbol has this name.
    #[error("no variable or constant `{name}`")]
    NoVariable {
        /// The requested name.
        name: String,
    },
    /// No line table contains this file.
    #[error("no code comes from a file `{name}`")]
    NoFile {
        /// The requested file.
        name: String,
    },
    /// No function has this name.
    #[error("no function `{name}`")]
    NoFunction {
        /// The requested name.
        name: String,
    },
    /// The type has no member of this name.
    #[error("`{in_type}` has no member `{member}`")]
    NoMember {
        /// The searched type.
        in_type: String,
        /// The requested member.
        member: String,
    },
    /// A `.` or `[]` was applied to a type that has no parts of that kind.
    #[error("cannot apply `{step}` to `{in_type}`")]
    NoParts {
        /// The type that has no parts.
        in_type: String,
        /// The requested step, as written.
        step: String,
    },
    /// An index past the end of an array.
    #[error("index {index} is outside `{in_type}` of length {length}")]
    OutOfRange {
        /// The array's type.
        in_type: String,
        /// The requested index.
        index: u64,
        /// The number of elements.
        length: u64,
    },
    /// The next step needs the value of a pointer in memory, which is followed on request only.
    #[error("`{in_type}` is a pointer, and pointers are followed on request only")]
    Dereference {
        /// The pointer's type.
        in_type: String,
    },
    /// The next step needs the value of a pointer, but only types were requested.
    #[error("the target of `{in_type}` is known in memory only")]
    InMemory {
        /// The pointer's type.
        in_type: String,
    },
    /// A pointer without a target type, such as `void *`.
    #[error("`{in_type}` has no target type: cast it first")]
    NoTarget {
        /// The pointer's type.
        in_type: String,
    },
    /// The type has no size: it is a declaration or a function.
    #[error("`{in_type}` has no size")]
    NoSize {
        /// The type.
        in_type: String,
    },
    /// The member is in a virtual base, whose offset is only in the object's vtable.
    #[error(
        "`{in_type}` has `{member}` in its virtual base `{base}`, whose offset is in the object's vtable"
    )]
    InVirtualBase {
        /// The type.
        in_type: String,
        /// The member's name.
        member: String,
        /// The base.
        base: String,
    },
    /// The value is larger than is decoded at once.
    #[error("`{in_type}` is too large: the limit is {bytes} bytes and {values} values")]
    TooLarge {
        /// The type.
        in_type: String,
        /// The limit in bytes.
        bytes: u64,
        /// The limit in values; each part of a value counts.
        values: u64,
    },
    /// A number is required, and the value is not one.
    #[error("`{in_type}` is not a number")]
    NotNumber {
        /// The type of the value.
        in_type: String,
    },
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A result that its type does not hold.
    #[error("{number} overflows `{in_type}`")]
    Overflow {
        /// The type that C++ gives the result.
        in_type: &'static str,
        /// The result.
        number: i128,
    },
    /// A shift by less than nothing, or by all bits of the type.
    #[error("cannot shift a number of {bits} bits by {by} bits")]
    Shift {
        /// The number of bits.
        by: i128,
        /// The size of the shifted number in bits.
        bits: u64,
    },
    /// A negative index into an array.
    #[error("index {number} is before the start of `{in_type}`")]
    Negative {
        /// The array's type.
        in_type: String,
        /// The index.
        number: i128,
    },
    /// A number cannot be converted to this type.
    #[error("a number cannot be cast to `{to}`; the value at an address is `{to}@address`")]
    NoCast {
        /// The requested type.
        to: String,
    },
    /// An address that no core has.
    #[error("{}{:#x} is not a 32-bit address", if *.address < 0 { "-" } else { "" }, .address.unsigned_abs())]
    OutsideMemory {
        /// The address, which may be negative.
        address: i128,
    },
    /// The range ends after the last address of a core.
    #[error("{length} bytes at {address:#x} reach past a core's last address")]
    PastMemory {
        /// The address.
        address: u64,
        /// The number of bytes requested.
        length: u64,
    },
    /// The address is in no loaded part of the file.
    #[error("the file has no bytes there")]
    NotInFile {
        /// The address.
        address: u64,
        /// The number of bytes requested.
        length: u64,
    },
    /// The variable exists, but not at an address.
    #[error("`{name}` has no address: {storage}")]
    NoAddress {
        /// The variable.
        name: String,
        /// Where it is instead.
        storage: String,
    },
}

impl Error {
    pub(crate) fn unreadable(path: &Path, error: &Unusable) -> Self {
        Self::Unreadable { path: path.display().to_string(), reason: error.reason() }
    }
}

fn beginning(starts: &[u8]) -> String {
    if starts.is_empty() {
        return "empty".to_owned();
    }
    let bytes: Vec<String> = starts.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("starts with {}", bytes.join(" "))
}

fn rest(text: &str, at: usize) -> String {
    match text.get(at..).map(str::trim) {
        None | Some("") => "is missing at the end".to_owned(),
        Some(rest) => format!("expected at `{rest}`"),
    }
}

/// Other processors whose ELFs are opened by mistake, by `e_machine`.
fn machine_name(machine: u16) -> String {
    match machine {
        3 => "x86 (e_machine 3)".into(),
        40 => "ARM (e_machine 40)".into(),
        62 => "x86-64 (e_machine 62)".into(),
        93 => "ARC (e_machine 93)".into(),
        183 => "AArch64 (e_machine 183)".into(),
        195 => "ARC v2 (e_machine 195)".into(),
        other => format!("e_machine {other}"),
    }
}
