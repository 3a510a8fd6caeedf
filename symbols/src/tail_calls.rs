//! Frames that tail calls removed from a stack: by which jumps a called function can have reached
//! the one that runs, from the compiler's list of calls.

use std::collections::{BTreeMap, BTreeSet};

use crate::inner::Inner;
use crate::units::DieId;

/// The most jumps followed for one frame.
const MAX_JUMPS: usize = 1 << 10;

/// The tail calls between a function and the function that its return address is in.
#[derive(Default)]
pub(crate) struct Removed {
    /// The addresses after the certain ones, innermost first.
    pub(crate) certain: Vec<u32>,
    /// The place among them where others, which are not certain, are missing.
    pub(crate) missing_at: Option<usize>,
}

/// A tail call, by the first addresses of both functions.
#[derive(Clone, Copy)]
struct Jump {
    from: u32,
    to: u32,
    after: u32,
}

type Jumps = BTreeMap<u32, Vec<Jump>>;

/// Returns the tail calls between the function at `at` and its return address. The call before that
/// address tells which function was called; without its entry nothing is known, and nothing is
/// missing.
pub(crate) fn removed(inner: &Inner, at: u32, back: u32) -> Removed {
    let called = inner.functions().callee(back).map_or_else(Vec::new, |it| starts(inner, it));
    let described = called.iter().all(|it| inner.functions().tail_calls.contains_key(it));
    let Some(own) = start(inner, at).filter(|own| described && !called.contains(own)) else {
        return Removed::default();
    };
    if called.is_empty() {
        return Removed::default();
    }
    match jumps(inner, &called, own) {
        Some(into) => certain(&called, own, &into),
        None => Removed { certain: Vec::new(), missing_at: Some(0) },
    }
}

/// Returns the first address of the function at an address.
fn start(inner: &Inner, at: u32) -> Option<u32> {
    let described = inner.functions().start_of(at);
    described.or_else(|| inner.symbol_at(at).map(|symbol| symbol.address as u32))
}

/// Returns the first addresses of a function: its clones have one each, and a declaration has that
/// of its symbol.
fn starts(inner: &Inner, function: DieId) -> Vec<u32> {
    let own = inner.functions().pieces_of(function).filter(|piece| !piece.inlined);
    let mut found: Vec<u32> =
        own.filter_map(|piece| inner.functions().start_of(piece.begin)).collect();
    if found.is_empty() {
        let view = inner.view();
        let name = view.linkage_name(function).or_else(|| view.full_name(function));
        let symbol = name.and_then(|name| inner.symbol_named(&name));
        found.extend(symbol.and_then(|symbol| start(inner, symbol.address as u32)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the jumps that `called` can lead to before `own` is reached, by the function they lead
/// to; none if some are not known.
fn jumps(inner: &Inner, called: &[u32], own: u32) -> Option<Jumps> {
    let mut into = Jumps::new();
    let mut open = called.to_vec();
    let (mut seen, mut left) = (BTreeSet::from([own]), MAX_JUMPS);
    seen.extend(called);
    while let Some(from) = open.pop() {
        let known = inner.functions().tail_calls.get(&from).filter(|known| known.all)?;
        for &(after, callee) in &known.sites {
            let targets = starts(inner, callee?);
            left = left.checked_sub(targets.len().max(1)).filter(|_| !targets.is_empty())?;
            for to in targets {
                into.entry(to).or_default().push(Jump { from, to, after });
                if seen.insert(to) {
                    open.push(to);
                }
            }
        }
    }
    Some(into)
}

/// Returns the tail calls that are on every way from `called` to `own`, as far as they are next to
/// one of both.
fn certain(called: &[u32], own: u32, into: &Jumps) -> Removed {
    let (mut out, mut open, mut seen) = (Jumps::new(), vec![own], BTreeSet::from([own]));
    while let Some(to) = open.pop() {
        for jump in into.get(&to).into_iter().flatten() {
            out.entry(jump.from).or_default().push(*jump);
            if seen.insert(jump.from) {
                open.push(jump.from);
            }
        }
    }
    let mut inner = Vec::new();
    let mut at = own;
    while let Some([jump]) = into.get(&at).filter(|_| !called.contains(&at)).map(Vec::as_slice) {
        inner.push(jump.after);
        at = jump.from;
    }
    if called.contains(&at) && !into.contains_key(&at) {
        return Removed { certain: inner, missing_at: None };
    }
    let mut outer = Vec::new();
    let mut next = called.first().filter(|_| called.len() == 1);
    while let Some([jump]) = next.and_then(|at| out.get(at)).map(Vec::as_slice) {
        outer.insert(0, jump.after);
        next = Some(&jump.to);
    }
    if next == Some(&own) {
        return Removed { certain: outer, missing_at: None };
    }
    outer.retain(|after| !inner.contains(after));
    let missing_at = Some(inner.len());
    inner.extend(outer);
    Removed { certain: inner, missing_at }
}
