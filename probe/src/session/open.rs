//! Opens the target that words name: starts what stands behind it, discovers the mesh, and prepares
//! what is to run on it.

use super::Session;
use super::pacer::Pacer;
use crate::spec::{Moment, Simulator, SpecError, TargetSpec};
use access::AuditLog;
use access::bar_target::BarTarget;
use images::ImageMap;
use machine::bar::Bar;
use machine::past::Keeps;
use machine::patience::Deadlines;
use machine::progress::{Listener, Progress};
use machine::snapshot::AccessError;
use machine::target::{Abilities, Allow, Target as _};
use std::fmt;
use std::path::Path;
use transport::hosts::JoinedBar;
use transport::silicon::{self, DeviceError, SiliconBar};
use transport::socket_bar::SocketBar;
use transport::ttsim::{self, HostCommand};
use transport::wire::Welcome;
use workloads::scene::external::External;
use workloads::scene::firmware::allowed;
use workloads::scene::{DEFAULT_PACE, Pace, Scene, SceneError};

/// Why a target cannot be opened; each variant has its own exit code.
#[derive(Debug)]
pub enum OpenError {
    /// The words name no target.
    Spec(SpecError),
    /// The scene cannot be built.
    Scene(SceneError),
    /// The machine cannot be reached.
    Unreachable {
        /// The words that name it.
        target: String,
        /// The reason.
        reason: AccessError,
    },
    /// The driver's device cannot be opened.
    Device(DeviceError),
    /// The file is not a library of a Wormhole simulator.
    Library {
        /// The words that name it.
        target: String,
        /// What it is, or what it lacks.
        why: String,
    },
    /// The target is a recording, which the crate `recordings` opens.
    IsRecording(std::path::PathBuf, Option<Moment>),
    /// The target is the mesh of a recording, executed again.
    IsRerun(std::path::PathBuf, Moment),
    /// The target is a fabric snapshot, which the crate `recordings` opens.
    IsFabricSnapshot(std::path::PathBuf),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spec(error) => write!(f, "{error}"),
            Self::Scene(error) => write!(f, "{error}"),
            Self::Unreachable { target, reason } => write!(f, "{target}: {reason}"),
            Self::Device(error) => write!(f, "{error}"),
            Self::Library { target, why } => write!(f, "{target}: {why}"),
            Self::IsRecording(path, _) | Self::IsRerun(path, _) => {
                write!(f, "{} is a recording", path.display())
            }
            Self::IsFabricSnapshot(path) => write!(f, "{} is a fabric snapshot", path.display()),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<SpecError> for OpenError {
    fn from(error: SpecError) -> Self {
        Self::Spec(error)
    }
}

impl From<SceneError> for OpenError {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

impl Session {
    /// Opens the target that the words name, with these permissions. A mesh that this process
    /// emulates allows everything. Recordings and fabric snapshots are not opened here.
    ///
    /// # Errors
    /// The reason why it cannot be opened.
    pub fn open(words: &str, host: &HostCommand, allow: Allow) -> Result<Self, OpenError> {
        Self::open_telling(words, host, allow, &Listener::default(), Keeps::Nothing)
    }

    /// Opens the target as [`Session::open`] does, and tells how far it has come. `keeps` is what a
    /// mesh that this process emulates keeps of its past.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open_telling(
        words: &str,
        host: &HostCommand,
        allow: Allow,
        listener: &Listener,
        keeps: Keeps,
    ) -> Result<Self, OpenError> {
        let unreachable = |reason| OpenError::Unreachable { target: words.to_owned(), reason };
        let no_socket = || unreachable(AccessError::Unreachable("no socket is named".to_owned()));
        match TargetSpec::parse(words)? {
            TargetSpec::Recording(path, moment) => Err(OpenError::IsRecording(path, moment)),
            TargetSpec::Rerun(path, moment) => Err(OpenError::IsRerun(path, moment)),
            TargetSpec::FabricSnapshot(path) => Err(OpenError::IsFabricSnapshot(path)),
            TargetSpec::Emulator(scene) => {
                let scene = Scene { keeps, ..scene };
                Self::open_emulated(words, scene.pace, |images| {
                    scene.build_telling(images, listener)
                })
            }
            TargetSpec::Study(scene) => {
                listener.tell(Progress::Start("an emulated mesh and the run of a study on it"));
                Self::open_emulated(words, scene.pace, |images| scene.build(images))
            }
            TargetSpec::Ttsim(simulator) => {
                // What cannot be started, or must not be, is told before anything is opened.
                let external = simulator.external()?;
                external.as_ref().map(|_| allowed(allow)).transpose()?;
                let open = || over_ttsim(words, &simulator.library, host, (allow, listener));
                Self::open_external(words, None, open, (external, listener))
            }
            TargetSpec::Sockets(paths) => {
                // A client without permissions reads only, next to the one with write access.
                let writes = !allow.is_nothing();
                listener.tell(Progress::Start("the server at the socket"));
                let bars = paths.iter().map(|path| SocketBar::connect(path, writes));
                let bars: Vec<_> = bars.collect::<Result<_, _>>().map_err(unreachable)?;
                let (first, others) = bars.split_first().ok_or_else(no_socket)?;
                let Welcome { abilities, before, .. } = first.welcome().clone();
                if others.iter().any(|other| other.welcome().abilities != abilities) {
                    let why = "the sockets serve machines of different kinds";
                    return Err(unreachable(AccessError::Refused(why.into())));
                }
                let pacer = abilities.paced.then(|| Pacer::new(DEFAULT_PACE));
                let open = || {
                    let mut bars: Vec<Box<dyn Bar>> =
                        bars.into_iter().map(|bar| Box::new(bar) as Box<dyn Bar>).collect();
                    let bar = match bars.pop() {
                        Some(only) if bars.is_empty() => only,
                        last => {
                            bars.extend(last);
                            Box::new(JoinedBar::new(bars).map_err(unreachable)?)
                        }
                    };
                    over_bar(words, bar, abilities, (allow, listener)).map_err(unreachable)
                };
                Ok(Self { before, ..Self::open_external(words, pacer, open, (None, listener))? })
            }
            TargetSpec::Silicon(which) => {
                let open = || {
                    listener.tell(Progress::Start("the driver's devices"));
                    let bar = Box::new(SiliconBar::open(&which).map_err(OpenError::Device)?);
                    let abilities = silicon::abilities();
                    let abilities = abilities.map_err(|why| unreachable(AccessError::Refused(why)));
                    let abilities = Abilities { allow, ..abilities? };
                    let patience = silicon::PATIENCE;
                    BarTarget::open_telling(words, bar, abilities, patience, listener)
                        .map_err(unreachable)
                };
                Self::open_external(words, None, open, (None, listener))
            }
        }
    }

