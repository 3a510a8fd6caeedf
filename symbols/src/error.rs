//! Errors, as data. An error refuses; a `Problem` accompanies a usable result.

use std::fmt;

/// Why a file or a question was refused.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The file is unreadable.
    Unreadable {
        /// The requested file.
        path: String,
        /// The operating system's error.
        reason: String,
    },
    /// The bytes do not start with an ELF header.
    NotElf {
        /// The first bytes, at most eight.
        starts: Vec<u8>,
    },
    /// A 64-bit ELF; the cores are 32-bit.
    Not32Bit,
    /// A big-endian ELF; the cores are little-endian.
    NotLittleEndian,
    /// An ELF for another processor.
    NotRiscV {
        /// The `e_machine` field.
        machine: u16,
    },
    /// A required table lies outside the file.
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
    BadPath {
        /// The whole path.
        path: String,
        /// The first byte that cannot be parsed.
        at: usize,
    },
    /// Text that is not an expression.
    BadExpression {
        /// The whole text.
        text: String,
        /// The first byte that cannot be parsed.
        at: usize,
        /// What is expected there.
        wanted: &'static str,
    },
    /// No type has this name.
    NoType {
        /// The requested name.
        name: String,
    },
    /// No variable, constant or symbol has this name.
    NoVariable {
        /// The requested name.
        name: String,
    },
    /// No line table contains this file.
    NoFile {
        /// The requested file.
        name: String,
    },
    /// No function has this name.
    NoFunction {
        /// The requested name.
        name: String,
    },
    /// The type has no member of this name.
    NoMember {
        /// The searched type.
        in_type: String,
        /// The requested member.
        member: String,
    },
    /// A `.` or `[]` was applied to a type that has no parts of that kind.
    NoParts {
        /// The type that has no parts.
        in_type: String,
        /// The requested step, as written.
        step: String,
    },
    /// An index past the end of an array.
    OutOfRange {
        /// The array's type.
        in_type: String,
        /// The requested index.
        index: u64,
        /// The number of elements.
        length: u64,
    },
    /// The next step needs the value of a pointer in memory, which is followed on request only.
    Dereference {
        /// The pointer's type.
        in_type: String,
    },
    /// The next step needs the value of a pointer, but only types were requested.
    InMemory {
        /// The pointer's type.
        in_type: String,
    },
    /// A pointer without a target type, such as `void *`.
    NoTarget {
        /// The pointer's type.
        in_type: String,
    },
    /// The type has no size: it is a declaration or a function.
    NoSize {
        /// The type.
        in_type: String,
    },
    /// The member is in a virtual base, whose offset is only in the object's vtable.
    InVirtualBase {
        /// The type.
        in_type: String,
        /// The member's name.
        member: String,
        /// The base.
        base: String,
    },
    /// The value is larger than is decoded at once.
    TooLarge {
        /// The type.
        in_type: String,
        /// The limit in bytes.
        bytes: u64,
        /// The limit in values; each part of a value counts.
        values: u64,
    },
    /// A number is required, and the value is not one.
    NotNumber {
        /// The type of the value.
        in_type: String,
    },
    /// A division by zero.
    DivisionByZero,
    /// A result that its type does not hold.
    Overflow {
        /// The type that C++ gives the result.
        in_type: &'static str,
        /// The result.
        number: i128,
    },
    /// A shift by less than nothing, or by all bits of the type.
    Shift {
        /// The number of bits.
        by: i128,
        /// The size of the shifted number in bits.
        bits: u64,
    },
    /// A negative index into an array.
    Negative {
        /// The array's type.
        in_type: String,
        /// The index.
        number: i128,
    },
    /// A number cannot be converted to this type.
    NoCast {
        /// The requested type.
        to: String,
    },
    /// An address that no core has.
    OutsideMemory {
        /// The address, which may be negative.
        address: i128,
    },
    /// The range ends after the last address of a core.
    PastMemory {
        /// The address.
        address: u64,
        /// The number of bytes requested.
        length: u64,
    },
    /// The address is in no loaded part of the file.
    NotInFile {
        /// The address.
        address: u64,
        /// The number of bytes requested.
        length: u64,
    },
    /// The variable exists, but not at an address.
    NoAddress {
        /// The variable.
        name: String,
        /// Where it is instead.
        storage: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreadable { path, reason } => write!(f, "cannot read {path}: {reason}"),
            Error::NotElf { starts } if starts.is_empty() => f.write_str("not an ELF file: empty"),
            Error::NotElf { starts } => {
                f.write_str("not an ELF file: starts with")?;
                starts.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
            }
            Error::Not32Bit => f.write_str("not a 32-bit ELF file: 64-bit"),
            Error::NotLittleEndian => f.write_str("not a little-endian ELF file: big-endian"),
            Error::NotRiscV { machine } => {
                write!(f, "ELF file for {}, not RISC-V", machine_name(*machine))
            }
            Error::Truncated { what, offset, end, length } => write!(
                f,
                "truncated: {what} at {offset:#x} to {end:#x}, but the file has {length:#x} bytes"
            ),
            Error::BadPath { path, at } => {
                write!(f, "cannot follow `{path}`: not a member or index at byte {at}")
            }
            Error::BadExpression { text, at, wanted } => {
                write!(f, "cannot read `{text}` as an expression: {wanted} ")?;
                match text.get(*at..).map(str::trim) {
                    None | Some("") => f.write_str("is missing at the end"),
                    Some(rest) => write!(f, "expected at `{rest}`"),
                }
            }
            Error::NoType { name } => write!(f, "no type `{name}`"),
            Error::NoVariable { name } => write!(f, "no variable or constant `{name}`"),
            Error::NoFile { name } => write!(f, "no code comes from a file `{name}`"),
            Error::NoFunction { name } => write!(f, "no function `{name}`"),
            Error::NoMember { in_type, member } => {
                write!(f, "`{in_type}` has no member `{member}`")
            }
            Error::NoParts { in_type, step } => {
                write!(f, "cannot apply `{step}` to `{in_type}`")
            }
            Error::OutOfRange { in_type, index, length } => {
                write!(f, "index {index} is outside `{in_type}` of length {length}")
            }
            Error::Dereference { in_type } => {
                write!(f, "`{in_type}` is a pointer, and pointers are followed on request only")
            }
            Error::InMemory { in_type } => {
                write!(f, "the target of `{in_type}` is known in memory only")
            }
            Error::NoTarget { in_type } => {
                write!(f, "`{in_type}` has no target type: cast it first")
            }
            Error::NoSize { in_type } => write!(f, "`{in_type}` has no size"),
            Error::InVirtualBase { in_type, member, base } => write!(
                f,
                "`{in_type}` has `{member}` in its virtual base `{base}`, whose offset is in the object's vtable"
            ),
            Error::TooLarge { in_type, bytes, values } => write!(
                f,
                "`{in_type}` is too large: the limit is {bytes} bytes and {values} values"
            ),
            Error::NotNumber { in_type } => write!(f, "`{in_type}` is not a number"),
            Error::DivisionByZero => f.write_str("division by zero"),
            Error::Overflow { in_type, number } => write!(f, "{number} overflows `{in_type}`"),
            Error::Shift { by, bits } => {
                write!(f, "cannot shift a number of {bits} bits by {by} bits")
            }
            Error::Negative { in_type, number } => {
                write!(f, "index {number} is before the start of `{in_type}`")
            }
            Error::NoCast { to } => write!(
                f,
                "a number cannot be cast to `{to}`; the value at an address is `{to}@address`"
            ),
            Error::OutsideMemory { address } => {
                let sign = if *address < 0 { "-" } else { "" };
                let size = address.unsigned_abs();
                write!(f, "{sign}{size:#x} is not a 32-bit address")
            }
            Error::PastMemory { address, length } => {
                write!(f, "{length} bytes at {address:#x} reach past a core's last address")
            }
            Error::NotInFile { .. } => f.write_str("the file has no bytes there"),
            Error::NoAddress { name, storage } => write!(f, "`{name}` has no address: {storage}"),
        }
    }
}

impl std::error::Error for Error {}

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
