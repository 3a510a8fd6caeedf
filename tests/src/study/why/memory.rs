//! Collectives whose memory somebody has overwritten, or whose addresses are wrong.

use super::collective::{Collective, Length, OPS, TILES, WORKER, draw, edm};
use super::ground::{ANY, Bed, Ground, Meshes, SMALL, brisc, erisc};
use super::{Severity, Staged, Truth};
use collectives::Op;
use collectives::edm_builder::EDM;
use diagnosis::{Condition, Place as Root};
use launch::records::size;
use launch::{CONFIG_BASE, constant_of, image, semaphore_address};
use layouts::NocXy;
use machine::fault::CoreFault;
use machine::place::Place;
use machine::target::Target;
use workloads::scene::SceneError;

/// Kernels that are linked at the address of the workers.
const STALE: [&str; 3] = ["tensix_worker", "fabric_traffic", "dispatch"];

pub(super) fn text_overwritten(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Collective::begun(ground)?.run_on()?;
    let place = run.worker()?;
    let text = text(&run.bed, WORKER)?;
    let (what, bytes) = match run.bed.dice.below(3) {
        0 => ("zeros".to_owned(), vec![0; text.1.len()]),
        1 => {
            let word = run.bed.dice.next() as u32;
            let words = (0..text.1.len() as u32 / 4).flat_map(|n| (word + n).to_le_bytes());
            ("a tensor's data".to_owned(), words.collect())
        }
        _ => {
            let stale = run.bed.one(&STALE, "stale kernel")?;
            let mut bytes = self::text(&run.bed, stale)?.1;
            bytes.truncate(text.1.len());
            (format!("the text of {stale}"), bytes)
        }
    };
    run.bed.say(format!("the text of {WORKER} on {place} is overwritten by {what}"));
    run.bed.target.write(place.at(text.0), &bytes)?;
    run.core_stands(Condition::TextOverwritten, brisc(place))
}

/// Returns the text of a kernel, and its address.
fn text(bed: &Bed, kernel: &str) -> Result<(u64, Vec<u8>), SceneError> {
    let image = image(&bed.images, kernel)?;
    let segments = image.segments();
    let text = segments.iter().find(|segment| !segment.writable);
    let none = || SceneError::Image(format!("{kernel} has no text"));
    text.map(|text| (text.load_address, text.bytes.to_vec())).ok_or_else(none)
}

pub(super) fn semaphore_stale(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let program = draw(&mut bed, &OPS, Length::Middle)?;
    let place = edm(&mut bed, &program)?;
    let channels = program.edms.iter().find(|plan| plan.place == place);
    let channels = channels.map_or(1, |plan| plan.channels.len() as u64);
    let mut run = Collective::launch(bed, program, Some(erisc(place)))?;
    let channel = run.bed.dice.below(channels);
    let member = format!("edm_args_t.channel[{channel}].worker_semaphore_address");
    let arguments = run.bed.images.layout().eth.l1.kernel_config.at;
    let at = arguments + run.bed.offset(EDM, &member)?;
    let stale = 0x10 * run.bed.between(0xA000, 0x1_6000) as u32;
    run.bed.say(format!("channel {channel} of the EDM on {place} increments {stale:#x}"));
    run.bed.put(place, at, stale)?;
    run.bed.core_fault(erisc(place), CoreFault::Released)?;
    run.core_stands(Condition::StalePointer, erisc(place))
}

/// Time within which all credits of a worker that stands have come back, in cycles.
const BACK_CYCLES: u64 = 1_000_000;

/// The word with a worker's credits is overwritten by an older value.
pub(super) fn credits_lost(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Collective::begun(ground)?.run_on()?;
    let senders = run.program.workers.iter();
    let senders = senders.filter_map(|plan| Some((plan.place, plan.outbound?.edm)));
    let senders: Vec<(Place, Place)> = senders.collect();
    let Bed { images, .. } = &run.bed;
    let number = constant_of(images, WORKER, "CCL_SEMAPHORE_OUTBOUND")?;
    let bytes = size(&*image(images, WORKER)?, "ccl_worker_args_t")?;
    let word = semaphore_address(CONFIG_BASE, bytes, number);
    let (place, edm) = run.bed.one(&senders, "sender")?;
    // The worker stands meanwhile, so that no credit is on its way.
    run.bed.core_fault(brisc(place), CoreFault::Stuck)?;
    run.bed.target.pass(BACK_CYCLES)?;
    let (sent, _) = run.bed.variable(WORKER, "ccl_worker_state.packets_out")?;
    let (sent, credits) = (run.bed.word(place, sent)?, run.bed.word(place, word)?);
    run.bed.say(format!("the credits of {place} are overwritten: {sent} instead of {credits}"));
    run.bed.put(place, word, sent)?;
    run.bed.core_fault(brisc(place), CoreFault::Released)?;
    let root = vec![Root::Core(brisc(place)), Root::Core(erisc(edm))];
    run.bed.hung(Condition::CreditsWrong, root)
}

