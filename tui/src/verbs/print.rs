//! `print`: the value of an expression on one core, by the names of the images that run there.

use super::{Style, open};
use crate::exit::{Failure, Outcome};
use crate::locate::{self, Where};
use crate::machine::{Machine, Opening};
use crate::output::{json, say, text};
use crate::shape::Printed;
use crate::words;
use layouts::{CoreAddr, CoreId, CoreKind, NocAddr, wormhole};
use probe::images::{ImageMap, Load, written_out};
use probe::snapshot::{AccessError, Plan, Span};
use probe::target::{Mesh, Preview, Target};
use std::fmt;
use symbols::{EvalError, Evaluated, Expression, Storage};

/// Images with how they are known to run.
type Candidates<'i> = Vec<Load<'i>>;

/// What is asked where; understood before a target is opened.
pub(super) struct Question {
    place: Where,
    text: String,
    expression: Expression,
    image: Option<String>,
}

/// Why memory cannot be had.
#[derive(Clone, Debug)]
pub(crate) enum Unread {
    /// Only the core itself sees it, or nothing stands there.
    Nowhere(String),
    /// The target did not give it.
    Access(AccessError),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere(why) => f.write_str(why),
            Self::Access(error) => write!(f, "{error}"),
        }
    }
}

impl Unread {
    /// The word that JSON promises, and the sentence.
    pub(crate) fn told(&self) -> (&'static str, String) {
        match self {
            Self::Nowhere(why) => ("private", why.clone()),
            Self::Access(error) => (words::reason(error), error.to_string()),
        }
    }
}

impl Question {
    /// Understands the words of a person.
    pub(super) fn of(core: &str, text: &str, image: Option<&str>) -> Result<Self, Failure> {
        let place = locate::core(core).map_err(Failure::Usage)?;
        let wrong = |e| Failure::Usage(format!("{text}: {e}"));
        let expression = Expression::parse(text).map_err(wrong)?;
        Ok(Self { place, text: text.to_owned(), expression, image: image.map(str::to_owned) })
    }

    /// The core that is meant.
    fn core(&self, mesh: &Mesh) -> Result<CoreId, Failure> {
        let Where { chip, tile, core } = self.place;
        if !mesh.chips.iter().any(|known| known.id == chip) {
            return Err(Failure::Usage(format!("there is no chip {chip} in this mesh")));
        }
        let kind = wormhole().tile_at(tile).map(|tile| tile.kind);
        let cores = kind.map_or(&[][..], |kind| kind.cores());
        let meant: Option<CoreKind> = core.or(cores.first().copied());
        let none = || {
            let what = core.map_or("cores", CoreKind::name);
            Failure::Usage(format!("tile {chip}:{tile} has no {what}"))
        };
        let core = meant.filter(|core| cores.contains(core)).ok_or_else(none)?;
        Ok(CoreId { chip, tile, core })
    }

    /// The images that may know the names, kernels first, and the expression without an image's name before it.
    fn asked<'i>(
        &self,
        images: &'i ImageMap,
        core: CoreId,
    ) -> Result<(Candidates<'i>, Expression), Failure> {
        let mut on = images.believed(core);
        let (mut wanted, mut expression) = (self.image.as_deref(), self.expression.clone());
        if let (None, Some((name, rest))) = (wanted, self.text.split_once("::"))
            && on.iter().any(|load| load.image.name == name)
        {
            let wrong = |e| Failure::Usage(format!("{rest}: {e}"));
            (wanted, expression) = (Some(name), Expression::parse(rest).map_err(wrong)?);
        }
        if on.is_empty() {
            return Err(Failure::Usage(format!("{core}: it is not known what runs there")));
        }
        if let Some(wanted) = wanted {
            let names: Vec<_> = on.iter().map(|load| load.image.name.clone()).collect();
            on.retain(|load| load.image.name == wanted);
            if on.is_empty() {
                let names = names.join(", ");
                return Err(Failure::Usage(format!("{core} runs no {wanted}; it runs {names}")));
            }
        }
        Ok((on, expression))
    }
}

/// Prints the value.
pub(super) fn run(target: &Opening, style: Style, question: &Question) -> Result<Outcome, Failure> {
    let mut machine = open(target)?;
    let core = question.core(&machine.mesh())?;
    let session = machine.session();
    session.prove_on(core);
    let (target, images) = session.parts();
    let (on, expression) = question.asked(images, core)?;
    let Answer { load, found } = answer(target, core, &on, &expression)?;
    let printed = Printed::new(core, load.image, &question.text, &found);
    if style.json {
        json(&printed)?;
    } else {
        let by = format!("{}, {}", load.image.name, words::evidence(load.evidence));
        text(&lines(&question.text, &found, &by))?;
    }
    let Value::Missing(why) = &found.value else { return Ok(Outcome::Healthy) };
    match why {
        Unread::Access(error @ AccessError::Refused(_)) => {
            Err(Failure::of_access(&core.to_string(), error))
        }
        Unread::Access(AccessError::NotRecorded | AccessError::NotAsked) | Unread::Nowhere(_) => {
            say(&format!("{core}: {why}"));
            Ok(Outcome::Partial)
        }
        Unread::Access(error) => Err(Failure::of_access(&core.to_string(), error)),
    }
}

/// What an expression led to.
pub(crate) struct Found {
    /// The type's name.
    pub(crate) ty: String,
    /// Its size in bytes.
    pub(crate) size: Option<u64>,
    /// Where the value is.
    pub(crate) storage: Storage,
    /// The value.
    pub(crate) value: Value,
}

/// A value, or why there is none.
pub(crate) enum Value {
    /// What stands there.
    Known(symbols::Value),
    /// Why it could not be read.
    Missing(Unread),
}

