//! An open target with its decoder: looks at what somebody is interested in, and says what it means.

use crate::exit::Failure;
use crate::feed::{Look, Sample};
use crate::opening;
use crate::screen::now_micros;
use probe::images::ImageMap;
use probe::inspect::{Interest, inspect, plan};
use probe::snapshot::AccessError;
use probe::target::{Mesh, Target};

/// Every so many looks the images are proved again: a core may have been given another kernel.
const PROVE_EVERY: u64 = 16;
/// A first look finds images, a second their mailboxes and tables, a third what the tables name.
const DEEPEST: usize = 3;

/// An open target with its decoder.
pub(crate) struct Machine {
    target: Box<dyn Target>,
    images: ImageMap,
    problems: Vec<String>,
    /// Cycles that pass between two looks, where time passes only when it is made to.
    pub(crate) pace_cycles: u64,
    last: Interest,
    number: u64,
}

impl Machine {
    /// Opens what the words name.
    ///
    /// # Errors
    /// `Usage` for words that name nothing, `Unreachable` for a machine that does not answer.
    pub(crate) fn open(words: &str) -> Result<Self, Failure> {
        let opening::Opened { target, images, problems, pace_cycles } = opening::open(words)?;
        Ok(Self { target, images, problems, pace_cycles, last: Interest::default(), number: 0 })
    }

    /// The mesh as discovery found it.
    pub(crate) fn mesh(&self) -> &Mesh {
        self.target.mesh()
    }

    /// One look that follows what it finds: the images first, then what they say is worth reading.
    pub(crate) fn look_deeply(&mut self, interest: &Interest) -> Sample {
        let interest = Interest { proofs: true, ..interest.clone() };
        let mut transactions = 0;
        let mut known = plan(self.target.mesh(), &self.images, &interest);
        let mut depth = 1;
        loop {
            let mut sample = self.take(&interest);
            transactions += sample.state.transactions;
            let now = plan(self.target.mesh(), &self.images, &interest);
            if now == known || depth == DEEPEST {
                sample.state.transactions = transactions;
                return sample;
            }
            (known, depth) = (now, depth + 1);
        }
    }

    fn take(&mut self, interest: &Interest) -> Sample {
        let plan = plan(self.target.mesh(), &self.images, interest);
        let memory = self.target.read(&plan);
        let mesh = self.target.mesh();
        if interest.proofs {
            self.images.learn(mesh, &memory);
        }
        let mut state = inspect(&memory, mesh, &self.images);
        state.problems.extend(self.problems.iter().cloned());
        self.number += 1;
        Sample {
            target: self.target.name().to_owned(),
            read_only: !self.target.abilities().write,
            state,
            memory,
            taken_micros: now_micros(),
            number: self.number,
        }
    }
}

impl Look for Machine {
    fn look(&mut self, interest: &Interest) -> Result<Sample, AccessError> {
        if self.number > 0 && self.target.abilities().stepped_time {
            self.target.pass(self.pace_cycles)?;
        }
        let fresh = *interest != self.last;
        self.last = interest.clone();
        if fresh {
            return Ok(self.look_deeply(interest));
        }
        let proofs = self.number.is_multiple_of(PROVE_EVERY);
        Ok(self.take(&Interest { proofs, ..interest.clone() }))
    }
}
