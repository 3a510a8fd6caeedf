//! Follows an expression part by part; every error knows the part it belongs to.

use crate::casts;
use crate::error::Error;
use crate::expression::{Expression, Node, What};
use crate::field::MemberPlace;
use crate::made;
use crate::resolved::{EvalError, Resolved};
use crate::storage::Storage;
use crate::symbols::Symbols;
use crate::types::{Bits, Kind, Pointer, Type};
use crate::value::Value;
use crate::walk;

/// One expression being followed.
pub(crate) struct Resolver<'a, R> {
    pub(crate) symbols: &'a Symbols,
    pub(crate) expression: &'a Expression,
    pub(crate) read: &'a mut R,
}

impl<E, R: FnMut(u64, &mut [u8]) -> Result<(), E>> Resolver<'_, R> {
    /// Where the whole expression leads to. A reference that cannot be followed is shown itself.
    pub(crate) fn whole(&mut self) -> Result<Resolved, EvalError<E>> {
        let root = &self.expression.root;
        let found = self.node(root)?;
        let elsewhere = matches!(found.storage, Storage::Elsewhere(_) | Storage::Moving(_));
        if elsewhere || self.pointee(&found.ty).is_err() {
            return Ok(found);
        }
        match self.without_reference(root, found.clone()) {
            Err(EvalError::Memory { .. }) => Ok(found),
            followed => self.right(root, casts::within(followed?)),
        }
    }

    /// Where a part leads to. Its depth is what the parser allowed.
    pub(crate) fn node(&mut self, node: &Node) -> Result<Resolved, EvalError<E>> {
        let found = match &node.what {
            What::Name(name) => self.named(node, name)?,
            What::Number(number) => made::number(*number),
            What::Member(of, name) => {
                let of = self.behind_reference(of)?;
                self.right(node, step(&of, |place| walk::member(place, name)))?
            }
            What::Through(of, name) => {
                let of = self.followed(of)?;
                self.right(node, step(&of, |place| walk::member(place, name)))?
            }
            What::Index(of, index) => self.indexed(node, of, index)?,
            What::Follow(of) => self.followed(of)?,
            What::AddressOf(of) => {
                let of = self.behind_reference(of)?;
                self.right(node, casts::address_of(&of))?
            }
            What::Cast(ty, of) => {
                let ty = self.right(node, self.spelled(ty))?;
                let number = self.address_or_number(of)?;
                self.right(node, casts::cast(ty, number))?
            }
            What::At(ty, address) => {
                let ty = self.right(node, self.spelled(ty))?;
                let address = self.address_or_number(address)?;
                self.right(node, casts::at(ty, address))?
            }
            What::SizeOf(text, of) => self.size_of(node, text, of.as_deref())?,
        };
        self.right(node, casts::within(found))
    }

    /// Gives an error its place in the expression.
    fn right<T>(&self, node: &Node, result: Result<T, Error>) -> Result<T, EvalError<E>> {
        result.map_err(|error| EvalError::Wrong { part: self.expression.part(node), error })
    }

    fn spelled(&self, text: &str) -> Result<Type, Error> {
        let found = made::spelled(self.symbols, text);
        found.ok_or_else(|| Error::NoType { name: text.to_owned() })
    }

    fn named(&self, node: &Node, name: &str) -> Result<Resolved, EvalError<E>> {
        let found = self.symbols.meant(name, self.expression.pc);
        let found = found.ok_or_else(|| Error::NoVariable { name: name.to_owned() });
        self.right(node, found)
    }

    /// C++ follows references without being asked, where something is done with them.
    fn behind_reference(&mut self, node: &Node) -> Result<Resolved, EvalError<E>> {
        let found = self.node(node)?;
        self.without_reference(node, found)
    }

    fn without_reference(
        &mut self,
        node: &Node,
        found: Resolved,
    ) -> Result<Resolved, EvalError<E>> {
        match found.ty.plain().kind() {
            Kind::Pointer(pointer) if pointer.reference => self.through(node, &found),
            _ => Ok(found),
        }
    }

    /// What a pointer points to; the first element of an array; what a reference stands for, which
    /// alone shows as a pointer, unless that is a pointer itself.
    fn followed(&mut self, node: &Node) -> Result<Resolved, EvalError<E>> {
        let own = self.node(node)?;
        let found = self.without_reference(node, own.clone())?;
        let pointer = matches!(found.ty.plain().kind(), Kind::Pointer(_) | Kind::Array(_));
        if !pointer && own.storage != found.storage {
            return Ok(found);
        }
        if found.ty.array().is_some() {
            return self.right(node, step(&found, |place| walk::index(place, 0)));
        }
        self.through(node, &found)
    }

    fn through(&mut self, node: &Node, pointer: &Resolved) -> Result<Resolved, EvalError<E>> {
        let target = self.right(node, self.pointee(&pointer.ty))?;
        let address = self.number(node, pointer)? as u64;
        Ok(Resolved { ty: target, storage: Storage::Address(address), bits: None })
    }

    fn pointee(&self, ty: &Type) -> Result<Type, Error> {
        let in_type = || ty.name().to_owned();
        let Kind::Pointer(_) = ty.plain().kind() else {
            return Err(Error::NoParts { in_type: in_type(), step: "*".to_owned() });
        };
        let target = self.symbols.pointee(ty);
        let known = |ty: &Type| !matches!(ty.plain().kind(), Kind::Void | Kind::Function);
        target.filter(known).ok_or_else(|| Error::NoTarget { in_type: in_type() })
    }

    fn indexed(&mut self, node: &Node, of: &Node, index: &Node) -> Result<Resolved, EvalError<E>> {
        let found = self.behind_reference(of)?;
        let value = self.behind_reference(index)?;
        let number = self.number(index, &value)?;
        let Kind::Pointer(_) = found.ty.plain().kind() else {
            let at = u64::try_from(number)
                .map_err(|_| Error::Negative { in_type: found.ty.name().to_owned(), number });
            let at = self.right(node, at)?;
            return self.right(node, step(&found, |place| walk::index(place, at)));
        };
        let first = self.through(of, &found)?;
        let size = i128::from(first.ty.size().unwrap_or(0));
        let Storage::Address(start) = first.storage else { return Ok(first) };
        let address = number.saturating_mul(size).saturating_add(start.into());
        let address = self.right(node, casts::address(address))?;
        Ok(Resolved { storage: Storage::Address(address), ..first })
    }

    fn size_of(
        &mut self,
        node: &Node,
        text: &str,
        of: Option<&Node>,
    ) -> Result<Resolved, EvalError<E>> {
        let mut ty = match (made::spelled(self.symbols, text), of) {
            (Some(ty), _) => ty,
            (None, Some(of)) => self.node(of)?.ty,
            (None, None) => return self.right(node, Err(Error::NoType { name: text.to_owned() })),
        };
        if let Kind::Pointer(Pointer { reference: true, .. }) = ty.plain().kind() {
            ty = self.right(node, self.pointee(&ty))?;
        }
        let unknown = || Error::NoSize { in_type: ty.name().to_owned() };
        let size = self.right(node, ty.size().ok_or_else(unknown))?;
        Ok(made::size(size))
    }

    /// A number, or the address of an array, which stands for its first element's.
    fn address_or_number(&mut self, node: &Node) -> Result<i128, EvalError<E>> {
        let found = self.behind_reference(node)?;
        match (&found.storage, found.ty.array()) {
            (Storage::Address(address), Some(_)) => Ok(i128::from(*address)),
            _ => self.number(node, &found),
        }
    }

    /// The value of a part as a number, read where it must be.
    fn number(&mut self, node: &Node, found: &Resolved) -> Result<i128, EvalError<E>> {
        let no_address = |storage: &Storage| Error::NoAddress {
            name: self.expression.part(node),
            storage: storage.to_string(),
        };
        if let Storage::Elsewhere(_) | Storage::Moving(_) = found.storage {
            return self.right(node, Err(no_address(&found.storage)));
        }
        if found.ty.size().is_none_or(|size| size > 8) {
            return self.right(node, Err(not_a_number(&found.ty)));
        }
        let value = found.value(self.read).map_err(|(address, length, error)| {
            let part = self.expression.part(node);
            EvalError::Memory { part, address, length, error }
        })?;
        self.right(node, as_number(&value).ok_or_else(|| not_a_number(&found.ty)))
    }
}

