//! The questions that `meshscope symbols` puts to an ELF, and what `--help` promises about their JSON.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

/// A question to an ELF.
#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Print a type's members with offsets, sizes and holes.
    ///
    /// JSON: {"name","kind","size","members":[{"name","offset","size","type"}]}; offsets and sizes are bytes.
    /// Bit-fields also carry "bit_size" and "bit_offset", counted in bits from the start of the outer type; their
    /// "offset" is the byte that holds the first bit, and their "size" that of the declared type. Null where unknown.
    /// "kind" is struct, class, union, enum, array, pointer, base, function, void or incomplete; a typedef or
    /// qualified type also has "stands_for". Where there are any: "holes":[{"offset","size","bit_offset","bit_size",
    /// "padding"}] (size in whole bytes), "bases":[{"name","offset","size","access","virtual"}] (a virtual base has
    /// no offset), "static_members":[{"name","type","value","access"}], "template_arguments":[{"name","type",
    /// "value"}], "enumerators":[{"name","value"}], "virtual_bases":[{"name","size"}] (those of bases too). A member
    /// whose type has no name has that type's own "members", with offsets from its start.
    Type {
        /// The type, or a path into one: mailboxes_t, mailboxes_t.launch[0].
        name: String,
        /// The file.
        #[arg(long, value_name = "FILE")]
        elf: PathBuf,
    },
    /// Print the value of a constant or variable, as far as the file knows it, and where it is.
    ///
    /// Constants of the debug information (constexpr, enumerators, template arguments) have their value, variables
    /// the one that they start with; of what no part of the file loads, only a target knows the value.
    ///
    /// JSON: {"expression","type","size","value","source","storage","address","section","private","ranges":[{"begin",
    /// "end","storage"}]}; "source" is constant, file or initial, null where the value is not known; "storage" says in
    /// words where it is, "private" why only its core can read it; "ranges" is of what moves.
    /// Values are numbers, truth values, strings for characters, {"name","value"} for enumerations, arrays, and
    /// objects for structures, null where unknown; members of bases stand among a structure's own, and a base with
    /// members that others hide is also an object under its type's name;
    /// a virtual base is null under its type's name.
    Value {
        /// An expression as in C++: counter, ns::limit, Channel<8>::SLOTS, mailboxes->launch[0], *p, &x,
        /// (launch_msg_t *)0x1234, go_msg_t@0x370.
        expression: String,
        /// The file.
        #[arg(long, value_name = "FILE")]
        elf: PathBuf,
        /// Where the program counter is: local variables of the functions there are found too.
        #[arg(long, value_name = "ADDR")]
        pc: Option<String>,
    },
    /// Print where the code of a source line is, and in which functions.
    ///
    /// JSON: {"file","line","code":[{"begin","end","file","frames":[{"function","file","line"}]}]}, frames innermost
    /// first.
    Line {
        /// The line, as <file>:<line>; the file by the end of its path.
        place: String,
        /// The file.
        #[arg(long, value_name = "FILE")]
        elf: PathBuf,
    },
    /// Print all code of a function: cold and partial parts, clones, and where it is inlined.
    ///
    /// JSON: {"functions":[{"name","linkage_name","file","line","size","parts":[{"begin","end","symbol"}],
    /// "inlined":[{"begin","end","into","file","line"}]}]}; "file" and "line" of the declaration, of the call for
    /// what is inlined; "size" in bytes over all parts.
    Function {
        /// The function, with or without scopes and template arguments.
        name: String,
        /// The file.
        #[arg(long, value_name = "FILE")]
        elf: PathBuf,
    },
    /// Print the names of all types, variables, functions or files.
    ///
    /// JSON: {"kind","names":[name]}.
    List {
        /// What to list.
        #[arg(value_enum)]
        kind: Listing,
        /// Only names that hold this; * stands for anything.
        pattern: Option<String>,
        /// The file.
        #[arg(long, value_name = "FILE")]
        elf: PathBuf,
    },
    /// Print the functions, files and lines at an address.
    ///
    /// JSON: {"addr","frames":[{"function","file","line"}]}, innermost first, null where unknown.
    Addr {
        /// The address as the core sees it, decimal or 0x hexadecimal.
        addr: String,
        /// The file.
        #[arg(long, value_name = "FILE")]
        elf: PathBuf,
    },
    /// Print the frames of a core's stack, from registers and memory that were kept, and why it ends there.
    ///
    /// Registers and private memory of a core, where stacks are, cannot be read over the bus of any target: they
    /// come from a debugger that has the core halted, or from an emulator. Nothing is guessed: where call frame
    /// information (.debug_frame, .eh_frame) does not say how to go on, the stack ends, with the reason on standard
    /// error. Exit code 4 if it ends before the outermost function or the entry of a file.
    ///
    /// JSON: {"frames":[{"pc","cfa","elf","locations":[{"function","file","line","inlined"}],"registers":{"sp",...}}],
    /// "end":{"reason","detail"}}, innermost first; "locations" are what was inlined at the pc, innermost first, and
    /// then the function itself; "registers" are the known ones. A reason is outermost, not-saved, no-file,
    /// no-call-frames, broken-call-frames, unreadable, unknown-register, repeats or limit. Null where unknown.
    Backtrace {
        /// A file whose code may be on the stack: FILE, or FILE@BIAS if it runs so many bytes above where it was
        /// linked. Once for each: kernel, firmware, base firmware.
        #[arg(long, required = true, value_name = "FILE[@BIAS]")]
        elf: Vec<String>,
        /// A register: pc, sp, ra, s0, x8, ...; needed are pc and sp, and in a function that calls no other ra.
        #[arg(long, value_name = "NAME=VALUE")]
        reg: Vec<String>,
        /// A file with the bytes that are in memory from an address of the core's own on.
        #[arg(long, value_name = "FILE@ADDR")]
        memory: Vec<String>,
    },
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Types that are complete somewhere.
    Types,
    /// Variables and constants that have a place or a value.
    Variables,
    /// Enumerators.
    Enumerators,
    /// Functions that have code, own or inlined.
    Functions,
    /// Source files that code comes from.
    Files,
}
