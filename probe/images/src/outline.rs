//! Every member of a structure in L1, resolved once per image, for a screen to fold, filter and
//! decode.

use super::pointers::{Pointed, pointed};
use layouts::ChipLayout;
use std::fmt;
use std::sync::Arc;
use symbols::{Bits, Field, Kind, Symbols, Type, Value};

/// The most nodes of an outline; the largest known structure has a thousand.
const MOST_NODES: usize = 16_384;
/// Deeper records are not opened.
const DEEPEST: u8 = 16;
/// Larger arrays of numbers are records such as a profiler's: they are read only on request.
const LARGE_BYTES: u64 = 512;

/// The pointers to the structures that firmware shares with the host.
const SHARED: [&str; 3] = ["erisc_info", "mailboxes", "routing_info"];

/// A structure and its members in source order, each before its own members.
#[derive(Clone)]
pub struct Outline(Arc<Inner>);

struct Inner {
    nodes: Vec<OutlineMember>,
    /// The nodes without members, by address; of two at one address the narrower.
    leaves: Vec<u32>,
    spans: Vec<(u64, u64)>,
}

/// A member, an element, or the whole structure.
#[derive(Clone, Debug)]
pub struct OutlineMember {
    /// The full path, such as `mailboxes.go_messages[0].signal`.
    pub path: String,
    /// Index of the node's own name in the path.
    own: usize,
    /// Number of enclosing nodes.
    pub depth: u8,
    /// Tile-local address of its first byte.
    pub addr: u64,
    /// Size in bytes; for a bit-field, of the bytes that hold it.
    pub size: u64,
    /// The type.
    pub ty: Type,
    /// For a bit-field: number of bits, and their distance from the lowest bit of the first byte.
    bits: Option<(u32, u32)>,
    /// Index of the next node that is not inside this one.
    pub end: usize,
}

impl OutlineMember {
    /// Returns the last part of the path.
    pub fn name(&self) -> &str {
        self.path.get(self.own..).map_or("", |own| own)
    }

    /// Decodes the node's bytes.
    pub fn value(&self, bytes: &[u8]) -> Value {
        let Some((bit_size, bit_shift)) = self.bits else { return self.ty.decode(bytes) };
        let signed = self.ty.is_signed();
        let (offset, size) = (0, self.size);
        let field = Field { offset, size, count: 1, stride: size, bit_size, bit_shift, signed };
        let (Some(raw), Some(value)) = (field.read(bytes), field.read_signed(bytes)) else {
            return Value::Unread;
        };
        let number = if signed { i128::from(value) } else { i128::from(raw) };
        match self.ty.enumeration() {
            Some(names) => Value::Enum { name: names.name_of(number).cloned(), value: number },
            None if signed => Value::Signed(value),
            None => Value::Unsigned(raw),
        }
    }
}

impl Outline {
    /// Finds the structures that firmware shares with the host.
    pub(super) fn shared(layout: &ChipLayout, symbols: &Symbols) -> Vec<Self> {
        let found = SHARED.iter().filter_map(|name| Some((name, pointed(layout, symbols, name)?)));
        found.map(|(name, Pointed { base, ty })| Self::new(name, base, &ty)).collect()
    }

    /// Finds a global in L1; none if the image does not have it.
    pub(super) fn global(symbols: &Symbols, name: &str) -> Option<Self> {
        let place = symbols.locate(name).ok()?;
        Some(Self::new(name, place.address(), &place.ty))
    }

    fn new(name: &str, base: u64, ty: &Type) -> Self {
        let mut walk = OutlineWalk { nodes: Vec::new() };
        walk.node(name.to_owned(), 0, 0, base, ty);
        let nodes = walk.nodes;
        let mut leaves: Vec<u32> = (0..nodes.len())
            .filter(|&i| nodes.get(i).is_some_and(|node| node.end == i + 1 && node.size > 0))
            .map(|i| i as u32)
            .collect();
        let at = |i: &u32| nodes.get(*i as usize).map_or((0, 0), |node| (node.addr, node.size));
        leaves.sort_by_key(at);
        leaves.dedup_by_key(|i| at(i).0);
        let spans = spans(leaves.iter().map(at).filter(|(_, size)| *size <= LARGE_BYTES));
        Self(Arc::new(Inner { nodes, leaves, spans }))
    }

