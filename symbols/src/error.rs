//! What can go wrong, as facts: errors refuse, problems are found beside a usable result.

use std::fmt;

/// Why a file or a question was refused.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read at all.
    Unreadable {
        /// The file asked for.
        path: String,
        /// What the operating system said.
        reason: String,
    },
    /// The bytes do not start as an ELF file does.
    NotElf {
        /// The first bytes, at most eight.
        starts: Vec<u8>,
    },
    /// A 64-bit ELF, which no core of these chips runs.
    Not32Bit,
    /// A big-endian ELF, which no core of these chips runs.
    NotLittleEndian,
    /// An ELF for another processor.
    NotRiscV {
        /// The `e_machine` field.
        machine: u16,
    },
    /// A table that everything else hangs from lies outside the file.
    Truncated {
        /// Which table.
        what: &'static str,
        /// Where it should start.
        offset: u64,
        /// Where it should end.
        end: u64,
        /// How long the file is.
        length: u64,
    },
    /// A path that does not follow `name.member[index]`.
    BadPath {
        /// The whole path.
        path: String,
        /// The byte where it stops making sense.
        at: usize,
    },
    /// Text that is no expression.
    BadExpression {
        /// The whole text.
        text: String,
        /// The byte where it stops making sense.
        at: usize,
        /// What would make sense there.
        wanted: &'static str,
    },
    /// No type of that name.
    NoType {
        /// The name asked for.
        name: String,
    },
    /// No variable, constant or symbol of that name.
    NoVariable {
        /// The name asked for.
        name: String,
    },
    /// No line table names such a file.
    NoFile {
        /// The file asked for.
        name: String,
    },
    /// No function of that name.
    NoFunction {
        /// The name asked for.
        name: String,
    },
    /// The type has no such member.
    NoMember {
        /// The type searched.
        in_type: String,
        /// The member asked for.
        member: String,
    },
    /// A `.` or `[]` was applied to a type that has no parts of that kind.
    NoParts {
        /// The type that has no parts.
        in_type: String,
        /// The step that was asked for, as written.
        step: String,
    },
    /// An index past the end of an array.
    OutOfRange {
        /// The array's type.
        in_type: String,
        /// The index asked for.
        index: u64,
        /// How many elements there are.
        length: u64,
    },
    /// Going on needs the value of a pointer in memory, which is followed on request only.
    Dereference {
        /// The pointer's type.
        in_type: String,
    },
    /// Going on needs what a pointer holds, but only types were asked about.
    InMemory {
        /// The pointer's type.
        in_type: String,
    },
    /// A pointer to nothing that has a type, such as `void *`.
    NoTarget {
        /// The pointer's type.
        in_type: String,
    },
    /// The type has no size: it is only declared, or a function.
    NoSize {
        /// The type.
        in_type: String,
    },
    /// The member is in a virtual base, whose place only an object's vtable says.
    InVirtualBase {
        /// The type.
        in_type: String,
        /// The member's name.
        member: String,
        /// The base.
        base: String,
    },
    /// More than is decoded at once.
    TooLarge {
        /// The type.
        in_type: String,
        /// The most bytes.
        bytes: u64,
        /// The most values; each part of a value is one.
        values: u64,
    },
    /// A number is needed, and the value is none.
    NotNumber {
        /// The type of the value.
        in_type: String,
    },
    /// A negative index into an array.
    Negative {
        /// The array's type.
        in_type: String,
        /// The index.
        number: i128,
    },
    /// A number cannot be made this type.
    NoCast {
        /// The type asked for.
        to: String,
    },
    /// An address that no core has.
    OutsideMemory {
        /// The address, which may be negative.
        address: i128,
    },
    /// What starts at an address ends behind the last one that a core has.
    PastMemory {
        /// The address.
        address: u64,
        /// How many bytes were asked for.
        length: u64,
    },
    /// The file puts nothing there: the address belongs to no part that is loaded.
    NotInFile {
        /// The address.
        address: u64,
        /// How many bytes were asked for.
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
                "truncated: {what} at {offset:#x} lie past the end {length:#x} (need {end:#x})"
            ),
            Error::BadPath { path, at } => {
                write!(f, "cannot follow `{path}`: not a member or index at byte {at}")
            }
            Error::BadExpression { text, at, wanted } => {
                write!(f, "cannot read `{text}` as an expression: {wanted} ")?;
                match text.get(*at..).map(str::trim) {
                    None | Some("") => f.write_str("is missing at its end"),
                    Some(rest) => write!(f, "should stand at `{rest}`"),
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
                write!(f, "where `{in_type}` points to is known in memory only")
            }
            Error::NoTarget { in_type } => {
                write!(f, "`{in_type}` does not say what it points to: cast it first")
            }
            Error::NoSize { in_type } => write!(f, "`{in_type}` has no size"),
            Error::InVirtualBase { in_type, member, base } => write!(
                f,
                "`{in_type}` has `{member}` in its virtual base `{base}`, which lies where an object's vtable says"
            ),
            Error::TooLarge { in_type, bytes, values } => write!(
                f,
                "`{in_type}` is too large to be shown at once: the limit is {bytes} bytes and {values} values"
            ),
            Error::NotNumber { in_type } => write!(f, "`{in_type}` is no number"),
            Error::Negative { in_type, number } => {
                write!(f, "index {number} is before the start of `{in_type}`")
            }
            Error::NoCast { to } => write!(
                f,
                "a number cannot be cast to `{to}`; what stands at an address is `{to}@address`"
            ),
            Error::OutsideMemory { address } => {
                let sign = if *address < 0 { "-" } else { "" };
                let size = address.unsigned_abs();
                write!(f, "{sign}{size:#x} is no address of a core, which have 32 bits")
            }
            Error::PastMemory { address, length } => {
                write!(f, "{length} bytes at {address:#x} reach past a core's last address")
            }
            Error::NotInFile { .. } => f.write_str("the file puts nothing there"),
            Error::NoAddress { name, storage } => write!(f, "`{name}` has no address: {storage}"),
        }
    }
}

impl std::error::Error for Error {}

/// The processors whose ELFs people hand over by mistake, by `e_machine`.
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
