//! An emulated mesh with only firmware on it, for microbenchmarks of its links.

use access::bar_target::BarTarget;
use collectives::edm_builder::{EDM, EdmBuilder, EdmSettings};
use images::{ImageMap, Member};
use launch::records::variable;
use launch::{
    Condition, ControlError, Firmware, KernelLaunch, Operation, arguments, await_done, constant_of,
    done_condition, image, launch_kernel, mailbox, start_application,
};
use layouts::EthId;
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::{Mesh, Target};
use std::collections::BTreeSet;
use workloads::scene::{Scene, SceneError, Workload};

/// The kernel of the microbenchmark.
const LINK_BENCH: &str = "link_bench";

/// A mesh under test.
pub(super) struct Bench {
    pub(super) target: BarTarget,
    pub(super) images: ImageMap,
    started: BTreeSet<Place>,
    run_id: u32,
}

/// A kernel to launch on a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// The kernel's image.
    pub(super) kernel: &'static str,
    /// The type of its arguments.
    pub(super) arguments: &'static str,
    /// The tile.
    pub(super) place: Place,
    /// Whether its text is already in place.
    pub(super) in_place: bool,
}

/// Messages that cross a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Bytes of a message.
    pub(super) bytes: u32,
    /// Channels of each direction.
    pub(super) channels: u32,
    /// Whether channels run in both directions.
    pub(super) bidirectional: bool,
    /// Buffers of each channel.
    pub(super) buffers: u32,
    /// Messages of each channel.
    pub(super) messages: u32,
}

impl Bench {
    pub(super) fn new(mesh: &str, seed: u64) -> Result<Self, SceneError> {
        let (mut images, _) = ImageMap::firmware();
        let scene = Scene { run: Some(Workload::Idle), seed, ..Scene::new(mesh) };
        let target = scene.build(&mut images)?;
        Ok(Self { target, images, started: BTreeSet::new(), run_id: 0 })
    }

    pub(super) fn mesh(&self) -> Mesh {
        self.target.mesh().clone()
    }

    /// Returns the tile of a link's end.
    pub(super) fn place(&self, end: EthId) -> Result<Place, ControlError> {
        Ok(self.target.mesh().place(end)?)
    }

    /// Returns a new number for each launch.
    pub(super) fn next_run(&mut self) -> u32 {
        self.run_id += 1;
        self.run_id
    }

    /// Starts the application firmware on tiles where it does not run yet.
    pub(super) fn start(&mut self, places: &[Place]) -> Result<(), SceneError> {
        for &place in places {
            if self.started.insert(place) {
                let start = start_application(&mut self.images, Firmware::BUILT_IN, place)?;
                start.finish(&mut self.target)?;
            }
        }
        Ok(())
    }

    /// Moves messages over a link with an EDM at each end; the EDMs make and check the messages.
    /// Returns the cycles from the handshake until every credit is back, of the slower end.
    ///
    /// # Errors
    /// When the buffers do not fit into L1, the EDMs do not end, or messages arrive wrong.
    pub(super) fn exchange(
        &mut self,
        (a, b): (EthId, EthId),
        exchange: &Exchange,
    ) -> Result<u64, SceneError> {
        let ends = [self.place(a)?, self.place(b)?];
        self.start(&ends)?;
        let settings = EdmSettings {
            run_id: self.next_run(),
            buffer_bytes: exchange.bytes,
            buffers_per_channel: exchange.buffers,
            ..EdmSettings::default()
        };
        let mut launches = Vec::new();
        for (end, first) in ends.into_iter().zip([true, false]) {
            let mut edm = EdmBuilder::new(&self.images, end, first, settings)?;
            for sends in self::channels(exchange, first) {
                let addresses = if sends {
                    edm.add_sender_channel(0, exchange.messages, &[])
                } else {
                    edm.add_receiver_channel(0, exchange.messages, &[])
                };
                addresses?;
            }
            let launch = edm.build(&self.images)?;
            launches.push(launch_kernel(&mut self.images, &launch)?);
        }
        Operation::finish_all(launches, &mut self.target)?;
        self.await_end(EDM, "edm_state", "EDM_FINISHED", &ends)?;
        let mut longest = 0;
        for end in ends {
            for index in 0..channels(exchange, true).len() {
                let wrong = format!("edm_state.channels[{index}].mismatched_words");
                if self.value(end, EDM, &wrong)? != 0 {
                    let why = format!("messages of channel {index} arrived wrong at {end}");
                    return Err(SceneError::Wrong(why));
                }
            }
            let ready = self.value(end, EDM, "edm_state.ready_cycles")?;
            let over = self.value(end, EDM, "edm_state.finished_cycles")?;
            longest = longest.max(over.saturating_sub(ready));
        }
        Ok(longest)
    }

