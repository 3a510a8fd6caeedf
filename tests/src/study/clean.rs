//! Launchers that are killed at random moments of an all-gather, and what `clean` then does.

pub mod faults;
mod processes;
mod pseudo;
mod table;

use super::rig::{Shared, lock};
use access::bar_target::BarTarget;
use collectives::{
    Clean, CleanSettings, FabricOptions, Op, Request, Run, RunProgress, RunSettings, Transport,
    compile,
};
use decode::inspect::{ReadSet, plan_proofs, plan_tables};
use images::ImageMap;
use launch::dice::Random;
use launch::outcome::RunError;
use machine::patience::Deadlines;
use machine::target::{Abilities, Allow, Target};
use std::sync::{Arc, Mutex};
pub use table::STUDY;
use transport::emulator_bar::EmulatorBar;
use workloads::scene::{Scene, SceneError, Workload};

/// Interval between two polls, in cycles.
const STEP_CYCLES: u64 = 2_000;
/// `size` of the all-gather, in bytes for each chip.
const BYTES_PER_CHIP: u64 = 32 << 10;
/// The time for which a message stays in its buffer in a run that is killed, so that `clean` finds
/// it there: reading the mesh takes less.
const DELAY_CYCLES: u32 = 3_000_000;
/// Polls of a mesh with transfers in flight, and the time between them.
const POLLS: u32 = 20;
const POLL_CYCLES: u64 = 500;
/// Most sentences to keep.
const MOST_SENTENCES: usize = 16;

/// An idle mesh on which a launcher is killed.
pub trait Site {
    /// Why the mesh or a launcher cannot be used.
    type Error;

    /// Starts a launcher and kills it at a random moment of its life. Returns the moment, in words.
    ///
    /// # Errors
    /// When the launcher cannot run at all.
    fn kill(&mut self, random: &mut Random) -> Result<String, Self::Error>;

    /// Carries out `clean`.
    ///
    /// # Errors
    /// When it cannot begin.
    fn clean(&mut self, escalate: bool) -> Result<Cleaned, Self::Error>;

    /// Returns a sentence if tiles still have transfers in flight, which `clean` cannot see.
    ///
    /// # Errors
    /// When the mesh is gone.
    fn in_flight(&mut self) -> Result<Option<String>, Self::Error>;

    /// Runs an all-gather; returns a sentence if it fails or its data is wrong.
    ///
    /// # Errors
    /// When it cannot begin.
    fn all_gather(&mut self) -> Result<Option<String>, Self::Error>;
}

/// What `clean` reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// Tiles on which something stood.
    pub tiles: usize,
    /// Whether nothing is left.
    pub clean: bool,
    /// The report, in a sentence.
    pub sentence: String,
}

/// The outcome of the moments of one launcher over one transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Killed {
    /// What was killed.
    pub launcher: &'static str,
    /// The transport.
    pub transport: Transport,
    /// Moments at which a launcher was killed.
    pub moments: u64,
    /// Of them, moments at which something stood on the mesh.
    pub stood: u64,
    /// Of them, moments that needed `--escalate`.
    pub escalated: u64,
    /// Moments after which something was left all the same.
    pub left: u64,
    /// Moments after which the next all-gather failed or had wrong data.
    pub wrong: u64,
    /// The first that was left or wrong, one sentence each.
    pub sentences: Vec<String>,
}

/// The transports over which launchers are killed.
pub fn transports() -> [Transport; 2] {
    [Transport::Edm, Transport::Fabric(FabricOptions::default())]
}

/// Kills launchers at `count` moments over each transport, and cleans up after each. The seed draws
/// the moments. `report` is called with the number of moments.
///
/// # Errors
/// When the mesh cannot be built or run an all-gather.
pub fn study(
    mesh: &str,
    seed: u64,
    count: u64,
    report: &mut dyn FnMut(u64),
) -> Result<Vec<Killed>, SceneError> {
    let mut done = 0;
    let mut rows = Vec::new();
    for transport in transports() {
        let mut random = Random(seed);
        let mut killed = Killed::none("forgotten run", transport);
        let whole_cycles = Bench::new(mesh, seed, transport, 0)?.killed_after(u64::MAX)?;
        for _ in 0..count {
            killed.add(&mut Bench::new(mesh, seed, transport, whole_cycles)?, &mut random)?;
            done += 1;
            report(done);
        }
        rows.push(killed);
    }
    Ok(rows)
}

impl Killed {
    /// No moments yet.
    pub fn none(launcher: &'static str, transport: Transport) -> Self {
        Self {
            launcher,
            transport,
            moments: 0,
            stood: 0,
            escalated: 0,
            left: 0,
            wrong: 0,
            sentences: Vec::new(),
        }
    }

    /// Kills a launcher at a moment, and cleans up.
    ///
    /// # Errors
    /// As the site's.
    pub fn add<S: Site>(&mut self, site: &mut S, random: &mut Random) -> Result<(), S::Error> {
        let moment = site.kill(random)?;
        let mut cleaned = site.clean(false)?;
        self.moments += 1;
        self.stood += u64::from(cleaned.tiles > 0);
        if !cleaned.clean {
            self.escalated += 1;
            cleaned = site.clean(true)?;
        }
        let mut left = Vec::new();
        if !cleaned.clean {
            left.push(cleaned.sentence);
        }
        let again = site.clean(false)?;
        if again.tiles > 0 || !again.clean {
            left.push(format!("then {}", again.sentence));
        }
        left.extend(site.in_flight()?);
        self.left += u64::from(!left.is_empty());
        let wrong = site.all_gather()?;
        self.wrong += u64::from(wrong.is_some());
        let room = MOST_SENTENCES.saturating_sub(self.sentences.len());
        let all = left.into_iter().chain(wrong);
        self.sentences.extend(all.map(|what| format!("{moment}: {what}")).take(room));
        Ok(())
    }
}

