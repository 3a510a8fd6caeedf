//! A program on a mesh: launched, followed, checked and cleared away.

use super::program::Program;
use super::report::{RunError, RunProgress, RunSettings};
use crate::images::ImageMap;
use crate::snapshot::Span;
use crate::target::Target;

/// A program under way. All times are cycles of the target.
#[derive(Debug)]
pub struct Run {
    program: Program,
    settings: RunSettings,
    cancelled: bool,
}

impl Run {
    /// A run that has not begun: the first poll looks at the mesh.
    pub fn new(program: Program, settings: RunSettings) -> Self {
        Self { program, settings, cancelled: false }
    }

    /// What is run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How it is run.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// Goes on until it has to wait; time passes outside. A run that failed is over, and has given back what it could.
    ///
    /// # Errors
    /// Why it cannot be made, or was not finished.
    pub fn poll(
        &mut self,
        _target: &mut dyn Target,
        _images: &mut ImageMap,
    ) -> Result<RunProgress, RunError> {
        if self.cancelled {
            return Ok(RunProgress::Cancelled);
        }
        Err(RunError::Program("programs are not carried out yet".to_owned()))
    }

    /// The next polls stop the kernels, give everything back, and then say so.
    pub fn cancel(&mut self) {
        self.cancelled = true;
    }
}

/// Every range that a run would write up to its transfer, in order; nothing is touched.
///
/// # Errors
/// When an image is missing or lacks a member.
pub fn writes(_program: &Program, _images: &mut ImageMap) -> Result<Vec<Span>, RunError> {
    Err(RunError::Program("programs are not carried out yet".to_owned()))
}

/// Refuses a mesh that somebody uses, or that may not be changed; nothing is written.
///
/// # Errors
/// Why not.
pub fn refuse_if_in_use(
    _target: &mut dyn Target,
    _images: &ImageMap,
    _program: &Program,
) -> Result<(), RunError> {
    Err(RunError::Program("programs are not carried out yet".to_owned()))
}
