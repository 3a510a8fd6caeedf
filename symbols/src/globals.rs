//! Lookup of variables and constants, and typed places in memory.

use crate::error::Error;
use crate::field::{Field, MemberPlace};
use crate::index::Class;
use crate::names::Name;
use crate::normalized::normalized;
use crate::path::{PathStep, Steps, split_root};
use crate::storage::Storage;
use crate::symbols::Symbols;
use crate::symtab::{Symbol, SymbolKind};
use crate::types::{Kind, Type};
use crate::variables::{Constant, Variable, describe, enumerator};
use crate::walk::walk;

/// A typed place in a core's memory.
#[derive(Clone, Debug)]
pub struct Located {
    /// The address of the outermost value.
    pub base: u64,
    /// The type at the place.
    pub ty: Type,
    /// The place, relative to `base`.
    pub field: Field,
}

impl Located {
    /// Returns the address of the place itself.
    pub fn address(&self) -> u64 {
        self.base.wrapping_add(self.field.offset)
    }
}

impl Symbols {
    /// Returns a variable by name, with or without scopes, from DWARF and the symbol table. A
    /// variable found only in the symbol table has an address but no type.
    pub fn variable(&self, name: &str) -> Option<Variable> {
        let normalized = normalized(name);
        let parsed = Name::parse(&normalized);
        let described = self.inner.build(|builder| {
            let found = builder.index.find(builder.view, &parsed, Class::Variable);
            describe(builder, *found.first()?)
        });
        let Some(mut variable) = described else { return self.only_symbol(name) };
        variable.symbol = self.symbol_of(&variable, parsed.last);
        if let (Storage::Elsewhere(_), Some(symbol)) = (&variable.storage, &variable.symbol) {
            variable.storage = Storage::Address(symbol.address);
        }
        Some(variable)
    }

    fn only_symbol(&self, name: &str) -> Option<Variable> {
        let symbol = self.symbol(name).filter(|symbol| symbol.kind != SymbolKind::Function)?;
        Some(Variable {
            name: symbol.demangled().unwrap_or_else(|| symbol.name.clone()),
            linkage_name: None,
            ty: None,
            storage: Storage::Address(symbol.address),
            symbol: Some(symbol),
            local: false,
        })
    }

    /// Returns the symbol of a variable. Local variables share names, so the address decides.
    fn symbol_of(&self, variable: &Variable, own: &str) -> Option<Symbol> {
        let name = variable.linkage_name.as_deref().unwrap_or(own);
        let by_name = self.symbol(name).filter(|symbol| symbol.kind != SymbolKind::Function);
        match &variable.storage {
            Storage::Constant(_) | Storage::Computed(_) => None,
            Storage::Elsewhere(_) | Storage::Moving(_) => by_name,
            Storage::Address(address) => {
                let same = by_name.filter(|symbol| symbol.address == *address);
                same.or_else(|| self.symbol_at(*address).filter(|s| s.address == *address))
            }
        }
    }

    /// Returns a constant by name: an enumerator, a value held only in DWARF, or a `const` variable
    /// whose bytes are in the file.
    pub fn constant(&self, name: &str) -> Option<Constant> {
        let normalized = normalized(name);
        let parsed = Name::parse(&normalized);
        let variable = self.variable(name);
        let constant = variable.and_then(|variable| {
            let ty = variable.ty?;
            let bytes = match variable.storage {
                Storage::Constant(bytes) if is_const(&ty) || !variable.local => bytes,
                Storage::Address(address) if is_const(&ty) => {
                    self.file_bytes(address, ty.size()?)?.to_vec()
                }
                _ => return None,
            };
            Some(Constant { ty, bytes })
        });
        constant.or_else(|| self.inner.build(|builder| enumerator(builder, &parsed)))
    }

    /// Follows a path from a variable's name to a place in memory: `cb_interface[3].fifo_size`. It
    /// follows a pointer (`mailboxes->launch[0]`) only if its value is a constant of the debug
    /// information; it reads no memory.
    pub fn locate(&self, path: &str) -> Result<Located, Error> {
        let (root, rest) = split_root(path);
        let name = || root.to_owned();
        let variable = self.variable(root).ok_or_else(|| Error::NoVariable { name: name() })?;
        let ty = variable.ty.ok_or_else(|| Error::NoType { name: name() })?;
        match variable.storage {
            Storage::Address(base) => {
                let MemberPlace { ty, field, .. } = walk(&ty, Steps::new(path, rest))?;
                Ok(Located { base, ty, field })
            }
            Storage::Constant(bytes) => self.through_constant(path, rest, &ty, &bytes),
            storage => Err(Error::NoAddress { name: name(), storage: storage.to_string() }),
        }
    }

    /// Follows the first step from a constant pointer: `->x`, or `.x` for a reference.
    fn through_constant(
        &self,
        path: &str,
        rest: &str,
        ty: &Type,
        bytes: &[u8],
    ) -> Result<Located, Error> {
        let through = matches!(Steps::new(path, rest).next(), Some(Ok(PathStep::Through(_))));
        let target = self.pointee(ty).filter(|_| through || ty.name().ends_with('&'));
        let (Some(target), Some(base)) = (target, crate::field::little_endian(bytes)) else {
            let storage = "a constant of the debug information".to_owned();
            return Err(Error::NoAddress { name: path.to_owned(), storage });
        };
        let dotted = match rest.strip_prefix("->") {
            Some(member) => format!(".{member}"),
            None => rest.to_owned(),
        };
        let MemberPlace { ty, field, .. } = walk(&target, Steps::new(&dotted, &dotted))?;
        Ok(Located { base, ty, field })
    }
}

/// Whether a type, or an array's element type, is `const`.
fn is_const(ty: &Type) -> bool {
    match ty.kind() {
        Kind::Qualified(inner) => {
            ty.name().starts_with("const ") || ty.name().ends_with(" const") || is_const(inner)
        }
        Kind::Alias(inner) => is_const(inner),
        Kind::Array(array) => is_const(&array.element),
        _ => false,
    }
}
