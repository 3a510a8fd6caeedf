//! Parses and prints faults: `link:<chip>.<channel>:<what>`,
//! `core:<chip>.<tile>[:<core>]:stuck`, `stream:<chip>.<tile>:<number>:held` and `chip:<chip>:dead`, with `@<from>[..<until>]`.

use super::{CoreFault, EMULATED, Fault, FaultError, FaultKind, LinkFault, StreamFault};
use crate::place::Place;
use crate::words::{UNITS, cycles_of};
use layouts::{ChipId, ChipLayout, CoreId, CoreKind, EthId, NocXy, TileKind};
use std::fmt;
use std::str::FromStr;

/// Defaults of the faults that take a value.
const FLAP_CYCLES: u64 = 5_000;
const SLOW_FACTOR: u32 = 4;
const BIT_ERROR_RATE: &str = "1e-6";
const SLOW_ACK_CYCLES: u64 = 2_000;
/// With a shorter period no packet would get through: a packet takes longer.
const SHORTEST_PERIOD_CYCLES: u64 = 100;
/// A link with a greater factor is as good as down.
const MOST_SLOW: u32 = 10_000;
/// With more than one wrong bit in 10,000 few packets arrive whole; such a link does not train.
const MOST_PER_TERABIT: u64 = 100_000_000;
/// The unit of bit error rates.
const TERABIT: u64 = 1_000_000_000_000;
/// Streams of a tile (wormhole.md 4.5).
const ETH_STREAMS: u8 = 32;
const TENSIX_STREAMS: u8 = 64;
/// The longest time is 100 s, as in a scene.
const LONGEST_CYCLES: u64 = 100_000_000_000;

type Parsed<T> = Result<T, String>;

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(words: &str) -> Result<Self, FaultError> {
        parse(words).map_err(|why| FaultError(format!("fault `{words}`: {why}")))
    }
}

fn parse(words: &str) -> Parsed<Fault> {
    let (what, when) = match words.split_once('@') {
        Some((what, when)) => (what, Some(when)),
        None => (words, None),
    };
    let (from_cycles, until_cycles) = when.map_or(Ok((0, None)), span)?;
    let Some((kind, rest)) = what.split_once(':') else {
        return Err(
            "expected link:<chip>.<channel>:<what>, core:<chip>.<tile>:stuck, stream:<chip>.<tile>:<number>:held or chip:<chip>:dead"
                .into(),
        );
    };
    let Some((place, fault)) = rest.rsplit_once(':') else {
        return Err(format!("the fault of {rest} is missing"));
    };
    let what = match kind {
        "link" => FaultKind::Link(link(place)?, link_fault(fault)?),
        "core" => FaultKind::Core(core(place)?, core_fault(fault)?),
        "stream" => {
            let (place, number) = stream(place)?;
            FaultKind::Stream(place, number, stream_fault(fault)?)
        }
        "chip" => FaultKind::Dead(dead(place, fault)?),
        _ => return Err(format!("`{kind}` is no link, core, stream or chip")),
    };
    let ends = matches!(
        what,
        FaultKind::Link(_, LinkFault::Up)
            | FaultKind::Core(_, CoreFault::Released)
            | FaultKind::Stream(_, _, StreamFault::Released)
            | FaultKind::Dead(_)
    );
    if ends && until_cycles.is_some() {
        return Err(format!("`{fault}` takes no end time"));
    }
    Ok(Fault { kind: what, from_cycles, until_cycles })
}

fn span(when: &str) -> Parsed<(u64, Option<u64>)> {
    let Some((from, until)) = when.split_once("..") else { return Ok((time(when)?, None)) };
    let (from, until) = (time(from)?, time(until)?);
    if until <= from {
        return Err(format!("`{when}` ends before it begins"));
    }
    Ok((from, Some(until)))
}

/// Parses a time with its unit, in cycles of 1 ns.
fn time(value: &str) -> Parsed<u64> {
    let cycles = cycles_of(value);
    let cycles =
        cycles.ok_or_else(|| format!("`{value}` is not a time such as 500ns, 10us or 2ms"))?;
    if cycles > LONGEST_CYCLES {
        return Err(format!("{value} is longer than 100s"));
    }
    Ok(cycles)
}

fn place(words: &str) -> Parsed<(ChipId, &str)> {
    let parts = words.split_once('.').and_then(|(chip, at)| Some((ChipId(chip.parse().ok()?), at)));
    parts.ok_or_else(|| format!("`{words}` is not of the form <chip>.<place>"))
}

