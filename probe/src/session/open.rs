//! Opens the target that words name: starts what stands behind it, discovers the mesh, and prepares
//! what is to run on it.

use super::error::OpenError;
use super::files::Files;
use super::pacer::Pacer;
use super::{Session, captured, recorded};
use crate::spec::{Simulator, TargetSpec};
use access::AuditLog;
use access::bar_target::BarTarget;
use images::fabric::manifest::FabricManifest;
use images::{Catalog, ImageMap};
use machine::bar::Bar;
use machine::past::Keeps;
use machine::patience::Deadlines;
use machine::progress::{Listener, Progress};
use machine::snapshot::AccessError;
use machine::target::{Abilities, Allow, Target as _};
use std::path::{Path, PathBuf};
use transport::agent::{AgentTarget, Remote};
use transport::hosts::JoinedBar;
use transport::silicon::{self, SiliconBar};
use transport::socket_bar::SocketBar;
use transport::ttsim::{self, HostCommand};
use transport::umd::{self, bar::UmdBar};
use transport::wire::Welcome;
use workloads::scene::external::External;
use workloads::scene::firmware::allowed;
use workloads::scene::{DEFAULT_PACE, Pace, Scene, SceneError, described};

/// What a target is opened with, besides its words.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Permissions on it. A mesh that this process emulates allows everything.
    pub allow: Allow,
    /// What a mesh that this process emulates keeps of its past.
    pub keeps: Keeps,
    /// Directories of ELFs that may run there.
    pub elfs: Vec<PathBuf>,
    /// Whether those of the processes that run tt-metal on it are added.
    pub find: bool,
    /// Fabric manifests.
    pub manifests: Vec<PathBuf>,
    /// The words of the descriptor that says where chips stand: a file, and options as in
    /// [`workloads::scene::described`].
    pub places: Option<String>,
    /// The words of the emulated mesh on which the run of a recording is executed again; none: those
    /// that the recording has, if they name no file and no long work.
    pub rerun_on: Option<String>,
}

impl Session {
    /// Opens the target that the words name, with these permissions.
    ///
    /// # Errors
    /// The reason why it cannot be opened.
    pub fn open(words: &str, host: &HostCommand, allow: Allow) -> Result<Self, OpenError> {
        let options = OpenOptions { allow, ..OpenOptions::default() };
        Self::open_with(words, host, &options, &Listener::default())
    }

