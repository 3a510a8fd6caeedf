//! The programs of the table, and whole processes of them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs per figure.
pub(crate) const ROUNDS: usize = 5;

/// The programs.
pub(crate) struct Programs {
    pub(crate) meshscope: PathBuf,
    /// The client in C, on any library with libttsim's entry points.
    pub(crate) client: PathBuf,
    /// The emulator as such a library.
    pub(crate) ours: PathBuf,
    /// Millions of instructions per second of the loop in C.
    pub(crate) native: f64,
}

/// What a process printed and cost.
pub(crate) struct Ran {
    pub(crate) output: String,
    pub(crate) errors: String,
    /// Processor time, that of children it waited for included.
    pub(crate) seconds: f64,
    /// Time from start to end.
    pub(crate) wall: f64,
}

impl Programs {
    /// Builds them in the release profile.
    pub(crate) fn build() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--release", "--locked", "-p", "tui", "-p", "shared"]);
        assert!(build.current_dir(root).status().unwrap().success());
        let bench = std::env::current_exe().unwrap();
        let folder = bench.parent().unwrap().parent().unwrap().to_owned();
        let client = folder.join("client");
        let source = root.join("probe/emulator/shared/examples/client.c");
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-o"]).arg(&client).arg(source).arg("-ldl");
        assert!(compile.status().unwrap().success());
        let mut programs = Self {
            meshscope: folder.join("meshscope"),
            client,
            ours: folder.join("libmeshscope_ttsim.so"),
            native: 0.0,
        };
        programs.native = programs.loop_in_c();
        programs
    }

    /// Returns millions of instructions per second of the loop in C, measured now.
    pub(crate) fn loop_in_c(&self) -> f64 {
        self.client(Path::new("native"), "", &["50000000"], " MIPS")
    }

    /// Returns the number before `unit` in what the client prints on a library: the median.
    pub(crate) fn client(&self, library: &Path, mesh: &str, words: &[&str], unit: &str) -> f64 {
        let one = |_| {
            let mut command = Command::new(&self.client);
            let ran = run(command.env("MESHSCOPE_MESH", mesh).arg(library).args(words));
            let before = ran.output.split(unit).next().unwrap();
            before.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
        };
        crate::median((0..ROUNDS).map(one).collect())
    }
}

/// Returns the vendor's library of a build, if `MESHSCOPE_TTSIM_DIR` has it.
pub(crate) fn vendor(build: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("MESHSCOPE_TTSIM_DIR")?);
    let library = folder.join(format!("libttsim_{build}.so"));
    library.exists().then_some(library)
}

/// Returns the median of the processor times of several processes, in milliseconds.
pub(crate) fn milliseconds(mut command: impl FnMut() -> Command) -> f64 {
    crate::median((0..ROUNDS).map(|_| run(&mut command()).seconds * 1e3).collect())
}

/// Returns the median of the times from start to end, in milliseconds: for programs of which a part
/// runs in a process of its own.
pub(crate) fn wall_milliseconds(mut command: impl FnMut() -> Command) -> f64 {
    crate::median((0..ROUNDS).map(|_| run(&mut command()).wall * 1e3).collect())
}

/// Runs a process to its end.
pub(crate) fn run(command: &mut Command) -> Ran {
    let (before, started) = (cpu(libc::RUSAGE_CHILDREN), Instant::now());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let wall = started.elapsed().as_secs_f64();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{command:?}: {errors}");
    let output = String::from_utf8(output.stdout).unwrap();
    Ran { output, errors, seconds: cpu(libc::RUSAGE_CHILDREN) - before, wall }
}

/// Returns the processor time of this process, or of its children that have ended, in seconds.
pub(crate) fn cpu(whose: libc::c_int) -> f64 {
    // SAFETY: an all-zero rusage is valid; the kernel fills it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for the call.
    unsafe { libc::getrusage(whose, &raw mut usage) };
    let time = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    time(usage.ru_utime) + time(usage.ru_stime)
}
