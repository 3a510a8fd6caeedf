//! Resolves an expression part by part; every error names its part.

use crate::arithmetic::Integer;
use crate::casts;
use crate::error::Error;
use crate::expression::{Expression, Node, NodeKind, Operator};
use crate::field::MemberPlace;
use crate::resolved::{EvalError, Resolved};
use crate::storage::Storage;
use crate::symbols::Symbols;
use crate::synthetic;
use crate::types::{Bits, Encoding, Kind, Pointer, Type};
use crate::value::Value;
use crate::walk;

/// The state of resolving one expression.
pub(crate) struct Resolver<'a, R> {
    pub(crate) symbols: &'a Symbols,
    pub(crate) expression: &'a Expression,
    pub(crate) read: &'a mut R,
}

impl<E, R: FnMut(u64, &mut [u8]) -> Result<(), E>> Resolver<'_, R> {
    /// Resolves the whole expression. A reference that cannot be followed is returned itself.
    pub(crate) fn whole(&mut self) -> Result<Resolved, EvalError<E>> {
        let symbols = self.symbols;
        let root =
            &self.expression.root(&mut |name| synthetic::spelled_type(symbols, name).is_some());
        let found = self.node(root)?;
        let elsewhere = matches!(found.storage, Storage::Elsewhere(_) | Storage::Moving(_));
        if elsewhere || self.pointee(&found.ty).is_err() {
            return Ok(found);
        }
        match self.without_reference(root, found.clone()) {
            Err(EvalError::Memory { .. }) => Ok(found),
            followed => self.at_part(root, casts::within(followed?)),
        }
    }

    /// Resolves one part. The parser limits the depth.
    pub(crate) fn node(&mut self, node: &Node) -> Result<Resolved, EvalError<E>> {
        let found = match &node.kind {
            NodeKind::Name(name) => self.named(node, name)?,
            NodeKind::Number(number) => synthetic::number(*number),
            NodeKind::Member(operand, name) => {
                let operand = self.behind_reference(operand)?;
                self.at_part(node, step(&operand, |place| walk::member(place, name)))?
            }
            NodeKind::Through(operand, name) => {
                let operand = self.followed(operand)?;
                self.at_part(node, step(&operand, |place| walk::member(place, name)))?
            }
            NodeKind::Index(operand, index) => self.indexed(node, operand, index)?,
            NodeKind::Follow(operand) => self.followed(operand)?,
            NodeKind::AddressOf(operand) => {
                let operand = self.behind_reference(operand)?;
                self.at_part(node, casts::address_of(&operand))?
            }
            NodeKind::Negate(operand) => {
                let number = self.integer(operand)?;
                integer(self.at_part(node, number.negated())?)
            }
            NodeKind::Complement(operand) => integer(self.integer(operand)?.complement()),
            NodeKind::Binary(operator, left, right) => {
                self.calculated(node, *operator, left, right)?
            }
            NodeKind::Cast(ty, operand) => {
                let ty = self.at_part(node, self.spelled(ty))?;
                let number = self.address_or_number(operand)?;
                self.at_part(node, casts::cast(ty, number))?
            }
            NodeKind::At(ty, address) => {
                let ty = self.at_part(node, self.spelled(ty))?;
                let address = self.address_or_number(address)?;
                self.at_part(node, casts::at(ty, address))?
            }
            NodeKind::SizeOf(text, operand) => self.size_of(node, text, operand.as_deref())?,
        };
        self.at_part(node, casts::within(found))
    }

    /// Attaches the part of the expression to an error.
    fn at_part<T>(&self, node: &Node, result: Result<T, Error>) -> Result<T, EvalError<E>> {
        result.map_err(|error| EvalError::Wrong { part: self.expression.part(node), error })
    }

    fn spelled(&self, text: &str) -> Result<Type, Error> {
        let found = synthetic::spelled_type(self.symbols, text);
        found.ok_or_else(|| Error::NoType { name: text.to_owned() })
    }

    fn named(&self, node: &Node, name: &str) -> Result<Resolved, EvalError<E>> {
        let found = self.symbols.look_up(name, self.expression.pc);
        let found = found.ok_or_else(|| Error::NoVariable { name: name.to_owned() });
        self.at_part(node, found)
    }

    /// Resolves a part and follows a reference, as C++ does implicitly.
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

    /// Returns the target of a pointer, the first element of an array, or the target of a
    /// reference, unless that is a pointer itself.
    fn followed(&mut self, node: &Node) -> Result<Resolved, EvalError<E>> {
        let own = self.node(node)?;
        let found = self.without_reference(node, own.clone())?;
        let pointer = matches!(found.ty.plain().kind(), Kind::Pointer(_) | Kind::Array(_));
        if !pointer && own.storage != found.storage {
            return Ok(found);
        }
        if found.ty.array().is_some() {
            return self.at_part(node, step(&found, |place| walk::index(place, 0)));
        }
        self.through(node, &found)
    }

    fn through(&mut self, node: &Node, pointer: &Resolved) -> Result<Resolved, EvalError<E>> {
        let target = self.at_part(node, self.pointee(&pointer.ty))?;
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

    fn indexed(
        &mut self,
        node: &Node,
        operand: &Node,
        index: &Node,
    ) -> Result<Resolved, EvalError<E>> {
        let found = self.behind_reference(operand)?;
        let value = self.behind_reference(index)?;
        let number = self.number(index, &value)?;
        let Kind::Pointer(_) = found.ty.plain().kind() else {
            let at = u64::try_from(number)
                .map_err(|_| Error::Negative { in_type: found.ty.name().to_owned(), number });
            let at = self.at_part(node, at)?;
            return self.at_part(node, step(&found, |place| walk::index(place, at)));
        };
        let first = self.through(operand, &found)?;
        let size = i128::from(first.ty.size().unwrap_or(0));
        let Storage::Address(start) = first.storage else { return Ok(first) };
        let address = number.saturating_mul(size).saturating_add(start.into());
        let address = self.at_part(node, casts::address(address))?;
        Ok(Resolved { storage: Storage::Address(address), ..first })
    }

    fn calculated(
        &mut self,
        node: &Node,
        operator: Operator,
        left: &Node,
        right: &Node,
    ) -> Result<Resolved, EvalError<E>> {
        let found = self.behind_reference(left)?;
        if let (Kind::Pointer(_), Operator::Add | Operator::Subtract) =
            (found.ty.plain().kind(), operator)
        {
            let count = self.integer(right)?.value;
            let count = if operator == Operator::Subtract { -count } else { count };
            return self.moved(node, left, &found, count);
        }
        let left = Integer::of(&found.ty, self.number(left, &found)?);
        let right = self.integer(right)?;
        let result = left.with(operator, right);
        Ok(integer(self.at_part(node, result)?))
    }

    /// Returns a pointer moved by a number of its targets.
    fn moved(
        &mut self,
        node: &Node,
        operand: &Node,
        pointer: &Resolved,
        count: i128,
    ) -> Result<Resolved, EvalError<E>> {
        let target = self.at_part(operand, self.pointee(&pointer.ty))?;
        let unknown = || Error::NoSize { in_type: target.name().to_owned() };
        let size = self.at_part(operand, target.size().ok_or_else(unknown))?;
        let start = self.number(operand, pointer)?;
        let address = count.saturating_mul(size.into()).saturating_add(start);
        self.at_part(node, casts::cast(pointer.ty.clone(), address))
    }

    /// Returns a part as a number to calculate with.
    fn integer(&mut self, node: &Node) -> Result<Integer, EvalError<E>> {
        let found = self.behind_reference(node)?;
        let plain = found.ty.plain();
        if let Kind::Pointer(_) | Kind::Base(Encoding::Float) = plain.kind() {
            return self.at_part(node, Err(not_a_number(&found.ty)));
        }
        Ok(Integer::of(&found.ty, self.number(node, &found)?))
    }

    fn size_of(
        &mut self,
        node: &Node,
        text: &str,
        operand: Option<&Node>,
    ) -> Result<Resolved, EvalError<E>> {
        let mut ty = match (synthetic::spelled_type(self.symbols, text), operand) {
            (Some(ty), _) => ty,
            (None, Some(operand)) => self.node(operand)?.ty,
            (None, None) => {
                return self.at_part(node, Err(Error::NoType { name: text.to_owned() }));
            }
        };
        if let Kind::Pointer(Pointer { reference: true, .. }) = ty.plain().kind() {
            ty = self.at_part(node, self.pointee(&ty))?;
        }
        let unknown = || Error::NoSize { in_type: ty.name().to_owned() };
        let size = self.at_part(node, ty.size().ok_or_else(unknown))?;
        Ok(synthetic::size(size))
    }

    /// Returns a number, or for an array its address.
    fn address_or_number(&mut self, node: &Node) -> Result<i128, EvalError<E>> {
        let found = self.behind_reference(node)?;
        match (&found.storage, found.ty.array()) {
            (Storage::Address(address), Some(_)) => Ok(i128::from(*address)),
            _ => self.number(node, &found),
        }
    }

    /// Returns the value of a part as a number, read from memory if needed.
    fn number(&mut self, node: &Node, found: &Resolved) -> Result<i128, EvalError<E>> {
        let no_address = |storage: &Storage| Error::NoAddress {
            name: self.expression.part(node),
            storage: storage.to_string(),
        };
        if let Storage::Elsewhere(_) | Storage::Moving(_) = found.storage {
            return self.at_part(node, Err(no_address(&found.storage)));
        }
        if found.ty.size().is_none_or(|size| size > 8) {
            return self.at_part(node, Err(not_a_number(&found.ty)));
        }
        let value = found.value(self.read).map_err(|(address, length, error)| {
            let part = self.expression.part(node);
            EvalError::Memory { part, address, length, error }
        })?;
        self.at_part(node, as_number(&value).ok_or_else(|| not_a_number(&found.ty)))
    }
}

fn integer(of: Integer) -> Resolved {
    synthetic::integer(of.value, of.size, of.signed)
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

/// Applies one step inside a type, in memory or in a constant's bytes.
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
