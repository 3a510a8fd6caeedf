//! Names for bytes: types, variables, lines and inlined frames from a RISC-V ELF and its DWARF.
//!
//! `Symbols` is one loaded file. A `Type` defines the layout of bytes, a `Field` is a place in them
//! resolved once, a `Value` is their decoded content, and a `Location` is a source position of
//! code. An `Expression` leads from names to values; `Symbols::functions` and
//! `Symbols::code_of_line` lead from names and source lines to code.
//!
//! ```
//! # fn main() -> Result<(), symbols::Error> {
//! let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/images/erisc_app.elf");
//! let (symbols, problems) = symbols::Symbols::open(file)?;
//! assert!(problems.is_empty());
//! let enables = symbols.field("mailboxes_t.launch[3].kernel_config.enables")?;
//! let snapshot = vec![0u8; 4304];
//! println!("{:?}", enables.read(&snapshot));
//! for frame in symbols.frames_at(0x9100) {
//!     println!("{:?} {:?}:{:?}", frame.function, frame.file, frame.line);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # How a file is read
//!
//! The file stays mapped. `Symbols::open` reads sections and an index of names; units, types and
//! lines are read on demand and kept. A closure reads a core's memory, so nothing here knows chips
//! or a NoC.
//!
//! # Invariants
//!
//! Bytes from outside never cause a panic or an endless loop: every read is checked, and every walk
//! has a limit.

#![deny(unsafe_code)]

mod abbreviations;
mod arithmetic;
mod bounds;
mod builder;
mod bytes;
mod call_frames;
mod calls;
mod casts;
mod companions;
mod decode;
mod demangle;
mod die;
mod disassembly;
mod error;
mod evaluate;
mod expression;
mod field;
mod frames;
mod function;
mod functions;
mod globals;
mod holes;
mod image;
mod index;
mod initial;
mod inner;
mod instruction;
mod layout;
mod lengths;
mod limits;
mod line_code;
mod lines;
mod listing;
mod locals;
mod lookup;
mod mapping;
mod names;
mod normalized;
mod package;
mod parameters;
mod path;
mod problem;
mod ptype;
mod ranges;
mod resolve;
mod resolved;
mod scalars;
mod scan;
mod sections;
mod separate;
mod source;
mod spelling;
mod split;
mod storage;
mod stores;
mod suggestions;
mod symbols;
mod symtab;
mod synthetic;
mod tail_calls;
mod types;
mod units;
mod unwind;
mod value;
mod value_text;
mod variables;
mod walk;

pub use disassembly::{disassemble, register_name};
pub use error::Error;
pub use evaluate::Evaluated;
pub use expression::Expression;
pub use field::{Field, MemberPlace};
pub use frames::Location;
pub use function::{CodeRange, FunctionCode, InlinedCopy};
pub use globals::Located;
pub use holes::Hole;
pub use layout::{Elf, Section, Segment};
pub use lines::LineCode;
pub use problem::Problem;
pub use resolved::{EvalError, Resolved};
pub use storage::{Placed, Storage};
pub use stores::ConstantStore;
pub use symbols::Symbols;
pub use symtab::{Binding, Symbol, SymbolKind};
pub use types::{
    AccessSpecifier, Argument, Array, Bits, Encoding, Enumeration, Enumerator, Keyword, Kind,
    Member, Pointer, Record, StaticMember, Type, VirtualBase,
};
pub use unwind::{Backtrace, Module, Registers, StackEnd, StackFrame, backtrace};
pub use value::Value;
pub use variables::{Constant, Variable};
