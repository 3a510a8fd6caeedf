//! Compiles kernels by `tests/tt-fabric/compile.sh`, several at a time, and only those whose
//! arguments or sources have changed.

use super::BuildError;
use super::arguments::Arguments;
use super::sources::Sources;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The folder with the script, its headers and the worker.
const HOME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tt-fabric");
/// What is part of every kernel.
const COMMON: [&str; 2] = ["compile.sh", "runtime.cpp"];
/// The folder of what the compiler needs and leaves, in the folder of the result.
const WORK: &str = "build";
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

/// Compiles the kernels that are not in the folder yet.
pub(super) fn all(
    builds: &[Build],
    ttnn: &Path,
    firmware: &Path,
    sources: &Sources,
    folder: &Path,
) -> Result<Compiled, BuildError> {
    let started = Instant::now();
    let mut common =
        format!("sources {:#x}\nfirmware {}\n", sources.fingerprint, firmware.display());
    for name in COMMON {
        common += &read(&Path::new(HOME).join(name))?;
    }
    // Kernels of the same recipe are compiled once.
    let mut recipes: BTreeMap<String, Vec<&Build>> = BTreeMap::new();
    for build in builds {
        recipes.entry(recipe(build, &common)?).or_default().push(build);
    }
    let distinct = recipes.len();
    let due: Vec<_> = recipes
        .into_iter()
        .filter(|(recipe, alike)| !alike.iter().all(|build| is_done(folder, build, recipe)))
        .collect();
    let (count, queue) = (due.len(), Mutex::new(due));
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let work = || {
        loop {
            let next = queue.lock().map(|mut queue| queue.pop()).unwrap_or_default();
            let Some((recipe, alike)) = next else { return Ok(()) };
            make(&recipe, &alike, ttnn, firmware, folder)?;
        }
    };
    let results: Vec<Result<(), BuildError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers.min(count)).map(|_| scope.spawn(work)).collect();
        let failed = || Err(BuildError::new("a thread failed"));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| failed())).collect()
    });
    results.into_iter().collect::<Result<(), _>>()?;
    Ok(Compiled { kernels: builds.len(), distinct, compiled: count, time: started.elapsed() })
}

fn read(path: &Path) -> Result<String, BuildError> {
    fs::read_to_string(path).map_err(|error| BuildError::at(path, error))
}

fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = parent.and_then(|()| fs::write(path, text));
    written.map_err(|error| BuildError::at(path, error))
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

/// Returns the file with the recipe of a compiled kernel.
fn note(folder: &Path, build: &Build) -> PathBuf {
    folder.join(WORK).join(&build.name).join("recipe.txt")
}

fn is_done(folder: &Path, build: &Build, recipe: &str) -> bool {
    let noted = fs::read_to_string(note(folder, build));
    folder.join(build.elf()).is_file() && noted.is_ok_and(|noted| noted == recipe)
}

/// Compiles the first of kernels with the same recipe and copies it for the others.
fn make(
    recipe: &str,
    alike: &[&Build],
    ttnn: &Path,
    firmware: &Path,
    folder: &Path,
) -> Result<(), BuildError> {
    let Some((first, others)) = alike.split_first() else { return Ok(()) };
    let work = folder.join(WORK).join(&first.name);
    write(&work.join("arguments.h"), &first.arguments.header())?;
    if let Some(at) = first.text {
        write(&work.join("text"), &format!("{at:#x}"))?;
    }
    let elf = folder.join(first.elf());
    let source = match &first.source {
        Source::Metal(path) => path.clone(),
        Source::Own(name) => Path::new(HOME).join(name),
    };
    let create = |path: &Path| {
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        parent.map_err(|error| BuildError::at(path, error))
    };
    create(&elf)?;
    let script = Path::new(HOME).join("compile.sh");
    let mut command = Command::new(&script);
    command.args([ttnn, firmware, Path::new(first.target), &source, &work, &elf]);
    let output = command.output().map_err(|error| BuildError::at(&script, error))?;
    if !output.status.success() {
        let log = String::from_utf8_lossy(&output.stderr);
        write(&work.join("log.txt"), &log)?;
        let errors = log.lines().filter(|line| line.contains("error") || line.contains("install"));
        let shown: Vec<&str> = errors.take(SHOWN).collect();
        return Err(BuildError(format!("{}: {}", first.name, shown.join("; "))));
    }
    write(&note(folder, first), recipe)?;
    for other in others {
        let copy = folder.join(other.elf());
        create(&copy)?;
        fs::copy(&elf, &copy).map_err(|error| BuildError::at(&copy, error))?;
        write(&note(folder, other), recipe)?;
    }
    Ok(())
}
