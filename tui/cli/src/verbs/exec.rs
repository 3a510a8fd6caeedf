//! `exec`: runs a program that uses tt-metal on an emulated mesh, which is served while the program
//! lives.

use super::serve::own_socket;
use crate::interrupt::Stop;
use crate::output::say;
use crate::target::Style;
use crate::verb::{Pages, Verb};
use console::exit::{Failure, Outcome, code};
use console::machine::Opening;
use files::Unusable;
use probe::session::OpenError;
use probe::spec::{Simulator, TargetSpec};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Run a program that uses tt-metal on an emulated mesh, which is served while it runs.
///
/// The program finds the mesh where tt-metal finds a simulator, and runs unchanged. Its output is
/// its own; exec ends with its exit code.
#[derive(clap::Args, Debug)]
pub(crate) struct ExecArguments {
    /// The mesh: what follows emulator: in a target, such as n300 or t3000,seed=3; or the vendor's
    /// simulator, as the target ttsim:LIBRARY.
    #[arg(long, default_value = "n150", value_name = "MESH")]
    pub(crate) mesh: String,
    /// The emulated mesh as a libttsim; by default libmeshscope_ttsim.so beside meshscope.
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<PathBuf>,
    /// tt-metal's SoC descriptor; by default that of `TT_METAL_HOME`, or of the ttnn of the Python that
    /// is run.
    #[arg(long, value_name = "FILE")]
    pub(crate) soc_descriptor: Option<PathBuf>,
    /// The socket on which the mesh is served; by default a new one.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Serve the mesh after the program has ended, too, until Ctrl-C.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Open the live view; the program's output goes to a new file.
    #[arg(long, conflicts_with = "on_hang")]
    pub(crate) view: bool,
    /// When the program hangs, or anything fails: `why` prints the verdict on standard error and
    /// records the mesh in why-SECONDS.mcap.
    #[arg(long, value_name = "VERB", value_parser = [WHY])]
    pub(crate) on_hang: Option<String>,
    /// The program and its arguments, behind `--`.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

impl Verb for ExecArguments {
    const NAME: &str = "exec";
    const PAGES: Pages = &[("exec", include_str!("../manual/verbs/exec.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("exec")
    }
    fn cleans_up(&self) -> bool {
        true
    }
    fn run(&self, _: &Opening, _: Style) -> Result<Outcome, Failure> {
        run(self)
    }
}

/// The verb that watches for a hang.
const WHY: &str = "why";
/// Time between two looks at the program and at what runs beside it.
const TURN: Duration = Duration::from_millis(100);
/// Time until a client that could not look is started again.
const AGAIN: Duration = Duration::from_secs(1);
/// The library's name, as cargo builds it.
const LIBRARY: &str = "libmeshscope_ttsim.so";
/// The descriptor, from the folder that holds tt-metal's folder `tt_metal`.
const DESCRIPTOR: &str = "tt_metal/soc_descriptors/wormhole_b0_80_arch.yaml";
/// Prints the folder of the package ttnn without importing it.
const FIND_TTNN: &str =
    "import importlib.util as u, os; print(os.path.dirname(u.find_spec('ttnn').origin))";

fn run(arguments: &ExecArguments) -> Result<Outcome, Failure> {
    let mesh = mesh(&arguments.mesh)?;
    let [program, words @ ..] = arguments.program.as_slice() else {
        return Err(Failure::Usage("no program is given".into()));
    };
    let library = library(arguments.library.as_deref())?;
    let descriptor = descriptor(arguments.soc_descriptor.as_deref(), program)?;
    let folder = Folder::new(&library, &descriptor)?;
    let socket = arguments.socket.clone().unwrap_or_else(|| own_socket("exec"));
    let stop = Stop::listen()?;
    stop.takes_time();
    let mut command = Command::new(program);
    command.args(words).env("TT_METAL_SIMULATOR", folder.library());
    command.env("MESHSCOPE_MESH", mesh).env("MESHSCOPE_SOCKET", &socket);
    if arguments.keep {
        command.env("MESHSCOPE_KEEP", "1");
    }
    let output = arguments.view.then(new_file).transpose()?;
    if let Some((file, _)) = &output {
        let both = file.try_clone().and_then(|out| Ok((out, file.try_clone()?)));
        let (out, errors) = both.map_err(|error| Failure::Usage(error.to_string()))?;
        command.stdin(Stdio::null()).stdout(out).stderr(errors);
    }
    let started = command.spawn().and_then(|child| beside(child, arguments, &socket));
    let status = started
        .map_err(|error| Failure::Usage(format!("{}: {error}", Path::new(program).display())));
    if let Some((_, path)) = &output {
        say(&format!("{}: the output of the program", path.display()));
    }
    drop(folder);
    let _ = std::fs::remove_file(&socket);
    ended(status?, stop.is_requested())
}

/// Checks that the words name a machine for a program; returns them as the program may read them
/// from any directory.
fn mesh(mesh: &str) -> Result<OsString, Failure> {
    let words = if mesh.starts_with("ttsim:") { mesh.into() } else { format!("emulator:{mesh}") };
    let spec = TargetSpec::parse(&words);
    let spec = spec.map_err(|error| Failure::of_open(&words, &OpenError::from(error)))?;
    match spec {
        TargetSpec::Emulator(scene) => {
            scene.descriptor().map_err(|error| Failure::of_open(&words, &error.into()))?;
            Ok(mesh.into())
        }
        // The program boots it itself.
        TargetSpec::Ttsim(Simulator {
            library,
            firmware: None,
            kernels: None,
            at_cycles: None,
            ..
        }) => {
            loadable(&library)?;
            let library = library.canonicalize().unwrap_or(library);
            Ok([OsStr::new("ttsim:"), library.as_os_str()].into_iter().collect())
        }
        _ => Err(Failure::Usage(format!(
            "--mesh {mesh}: neither an emulated mesh nor a simulator's library alone"
        ))),
    }
}

/// Checks that a file is there, and that programs of this one's architecture can load it.
fn loadable(library: &Path) -> Result<(), Failure> {
    let header = |path: &Path| -> io::Result<[u8; 20]> {
        let mut header = [0; 20];
        File::open(path)?.read_exact(&mut header)?;
        Ok(header)
    };
    let refused = |why: &dyn Display| Failure::Usage(format!("{}: {why}", library.display()));
    let found = header(library).map_err(|error| refused(&error))?;
    let own =
        std::env::current_exe().and_then(|own| header(&own)).map_err(|error| refused(&error))?;
    // Magic number, class and order of bytes; then the machine.
    if found[..6] != own[..6] || found[18..] != own[18..] {
        return Err(refused(&"it is no library of this architecture"));
    }
    Ok(())
}

/// Waits for the program; beside it runs what was asked for.
fn beside(mut program: Child, arguments: &ExecArguments, socket: &Path) -> io::Result<ExitStatus> {
    if !arguments.view && arguments.on_hang.is_none() {
        return program.wait();
    }
    while !socket.exists() {
        if let Some(status) = program.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(TURN);
    }
    let mut target = OsString::from("socket:");
    target.push(socket);
    let meshscope = || -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--target").arg(&target);
        Ok(command)
    };
    if arguments.view {
        meshscope()?.status()?;
        if program.try_wait()?.is_none() {
            say("the program still runs; Ctrl-C ends it");
        }
        return program.wait();
    }
    let watch = || meshscope()?.args([WHY, "--watch"]).stdout(io::stderr()).spawn();
    let mut watcher = Some(watch()?);
    loop {
        if let Some(status) = program.try_wait()? {
            if let Some(mut watcher) = watcher {
                let _ = kill_process(Pid::from_child(&watcher), Signal::TERM);
                watcher.wait()?;
            }
            return Ok(status);
        }
        let ended = watcher.as_mut().map(Child::try_wait).transpose()?.flatten();
        if ended.is_some_and(has_found) {
            say("the program still runs; Ctrl-C ends it");
            watcher = None;
        } else if ended.is_some() {
            // The chips were not there yet, or are gone with the program.
            std::thread::sleep(AGAIN);
            if UnixStream::connect(socket).is_ok() {
                watcher = Some(watch()?);
            }
        }
        std::thread::sleep(TURN);
    }
}

/// Whether the verb that ended so has found something.
fn has_found(status: ExitStatus) -> bool {
    let codes = [Outcome::Findings, Outcome::Partial].map(|found| i32::from(code(&Ok(found))));
    status.code().is_some_and(|code| codes.contains(&code))
}

/// Creates the file of a program's output in the current directory.
fn new_file() -> Result<(File, PathBuf), Failure> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let path = PathBuf::from(format!("exec-{}.log", since.map_or(0, |since| since.as_secs())));
    let unusable = |error: Unusable| Failure::Usage(error.to_string());
    Ok((files::create(&path).map_err(unusable)?, path))
}

/// Ends as the program ended.
fn ended(status: ExitStatus, stopped: bool) -> Result<Outcome, Failure> {
    if let Some(signal) = status.signal().filter(|_| !stopped) {
        say(&format!("the program was ended by signal {signal}, and its mesh with it"));
    }
    match status.code().or_else(|| status.signal().map(|signal| 128 + signal)) {
        Some(0) => Ok(Outcome::Healthy),
        _ if stopped => Err(Failure::Interrupted),
        code => std::process::exit(code.unwrap_or(1)),
    }
}

/// Returns the library that was named, or the one beside this program.
fn library(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name(LIBRARY));
    let path = named.map(Path::to_owned).or_else(beside).unwrap_or_else(|| LIBRARY.into());
    let found = path.canonicalize().ok().filter(|path| path.is_file());
    let found = found.ok_or_else(|| {
        let path = path.display();
        Failure::Usage(format!(
            "{path}: there is no such library; `cargo build --release -p shared` builds it, --library names it"
        ))
    })?;
    loadable(&found)?;
    Ok(found)
}

