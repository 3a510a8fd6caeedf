//! Collectives that were launched incompletely, or differently at the two ends of a link.

use super::Staged;
use super::collective::{Collective, Length, OPS, TILES, draw, edm};
use super::ground::{ANY, Bed, Ground, brisc, erisc, link_root};
use collectives::Program;
use collectives::edm_builder::EDM;
use diagnosis::{Condition, Place as Root};
use launch::{ControlError, Firmware, image, mailbox};
use layouts::{CoreId, CoreKind};
use machine::fault::CoreFault;
use machine::place::Place;
use machine::target::{Link, Target};
use studies::race;
use workloads::scene::SceneError;

/// A program, the EDMs of one of its links, and that link.
struct Ends {
    program: Program,
    link: Link,
    places: [Place; 2],
}

impl Ends {
    fn draw(bed: &mut Bed, length: Length) -> Result<Self, SceneError> {
        let program = draw(bed, &OPS, length)?;
        let place = edm(bed, &program)?;
        let link = bed.link(bed.eth(place)?)?;
        let mesh = bed.target.mesh();
        let end = |end| mesh.place(end).map_err(ControlError::from);
        let places = [end(link.a)?, end(link.b)?];
        Ok(Self { program, link, places })
    }

    /// The link, or the EDM at one of its ends.
    fn root(&self) -> Vec<Root> {
        let mut root = link_root(self.link);
        root.extend(self.places.map(|place| Root::Core(erisc(place))));
        root
    }
}

pub(super) fn peer_missing(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let mut program = draw(&mut bed, &OPS, Length::Middle)?;
    let missing = bed.dice.below(program.workers.len() as u64) as usize;
    let core = brisc(program.workers.remove(missing).place);
    bed.say(format!("the worker of {core} is not launched"));
    Collective::launch(bed, program, None)?.core_stands(Condition::IncrementNeverSent, core)
}

pub(super) fn message_missing(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let mut program = draw(&mut bed, &OPS, Length::Short)?;
    let senders = program.edms.iter().flat_map(|edm| {
        let channels = edm.channels.iter().enumerate().filter(|(_, channel)| channel.sends);
        channels
            .filter_map(|(number, channel)| Some((edm.place, number, *channel.workers.first()?)))
    });
    let senders: Vec<_> = senders.collect();
    let (place, number, worker) = bed.one(&senders, "sender channel")?;
    let eth = bed.eth(place)?;
    let peer = bed.link(eth)?.other_end(eth);
    let peer = peer.map(|peer| bed.target.mesh().place(peer)).transpose();
    let peer = peer.map_err(ControlError::from)?;
    let more = 1 + bed.dice.below(5) as u32;
    for edm in program.edms.iter_mut().filter(|edm| edm.place == place || Some(edm.place) == peer) {
        edm.channels.iter_mut().skip(number).take(1).for_each(|channel| channel.messages += more);
    }
    bed.say(format!("channel {number} of {eth} waits for {more} messages more than are sent"));
    let bed = Collective::launch(bed, program, None)?.bed;
    let root = vec![Root::Core(brisc(worker)), Root::Core(erisc(place))];
    bed.hung(Condition::IncrementNeverSent, root)
}

/// An argument of one EDM differs from that of its peer.
pub(super) fn ends_differ(ground: Ground) -> Result<Staged, SceneError> {
    const MEMBERS: [(&str, u32); 3] =
        [("buffers_per_channel", 1), ("buffer_bytes", 32), ("termination_mode", 1)];
    let mut bed = ground.boot(ANY, TILES)?;
    let ends = Ends::draw(&mut bed, Length::Middle)?;
    let place = bed.one(&ends.places, "EDM")?;
    let (member, more) = bed.one(&MEMBERS, "argument")?;
    let root = ends.root();
    let mut bed = Collective::launch(bed, ends.program, Some(erisc(place)))?.bed;
    let arguments = bed.images.layout().eth.l1.kernel_config.at;
    let at = arguments + bed.offset(EDM, &format!("edm_args_t.{member}"))?;
    let value = bed.word(place, at)?;
    let other = if member == "termination_mode" { value ^ more } else { value + more };
    bed.say(format!("{member} is {other} on {place} and {value} at its peer"));
    bed.put(place, at, other)?;
    bed.core_fault(erisc(place), CoreFault::Released)?;
    bed.hung(Condition::EndsDiffer, root)
}

