//! Checks that everything that a program used, or that stands on the mesh, is at rest: every credit
//! word and every semaphore is then 0.

use super::edm_builder::EDM;
use super::program::Program;
use super::teardown::handshake;
use super::worker::worker_semaphore;
use images::{Image, ImageMap};
use launch::records::{field, size, variable, word_read};
use launch::{ControlError, constant_of, image, semaphore_address};
use layouts::NocAddr;
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::Target;

/// The addresses of the words that must be at rest.
#[derive(Clone, Debug)]
pub struct Rest {
    /// `bytes_sent` of the handshake and of the first credit, in an Ethernet tile.
    handshake: u64,
    credits: u64,
    /// Distance between the credits of two channels.
    channel_stride: u64,
    /// Distance between two credits, and bytes after each buffer.
    sync_bytes: u64,
    buffers: u64,
    /// Semaphores of an EDM, and of a worker.
    edm_semaphores: u64,
    worker_semaphores: Vec<u64>,
}

/// One word that must be 0.
struct RestWord {
    what: String,
    span: Span,
}

/// A word that is not at rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrest {
    /// The word, such as `credit 0 of channel 1`.
    pub what: String,
    /// Its address.
    pub addr: NocAddr,
    /// Its value.
    pub value: u32,
}

/// What decides which words an EDM uses.
struct EdmUse {
    /// Whether each channel sends.
    sends: Vec<bool>,
    semaphores: u64,
    buffers: u64,
    buffer_bytes: u64,
}

impl Rest {
    /// Finds the addresses in the images of the kernels.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`.
    pub fn new(images: &ImageMap) -> Result<Self, ControlError> {
        let edm = image(images, EDM)?;
        let words = u64::from(constant_of(images, EDM, "EDM_WORDS")?);
        let credits = field(&edm, "edm_words_t.credits")?;
        let base = images.layout().eth.l1.kernel_config.at;
        let names = ["CCL_SEMAPHORE_INBOUND", "CCL_SEMAPHORE_OUTBOUND", "CCL_SEMAPHORE_SIGNAL"];
        let semaphore = |name| worker_semaphore(images, name).map(u64::from);
        Ok(Self {
            handshake: handshake(images)?,
            credits: words + credits.offset,
            channel_stride: credits.stride,
            sync_bytes: size(&edm, "eth_channel_sync_t")?,
            buffers: constant_of(images, EDM, "EDM_BUFFERS")?.into(),
            edm_semaphores: semaphore_address(base, size(&edm, "edm_args_t")?, 0),
            worker_semaphores: names.into_iter().map(semaphore).collect::<Result<_, _>>()?,
        })
    }

    /// Reads every word; returns one sentence for each that is not at rest.
    ///
    /// # Errors
    /// If a word cannot be read.
    pub fn leftovers(
        &self,
        target: &mut dyn Target,
        program: &Program,
    ) -> Result<Vec<String>, AccessError> {
        let mut words = Vec::new();
        for edm in &program.edms {
            let workers = edm.channels.iter().map(|channel| channel.workers.len().max(1) as u64);
            let used = EdmUse {
                sends: edm.channels.iter().map(|channel| channel.sends).collect(),
                semaphores: workers.sum(),
                buffers: program.buffers_per_channel.into(),
                buffer_bytes: program.buffer_bytes.into(),
            };
            words.extend(self.of_edm(edm.place, &used));
        }
        words.extend(program.workers.iter().flat_map(|worker| self.of_worker(worker.place)));
        let layout = target.mesh().layout();
        let sentence = |Unrest { what, addr, value }: Unrest| {
            format!("{what} of {} is {value:#x}", Place::from(addr).name(layout))
        };
        Ok(not_at_rest(target, words)?.into_iter().map(sentence).collect())
    }