impl Found {
    fn of(evaluated: Evaluated) -> Self {
        let Evaluated { ty, storage, value, .. } = evaluated;
        let value = match &storage {
            Storage::Elsewhere(_) | Storage::Moving(_) => {
                let why = format!("it is {storage}, where nothing outside the core can read it");
                Value::Missing(Unread::Nowhere(why))
            }
            _ => Value::Known(value),
        };
        Self { ty: ty.name().to_owned(), size: ty.size(), storage, value }
    }
}

/// What an image says.
struct Answer<'i> {
    load: Load<'i>,
    found: Found,
}

/// The answer of the first image that has one; one that says where the value is comes before one that does not.
fn answer<'i>(
    target: &mut dyn Target,
    core: CoreId,
    on: &[Load<'i>],
    expression: &Expression,
) -> Result<Answer<'i>, Failure> {
    let mut second = None;
    let mut wrong: Option<String> = None;
    for &load in on {
        let image = load.image;
        let answer = |found| Answer { load, found };
        let read = |addr: u64, bytes: &mut [u8]| read(target, core, moved(&load, addr), bytes);
        let written_out = written_out(&image.symbols, expression.text());
        let written_out = written_out.and_then(|text| Expression::parse(&text).ok());
        let expression = written_out.as_ref().unwrap_or(expression);
        match image.symbols.evaluate(expression, read) {
            Ok(evaluated) => {
                let found = Found::of(evaluated);
                if matches!(found.value, Value::Known(_)) {
                    return Ok(answer(found));
                }
                second.get_or_insert(answer(found));
            }
            Err(EvalError::Memory { address, length, error, .. }) => {
                let resolved = image.symbols.resolve(expression, |_, _: &mut [u8]| Err(()));
                let ty = resolved.ok().map(|found| (found.ty.name().to_owned(), found.ty.size()));
                let (ty, size) = ty.unwrap_or_else(|| ("?".to_owned(), Some(length)));
                let (storage, value) = (Storage::Address(address), Value::Missing(error));
                return Ok(answer(Found { ty, size, storage, value }));
            }
            Err(error) => {
                // Who knows the first name says what is wrong with the rest.
                let text = format!("{}: {error}", image.name);
                let knows = !matches!(
                    &error,
                    EvalError::Wrong { error: symbols::Error::NoVariable { .. }, .. }
                );
                if wrong.is_none() || knows {
                    wrong = Some(text);
                }
            }
        }
    }
    let names = || on.iter().map(|load| load.image.name.as_str()).collect::<Vec<_>>().join(", ");
    second.ok_or_else(|| {
        let why = wrong.unwrap_or_default();
        Failure::Usage(if on.len() > 1 {
            format!("{core}: {why} (asked {})", names())
        } else {
            format!("{core}: {why}")
        })
    })
}

/// Where something stands: what was linked into code goes where the code goes.
fn moved(load: &Load<'_>, addr: u64) -> u64 {
    let holds = |at: &symbols::Segment<'_>| {
        at.executable && (at.address..at.address.saturating_add(at.memory_size)).contains(&addr)
    };
    match u32::try_from(addr) {
        Ok(linked) if load.bias != 0 && load.image.symbols.segments().iter().any(holds) => {
            linked.wrapping_add(load.bias).into()
        }
        _ => addr,
    }
}

/// Memory as the core sees it, read from outside.
fn read(target: &mut dyn Target, core: CoreId, addr: u64, bytes: &mut [u8]) -> Result<(), Unread> {
    let span = span(core, addr, bytes.len() as u64)?;
    let shot = target.read(&Plan { spans: vec![span] });
    bytes.copy_from_slice(shot.bytes(span.addr, span.len).map_err(Unread::Access)?);
    Ok(())
}

fn span(core: CoreId, addr: u64, len: u64) -> Result<Span, Unread> {
    let beyond = || Unread::Nowhere(format!("{addr:#x} is no address of a core"));
    let at = u32::try_from(addr).map_err(|_| beyond())?;
    let len = u32::try_from(len).map_err(|_| beyond())?;
    let outside =
        |why| Unread::Nowhere(format!("{addr:#x} cannot be read from outside the core: {why}"));
    let addr: NocAddr = wormhole().core_to_noc(core, CoreAddr(at)).map_err(outside)?;
    Ok(Span { addr, len })
}

fn lines(asked: &str, found: &Found, image: &str) -> String {
    let value = match &found.value {
        Value::Known(value) => value.to_string(),
        Value::Missing(_) => "?".to_owned(),
    };
    let place = match &found.storage {
        Storage::Address(at) => format!("at {at:#x}"),
        Storage::Constant(_) => "a constant of the debug information".to_owned(),
        elsewhere => elsewhere.to_string(),
    };
    let size = found.size.map_or_else(String::new, |size| format!(", {size} bytes"));
    format!("{asked} = ({}) {value}\n  {place}{size}, by {image}\n", found.ty)
}

/// What printing would touch first.
pub(super) fn preview(machine: &mut Machine, question: &Question) -> Preview {
    let Ok(core) = question.core(&machine.mesh()) else { return Preview::default() };
    let session = machine.session();
    let mut plans = session.plans_to_prove(core);
    let (target, images) = session.parts();
    let known = images.believed(core).into_iter().map(|load| load.image);
    let known: Vec<_> = known.chain(images.candidates(core.core).map(|image| &**image)).collect();
    let mut spans = Vec::new();
    for image in known {
        let asked = image.symbols.evaluate(&question.expression, |addr, bytes: &mut [u8]| {
            spans.extend(span(core, addr, bytes.len() as u64).ok());
            Err(())
        });
        if asked.is_ok() || !spans.is_empty() {
            break;
        }
    }
    plans.push(Plan { spans });
    target.preview(&plans)
}