    /// Opens a mesh that this process emulates.
    fn open_emulated(
        words: &str,
        pace: Pace,
        build: impl FnOnce(&mut ImageMap) -> Result<BarTarget, SceneError>,
    ) -> Result<Self, OpenError> {
        let (mut images, problems) = ImageMap::firmware();
        let mut target = build(&mut images)?;
        target.rename(words);
        // Bringing up the mesh is not a user's command, so auditing starts here.
        target.keep_audit(AuditLog::from_environment(words));
        let pacer = Some(Pacer::new(pace));
        Ok(Self { problems, pacer, ..Self::with_target(Box::new(target), images) })
    }

    /// Opens a machine outside this process, and starts on it what is given.
    fn open_external(
        words: &str,
        pacer: Option<Pacer>,
        open: impl FnOnce() -> Result<BarTarget, OpenError>,
        (external, listener): (Option<External>, &Listener),
    ) -> Result<Self, OpenError> {
        let mut target = open()?;
        target.keep_audit(AuditLog::from_environment(words));
        let (mut images, problems) = ImageMap::firmware();
        target.tell_boot(listener);
        external.map(|external| external.start(&mut target, &mut images)).transpose()?;
        target.tell_boot(&Listener::default());
        Ok(Self { problems, pacer, ..Self::with_target(Box::new(target), images) })
    }
}

/// Opens the vendor's simulator for a server: prepared as its words say, with what it supports.
///
/// # Errors
/// Why it cannot be opened or prepared.
pub fn served_simulator(
    words: &str,
    simulator: &Simulator,
    host: &HostCommand,
    listener: &Listener,
) -> Result<(Box<dyn Bar>, Abilities), OpenError> {
    let external = simulator.external()?;
    let mut target = over_ttsim(words, &simulator.library, host, (Allow::ALL, listener))?;
    target.tell_boot(listener);
    if let Some(external) = external {
        let (mut images, _) = ImageMap::firmware();
        external.start(&mut target, &mut images)?;
    }
    let abilities = Abilities { allow: Allow::default(), ..target.abilities().clone() };
    Ok((target.into_bar(), abilities))
}

fn over_ttsim(
    words: &str,
    library: &Path,
    host: &HostCommand,
    (allow, listener): (Allow, &Listener),
) -> Result<BarTarget, OpenError> {
    let target = || words.to_owned();
    let unreachable = |reason| OpenError::Unreachable { target: target(), reason };
    let unusable = |reason| match reason {
        AccessError::DeviceGone(why) => OpenError::Library { target: target(), why },
        other => unreachable(other),
    };
    listener.tell(Progress::Start("the library and its process"));
    let bar = ttsim::open(library, host).map_err(unusable)?;
    let abilities = bar.welcome().abilities.clone();
    over_bar(words, Box::new(bar), abilities, (allow, listener)).map_err(unreachable)
}

/// Opens a target with the user's permissions, over a machine outside this process.
fn over_bar(
    words: &str,
    bar: Box<dyn Bar>,
    abilities: Abilities,
    (allow, listener): (Allow, &Listener),
) -> Result<BarTarget, AccessError> {
    let abilities = Abilities { allow, ..abilities };
    BarTarget::open_telling(words, bar, abilities, Deadlines::default(), listener)
}