    /// Opens the target that the words name, and tells how far it has come.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open_with(
        words: &str,
        host: &HostCommand,
        options: &OpenOptions,
        listener: &Listener,
    ) -> Result<Self, OpenError> {
        // Unreadable ELFs and manifests are reported before a machine is touched.
        let mut catalog = Catalog::read(&options.elfs).map_err(OpenError::Catalog)?;
        let read = |path: &PathBuf| FabricManifest::read(path).map(|it| (path.clone(), it));
        let given = options.manifests.iter().map(read);
        let given = given.collect::<Result<Vec<_>, _>>().map_err(OpenError::Manifest)?;
        let places = options.places.as_deref().map(|words| described(words, words)).transpose()?;
        let &OpenOptions { allow, keeps, .. } = options;
        let on = options.rerun_on.as_deref();
        let mut session = match TargetSpec::parse(words)? {
            TargetSpec::Emulator(scene) => {
                Self::open_scene(words, &Scene { keeps, ..scene }, listener)?
            }
            TargetSpec::Study(scene) => {
                listener.tell(Progress::Start("an emulated mesh and the run of a study on it"));
                Self::open_emulated(words, scene.pace, |images| scene.build(images))?
            }
            TargetSpec::Ttsim(simulator) => {
                // What cannot be started, or must not be, is told before anything is opened.
                let external = simulator.external()?;
                external.as_ref().map(|_| allowed(allow)).transpose()?;
                let target = over_ttsim(words, &simulator.library, host, (allow, listener))?;
                let session = Self::open_external(words, target, None, (external, listener))?;
                Self { ends_with_process: true, ..session }
            }
            TargetSpec::Sockets(paths) => Self::open_sockets(words, &paths, (allow, listener))?,
            TargetSpec::Agents(remotes) => Self::open_agents(words, &remotes, (allow, listener))?,
            TargetSpec::UmdSim(folder) => {
                Self::open_umd(words, folder.as_deref(), (allow, listener))?
            }
            TargetSpec::Silicon(which) => {
                let target = over_silicon(words, &which, (allow, listener))?;
                let session = Self::open_external(words, target, None, (None, listener))?;
                Self { files: Files::of(Vec::new()), ..session }
            }
            TargetSpec::Recording(path, at) => recorded::replay(&path, at, &mut catalog, on)?,
            TargetSpec::Rerun(path, at) => {
                recorded::rerun(&path, at, &mut catalog, (on, listener))?
            }
            TargetSpec::FabricSnapshot(path) => captured::open(&path, &given)?,
        };
        session.add_manifests(&given);
        if let Some(places) = places {
            session.place(&places);
        }
        session.files.seek(&options.elfs, options.find);
        session.find_files(catalog);
        Ok(session)
    }

    /// Opens the mesh of a scene, which this process emulates.
    pub(super) fn open_scene(
        words: &str,
        scene: &Scene,
        listener: &Listener,
    ) -> Result<Self, OpenError> {
        Self::open_emulated(words, scene.pace, |images| scene.build_telling(images, listener))
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
        let session = Self::with_target(Box::new(target), images);
        Ok(Self { problems, pacer, ends_with_process: true, ..session })
    }

    /// Opens the machines behind sockets as one.
    fn open_sockets(
        words: &str,
        paths: &[PathBuf],
        (allow, listener): (Allow, &Listener),
    ) -> Result<Self, OpenError> {
        let unreachable = |reason| OpenError::Unreachable { target: words.to_owned(), reason };
        let no_socket = || unreachable(AccessError::Unreachable("no socket is named".to_owned()));
        // A client without permissions reads only, next to the one with write access.
        let writes = !allow.is_nothing();
        listener.tell(Progress::Start("the server at the socket"));
        let bars = paths.iter().map(|path| SocketBar::connect(path, writes));
        let mut bars: Vec<_> = bars.collect::<Result<_, _>>().map_err(unreachable)?;
        for bar in &mut bars {
            bar.tell(listener);
        }
        let servers = bars.iter().filter_map(SocketBar::server).collect();
        let (first, others) = bars.split_first().ok_or_else(no_socket)?;
        let Welcome { abilities, before, .. } = first.welcome().clone();
        if others.iter().any(|other| other.welcome().abilities != abilities) {
            let why = "the sockets serve machines of different kinds";
            return Err(unreachable(AccessError::Refused(why.into())));
        }
        let pacer = abilities.paced.then(|| Pacer::new(DEFAULT_PACE));
        let mut bars: Vec<Box<dyn Bar>> =
            bars.into_iter().map(|bar| Box::new(bar) as Box<dyn Bar>).collect();
        let bar = match bars.pop() {
            Some(only) if bars.is_empty() => only,
            last => {
                bars.extend(last);
                Box::new(JoinedBar::new(bars).map_err(unreachable)?)
            }
        };
        let target = over_bar(words, bar, abilities, (allow, listener)).map_err(unreachable)?;
        let session = Self::open_external(words, target, pacer, (None, listener))?;
        Ok(Self { files: Files::of(servers), before, ..session })
    }

    /// Opens what agents read on other hosts.
    fn open_agents(
        words: &str,
        remotes: &[Remote],
        (allow, listener): (Allow, &Listener),
    ) -> Result<Self, OpenError> {
        let target = AgentTarget::open(words, remotes, (allow, listener));
        let target =
            target.map_err(|reason| OpenError::Unreachable { target: words.to_owned(), reason })?;
        let pacer = target.abilities().paced.then(|| Pacer::new(DEFAULT_PACE));
        let (images, problems) = ImageMap::firmware();
        Ok(Self { problems, pacer, ..Self::with_target(Box::new(target), images) })
    }

    /// Opens what a simulation server of tt-umd serves, to be read.
    fn open_umd(
        words: &str,
        folder: Option<&Path>,
        (allow, listener): (Allow, &Listener),
    ) -> Result<Self, OpenError> {
        let unreachable = |reason| OpenError::Unreachable { target: words.to_owned(), reason };
        listener.tell(Progress::Start("the simulation server"));
        let bar = UmdBar::connect(folder).map_err(unreachable)?;
        let abilities = umd::bar::abilities();
        let abilities = abilities.map_err(|why| unreachable(AccessError::Refused(why)))?;
        let files = Files::of(bar.servers());
        let target = over_bar(words, Box::new(bar), abilities, (allow, listener));
        let target = target.map_err(unreachable)?;
        let session = Self::open_external(words, target, None, (None, listener))?;
        Ok(Self { files, ..session })
    }

    /// Takes a machine outside this process, and starts on it what is given.
    fn open_external(
        words: &str,
        mut target: BarTarget,
        pacer: Option<Pacer>,
        (external, listener): (Option<External>, &Listener),
    ) -> Result<Self, OpenError> {
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

fn over_silicon(
    words: &str,
    which: &str,
    (allow, listener): (Allow, &Listener),
) -> Result<BarTarget, OpenError> {
    let unreachable = |reason| OpenError::Unreachable { target: words.to_owned(), reason };
    listener.tell(Progress::Start("the driver's devices"));
    let bar = Box::new(SiliconBar::open(which).map_err(OpenError::Device)?);
    let abilities = silicon::abilities();
    let abilities = abilities.map_err(|why| unreachable(AccessError::Refused(why)))?;
    let (abilities, patience) = (Abilities { allow, ..abilities }, silicon::PATIENCE);
    BarTarget::open_telling(words, bar, abilities, patience, listener).map_err(unreachable)
}

/// Opens a target with the user's permissions, over a machine outside this process.
fn over_bar(
    words: &str,
    bar: Box<dyn Bar>,
    abilities: Abilities,
    (allow, listener): (Allow, &Listener),
) -> Result<BarTarget, AccessError> {
    let allow = Allow { sample: allow.sample || abilities.emulated, ..allow };
    let abilities = Abilities { allow, ..abilities };
    BarTarget::open_telling(words, bar, abilities, Deadlines::default(), listener)
}