/// Neither end of a link begins the handshake, or both do.
pub(super) fn handshake_impossible(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let mut ends = Ends::draw(&mut bed, Length::Middle)?;
    let both = bed.dice.below(2) == 0;
    for edm in ends.program.edms.iter_mut().filter(|edm| ends.places.contains(&edm.place)) {
        edm.handshake_sender = both;
    }
    let (which, Link { a, b }) = (if both { "both ends" } else { "no end" }, ends.link);
    bed.say(format!("{which} of link {a}-{b} begins the handshake"));
    let root = ends.root();
    let bed = Collective::launch(bed, ends.program, None)?.bed;
    bed.hung(Condition::CannotWork, root)
}

/// The launcher is killed between the go messages of two chips.
pub(super) fn launcher_killed(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let program = draw(&mut bed, &OPS, Length::Middle)?;
    let mut chips = program.ranks.clone();
    bed.dice.shuffle(&mut chips);
    chips.truncate(1 + bed.dice.below(chips.len() as u64 - 1) as usize);
    let mut cores: Vec<CoreId> = program.workers.iter().map(|plan| brisc(plan.place)).collect();
    cores.extend(program.edms.iter().map(|plan| erisc(plan.place)));
    let unsent = cores.iter().filter(|core| chips.contains(&core.chip)).copied();
    let unsent: Vec<CoreId> = unsent.collect();
    // The cores stand until the messages that were never sent are gone.
    let mut bed = Collective::launch_holding(bed, program, unsent.clone())?.bed;
    for core in unsent {
        unsend(&mut bed, core)?;
        bed.core_fault(core, CoreFault::Released)?;
    }
    bed.say(format!("its launcher is killed before the go messages of {} chips", chips.len()));
    let mut root: Vec<Root> = cores.into_iter().map(Root::Core).collect();
    root.push(Root::Host);
    bed.hung(Condition::Leftover, root)
}

/// Takes the go message of a core back, as if it had not been sent.
fn unsend(bed: &mut Bed, core: CoreId) -> Result<(), SceneError> {
    let firmware = Firmware::BUILT_IN;
    let eth = core.core == CoreKind::Erisc;
    let name = if eth { firmware.application } else { firmware.tensix[0] };
    let image = image(&bed.images, name)?;
    let mailbox = mailbox(&image)?;
    let (at, shift) = mailbox.go_word();
    // An application that waits for its first kernel leaves the first signal in place.
    let before = if eth { mailbox.signals.init } else { mailbox.signals.done };
    bed.put(Place { chip: core.chip, tile: core.tile }, at, u32::from(before) << shift)
}

/// The first of two ops on a link ended while its credits were in flight, and the second takes
/// them for its own.
pub(super) fn credits_in_flight(mut ground: Ground) -> Result<Staged, SceneError> {
    let mesh = ground.mesh(&[("n300", 4), ("t3000", 1)]);
    let (target, images, round) =
        race::leave_stuck(mesh, race::Kind::Completion, &mut ground.dice)?;
    let mut bed = ground.bed(mesh, target, images);
    let (a, b) = round.ends;
    let mut root = vec![Root::link(&Link { a, b })];
    for end in [a, b] {
        let place = bed.target.mesh().place(end).map_err(ControlError::from)?;
        bed.counts(place, "link_race")?;
        root.push(Root::Core(erisc(place)));
    }
    bed.say(format!("two ops on link {a}-{b}: {:?}", round.draw));
    bed.hung(Condition::TeardownInFlight, root)
}