    /// Returns the nodes; the first is the whole structure.
    pub fn nodes(&self) -> &[OutlineMember] {
        &self.0.nodes
    }

    /// Returns the nodes without members that overlap these bytes of the tile, by address, each
    /// with its index among them.
    pub fn leaves(&self, from: u64, to: u64) -> impl Iterator<Item = (usize, &OutlineMember)> {
        let inner = &self.0;
        let node = |i: &u32| inner.nodes.get(*i as usize);
        let begins = |i: &u32| node(i).map_or(0, |node| node.addr);
        // A large node can begin long before `from`.
        let last = inner.leaves.partition_point(|i| begins(i) < to);
        let before = inner.leaves.get(..last).into_iter().flatten().enumerate();
        let before = before.filter_map(move |(n, i)| Some((n, inner.nodes.get(*i as usize)?)));
        before.filter(move |(_, node)| node.addr.saturating_add(node.size) > from)
    }

    /// Returns the ranges of all members but the large ones.
    pub fn spans(&self) -> &[(u64, u64)] {
        &self.0.spans
    }
}

/// Joins ranges that touch or overlap.
fn spans(parts: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    /// A gap of this many bytes is cheaper to read than to leave out.
    const BRIDGE: u64 = 64;
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (at, size) in parts {
        match joined.last_mut() {
            Some((start, len)) if at <= start.saturating_add(*len).saturating_add(BRIDGE) => {
                *len = (*len).max(at.saturating_add(size) - *start);
            }
            _ => joined.push((at, size)),
        }
    }
    joined
}

struct OutlineWalk {
    nodes: Vec<OutlineMember>,
}

impl OutlineWalk {
    fn node(&mut self, path: String, own: usize, depth: u8, addr: u64, ty: &Type) {
        let index = self.nodes.len();
        if index >= MOST_NODES {
            return;
        }
        // A type without a size takes no bytes.
        let size = ty.size().map_or(0, |size| size);
        let (ty, inside) = (ty.clone(), path.clone());
        self.nodes.push(OutlineMember {
            path,
            own,
            depth,
            addr,
            size,
            ty: ty.clone(),
            bits: None,
            end: 0,
        });
        if depth < DEEPEST {
            self.inside(&inside, depth + 1, addr, &ty);
        }
        self.close(index);
    }

    fn close(&mut self, index: usize) {
        let end = self.nodes.len();
        if let Some(node) = self.nodes.get_mut(index) {
            node.end = end;
        }
    }

    fn inside(&mut self, path: &str, depth: u8, addr: u64, ty: &Type) {
        match ty.plain().kind() {
            Kind::Record(_) => self.members(path, depth, addr, ty, DEEPEST),
            Kind::Array(array) if is_composite(&array.element) => {
                let (Some(count), Some(size)) = (array.count(), array.element.size()) else {
                    return;
                };
                // `node` adds nothing beyond the bound.
                for index in 0..count.min(MOST_NODES as u64) {
                    let own = format!("{path}[{index}]");
                    let at = addr.saturating_add(index.saturating_mul(size));
                    self.node(own, own_name(path), depth, at, &array.element);
                }
            }
            _ => {}
        }
    }

    /// Adds the members of a record; those of unnamed members are added at the same depth.
    fn members(&mut self, path: &str, depth: u8, addr: u64, ty: &Type, left: u8) {
        let Some(left) = left.checked_sub(1) else { return };
        for member in ty.members() {
            let at = addr.saturating_add(member.offset);
            match (&member.name, member.bits) {
                (None, None) => self.members(path, depth, at, &member.ty, left),
                (None, Some(_)) => {}
                (Some(name), None) => {
                    let own = path.len() + 1;
                    self.node(format!("{path}.{name}"), own, depth, at, &member.ty);
                }
                (Some(name), Some(bits)) => {
                    self.bits(format!("{path}.{name}"), path.len() + 1, depth, at, member, bits);
                }
            }
        }
    }