/// Returns tt-metal's description of the tiles of a chip.
fn descriptor(named: Option<&Path>, program: &OsStr) -> Result<PathBuf, Failure> {
    if let Some(path) = named {
        let found = path.canonicalize().ok().filter(|path| path.is_file());
        let missing = || Failure::Usage(format!("{}: there is no such file", path.display()));
        return found.ok_or_else(missing);
    }
    let home = std::env::var_os("TT_METAL_HOME").map(PathBuf::from);
    let found = home.into_iter().chain(ttnn_of(program)).map(|folder| folder.join(DESCRIPTOR));
    let mut found = found.filter_map(|path| path.canonicalize().ok());
    found.next().ok_or_else(|| {
        Failure::Usage(format!(
            "tt-metal's {DESCRIPTOR} was not found: set TT_METAL_HOME, or name the file with --soc-descriptor"
        ))
    })
}

/// Returns the folder of the package ttnn of a Python.
fn ttnn_of(program: &OsStr) -> Option<PathBuf> {
    let name = Path::new(program).file_name()?.to_str()?;
    if !name.starts_with("python") {
        return None;
    }
    let asked =
        Command::new(program).args(["-c", FIND_TTNN]).stderr(Stdio::null()).output().ok()?;
    let folder = String::from_utf8(asked.stdout).ok()?;
    asked.status.success().then(|| PathBuf::from(folder.trim_end()))
}

/// A folder with links to the library and, under the name that UMD expects, to the descriptor. It is
/// removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(library: &Path, descriptor: &Path) -> Result<Self, Failure> {
        let numbered = |n: u32| {
            std::env::temp_dir().join(format!("meshscope-exec-{}-{n}", std::process::id()))
        };
        // One that a killed program of the same process id has left is not used.
        let path = (0..u32::MAX).map(numbered).find(|path| !path.exists());
        let path = path.unwrap_or_else(|| numbered(0));
        let made = || -> io::Result<Self> {
            std::fs::DirBuilder::new().mode(0o700).create(&path)?;
            let folder = Self(path.clone());
            symlink(library, folder.library())?;
            symlink(descriptor, path.join("soc_descriptor.yaml"))?;
            Ok(folder)
        };
        made().map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
    }

    fn library(&self) -> PathBuf {
        self.0.join(LIBRARY)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