/// Returns the layout of the chips that can be emulated.
fn layout() -> &'static ChipLayout {
    EMULATED.layout()
}

/// Parses an Ethernet channel, such as `8` or `e8`.
fn channel(words: &str) -> Parsed<u8> {
    let channel = words.strip_prefix('e').unwrap_or(words).parse().ok();
    let channel = channel.filter(|channel| *channel < layout().eth_channels());
    let last = layout().eth_channels() - 1;
    channel.ok_or_else(|| format!("`{words}` is not an Ethernet channel from 0 to {last}"))
}

fn link(words: &str) -> Parsed<EthId> {
    let (chip, at) = place(words)?;
    Ok(EthId { chip, channel: channel(at)? })
}

fn core(words: &str) -> Parsed<CoreId> {
    let (words, named) = match words.split_once(':') {
        Some((tile, core)) => (tile, Some(core)),
        None => (words, None),
    };
    let (chip, at) = place(words)?;
    let (tile, kind) = tile(at)?;
    let cores = kind.cores();
    let core = match named {
        Some(name) => cores.iter().find(|core| core.name() == name).copied(),
        None => cores.first().copied().filter(|_| cores.len() == 1),
    };
    let known = || cores.iter().map(|core| core.name()).collect::<Vec<_>>().join(", ");
    match (core, named) {
        (Some(core), _) => Ok(CoreId { chip, tile, core }),
        (None, _) if cores.is_empty() => Err(format!("tile {tile} has no core")),
        (None, Some(name)) => Err(format!("tile {tile} has no core `{name}`: {}", known())),
        (None, None) => Err(format!("tile {tile} has several cores, name one of {}", known())),
    }
}

/// Parses a tile of cores and the number of a stream of it, such as `0.e8:15`.
fn stream(words: &str) -> Parsed<(Place, u8)> {
    let Some((words, number)) = words.split_once(':') else {
        return Err(format!("the number of a stream of {words} is missing"));
    };
    let (chip, at) = place(words)?;
    let (tile, kind) = tile(at)?;
    let most = match kind {
        TileKind::Eth => ETH_STREAMS,
        TileKind::Tensix => TENSIX_STREAMS,
        _ => return Err(format!("tile {tile} has no stream")),
    };
    let stream = number.parse().ok().filter(|stream| *stream < most);
    let wrong = || format!("`{number}` is not a stream of tile {tile} from 0 to {}", most - 1);
    Ok((Place { chip, tile }, stream.ok_or_else(wrong)?))
}

/// Parses the chip that is dead.
fn dead(chip: &str, fault: &str) -> Parsed<ChipId> {
    if fault != "dead" {
        return Err(format!("`{fault}` is not a fault of a chip: dead"));
    }
    chip.parse().map(ChipId).map_err(|_| format!("`{chip}` is not the number of a chip"))
}

/// Parses a tile, such as `e8` or `1-1`.
fn tile(words: &str) -> Parsed<(NocXy, TileKind)> {
    if words.starts_with('e') {
        let xy = layout().eth_channel(channel(words)?);
        return xy
            .map(|xy| (xy, TileKind::Eth))
            .ok_or_else(|| format!("there is no tile `{words}`"));
    }
    let xy = words
        .split_once('-')
        .and_then(|(x, y)| Some(NocXy { x: x.parse().ok()?, y: y.parse().ok()? }));
    let tile = xy.and_then(|xy| layout().tile_at(xy));
    tile.map(|tile| (tile.xy, tile.kind)).ok_or_else(|| format!("there is no tile `{words}`"))
}

fn link_fault(words: &str) -> Parsed<LinkFault> {
    let (name, value) = match words.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (words, None),
    };
    Ok(match (name, value) {
        ("down", None) => LinkFault::Down,
        ("up", None) => LinkFault::Up,
        ("flap", value) => {
            let period_cycles = value.map_or(Ok(FLAP_CYCLES), time)?;
            if period_cycles < SHORTEST_PERIOD_CYCLES {
                return Err(format!("flap: the period is at least {SHORTEST_PERIOD_CYCLES}ns"));
            }
            LinkFault::Flap { period_cycles }
        }
        ("slow", value) => LinkFault::Slow { factor: value.map_or(Ok(SLOW_FACTOR), factor)? },
        ("bit-error", value) => {
            LinkFault::BitErrors { per_terabit: rate(value.unwrap_or(BIT_ERROR_RATE))? }
        }
        ("slow-ack", value) => {
            LinkFault::SlowAck { delay_cycles: value.map_or(Ok(SLOW_ACK_CYCLES), time)? }
        }
        _ => {
            return Err(format!(
                "`{words}` is not a fault of a link: down, up, flap=5us, slow=4x, bit-error=1e-6, slow-ack=2us"
            ));
        }
    })
}