    /// Launches the microbenchmark on these tiles, with common and own arguments by their names,
    /// and waits for its end.
    ///
    /// # Errors
    /// When it does not end, or messages arrive wrong.
    pub(super) fn measure(
        &mut self,
        mode: &str,
        all: &[(&str, u32)],
        tiles: &[(Place, Vec<(&str, u32)>)],
    ) -> Result<(), SceneError> {
        let places: Vec<Place> = tiles.iter().map(|(place, _)| *place).collect();
        self.start(&places)?;
        let common =
            [("run_id", self.next_run()), ("mode", constant_of(&self.images, LINK_BENCH, mode)?)];
        let mut launches = Vec::new();
        for (place, own) in tiles {
            let values: Vec<_> = common.iter().chain(all).chain(own).copied().collect();
            let (place, in_place) = (*place, false);
            let start =
                Start { kernel: LINK_BENCH, arguments: "link_bench_args_t", place, in_place };
            launches.push(self.launch(&start, &values)?);
        }
        Operation::finish_all(launches, &mut self.target)?;
        self.await_end(LINK_BENCH, "link_bench_state", "LINK_BENCH_FINISHED", &places)?;
        for place in places {
            if self.bench_state(place, "mismatched_words")? != 0 {
                return Err(SceneError::Wrong(format!("messages arrived wrong at {place}")));
            }
        }
        Ok(())
    }

    /// Returns the launch of a kernel with these arguments, by their names.
    pub(super) fn launch(
        &mut self,
        start: &Start,
        values: &[(&str, u32)],
    ) -> Result<Operation, SceneError> {
        let kernel = image(&self.images, start.kernel)?;
        let launch = KernelLaunch {
            place: start.place,
            kernel: start.kernel,
            firmware: Firmware::BUILT_IN.application,
            core_type: "ACTIVE_ETH",
            config_base: self.images.layout().eth.l1.kernel_config.at,
            text_offset: 0,
            arguments: arguments(&kernel, start.arguments, values)?,
            semaphores: Vec::new(),
            in_place: start.in_place,
            host_assigned_id: self.run_id,
        };
        Ok(launch_kernel(&mut self.images, &launch)?)
    }

    /// Returns true if the kernel of this tile has returned.
    pub(super) fn has_returned(&mut self, place: Place) -> Result<bool, SceneError> {
        let firmware = image(&self.images, Firmware::BUILT_IN.application)?;
        let (word, done) = done_condition(mailbox(&firmware)?);
        Ok(done.holds(self.word(place, word)?))
    }

    /// Waits until the kernel of this tile has returned.
    pub(super) fn await_returned(&self, place: Place) -> Result<Operation, ControlError> {
        await_done(&self.images, Firmware::BUILT_IN.application, place)
    }

    /// Reads a word of a tile.
    pub(super) fn word(&mut self, place: Place, offset: u64) -> Result<u32, SceneError> {
        Ok(self.target.read_word(place.at(offset))?)
    }

    /// Returns the address of a variable of a kernel.
    pub(super) fn address(&self, kernel: &str, path: &str) -> Result<u64, ControlError> {
        address(&self.images, kernel, path)
    }

    /// Reads a member of the microbenchmark's state.
    pub(super) fn bench_state(&mut self, place: Place, member: &str) -> Result<u64, SceneError> {
        self.value(place, LINK_BENCH, &format!("link_bench_state.{member}"))
    }

    /// Waits until a kernel has finished on these tiles.
    fn await_end(
        &mut self,
        kernel: &'static str,
        state: &str,
        finished: &str,
        places: &[Place],
    ) -> Result<(), SceneError> {
        let phase = address(&self.images, kernel, &format!("{state}.phase"))?;
        let value = constant_of(&self.images, kernel, finished)?;
        for &place in places {
            let mut over = Operation::new(format!("wait for the end of {kernel}"));
            let finished = Condition::Masked { mask: u32::MAX, value };
            over.wait(
                format!("{kernel} on {place} has every credit back"),
                place.at(phase),
                finished,
            );
            over.then(await_done(&self.images, Firmware::BUILT_IN.application, place)?);
            over.finish(&mut self.target)?;
        }
        Ok(())
    }

    /// Reads a variable of a kernel.
    pub(super) fn value(
        &mut self,
        place: Place,
        kernel: &str,
        path: &str,
    ) -> Result<u64, SceneError> {
        let found = variable(&*image(&self.images, kernel)?, path)?;
        let (addr, len) = (place.at(found.address()), found.field.size.min(8) as u32);
        let snapshot = self.target.read(&Plan { spans: vec![Span { addr, len }] });
        Ok(Member::value(snapshot.bytes(addr, len)?))
    }
}

/// Returns for each channel of an end whether it sends. The directions alternate, so that both ends
/// number channels alike.
fn channels(exchange: &Exchange, first: bool) -> Vec<bool> {
    let directions = if exchange.bidirectional { 2 } else { 1 };
    (0..exchange.channels * directions).map(|n| (n % directions == 0) == first).collect()
}

fn address(images: &ImageMap, kernel: &str, path: &str) -> Result<u64, ControlError> {
    Ok(variable(&*image(images, kernel)?, path)?.address())
}
