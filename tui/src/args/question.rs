//! The questions that `meshscope symbols` puts to an ELF.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

/// A question to an ELF.
#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Print a type's members with offsets, sizes and holes.
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
    Line {
        /// The line, as <file>:<line>; the file by the end of its path.
        place: String,
        /// The file.
        #[arg(long, value_name = "FILE")]
        elf: PathBuf,
    },
    /// Print all code of a function: cold and partial parts, clones, and where it is inlined.
    Function {
        /// The function, with or without scopes and template arguments.
        name: String,
        /// The file.
        #[arg(long, value_name = "FILE")]
        elf: PathBuf,
    },
    /// Print the names of all types, variables, functions or files.
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
    /// error.
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
