//! Two meshes compared byte for byte.

use super::Mesh;
use crate::chip::tile::Tile;
use crate::chip::{Chip, Unit};
use crate::devices::passive::{Backend, Passive};
use crate::hart::core::Hart;
use crate::hart::mode::{FIRST_LOCAL, Mode};
use crate::hart::{HartGroup, LOCAL_BYTES};
use crate::memory::TileMemory;
use std::fmt::Debug;

impl Mesh {
    /// Returns the first difference between two meshes, in words; `None` if everything that
    /// software or a debugger can see, now or ever, is equal: L1, DRAM, registers, harts, packets in
    /// flight, conditions. Which harts sleep does not count.
    pub fn difference(&mut self, other: &mut Self) -> Option<String> {
        compare(self, other).err()
    }
}

/// The outcome of a comparison: what differs.
type Compared = Result<(), String>;

fn compare(a: &mut Mesh, b: &mut Mesh) -> Compared {
    equal("cycle", &a.now, &b.now)?;
    equal("links up", &a.links_up, &b.links_up)?;
    equal("conditions", &a.conditions, &b.conditions)?;
    same_text("disruptions", &a.disruptor, &b.disruptor)?;
    same_text("config space", &a.spaces, &b.spaces)?;
    let now = a.now;
    for (index, (a, b)) in a.chips.iter_mut().zip(&mut b.chips).enumerate() {
        chips(a, b, now).map_err(|found| format!("chip {index}: {found}"))?;
    }
    Ok(())
}

fn equal<T: PartialEq + Debug>(what: &str, a: &T, b: &T) -> Compared {
    if a == b { Ok(()) } else { Err(format!("{what}: {a:?} and {b:?}")) }
}

/// Compares what has no equality of its own by all its fields.
fn same_text(what: &str, a: &impl Debug, b: &impl Debug) -> Compared {
    equal(what, &format!("{a:?}"), &format!("{b:?}"))
}

fn chips(a: &mut Chip, b: &mut Chip, now: u64) -> Compared {
    equal("windows", &a.windows, &b.windows)?;
    equal("dead", &a.dead, &b.dead)?;
    for index in 0..a.units.len() {
        for chip in [&mut *a, &mut *b] {
            chip.catch_up(index, now);
        }
        match (&a.units[index], &b.units[index]) {
            (Unit::Core(a), Unit::Core(b)) => {
                tiles(a, b, now).map_err(|found| format!("tile {:?}: {found}", a.blocks.at))?;
            }
            (Unit::Passive(a), Unit::Passive(b)) => {
                passives(a, b).map_err(|found| format!("unit {index}: {found}"))?;
            }
            _ => return Err(format!("unit {index}: its kind")),
        }
    }
    Ok(())
}

fn tiles(a: &Tile, b: &Tile, now: u64) -> Compared {
    let (x, y) =
        (a.memory.slice(0, a.memory.len() as usize), b.memory.slice(0, b.memory.len() as usize));
    if x != y {
        let bytes = x.iter().flat_map(|x| x.iter()).zip(y.iter().flat_map(|y| y.iter()));
        let at = bytes.enumerate().find(|(_, (x, y))| x != y);
        return Err(format!("L1 at {:#x?}", at.map(|(at, _)| at)));
    }
    equal("code out of date", &a.memory.stale, &b.memory.stale)?;
    equal("hung", &a.hung, &b.hung)?;
    for (one, other) in a.group.harts.iter().zip(&b.group.harts) {
        let of_hart = |found| format!("hart {}: {found}", one.index);
        harts((&a.group, one, &a.memory), (&b.group, other, &b.memory), now).map_err(of_hart)?;
    }
    equal("orders", &a.group.orders, &b.group.orders)?;
    let (a, b) = (&a.blocks, &b.blocks);
    same_text("NIUs", &a.niu, &b.niu)?;
    same_text("debug registers", &a.debug, &b.debug)?;
    same_text("streams", &a.streams, &b.streams)?;
    same_text("blocks", &a.special, &b.special)?;
    same_text("events", &a.events.sorted(), &b.events.sorted())
}

type HartAndMemory<'a> = (&'a HartGroup, &'a Hart, &'a TileMemory);

fn harts(a: HartAndMemory<'_>, b: HartAndMemory<'_>, now: u64) -> Compared {
    let ((group_a, a, memory_a), (group_b, b, memory_b)) = (a, b);
    equal("state", &a.state, &b.state)?;
    equal("pc", &group_a.pc(a.index), &group_b.pc(b.index))?;
    equal("retired", &group_a.retired(a.index), &group_b.retired(b.index))?;
    equal("registers and private RAM", &slots(a, memory_a, now), &slots(b, memory_b, now))?;
    equal("reset pc and CSR", &(a.reset_pc, a.csr), &(b.reset_pc, b.csr))?;
    equal("instruction RAM", &a.iram, &b.iram)?;
    same_text("debugger", &a.debugger, &b.debugger)
}

/// Returns the registers and private RAM at a cycle.
fn slots(hart: &Hart, memory: &TileMemory, cycle: u64) -> Vec<u32> {
    let count = FIRST_LOCAL + LOCAL_BYTES as u32 / 4;
    let mut slots: Vec<u32> = (0..count).map(|slot| hart.slot(slot, memory)).collect();
    if let Mode::Sleep(sleep) = &hart.mode {
        sleep.state(cycle, |slot, value| {
            if let Some(place) = slots.get_mut(slot as usize) {
                *place = value;
            }
        });
    }
    slots
}

fn passives(a: &Passive, b: &Passive) -> Compared {
    same_text("NIUs", &a.ports, &b.ports)?;
    equal("hung", &a.hung, &b.hung)?;
    same_text("events", &a.events.sorted(), &b.events.sorted())?;
    match (&a.backend, &b.backend) {
        (Backend::Dram(a), Backend::Dram(b)) if a.equals(b) => Ok(()),
        (Backend::Arc(a), Backend::Arc(b)) => same_text("ARC", a, b),
        (Backend::Pcie(a), Backend::Pcie(b)) => equal("endpoint", &a.registers(), &b.registers()),
        (Backend::Router, Backend::Router) => Ok(()),
        _ => Err("memory".into()),
    }
}
