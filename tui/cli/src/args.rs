//! The global options, and the arguments of verbs that the `:` line has too.

mod clean;
mod fabric;
mod launch;
mod question;
mod run;
mod step;

pub(crate) use clean::CleanArguments;
pub(crate) use fabric::{
    FabricQuestion, LoadArguments, PathArguments, ProofArguments, RebuildArguments,
    StatusArguments, TablesArguments, WaitsArguments,
};
pub(crate) use launch::LaunchArguments;
pub(crate) use question::{Listing, Question};
pub(crate) use run::RunArguments;
pub(crate) use step::StepArguments;

use crate::environment;
use crate::screens::Looks;
use clap::{Parser, ValueEnum};
use console::glyph::Glyphs;
use console::machine::Opening;
use machine::past::Keeps;
use machine::target::Allow;
use probe::session::OpenOptions;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use workloads::scene::SceneError;

/// The target without `--target` if no device file exists; tests name their mesh instead.
pub const DEFAULT_TARGET: &str = "emulator:n300";

/// The same for the live view.
pub(crate) const FIRST_TARGET: &str = "emulator:t3000";

/// The target without `--target` if there are device files.
pub(crate) const DEVICE_TARGET: &str = "silicon";

/// The time between two snapshots of `--watch`.
pub(crate) const WATCH_PAUSE: &str = "1s";

/// A terminal debugger and inspector for live Tenstorrent Wormhole meshes.
///
/// Without a verb it shows the live mesh where standard output is a terminal, and prints the mesh
/// once where it is not. A mesh or a file in place of the verb, or before it, is its target: meshscope
/// t3000, meshscope run.mcap why.
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[command(name = "meshscope", version, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// The machine to read: `meshscope help targets`.
    #[arg(long, global = true, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// The hosts of a file, over ssh, as one machine; --target, or silicon, is opened on each.
    ///
    /// A hostfile or rankfile of OpenMPI, rank bindings of tt-run, a deployment descriptor:
    /// `meshscope help targets`.
    #[arg(long, global = true, value_name = "FILE", value_parser = hosts)]
    pub(crate) hosts: Option<Hosts>,
    /// Print JSON on standard output; prose stays on standard error.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print tables as CSV (RFC 4180); several have an empty line between them.
    #[arg(long, global = true, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Take a snapshot again and again, and print each as a line of JSON; TIME, such as 10ms, is the
    /// target's own between two.
    #[arg(
        long,
        global = true,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = WATCH_PAUSE,
        conflicts_with = "csv"
    )]
    pub(crate) watch: Option<String>,
    /// When to use colours; NO_COLOR is honoured.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(crate) color: When,
    /// Draw with ASCII only, as in a locale or on a terminal without Unicode.
    #[arg(long, global = true)]
    pub(crate) ascii: bool,
    /// What may be changed on a target outside this process: write, sample, halt, launch, reset
    /// (`meshscope help safety`).
    #[arg(long, global = true, value_name = "WHAT,...", value_parser = Allow::parse)]
    pub(crate) allow: Option<Allow>,
    /// Bus transactions per second that the live view may cost; the default depends on the kind of
    /// target.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: Option<u32>,
    /// A directory of ELFs that may run there: a cache, package or log directory of tt-metal, or
    /// your own files.
    ///
    /// May be given more than once. The default is $MESHSCOPE_ELFS, a list with colons: `meshscope
    /// help firmware`.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) elfs: Vec<PathBuf>,
    /// Do not look for ELFs and logs of the tt-metal processes that have the target open: `meshscope
    /// help firmware`.
    #[arg(long, global = true)]
    pub(crate) no_find: bool,
    /// A fabric manifest of tt-metal: it describes routers whose ELFs are missing.
    ///
    /// May be given more than once. Manifests in a directory of --elfs are found: `meshscope help
    /// firmware`.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) manifest: Vec<PathBuf>,
    /// The descriptor that says where chips stand: host, rack, tray and port are then in tables and
    /// verdicts.
    ///
    /// A factory or physical system descriptor, or a cabling descriptor with its deployment:
    /// `meshscope help descriptors`.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) places: Option<String>,
    /// The emulated mesh on which the run of a recording is executed again, such as
    /// emulator:./mesh.yaml.
    ///
    /// Only needed where the mesh that the recording names has files, more than 36 chips, or runs for
    /// more than 10 s of its own time: `meshscope help targets`.
    #[arg(long, global = true, value_name = "TARGET")]
    pub(crate) rerun_on: Option<String>,
    /// Find the mesh, then only print what the verb would touch: `meshscope help json`.
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
}