    /// Returns the words that are not at rest of tiles that hold an EDM, whose own arguments say
    /// which words it used, and of tiles that hold a worker.
    ///
    /// # Errors
    /// If a word cannot be read, or the EDM's image does not describe its arguments.
    pub fn standing(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
        edms: &[Place],
        workers: &[Place],
    ) -> Result<Vec<Unrest>, ControlError> {
        let edm = image(images, EDM)?;
        let mut words = Vec::new();
        for &place in edms {
            words.extend(self.of_edm(place, &EdmUse::read(target, &edm, place)?));
        }
        words.extend(workers.iter().flat_map(|place| self.of_worker(*place)));
        not_at_rest(target, words).map_err(ControlError::Gone)
    }

    fn of_edm(&self, place: Place, used: &EdmUse) -> Vec<RestWord> {
        let word = |at, what| RestWord { what, span: Span { addr: place.at(at), len: 4 } };
        let mut words = vec![word(self.handshake, "the handshake".to_owned())];
        for number in 0..used.semaphores {
            words.push(word(self.edm_semaphores + 16 * number, format!("semaphore {number}")));
        }
        let (buffers, stride) = (used.buffers, used.buffer_bytes + self.sync_bytes);
        for (number, sends) in (0..).zip(&used.sends) {
            for buffer in 0..buffers {
                let credit = self.credits + number * self.channel_stride + buffer * self.sync_bytes;
                let tail = self.buffers + (number * buffers + buffer) * stride + used.buffer_bytes;
                let at = if *sends { credit } else { tail };
                words.push(word(at, format!("credit {buffer} of channel {number}")));
            }
        }
        words
    }

    fn of_worker(&self, place: Place) -> Vec<RestWord> {
        let word = |(number, at): (usize, &u64)| RestWord {
            what: format!("semaphore {number}"),
            span: Span { addr: place.at(*at), len: 4 },
        };
        self.worker_semaphores.iter().enumerate().map(word).collect()
    }
}

impl EdmUse {
    /// Reads the arguments with which an EDM was launched last. An EDM that never began has none.
    fn read(target: &mut dyn Target, edm: &Image, place: Place) -> Result<Self, ControlError> {
        let args = |member: &str| {
            let found = variable(edm, &format!("edm_state.args.{member}"))?;
            Ok::<_, ControlError>(place.at(found.address()))
        };
        let most = |name: &str| edm.symbols.constant(name).and_then(|value| value.as_u64());
        let channels = most("EDM_MAX_CHANNELS").unwrap_or(0);
        let mut addrs =
            vec![args("channels")?, args("buffers_per_channel")?, args("buffer_bytes")?];
        for channel in 0..channels {
            addrs.push(args(&format!("channel[{channel}].is_sender"))?);
            addrs.push(args(&format!("channel[{channel}].workers"))?);
        }
        let spans = addrs.iter().map(|&addr| Span { addr, len: 4 }).collect();
        let snapshot = target.read(&Plan { spans });
        let word = |addr: &NocAddr| word_read(&snapshot, *addr).map(u64::from);
        let words = addrs.iter().map(word).collect::<Result<Vec<_>, _>>()?;
        let [used, buffers, buffer_bytes, of_channels @ ..] = &*words else {
            return Err(ControlError::NoMember(EDM.to_owned(), "its arguments".to_owned()));
        };
        let used = of_channels.chunks_exact(2).take(usize::try_from(*used).unwrap_or(usize::MAX));
        let workers = |channel: &[u64]| channel.last().map_or(1, |workers| (*workers).clamp(1, 4));
        Ok(Self {
            sends: used.clone().map(|channel| channel.first() == Some(&1)).collect(),
            semaphores: used.map(workers).sum(),
            buffers: (*buffers).min(most("EDM_MAX_BUFFERS").unwrap_or(0)),
            buffer_bytes: (*buffer_bytes).min(edm.layout.eth.l1_bytes),
        })
    }
}

/// Returns the words that are not 0.
fn not_at_rest(target: &mut dyn Target, words: Vec<RestWord>) -> Result<Vec<Unrest>, AccessError> {
    let snapshot = target.read(&Plan { spans: words.iter().map(|word| word.span).collect() });
    let mut left = Vec::new();
    for RestWord { what, span } in words {
        let value = snapshot.word(span.addr)?;
        if value != 0 {
            left.push(Unrest { what, addr: span.addr, value });
        }
    }
    Ok(left)
}
