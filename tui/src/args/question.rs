//! The questions that `meshscope symbols` puts to an ELF, and what `--help` promises about their JSON.

use clap::Subcommand;
use std::path::PathBuf;

/// A question to an ELF.
#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Print a type's members with offsets, sizes and holes.
    ///
    /// JSON: {"name","size","members":[{"name","offset","size","type"}]}; offsets and sizes are bytes. Bit-fields
    /// also carry "bit_size" and "bit_offset", counted in bits from the start of the outer type; their "offset" is
    /// the byte that holds the first bit, and their "size" that of the declared type. Null where unknown.
    Type {
        /// The type, or a path into one: mailboxes_t, mailboxes_t.launch[0].
        name: String,
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
}
