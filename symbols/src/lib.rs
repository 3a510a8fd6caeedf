//! Names for bytes: types, variables, lines and inlined frames out of a RISC-V ELF and its DWARF.
//!
//! `Symbols` is one loaded file. A `Type` says how bytes are laid out, a `Field` is a place in them
//! resolved once, a `Value` is what they mean, and a `Location` is where code comes from. An
//! `Expression` leads from names to values; `Symbols::functions` and `Symbols::code_of_line` lead from
//! names and source lines to code.
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
//! # How it is read
//!
//! The file stays mapped. `Symbols::open` reads sections and an index of names; units, types and lines are read when they are
//! asked for, and kept. Memory of a core is asked for through a closure, so nothing here knows chips or a NoC.
//!
//! # Invariants
//!
//! Bytes from outside never panic and never loop: reading is checked, and every walk has a bound.

#![deny(unsafe_code)]

mod abbreviations;
mod beside;
mod bounds;
mod builder;
mod bytes;
mod call_frames;
mod calls;
mod casts;
mod decode;
mod demangle;
mod die;
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
mod layout;
mod limits;
mod line_code;
mod lines;
mod listing;
mod locals;
mod made;
mod mapping;
mod meaning;
mod names;
mod near;
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
mod spelled;
mod spelling;
mod split;
mod storage;
mod symbols;
mod symtab;
mod types;
mod units;
mod unwind;
mod value;
mod value_text;
mod variables;
mod walk;

pub use error::Error;
pub use evaluate::Evaluated;
pub use expression::Expression;
pub use field::{Field, MemberPlace};
pub use frames::Location;
pub use function::{CodeRange, FunctionCode, InlinedCopy};
pub use globals::Located;
pub use holes::Hole;
pub use layout::{Section, Segment};
pub use lines::LineCode;
pub use problem::Problem;
pub use resolved::{EvalError, Resolved};
pub use storage::{Placed, Storage};
pub use symbols::Symbols;
pub use symtab::{Binding, Symbol, SymbolKind};
pub use types::{
    Access, Argument, Array, Bits, Encoding, Enumeration, Enumerator, Keyword, Kind, Member,
    Pointer, Record, StaticMember, Type, VirtualBase,
};
pub use unwind::{Backtrace, Module, Registers, StackEnd, StackFrame, backtrace};
pub use value::Value;
pub use variables::{Constant, Variable};
