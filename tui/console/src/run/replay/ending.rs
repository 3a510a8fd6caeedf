//! The end of a replay that was cancelled or has failed: what stands on its tiles is torn down, and
//! the channels of a fabric that stays are closed.

use super::{Replay, ReplayTask};
use collectives::{Clean, CleanSettings};
use fabric::Release;
use images::ImageMap;
use launch::outcome::RunError;
use launch::task::Progress;
use machine::place::Place;
use machine::target::Target;
use std::collections::BTreeSet;

impl Replay {
    /// Makes the next polls tear down what it has launched.
    ///
    /// # Errors
    /// When an image is missing.
    pub fn cancel(&mut self, images: &ImageMap) -> Result<(), RunError> {
        self.abandon(images)
    }

    /// Replaces the remaining tasks by the cleanup.
    pub(super) fn failed(&mut self, error: RunError, images: &ImageMap) -> Result<bool, RunError> {
        if let Some(first) = self.error.take() {
            // What is left over from the cleanup follows the first error.
            let sentence = error.sentence(images.layout());
            self.tasks.clear();
            self.error = Some(first.and([sentence]));
            return Ok(true);
        }
        let stands = error.is_standstill() && !self.outcomes.is_empty();
        self.error = Some(error);
        self.abandon(images)?;
        if stands {
            self.tasks.push_front(ReplayTask::Stands(false));
            self.tasks.push_front(ReplayTask::Count);
        }
        Ok(true)
    }

    fn abandon(&mut self, images: &ImageMap) -> Result<(), RunError> {
        self.tasks.clear();
        if !self.is_ours {
            return Ok(());
        }
        let clean = Clean::of_tiles(CleanSettings { escalate: true }, self.own());
        self.tasks.push_back(ReplayTask::Clean(Box::new(clean), (0, 1)));
        if self.is_found {
            let routers = self.load.traffic.connected();
            let of = |router: &&fabric::Router| routers.contains(&router.place);
            let routers = self.plan().routers.iter().filter(of).map(|router| router.eth);
            let release = Release::new(images, self.plan(), routers, self.deadline_cycles)?;
            self.tasks.push_back(ReplayTask::Close(Box::new(release)));
        }
        Ok(())
    }

    /// The tiles of its kernels.
    fn own(&self) -> BTreeSet<Place> {
        let routers = self.plan().routers.iter().map(|router| router.place);
        self.tiles().into_iter().chain(routers.filter(|_| !self.is_found)).collect()
    }

    /// Tears down; returns whether that is done.
    pub(super) fn clean(
        &mut self,
        clean: &mut Clean,
        done: &mut (u64, u64),
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        match clean.poll(target, images)? {
            Progress::Running { done: now, of, .. } => {
                *done = (now, of);
                Ok(false)
            }
            Progress::Finished(report) => {
                self.note(if report.is_clean() { None } else { Some(report.sentence()) });
                Ok(true)
            }
        }
    }

    /// Closes channels; returns whether that is done.
    pub(super) fn close(
        &mut self,
        release: &mut Release,
        target: &mut dyn Target,
    ) -> Result<bool, RunError> {
        let ended = release.poll(target)?;
        if ended {
            self.note(release.left());
        }
        Ok(ended)
    }

    /// Adds sentences to the error.
    fn note(&mut self, sentences: impl IntoIterator<Item = String>) {
        self.error = self.error.take().map(|error| error.and(sentences));
    }
}
