//! The subcommands of `meshscope symbols`.

use clap::{Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// A subcommand of `symbols`.
#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Print a type's members with offsets, sizes and holes.
    Type {
        /// The type, or a path into one: mailboxes_t, mailboxes_t.launch[0].
        name: String,
        /// The file.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        elf: PathBuf,
    },
    /// Print the value of a constant or variable, if the file contains it, and its address.
    ///
    /// Constants of the debug information (constexpr, enumerators, template arguments) have their
    /// value, variables their initial one. The value of a variable without initial data is known
    /// only from a target.
    Value {
        /// An expression as in C++: counter, ns::limit, Channel<8>::SLOTS, mailboxes->launch[0],
        /// *p, &x, (launch_msg_t *)0x1234, go_msg_t@0x370.
        expression: String,
        /// The file.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        elf: PathBuf,
        /// The program counter: local variables of the functions at this address are found too.
        #[arg(long, value_name = "ADDR")]
        pc: Option<String>,
    },
    /// Print where the code of a source line is, and in which functions.
    Line {
        /// The line, as <file>:<line>; the file by the end of its path.
        place: String,
        /// The file.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        elf: PathBuf,
    },
    /// Print all code of a function: cold and partial parts, clones, and where it is inlined.
    Function {
        /// The function, with or without scopes and template arguments.
        name: String,
        /// Print its instructions too, with those of the Tensix coprocessor by name.
        #[arg(long)]
        disassemble: bool,
        /// The file.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        elf: PathBuf,
    },
    /// Print the names of all types, variables, functions or files.
    List {
        /// What to list.
        #[arg(value_enum)]
        kind: Listing,
        /// Only names that contain this; * stands for anything.
        pattern: Option<String>,
        /// The file.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        elf: PathBuf,
    },
    /// Print the functions, files and lines at an address.
    Addr {
        /// The address as the core sees it, decimal or 0x hexadecimal.
        addr: String,
        /// The file.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        elf: PathBuf,
    },
    /// Print the frames of a core's stack from saved registers and memory, and why the stack ends
    /// there.
    ///
    /// Registers and private memory of a core, where stacks are, cannot be read over the NoC: they
    /// come from a debugger that has halted the core, or from an emulator. Nothing is
    /// guessed: where call frame information (.debug_frame, .eh_frame) lacks the caller's frame,
    /// the stack ends, with the reason on standard error.
    Backtrace {
        /// A file whose code may be on the stack: FILE, or FILE@BIAS if it runs BIAS bytes above
        /// its link address. Once for each: kernel, firmware, base firmware.
        #[arg(long, required = true, value_name = "FILE[@BIAS]")]
        elf: Vec<String>,
        /// A register: pc, sp, ra, s0, x8, ...; pc and sp are required, and ra in a function that
        /// calls no other.
        #[arg(long, value_name = "NAME=VALUE")]
        reg: Vec<String>,
        /// A file with the memory from an address on, in the core's own address space.
        #[arg(long, value_name = "FILE@ADDR")]
        memory: Vec<String>,
    },
}

/// The kinds of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Types with a complete definition.
    Types,
    /// Variables and constants with an address or a value.
    Variables,
    /// Enumerators.
    Enumerators,
    /// Functions with code, emitted or inlined.
    Functions,
    /// Source files with code.
    Files,
}
