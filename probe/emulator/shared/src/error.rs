//! Errors of the machine that the environment or a caller names.

use emulator::ConfigError;
use probe::spec::SpecError;
use std::fmt;
use workloads::scene::SceneError;

/// Why there is no machine.
#[derive(Debug)]
pub enum MachineError {
    /// The environment variable of this name is not text.
    NotText(&'static str),
    /// The environment variable of this name has this value, which names no machine.
    Variable(&'static str, String, Box<Self>),
    /// The words are wrong.
    Words(SpecError),
    /// The words name no emulated mesh.
    NotEmulated,
    /// The vendor's simulator cannot be loaded, and why.
    Library(String),
    /// The scene cannot be built or started.
    Scene(SceneError),
    /// The emulator refuses the mesh.
    Mesh(ConfigError),
    /// The scene has kept its mesh.
    Kept,
    /// The mesh has no chip with PCIe.
    NoPcie,
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotText(variable) => write!(f, "{variable} is not text"),
            Self::Variable(variable, value, error) => write!(f, "{variable}={value}: {error}"),
            Self::Words(error) => write!(f, "{error}"),
            Self::Library(why) => f.write_str(why),
            Self::NotEmulated => f.write_str("not an emulated mesh"),
            Self::Scene(error) => write!(f, "{error}"),
            Self::Mesh(error) => write!(f, "{error}"),
            Self::Kept => f.write_str("the scene still holds its mesh after the start"),
            Self::NoPcie => f.write_str("this mesh has no chip with PCIe"),
        }
    }
}

impl std::error::Error for MachineError {}
