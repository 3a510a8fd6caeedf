//! `Symbols`: one loaded ELF and its lookups.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use crate::bytes::Bytes;
use crate::companions::Companions;
use crate::error::Error;
use crate::field::{Field, MemberPlace};
use crate::frames::{self, Location};
use crate::index::Class;
use crate::inner::Inner;
use crate::mapping;
use crate::names::Name;
use crate::normalized::normalized;
use crate::path::{Steps, split_root};
use crate::problem::Problem;
use crate::symtab::Symbol;
use crate::types::{Kind, Target, Type};
use crate::walk::walk;

/// The names in one ELF file. Cheap to clone and to share between threads. Most of the file is read
/// on demand, and then kept.
#[derive(Clone)]
pub struct Symbols {
    pub(crate) inner: Arc<Inner>,
}

impl Symbols {
    /// Reads an ELF from bytes: a vector, a mapping or a static array. Returns the unreadable parts
    /// as problems. `name` appears in messages: usually the path.
    pub fn load(
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        name: &str,
    ) -> Result<(Symbols, Vec<Problem>), Error> {
        Symbols::from_inner(Inner::load(Box::new(bytes), name.to_owned(), None))
    }

    /// Returns the bytes of the ELF.
    pub fn elf(&self) -> &[u8] {
        self.inner.elf()
    }

    /// Like `load`. `read` opens the other files that the ELF names (`.dwo`, `.dwp`, debug links),
    /// by paths around `path`; none if there is no such file.
    pub fn load_with<B: AsRef<[u8]> + Send + Sync + 'static>(
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        path: impl AsRef<Path>,
        mut read: impl FnMut(&Path) -> Option<B>,
    ) -> Result<(Symbols, Vec<Problem>), Error> {
        let path = path.as_ref();
        let mut open = |path: &Path| Some(Box::new(read(path)?) as Bytes);
        let companions = Companions::new(path, &mut open);
        Symbols::from_inner(Inner::load(
            Box::new(bytes),
            path.display().to_string(),
            Some(companions),
        ))
    }

    fn from_inner(loaded: Result<Inner, Error>) -> Result<(Symbols, Vec<Problem>), Error> {
        let inner = loaded?;
        let problems = inner.problems();
        Ok((Symbols { inner: Arc::new(inner) }, problems))
    }

    /// Reads an ELF from a regular file, mapped if possible. A mapped file may be replaced or
    /// deleted, as linkers do, but not truncated in place: reading past the new end ends the
    /// process with SIGBUS. Where that can happen, read the file and call `load` with its bytes.
    ///
    /// Debug information in other files is included: units in `.dwo` files or a `.dwp` in the
    /// file's folder, or all of it from the file that `.gnu_debuglink` or the build id names, in
    /// the file's folder or in its `.debug`.
    pub fn open(path: impl AsRef<Path>) -> Result<(Symbols, Vec<Problem>), Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes = mapping::open(path).map_err(|error| Error::unreadable(path, &error))?;
        let mut open = |path: &Path| mapping::open(path).ok();
        let companions = Companions::new(path, &mut open);
        Symbols::from_inner(Inner::load(bytes, name, Some(companions)))
    }

    /// Returns the name given when the file was loaded.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Whether it has types and lines: it was built with `-g` and is not stripped, or its debug
    /// information was found in another file.
    pub fn has_debug_info(&self) -> bool {
        self.inner.has_units()
    }

    /// Returns all problems found so far: reading on demand may find more than loading did.
    pub fn problems(&self) -> Vec<Problem> {
        self.inner.problems()
    }

    /// Returns a type by name: `mailboxes_t`, `a::b`, `struct X`. Searches all scopes of all units;
    /// prefers a definition to a declaration, and an outer scope to an inner one.
    pub fn type_named(&self, name: &str) -> Option<Type> {
        let cache = &self.inner.named_types;
        let cached = cache.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if cached.is_some() {
            return cached;
        }
        let found = self.find_type(name)?;
        let mut cache = cache.write().unwrap_or_else(PoisonError::into_inner);
        Some(cache.entry(name.into()).or_insert(found).clone())
    }

    fn find_type(&self, name: &str) -> Option<Type> {
        let name = normalized(name);
        let mut name = Name::parse(&name);
        self.inner.build(|builder| {
            let found = builder.index.find(builder.view, &name, Class::Type);
            if let Some(named) = found.first() {
                return Some(builder.build(named.die));
            }
            // Users write `struct X` for a typedef of an unnamed structure too.
            let keyword = name.keyword.take()?;
            let found = builder.index.find(builder.view, &name, Class::Type);
            let ty = builder.build(found.first()?.die);
            keyword.fits(ty.plain().kind()).then_some(ty)
        })
    }

    /// Returns the target of a pointer or reference; none for `void *` and other types.
    pub fn pointee(&self, ty: &Type) -> Option<Type> {
        let Kind::Pointer(pointer) = ty.plain().kind() else { return None };
        match pointer.target.as_ref()? {
            Target::Die(die) => Some(self.inner.build(|builder| builder.build(*die))),
            Target::Type(ty) => Some(ty.clone()),
        }
    }

    /// Follows a path such as `mailboxes_t.launch[3].kernel_config.enables` from a type's name.
    pub fn member(&self, path: &str) -> Result<MemberPlace, Error> {
        let (root, rest) = split_root(path);
        let ty = self.type_named(root).ok_or_else(|| Error::NoType { name: root.to_owned() })?;
        walk(&ty, Steps::new(path, rest))
    }

    /// Like `member`, but returns only the place, to be resolved once and read often.
    pub fn field(&self, path: &str) -> Result<Field, Error> {
        Ok(self.member(path)?.field)
    }

    /// Returns the frames at an address, inlined ones first; empty if the file has no information
    /// about it.
    pub fn frames_at(&self, address: u64) -> Vec<Location> {
        u32::try_from(address).map_or_else(|_| Vec::new(), |at| frames::at(&self.inner, at))
    }

    /// Returns the symbol that covers an address.
    pub fn symbol_at(&self, address: u64) -> Option<Symbol> {
        self.inner.symbol_at(u32::try_from(address).ok()?)
    }

    /// Returns a symbol by its mangled name.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.inner.symbol_named(name)
    }
}

impl Type {
    /// Follows a path from this type: `launch[3].kernel_config`, or `[2].x` for an array.
    pub fn place(&self, path: &str) -> Result<MemberPlace, Error> {
        let path = path.trim();
        let dotted = match path.bytes().next() {
            None | Some(b'[' | b'.') => path.to_owned(),
            Some(_) => format!(".{path}"),
        };
        walk(self, Steps::new(&dotted, &dotted))
    }
}

impl fmt::Debug for Symbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbols").field("name", &self.inner.name).finish_non_exhaustive()
    }
}
