//! The messages of EDM channels, counted at both ends of each link.

use super::edm_builder::EDM;
use super::edm_settings::Limits;
use images::{Image, ImageMap, ImageRole, Member};
use launch::records::{field, size};
use launch::{ControlError, constant_of, image};
use layouts::{CoreId, CoreKind, EthId};
use machine::place::Place;
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::Target;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The messages of the EDM channels of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdmBalance {
    /// Number of sender channels that were compared with their receivers.
    pub channels: usize,
    /// Messages sent that are not completed.
    pub in_flight: u64,
    /// What does not add up, one sentence each.
    pub miscounts: Vec<String>,
}

/// The words of an EDM that count its messages.
struct Counted<'a> {
    image: Arc<Image>,
    snapshot: &'a Snapshot,
    place: Place,
}

impl Counted<'_> {
    /// Returns a word of `edm_state`.
    fn number(&self, path: &str) -> Option<u64> {
        let member = self.image.state.iter().find(|member| *member.name == *path)?;
        let bytes = self.snapshot.bytes(self.place.at(member.addr), member.size).ok()?;
        Some(Member::value(bytes))
    }

    fn of_channel(&self, channel: u64, word: &str) -> Option<u64> {
        self.number(&format!("edm_state.channels[{channel}].{word}"))
    }
}

/// Counts the messages of every EDM channel whose both ends run, while nothing moves: what was sent
/// is completed or in a buffer of the receiver, and each buffer has its credit at the sender.
/// `running` are the cores on which a kernel runs. Writes nothing.
///
/// # Errors
/// `NoImage` or `NoMember`.
pub fn edm_balance(
    target: &mut dyn Target,
    images: &ImageMap,
    running: impl Iterator<Item = CoreId>,
) -> Result<EdmBalance, ControlError> {
    let mut balance = EdmBalance::default();
    let is_edm = |image: &Image| image.role == ImageRole::Kernel && image.name == EDM;
    let edms = running.filter(|core| {
        core.core == CoreKind::Erisc && images.resolved(*core).iter().any(|load| is_edm(load.image))
    });
    let place = |core: CoreId| Place { chip: core.chip, tile: core.tile };
    let edms: BTreeSet<Place> = edms.map(place).collect();
    let mesh = target.mesh();
    let runs = |end| mesh.place(end).is_ok_and(|at| edms.contains(&at));
    let links = mesh.links.iter().filter(|link| runs(link.a) && runs(link.b));
    let ends: Vec<(EthId, EthId)> =
        links.flat_map(|link| [(link.a, link.b), (link.b, link.a)]).collect();
    if ends.is_empty() {
        return Ok(balance);
    }
    let image = image(images, EDM)?;
    let place =
        |target: &dyn Target, end| -> Result<Place, ControlError> { Ok(target.mesh().place(end)?) };
    let mut spans = Vec::new();
    for (end, _) in &ends {
        let place = place(target, *end)?;
        spans.extend(image.state.iter().map(|it| Span { addr: place.at(it.addr), len: it.size }));
    }
    let snapshot = target.read(&Plan { spans });
    for (from, to) in ends {
        let counted = |place| Counted { image: Arc::clone(&image), snapshot: &snapshot, place };
        let (near, far) = (counted(place(target, from)?), counted(place(target, to)?));
        let channels = near.number("edm_state.args.channels").map_or(0, |count| count);
        for channel in 0..channels {
            let sends = near.number(&format!("edm_state.args.channel[{channel}].is_sender"));
            if sends == Some(1) {
                balance.channels += 1;
                let ends = Ends { from, to, near: &near, far: &far };
                ends.compare(target, images, channel, &mut balance)?;
            }
        }
    }
    Ok(balance)
}

/// Both ends of a link, the sender's first.
struct Ends<'a> {
    from: EthId,
    to: EthId,
    near: &'a Counted<'a>,
    far: &'a Counted<'a>,
}

impl Ends<'_> {
    fn compare(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
        channel: u64,
        balance: &mut EdmBalance,
    ) -> Result<(), ControlError> {
        let mut unequal = |what: String| {
            let Self { from, to, .. } = self;
            balance.miscounts.push(format!("channel {channel} from {from} to {to}: {what}"));
        };
        let counts = [
            self.near.of_channel(channel, "messages_sent"),
            self.near.of_channel(channel, "completed"),
            self.far.of_channel(channel, "messages_sent"),
            self.far.of_channel(channel, "completed"),
        ];
        let [Some(sent), Some(seen_completed), Some(_), Some(completed)] = counts else {
            unequal("its counts cannot be read".to_owned());
            return Ok(());
        };
        let (credits, buffers) = self.spans(images, channel)?;
        let both = credits.iter().chain(&buffers).copied().collect();
        let snapshot = target.read(&Plan { spans: both });
        let full = |spans: &[Span]| {
            let words = spans.iter().filter_map(|span| snapshot.word(span.addr).ok());
            words.filter(|bytes_sent| *bytes_sent != 0).count() as u64
        };
        let (credits, buffers) = (full(&credits), full(&buffers));
        let in_flight = sent.wrapping_sub(completed);
        if in_flight != buffers {
            unequal(format!(
                "{sent} messages sent, {completed} completed, and {buffers} in buffers of the receiver"
            ));
        }
        if credits != buffers {
            unequal(format!(
                "{buffers} messages in buffers of the receiver, and {credits} without completion at the sender"
            ));
        }
        if seen_completed > completed {
            unequal(format!(
                "the sender saw {seen_completed} completions, and the receiver sent {completed}"
            ));
        }
        balance.in_flight += buffers;
        Ok(())
    }

    /// Returns the `bytes_sent` of the sender's credits and of the receiver's buffers.
    fn spans(
        &self,
        images: &ImageMap,
        channel: u64,
    ) -> Result<(Vec<Span>, Vec<Span>), ControlError> {
        let argument = |counted: &Counted<'_>, name: &str| {
            let path = format!("edm_state.args.{name}");
            let missing = || ControlError::NoMember(EDM.to_owned(), path.clone());
            counted.number(&path).ok_or_else(missing)
        };
        let limits = Limits::of(images)?;
        let sync = u64::from(limits.sync);
        let words = u64::from(constant_of(images, EDM, "EDM_WORDS")?);
        let credits = field(&self.near.image, "edm_words_t.credits")?;
        let each = size(&self.near.image, "eth_channel_sync_t")?;
        let count = argument(self.near, "buffers_per_channel")?.min(limits.buffers.into());
        let bytes = argument(self.far, "buffer_bytes")?;
        let start = argument(self.far, "buffers_address")?;
        let word = |place: Place, at: u64| Span { addr: place.at(at), len: 4 };
        let credit = |buffer| words + credits.offset + channel * credits.stride + buffer * each;
        let tail = |buffer| start + (channel * count + buffer) * (bytes + sync) + bytes;
        let near = (0..count).map(|buffer| word(self.near.place, credit(buffer)));
        let far = (0..count).map(|buffer| word(self.far.place, tail(buffer)));
        Ok((near.collect(), far.collect()))
    }
}
