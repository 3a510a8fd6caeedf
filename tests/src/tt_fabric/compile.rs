//! Compiles kernels by `tests/tt-fabric/compile.sh`, several at a time, and only those whose
//! arguments or sources have changed.

use super::arguments::Arguments;
use super::sources::Sources;
use super::{BuildError, Request, place};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The folder with the script, its headers and the worker.
const HOME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tt-fabric");
/// What is part of every kernel.
const COMMON: [&str; 2] = ["compile.sh", "runtime.cpp"];
/// The ELF in the folder of a recipe.
const ELF: &str = "kernel.elf";
/// The compiler's lines that an error shows.
const SHOWN: usize = 4;

/// The source of a kernel.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// In the wheel.
    Metal(PathBuf),
    /// In `tests/tt-fabric`.
    Own(&'static str),
}

/// A kernel to compile.
#[derive(Clone, Debug)]
pub(super) struct Build {
    pub(super) name: String,
    /// tt-metal's name of the core.
    pub(super) target: &'static str,
    pub(super) source: Source,
    pub(super) arguments: Arguments,
    /// Address of the text, where the linker script does not say it.
    pub(super) text: Option<u32>,
}

impl Build {
    /// Returns the ELF, relative to the folder of the result: as in tt-metal's cache, with the name
    /// of the launch instead of a hash.
    pub(super) fn elf(&self) -> PathBuf {
        let source = match &self.source {
            Source::Metal(path) => path.as_path(),
            Source::Own(name) => Path::new(name),
        };
        let kernel = source.file_stem().map_or(Path::new(&self.name), Path::new);
        let folder = Path::new("kernels").join(kernel).join(&self.name).join(self.target);
        folder.join(format!("{}.elf", self.target))
    }
}

/// What was compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    /// Kernels of the fabric.
    pub kernels: usize,
    /// Kernels that differ in more than their tile and runtime arguments.
    pub distinct: usize,
    /// Those that were compiled now.
    pub compiled: usize,
    /// Host time that compiling took.
    pub time: Duration,
}

/// Compiles the kernels that were not compiled yet, and places all in the folder of the result.
pub(super) fn all(
    builds: &[Build],
    ttnn: &Path,
    firmware: &Path,
    sources: &Sources,
    request: &Request,
) -> Result<Compiled, BuildError> {
    let started = Instant::now();
    let mut common =
        format!("sources {:#x}\nfirmware {}\n", sources.fingerprint, firmware.display());
    for name in COMMON {
        common += &read(&Path::new(HOME).join(name))?;
    }
    // Kernels of the same recipe are compiled once.
    let mut recipes: BTreeMap<PathBuf, Vec<&Build>> = BTreeMap::new();
    for build in builds {
        let mut hasher = DefaultHasher::new();
        recipe(build, &common)?.hash(&mut hasher);
        let work = request.compiled.join(format!("{:016x}", hasher.finish()));
        recipes.entry(work).or_default().push(build);
    }
    let due: Vec<_> = recipes.iter().filter(|(work, _)| !work.join(ELF).is_file()).collect();
    let (count, queue) = (due.len(), Mutex::new(due));
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let work = || {
        loop {
            let next = queue.lock().map(|mut queue| queue.pop()).unwrap_or_default();
            let Some((work, alike)) = next else { return Ok(()) };
            make(alike[0], ttnn, firmware, work)?;
        }
    };
    let results: Vec<Result<(), BuildError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers.min(count)).map(|_| scope.spawn(work)).collect();
        let failed = || Err(BuildError::new("a thread failed"));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| failed())).collect()
    });
    results.into_iter().collect::<Result<(), _>>()?;
    for (work, alike) in &recipes {
        for build in alike {
            let elf = work.join(ELF);
            let bytes = fs::read(&elf).map_err(|error| BuildError::at(&elf, error))?;
            place(&request.folder.join(build.elf()), &bytes)?;
        }
    }
    let (kernels, distinct) = (builds.len(), recipes.len());
    Ok(Compiled { kernels, distinct, compiled: count, time: started.elapsed() })
}

fn read(path: &Path) -> Result<String, BuildError> {
    fs::read_to_string(path).map_err(|error| BuildError::at(path, error))
}

/// Returns everything that decides the bytes of an ELF.
fn recipe(build: &Build, common: &str) -> Result<String, BuildError> {
    let source = match &build.source {
        Source::Metal(path) => path.display().to_string(),
        Source::Own(name) => read(&Path::new(HOME).join(name))?,
    };
    let text = build.text.map_or(String::new(), |at| format!("text {at:#x}\n"));
    Ok(format!("{}\n{source}\n{text}{}\n{common}", build.target, build.arguments.header()))
}

/// Compiles a kernel in the folder of its recipe.
fn make(build: &Build, ttnn: &Path, firmware: &Path, work: &Path) -> Result<(), BuildError> {
    place(&work.join("arguments.h"), build.arguments.header().as_bytes())?;
    if let Some(at) = build.text {
        place(&work.join("text"), format!("{at:#x}").as_bytes())?;
    }
    let source = match &build.source {
        Source::Metal(path) => path.clone(),
        Source::Own(name) => Path::new(HOME).join(name),
    };
    let script = Path::new(HOME).join("compile.sh");
    let linked = work.join("linked.elf");
    let mut command = Command::new(&script);
    command.args([ttnn, firmware, Path::new(build.target), &source, work, &linked]);
    let output = command.output().map_err(|error| BuildError::at(&script, error))?;
    if !output.status.success() {
        let log = String::from_utf8_lossy(&output.stderr);
        place(&work.join("log.txt"), log.as_bytes())?;
        let errors = log.lines().filter(|line| line.contains("error") || line.contains("install"));
        let shown: Vec<&str> = errors.take(SHOWN).collect();
        return Err(BuildError(format!("{}: {}", build.name, shown.join("; "))));
    }
    let elf = work.join(ELF);
    fs::rename(linked, &elf).map_err(|error| BuildError::at(&elf, error))
}