/// An idle mesh.
struct Bench {
    emulated: Arc<Mutex<EmulatorBar>>,
    target: BarTarget,
    images: ImageMap,
    transport: Transport,
    /// The time of a slow all-gather that nobody kills.
    whole_cycles: u64,
}

impl Bench {
    fn new(
        mesh: &str,
        seed: u64,
        transport: Transport,
        whole_cycles: u64,
    ) -> Result<Self, SceneError> {
        let (images, _) = ImageMap::firmware();
        let scene = Scene { run: Some(Workload::Idle), seed, ..Scene::new(mesh) };
        let emulated = Arc::new(Mutex::new(EmulatorBar::new(scene.power_on(&images)?)));
        let bar = Box::new(Shared(Arc::clone(&emulated)));
        let abilities = Abilities {
            allow: Allow::ALL,
            stepped_time: true,
            emulated: true,
            ..Abilities::default()
        };
        let name = format!("emulator:{mesh}");
        let target = BarTarget::open(name, bar, abilities, Deadlines::default())?;
        Ok(Self { emulated, target, images, transport, whole_cycles })
    }

    fn run(&self, delay_cycles: u32) -> Result<Run, SceneError> {
        let (mesh, transport) = (self.target.mesh(), self.transport);
        let bytes = BYTES_PER_CHIP * mesh.chips.len() as u64;
        let request = Request { transport, delay_cycles, ..Request::new(Op::AllGather, bytes) };
        let unfit = |error: collectives::CclError| {
            SceneError::Control(launch::ControlError::Settings(error.to_string()))
        };
        Ok(Run::new(compile(mesh, &request).map_err(unfit)?, RunSettings::default()))
    }

    /// Runs a slow all-gather for this time, if it takes so long, and forgets it as a killed
    /// process does. Returns the time.
    fn killed_after(&mut self, cycles: u64) -> Result<u64, SceneError> {
        let mut run = self.run(DELAY_CYCLES)?;
        let start = self.target.now()?;
        loop {
            let polled = run.poll(&mut self.target, &mut self.images);
            let over = matches!(polled, Ok(RunProgress::Finished(_)));
            polled.map_err(SceneError::of_run(&self.target))?;
            let past_cycles = self.target.now()? - start;
            if over || past_cycles >= cycles {
                self.images = ImageMap::firmware().0;
                return Ok(past_cycles);
            }
            self.target.pass(STEP_CYCLES)?;
        }
    }

    /// Carries out a run; returns the number of wrong elements.
    fn finish(&mut self, run: &mut Run) -> Result<Option<u64>, RunError> {
        let report = run.finish(&mut self.target, &mut self.images, STEP_CYCLES)?;
        Ok(report.and_then(|report| report.wrong))
    }
}

impl Site for Bench {
    type Error = SceneError;

    fn kill(&mut self, random: &mut Random) -> Result<String, SceneError> {
        let cycles = random.below(self.whole_cycles);
        self.killed_after(cycles)?;
        Ok(format!("after {cycles} cycles"))
    }

    fn clean(&mut self, escalate: bool) -> Result<Cleaned, SceneError> {
        let everything = ReadSet::everything(self.target.mesh());
        // Which build ids can be there is known from the beginnings of the texts.
        for plan in [plan_proofs, plan_proofs, plan_tables] {
            let plan = plan(self.target.mesh(), &self.images, &everything);
            let snapshot = self.target.read(&plan);
            self.images.learn(self.target.mesh(), &snapshot);
        }
        let cleaned = Clean::new(CleanSettings { escalate }).finish(
            &mut self.target,
            &mut self.images,
            STEP_CYCLES,
        );
        let report = cleaned.map_err(SceneError::of_run(&self.target))?;
        let (tiles, clean) = (report.tiles.len(), report.is_clean());
        let layout = self.target.mesh().layout();
        let stood = report.tiles.iter().map(|tile| {
            let done = tile.done.iter().map(|done| done.words());
            let what = tile.credits.iter().map(String::as_str).chain(done);
            let what = what.collect::<Vec<_>>().join(", ");
            format!("; {}: {}, {what}", tile.place.name(layout), tile.found)
        });
        let stood: String = stood.collect();
        Ok(Cleaned { tiles, clean, sentence: report.sentence() + &stood })
    }

    fn in_flight(&mut self) -> Result<Option<String>, SceneError> {
        for _ in 0..POLLS {
            if lock(&self.emulated).mesh().unrest().is_empty() {
                return Ok(None);
            }
            self.target.pass(POLL_CYCLES)?;
        }
        let tiles = lock(&self.emulated).mesh().unrest().len();
        Ok(Some(format!("{tiles} tiles have transfers in flight")))
    }

    fn all_gather(&mut self) -> Result<Option<String>, SceneError> {
        let mut run = self.run(0)?;
        let layout = self.target.mesh().layout();
        Ok(match self.finish(&mut run) {
            Ok(Some(0)) => None,
            Ok(wrong) => Some(format!("the next all-gather had wrong data: {wrong:?}")),
            Err(error) => Some(format!("the next all-gather failed: {}", error.sentence(layout))),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn nothing_is_left_after_a_few_moments() {
        for row in study("n300", 3, 6, &mut |_| ()).unwrap() {
            assert_eq!((row.moments, row.left, row.wrong), (6, 0, 0), "{row:?}");
            assert!(row.stood >= 3, "{row:?}");
        }
    }
}