/// The hosts of `--hosts`.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(Vec<String>);

fn hosts(path: &str) -> Result<Hosts, SceneError> {
    workloads::scene::hosts(path).map(Hosts)
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Arguments {
    /// How screens are drawn; `auto` is whether colours are used if nothing is said.
    pub(crate) fn looks(&self, auto: bool) -> Looks {
        let color = match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => auto,
        };
        Looks { color, glyphs: Glyphs { ascii: self.ascii || environment::is_ascii() } }
    }

    /// What the live view opens: without hardware, a mesh with something to see.
    pub(crate) fn first_opening(&self) -> Opening {
        let opening = self.opening();
        let words = match opening.words.as_str() {
            DEFAULT_TARGET if self.target.is_none() => FIRST_TARGET.to_owned(),
            _ => opening.words,
        };
        Opening { words, ..opening }
    }

    /// The target to open, and what is permitted on it.
    pub(crate) fn opening(&self) -> Opening {
        Opening {
            words: target_words(self.target.as_deref(), self.hosts.as_ref()),
            options: OpenOptions {
                allow: self.allow.unwrap_or_default(),
                keeps: Keeps::Nothing,
                elfs: elfs(&self.elfs, std::env::var_os("MESHSCOPE_ELFS").as_ref()),
                find: !self.no_find,
                manifests: self.manifest.clone(),
                places: self.places.clone(),
                rerun_on: self.rerun_on.clone(),
            },
            budget: self.budget,
        }
    }
}

/// The target that a word without `--target` names: a shipped mesh, a file, or what begins like a
/// target; none if it is something else.
pub(crate) fn positional_target(word: &str) -> Option<String> {
    if layouts::SystemSpec::shipped_names().any(|name| name == word) {
        return Some(format!("emulator:{word}"));
    }
    let is_kind = ["emulator:", "ttsim:", "socket:", "ssh:", "/dev/", "by-id/"];
    let is_target = is_kind.iter().any(|kind| word.starts_with(kind)) || word == DEVICE_TARGET;
    (is_target || Path::new(word).is_file()).then(|| word.to_owned())
}

/// The directories of the command line, else those of the environment.
fn elfs(given: &[PathBuf], usual: Option<&OsString>) -> Vec<PathBuf> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let usual = usual.into_iter().flat_map(std::env::split_paths);
    usual.filter(|path| !path.as_os_str().is_empty()).collect()
}

/// The target of the command line, on each host if hosts are given; or the default: silicon where device
/// files exist, else the emulated mesh.
fn target_words(given: Option<&str>, hosts: Option<&Hosts>) -> String {
    if let Some(Hosts(hosts)) = hosts {
        let target = given.unwrap_or(DEVICE_TARGET);
        let words = hosts.iter().map(|host| format!("ssh://{host}/{target}"));
        return words.collect::<Vec<_>>().join(",");
    }
    let or_default = || {
        let devices = std::fs::read_dir("/dev/tenstorrent").is_ok_and(|d| d.count() > 0);
        if devices { DEVICE_TARGET } else { DEFAULT_TARGET }.to_owned()
    };
    given.map_or_else(or_default, str::to_owned)
}