/// A collective of which one receiver stands before its go message, so that its arguments can be
/// changed.
fn held(ground: Ground, meshes: Meshes, length: Length) -> Result<(Collective, Place), SceneError> {
    let mut bed = ground.boot(meshes, TILES)?;
    let program = draw(&mut bed, &[Op::AllGather], length)?;
    let receivers = program.workers.iter().filter(|plan| plan.inbound.is_some());
    let places: Vec<Place> = receivers.map(|plan| plan.place).collect();
    let place = bed.one(&places, "receiver")?;
    Ok((Collective::launch(bed, program, Some(brisc(place)))?, place))
}

/// Changes an argument of a held worker, and lets it run. Returns its old value.
fn change(run: &mut Collective, at: Place, member: &str, new: u32) -> Result<u32, SceneError> {
    let offset = run.bed.offset(WORKER, &format!("ccl_worker_args_t.{member}"))?;
    let old = run.bed.word(at, CONFIG_BASE + offset)?;
    run.bed.put(at, CONFIG_BASE + offset, new)?;
    run.bed.core_fault(brisc(at), CoreFault::Released)?;
    Ok(old)
}

/// A worker's staging area overlaps its own text.
pub(super) fn regions_overlap(ground: Ground) -> Result<Staged, SceneError> {
    let (mut run, place) = held(ground, ANY, Length::Middle)?;
    let (start, text) = text(&run.bed, WORKER)?;
    let staging = (start + run.bed.dice.below(text.len() as u64 / 2)) as u32 & !31;
    let right = change(&mut run, place, "staging_address", staging)?;
    run.bed.say(format!("{place} stages its packets at {staging:#x} instead of {right:#x}"));
    run.core_stands(Condition::RegionsOverlap, brisc(place))
}

/// One worker needs much longer for a packet than the others.
pub(super) fn worker_slow(ground: Ground) -> Result<Staged, SceneError> {
    let (mut run, place) = held(ground, SMALL, Length::Fast)?;
    let cycles = run.bed.between(50_000, 300_000) as u32;
    let others = change(&mut run, place, "dwell_cycles", cycles)?;
    run.bed.say(format!("{place} needs {cycles} cycles for a packet, the others {others}"));
    run.bed.pass(3_000_000, 8_000_000)?;
    let (condition, severity) = (Condition::Slow, Severity::Slow);
    let truth = Truth { condition, severity, root: vec![Root::Core(brisc(place))] };
    Ok(run.bed.staged(Some(truth)))
}

/// An address behind the L1 of a compute tile.
const BEHIND_L1: u32 = 0x30_0000;

/// A bank of a worker's tensors is on a tile that is fused off, or behind the end of an L1.
pub(super) fn noc_unanswered(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let mut program = draw(&mut bed, &OPS, Length::Middle)?;
    let number = bed.dice.below(program.workers.len() as u64) as usize;
    let none = || SceneError::Wrong("the collective has no worker".to_owned());
    let plan = program.workers.get_mut(number).ok_or_else(none)?;
    let chip = plan.place.chip;
    let fused = fused_off(&bed, plan.place).filter(|_| bed.dice.below(2) == 0);
    let (tile, address) = if let Some(tile) = fused {
        (tile, None)
    } else {
        let tiles: Vec<_> = bed.target.mesh().compute_tiles(chip).skip(TILES).collect();
        (bed.one(&tiles, "idle tile")?.tile, Some(BEHIND_L1))
    };
    let bank = bed.dice.below(plan.banks.len() as u64) as usize;
    let worker = plan.place;
    for bank in plan.banks.iter_mut().skip(bank).take(1) {
        bank.place.tile = tile;
        bank.address = address.unwrap_or(bank.address);
    }
    bed.say(format!("bank {bank} of {worker} is on {chip}:{tile}, which does not answer"));
    let silent = Place { chip, tile };
    let root = vec![Root::Core(brisc(worker)), Root::Core(brisc(silent))];
    Collective::launch(bed, program, None)?.bed.hung(Condition::NocUnanswered, root)
}

/// Returns a tile of the same chip that is fused off.
fn fused_off(bed: &Bed, near: Place) -> Option<NocXy> {
    let chip = bed.target.mesh().chip(near.chip)?;
    let row = *chip.harvested_rows.as_ref()?.first()?;
    Some(NocXy { x: near.tile.x, y: row })
}