fn not_a_number(ty: &Type) -> Error {
    Error::NotNumber { in_type: ty.name().to_owned() }
}

fn as_number(value: &Value) -> Option<i128> {
    match *value {
        Value::Signed(value) => Some(value.into()),
        Value::Enum { value, .. } => Some(value),
        Value::Struct(_) | Value::Array(_) => None,
        ref other => other.as_u64().map(i128::from),
    }
}

/// One step inside a type, taken along in memory or in a constant's bytes.
fn step(
    from: &Resolved,
    take: impl FnOnce(&mut MemberPlace) -> Result<(), Error>,
) -> Result<Resolved, Error> {
    let mut place = MemberPlace::whole(&from.ty);
    take(&mut place)?;
    let (offset, size) = (place.field.offset, place.field.size);
    let bits = (place.field.bit_size > 0)
        .then(|| Bits { size: place.field.bit_size.into(), offset: place.field.bit_shift.into() });
    let storage = match &from.storage {
        Storage::Address(address) => Storage::Address(address.saturating_add(offset)),
        Storage::Constant(bytes) => {
            let bytes = bytes.get(usize::try_from(offset).unwrap_or(usize::MAX)..);
            let size = usize::try_from(size).unwrap_or(usize::MAX).max(usize::from(bits.is_some()));
            let touched = bits.map_or(size, |b| (b.offset + b.size).div_ceil(8) as usize);
            Storage::Constant(bytes.unwrap_or_default().iter().copied().take(touched).collect())
        }
        other => other.clone(),
    };
    Ok(Resolved { ty: place.ty, storage, bits })
}
