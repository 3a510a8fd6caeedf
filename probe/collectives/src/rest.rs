//! Checks that everything a program used is at rest: every credit word and every semaphore is then
//! 0.

use super::edm_builder::EDM;
use super::program::Program;
use super::worker::worker_semaphore;
use decode::images::ImageMap;
use launch::{ControlError, constant_of, image, semaphore_address};
use layouts::ChipLayout;
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

impl Rest {
    /// Finds the addresses in the images of the kernels.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`.
    pub fn new(images: &ImageMap) -> Result<Self, ControlError> {
        let edm = image(images, EDM)?;
        let missing = |what: &str| ControlError::NoMember(EDM.to_owned(), what.to_owned());
        let field = |path: &str| edm.symbols.field(path).map_err(|_| missing(path));
        let size = |of: &str| {
            edm.symbols.type_named(of).and_then(|ty| ty.size()).ok_or_else(|| missing(of))
        };
        let words = u64::from(constant_of(images, EDM, "EDM_WORDS")?);
        let credits = field("edm_words_t.credits")?;
        let base = images.layout().eth.l1.kernel_config.at;
        let names = ["CCL_SEMAPHORE_INBOUND", "CCL_SEMAPHORE_OUTBOUND", "CCL_SEMAPHORE_SIGNAL"];
        let semaphore = |name| worker_semaphore(images, name).map(u64::from);
        Ok(Self {
            handshake: words + field("edm_words_t.handshake.bytes_sent")?.offset,
            credits: words + credits.offset,
            channel_stride: credits.stride,
            sync_bytes: size("eth_channel_sync_t")?,
            buffers: constant_of(images, EDM, "EDM_BUFFERS")?.into(),
            edm_semaphores: semaphore_address(base, size("edm_args_t")?, 0),
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
        let words = self.words(target.mesh().layout(), program);
        let snapshot = target.read(&Plan { spans: words.iter().map(|word| word.span).collect() });
        let mut left = Vec::new();
        for RestWord { what, span } in words {
            let value = snapshot.word(span.addr)?;
            if value != 0 {
                left.push(format!("{what} is {value:#x}"));
            }
        }
        Ok(left)
    }

    fn words(&self, layout: &ChipLayout, program: &Program) -> Vec<RestWord> {
        let word = |place: Place, at: u64, what: String| RestWord {
            what: format!("{what} of {}", place.name(layout)),
            span: Span { addr: place.at(at), len: 4 },
        };
        let mut words = Vec::new();
        for edm in &program.edms {
            let place = edm.place;
            words.push(word(place, self.handshake, "the handshake".to_owned()));
            let workers: usize =
                edm.channels.iter().map(|channel| channel.workers.len().max(1)).sum();
            for number in 0..workers as u64 {
                let at = self.edm_semaphores + 16 * number;
                words.push(word(place, at, format!("semaphore {number}")));
            }
            let buffers = u64::from(program.buffers_per_channel);
            let stride = u64::from(program.buffer_bytes) + self.sync_bytes;
            for (number, channel) in (0..).zip(&edm.channels) {
                for buffer in 0..buffers {
                    let credit =
                        self.credits + number * self.channel_stride + buffer * self.sync_bytes;
                    let tail = self.buffers + (number * buffers + buffer) * stride;
                    let tail = tail + u64::from(program.buffer_bytes);
                    let at = if channel.sends { credit } else { tail };
                    words.push(word(place, at, format!("credit {buffer} of channel {number}")));
                }
            }
        }
        for worker in &program.workers {
            for (number, at) in self.worker_semaphores.iter().enumerate() {
                words.push(word(worker.place, *at, format!("semaphore {number}")));
            }
        }
        words
    }
}