    fn bits(
        &mut self,
        path: String,
        own: usize,
        depth: u8,
        addr: u64,
        member: &symbols::Member,
        bits: Bits,
    ) {
        let index = self.nodes.len();
        if index >= MOST_NODES {
            return;
        }
        let shift = bits.offset.saturating_sub(member.offset.saturating_mul(8)).min(64);
        let count = bits.size.min(64);
        let (size, ty) = ((shift + count).div_ceil(8), member.ty.clone());
        let bits = Some((count as u32, shift as u32));
        self.nodes.push(OutlineMember { path, own, depth, addr, size, ty, bits, end: index + 1 });
    }
}

/// Returns the index of the last name in a path: an element is named after its array.
fn own_name(path: &str) -> usize {
    path.rfind('.').map_or(0, |dot| dot + 1)
}

fn is_composite(ty: &Type) -> bool {
    match ty.plain().kind() {
        Kind::Record(_) => true,
        Kind::Array(array) => is_composite(&array.element),
        _ => false,
    }
}

/// Equal if it is the same structure of the same image.
impl PartialEq for Outline {
    fn eq(&self, other: &Self) -> bool {
        let root = |outline: &Self| {
            outline.nodes().first().map(|root| (root.path.clone(), root.addr, root.size, root.end))
        };
        Arc::ptr_eq(&self.0, &other.0) || root(self) == root(other)
    }
}

impl Eq for Outline {}

impl fmt::Debug for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = self.nodes().first().map_or("", |root| &root.path);
        write!(f, "Outline({root}, {} nodes)", self.nodes().len())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn outline(name: &str) -> Outline {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware/cases/images/types.elf");
        let (symbols, _) = Symbols::load(std::fs::read(file).unwrap(), file).unwrap();
        Outline::new("it", 0x100, &symbols.type_named(name).unwrap())
    }

    #[test]
    fn bit_fields_have_the_bytes_that_hold_them_and_the_sign_of_their_type() {
        let packed = outline("packed_t");
        // low 0x1F, middle -1, straddles 0x1001; last 5, set.
        let word: u32 = 0x1F | 0x7F << 5 | 0x1001 << 12;
        let bytes = [word.to_le_bytes(), u32::from(5u8 | 1 << 3).to_le_bytes()].concat();
        let value = |node: &OutlineMember| {
            let start = (node.addr - 0x100) as usize;
            node.value(&bytes[start..start + node.size as usize]).to_string()
        };
        let found: Vec<_> = packed.nodes()[1..].iter().map(|n| (n.name(), value(n))).collect();
        let expected =
            [("low", "31"), ("middle", "-1"), ("straddles", "4097"), ("last", "5"), ("set", "1")];
        assert_eq!(found, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn elements_stand_in_their_array_and_spans_cover_everything() {
        let mailboxes = outline("mailboxes_t");
        let nodes = mailboxes.nodes();
        let at = |path: &str| nodes.iter().find(|node| node.path == path).unwrap();
        assert_eq!((at("it.launch[3]").addr, at("it.launch[3].enables").addr), (0x11C, 0x120));
        assert_eq!((at("it.launch[3]").name(), at("it.launch[3].ids").size), ("launch[3]", 4));
        assert_eq!(nodes[0].end, nodes.len());
        assert_eq!(mailboxes.spans(), [(0x100, 68)]);
        let over: Vec<_> = mailboxes.leaves(0x11E, 0x121).map(|(_, node)| &*node.path).collect();
        assert_eq!(over, ["it.launch[3].ids", "it.launch[3].enables"]);
    }
}