fn core_fault(words: &str) -> Parsed<CoreFault> {
    match words {
        "stuck" | "stuck-core" => Ok(CoreFault::Stuck),
        "released" => Ok(CoreFault::Released),
        _ => Err(format!("`{words}` is not a fault of a core: stuck, released")),
    }
}

fn stream_fault(words: &str) -> Parsed<StreamFault> {
    match words {
        "held" => Ok(StreamFault::Held),
        "released" => Ok(StreamFault::Released),
        _ => Err(format!("`{words}` is not a fault of a stream: held, released")),
    }
}

fn factor(value: &str) -> Parsed<u32> {
    let factor = value.strip_suffix('x').and_then(|digits| digits.parse().ok());
    let factor = factor.filter(|factor| (2..=MOST_SLOW).contains(factor));
    factor.ok_or_else(|| format!("slow: `{value}` is not a factor from 2x to {MOST_SLOW}x"))
}

/// Parses a rate such as `1e-6` or `0.00001`, in wrong bits of 10^12.
fn rate(value: &str) -> Parsed<u64> {
    let share = value.parse::<f64>().ok().filter(|share| *share > 0.0);
    let share = share.map(|share| (share * TERABIT as f64).round() as u64);
    let share = share.filter(|share| (1..=MOST_PER_TERABIT).contains(share));
    share.ok_or_else(|| format!("bit-error: `{value}` is not a rate from 1e-12 to 1e-4"))
}

/// A time in cycles, printed in the greatest unit that divides it.
struct Time(u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, cycles): &&(&str, u64)| self.0 > 0 && self.0.is_multiple_of(*cycles);
        let (unit, cycles) = UNITS.iter().rev().find(fits).copied().unwrap_or(("ns", 1));
        write!(f, "{}{unit}", self.0 / cycles)
    }
}

impl fmt::Display for LinkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Down => f.write_str("down"),
            Self::Up => f.write_str("up"),
            Self::Flap { period_cycles } => write!(f, "flap={}", Time(period_cycles)),
            Self::Slow { factor } => write!(f, "slow={factor}x"),
            Self::BitErrors { per_terabit } => {
                write!(f, "bit-error={:e}", per_terabit as f64 / TERABIT as f64)
            }
            Self::SlowAck { delay_cycles } => write!(f, "slow-ack={}", Time(delay_cycles)),
        }
    }
}

/// The name of a tile in a fault.
fn tile_name(tile: NocXy) -> String {
    let channel = layout().tile_at(tile).and_then(|tile| tile.channel);
    let channel = channel.filter(|_| layout().kind_at(tile) == TileKind::Eth);
    channel.map_or_else(|| tile.to_string(), |channel| format!("e{channel}"))
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(end, fault) => write!(f, "link:{}.{}:{fault}", end.chip, end.channel),
            Self::Core(CoreId { chip, tile, core }, fault) => {
                let channel = layout().tile_at(*tile).and_then(|tile| tile.channel);
                match channel.filter(|_| *core == CoreKind::Erisc) {
                    Some(channel) => write!(f, "core:{chip}.e{channel}")?,
                    None => write!(f, "core:{chip}.{tile}:{}", core.name())?,
                }
                f.write_str(if *fault == CoreFault::Stuck { ":stuck" } else { ":released" })
            }
            Self::Stream(Place { chip, tile }, number, fault) => {
                let what = if *fault == StreamFault::Held { "held" } else { "released" };
                write!(f, "stream:{chip}.{}:{number}:{what}", tile_name(*tile))
            }
            Self::Dead(chip) => write!(f, "chip:{chip}:dead"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        match (self.from_cycles, self.until_cycles) {
            (0, None) => Ok(()),
            (from, None) => write!(f, "@{}", Time(from)),
            (from, Some(until)) => write!(f, "@{}..{}", Time(from), Time(until)),
        }
    }
}
