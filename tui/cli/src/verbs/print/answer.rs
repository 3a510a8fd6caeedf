//! Evaluates an expression by the images of a core, one after another.

use console::exit::Failure;
use console::found::{Found, Unread, Value};
use images::{Image, LoadedImage, ResolvedPointer, resolve_pointer};
use layouts::{ChipLayout, CoreAddr, CoreId, NocAddr, Reason};
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use std::collections::HashSet;
use std::fmt;
use symbols::{EvalError, Expression, Storage, Type};

/// Maximum number of suggested names.
const MAX_NEAR: usize = 3;

/// The answer of an image.
pub(super) struct Answer<'i> {
    pub(super) load: LoadedImage<'i>,
    pub(super) found: Found,
    /// The pointer whose value only the layouts contain.
    pub(super) pointer: Option<ResolvedPointer>,
}

/// The answer of the first image that has one; answers with the value's place take precedence.
pub(super) fn answer<'i>(
    target: &mut dyn Target,
    core: CoreId,
    on: &[LoadedImage<'i>],
    expression: &Expression,
) -> Result<Answer<'i>, Failure> {
    let mut second = None;
    let mut wrong = Wrong::default();
    for &load in on {
        let image = load.image;
        let (expression, pointer) = asking(image, expression);
        let answer = |found| Answer { load, found, pointer: pointer.clone() };
        let read =
            |addr: u64, bytes: &mut [u8]| read(target, image, core, moved(&load, addr), bytes);
        match image.symbols.evaluate(&expression, read) {
            Ok(evaluated) => {
                let found = Found::of(evaluated);
                if matches!(found.value, Value::Known(_)) {
                    return Ok(answer(found));
                }
                second.get_or_insert(answer(found));
            }
            Err(EvalError::Memory { address, length, error, .. }) => {
                let resolved = image.symbols.resolve(&expression, |_, _: &mut [u8]| Err(()));
                let ty = resolved.ok().map(|found| found.ty);
                let size = ty.as_ref().map_or(Some(length), Type::size);
                let (storage, value) = (Storage::Address(address), Value::Missing(error));
                return Ok(answer(Found { ty, size, storage, value }));
            }
            Err(error) => wrong.note(image, &error),
        }
    }
    let images: Vec<_> = on.iter().map(|load| load.image).collect();
    second.ok_or_else(|| wrong.failure(core, &images))
}

/// The expression as evaluated in this image.
pub(super) fn asking(
    image: &Image,
    expression: &Expression,
) -> (Expression, Option<ResolvedPointer>) {
    let pointer = resolve_pointer(image.layout, &image.symbols, expression.text());
    let rewritten = pointer.as_ref().and_then(|out| Expression::parse(&out.text).ok());
    match rewritten {
        Some(expression) => (expression, pointer),
        None => (expression.clone(), None),
    }
}

/// The error of an expression, by the image that knows most of it.
#[derive(Default)]
pub(super) struct Wrong {
    words: Option<String>,
    /// Similar names, of all images that do not know the first name.
    near: Vec<String>,
    knows: bool,
}

impl Wrong {
    /// Records the error of an image.
    pub(super) fn note<E: fmt::Display>(&mut self, image: &Image, error: &EvalError<E>) {
        let EvalError::Wrong { error: inner, .. } = error else { return };
        // An image that knows the first name reports the error of the rest.
        let knows = !matches!(inner, symbols::Error::NoVariable { .. });
        let near = image.symbols.suggestions(inner);
        match (knows, self.knows) {
            (_, true) => return,
            (true, false) => self.near = near,
            (false, false) => self.near.extend(near),
        }
        if self.words.is_none() || knows {
            self.words = Some(format!("{}: {error}", image.name));
        }
        self.knows |= knows;
    }

    /// The failure after all these images.
    pub(super) fn failure(self, core: CoreId, images: &[&Image]) -> Failure {
        let Self { words, mut near, .. } = self;
        let words = words.unwrap_or_default();
        let mut seen = HashSet::new();
        near.retain(|name| seen.insert(name.clone()));
        near.truncate(MAX_NEAR);
        let near = match near.as_slice() {
            [] => String::new(),
            names => format!("; did you mean {}?", names.join(", ")),
        };
        let searched = match images {
            [] | [_] => String::new(),
            _ => {
                let names: Vec<_> = images.iter().map(|image| image.name.as_str()).collect();
                format!(" (searched {})", names.join(", "))
            }
        };
        Failure::Usage(format!("{core}: {words}{searched}{near}"))
    }
}

/// The address after a move: addresses within code move with the code.
fn moved(load: &LoadedImage<'_>, addr: u64) -> u64 {
    let holds = |at: &symbols::Segment<'_>| {
        at.executable && (at.address..at.address.saturating_add(at.memory_size)).contains(&addr)
    };
    match u32::try_from(addr) {
        Ok(linked) if load.bias != 0 && load.image.segments().iter().any(holds) => {
            linked.wrapping_add(load.bias).into()
        }
        _ => addr,
    }
}

/// Memory as the core sees it, read from outside.
fn read(
    target: &mut dyn Target,
    image: &Image,
    core: CoreId,
    addr: u64,
    bytes: &mut [u8],
) -> Result<(), Unread> {
    let span = span(image.layout, core, addr, bytes.len() as u64)?;
    let snapshot = target.read(&Plan { spans: vec![span] });
    bytes.copy_from_slice(snapshot.bytes(span.addr, span.len).map_err(Unread::Access)?);
    Ok(())
}

pub(super) fn span(layout: &ChipLayout, core: CoreId, addr: u64, len: u64) -> Result<Span, Unread> {
    let beyond = || Unread::Unmapped(format!("{addr:#x} is not an address of a core"));
    let at = u32::try_from(addr).map_err(|_| beyond())?;
    let len = u32::try_from(len).map_err(|_| beyond())?;
    let outside = |why| {
        let text = format!("{addr:#x} cannot be read from outside the core: {why}");
        match why {
            Reason::Private { .. } => Unread::Nowhere(text),
            _ => Unread::Unmapped(text),
        }
    };
    let addr: NocAddr = layout.core_to_noc(core, CoreAddr(at)).map_err(outside)?;
    Ok(Span { addr, len })
}
