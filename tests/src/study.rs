//! The studies by which the house tests itself, each with a seed, and the program that runs them and
//! those of the vendor's claims: `tests/studies.md`.

pub mod clean;
pub mod collectives;
#[cfg(feature = "scan")]
pub mod fleet;
pub mod hostile;
pub mod operations;
pub mod pause;
mod printer;
mod program;
pub mod relaunch;
pub mod reroute;
mod rig;
pub mod traffic;
pub mod transport;
pub mod watching;
pub mod why;

pub use program::{all, run};
pub use rig::Rig;

use std::path::PathBuf;
use studies::shape::{Choice, Options, StudyError};

/// The option that names the program meshscope.
const MESHSCOPE: Choice =
    Choice::optional("meshscope", "FILE", "The program; by default the one beside this one");

/// The program meshscope: the one that is named, or the one beside this program.
fn meshscope(options: &Options) -> Result<PathBuf, StudyError> {
    let path = match options.get("meshscope") {
        Some(path) => PathBuf::from(path),
        None => std::env::current_exe()
            .map_err(|error| StudyError::Internal(format!("this program: {error}")))?
            .with_file_name("meshscope"),
    };
    if path.is_file() {
        return Ok(path);
    }
    let path = path.display();
    Err(StudyError::Usage(format!(
        "--meshscope {path}: there is no such program; build it with `cargo build`"
    )))
}
