//! The command line: verbs and global options. The pages behind them are in `manual`.

mod changes;
mod check;
mod clean;
mod cores;
mod debug;
mod export;
mod fabric;
mod launch;
mod question;
mod record;
mod run;
mod step;
mod who_wrote;

pub(crate) use changes::{ChangesArguments, DiffArguments};
pub(crate) use check::{CheckArguments, ExplainArguments, WhyArguments};
pub(crate) use clean::CleanArguments;
pub(crate) use cores::{CoresArguments, ImagesArguments};
pub(crate) use debug::{DebugArguments, GdbArguments};
pub(crate) use export::{BundleArguments, ExportArguments, ExportFormat};
pub(crate) use fabric::{
    FabricQuestion, PathArguments, StatusArguments, TablesArguments, WaitsArguments,
};
pub(crate) use launch::LaunchArguments;
pub(crate) use question::{Listing, Question};
pub(crate) use record::{RecordArguments, Trigger};
pub(crate) use run::RunArguments;
pub(crate) use step::StepArguments;
pub(crate) use who_wrote::WhoWroteArguments;

use crate::screens::Looks;
use clap::{Parser, Subcommand, ValueEnum};
use console::glyph::Glyphs;
use console::machine::Opening;
use machine::past::Keeps;
use machine::target::Allow;
use std::ffi::OsString;
use std::path::PathBuf;

/// The target without `--target` if no device file exists; tests name their mesh instead.
pub const DEFAULT_TARGET: &str = "emulator:n300";

/// The target without `--target` if there are device files.
pub(crate) const DEVICE_TARGET: &str = "silicon";

/// A terminal debugger and inspector for live Tenstorrent Wormhole meshes.
///
/// Without a verb it shows the live mesh where standard output is a terminal, and prints the mesh
/// once where it is not.
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[command(name = "meshscope", version, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// The machine to read: `meshscope help targets`.
    #[arg(long, global = true, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Print JSON on standard output; prose stays on standard error.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print tables as CSV (RFC 4180); several have an empty line between them.
    #[arg(long, global = true, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// When to use colours; NO_COLOR is honoured.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(crate) color: When,
    /// Draw with ASCII only.
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
    /// A fabric manifest of tt-metal: it describes routers whose ELFs are missing.
    ///
    /// May be given more than once. Manifests in a directory of --elfs are found: `meshscope help
    /// firmware`.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) manifest: Vec<PathBuf>,
    /// Find the mesh, then only print what the verb would touch: `meshscope help json`.
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
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

/// The one-shot verbs. Each is also a screen or a part of one.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Print chips and links, once.
    Mesh {
        /// Compare with this cluster descriptor, as UMD writes it, or with a shipped mesh such as
        /// t3000; exit code 1 if chips or links differ.
        #[arg(long, value_name = "DESCRIPTOR")]
        expect: Option<String>,
        /// Print the mesh as a cluster descriptor, as UMD writes it, instead of tables;
        /// emulator:FILE opens it.
        #[arg(long, conflicts_with = "expect")]
        descriptor: bool,
    },
    /// Print the cores with their waypoints, once; without a place, groups of equal cores.
    Cores(CoresArguments),
    /// Print which image runs on which core, and compare the whole text of each with L1.
    Images(ImagesArguments),
    /// Print the links with both ends, once.
    Links,
    /// Say what stands still, what it waits for, and the likely causes.
    Why(WhyArguments),
    /// Say whether the mesh is healthy, for scripts.
    Check(CheckArguments),
    /// Explain a finding of `why` or `check`; without a name, list them.
    Explain(ExplainArguments),
    /// Print the routers, muxes and clients of the fabric with their channels and credits, once.
    ///
    /// Subcommands print its status queues, waits, routing tables and paths.
    #[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
    Fabric {
        /// Only this chip, tile or Ethernet channel, with its channels: 0, 0:9-6 or 0:e8.
        place: Option<String>,
        /// What to print instead.
        #[command(subcommand)]
        question: Option<FabricQuestion>,
    },
    /// Read memory of a tile.
    Read {
        /// The place: <chip>:<x>-<y>:<addr> in NOC 0 coordinates, or <chip>:e<channel>:<addr>; the
        /// address decimal or 0x hexadecimal.
        place: String,
        /// Number of bytes, decimal or 0x hexadecimal.
        #[arg(default_value = "4", value_name = "LEN")]
        len: String,
    },
    /// Print the value of an expression on a core, by the names of the firmware that runs there.
    ///
    /// Names are looked up in the images of the core: kernels first, then the application, then
    /// base firmware. Memory is read as the core sees it; a pointer is followed only where the
    /// expression dereferences it.
    Print {
        /// The core: 0:e8, 0:9-6 or 0:1-2:trisc0; without a core's name the first of the tile.
        core: String,
        /// C++, such as 'mailboxes->go_messages[0]', '*p', '&x' or 'go_msg_t@0x3e1e0'; IMAGE::name
        /// names the image.
        expression: String,
        /// Only this image.
        #[arg(long, value_name = "IMAGE")]
        image: Option<String>,
    },
    /// Say who wrote to memory of a tile last, and when; for an emulated mesh.
    WhoWrote(WhoWroteArguments),
    /// Print what changed between two moments of a recording, or when a word last changed.
    Changes(ChangesArguments),
    /// Print what differs between two recordings or other targets, tile by tile.
    Diff(DiffArguments),
    /// Write memory or a register of a tile, once, and print the value before.
    ///
    /// On a target outside this process it needs --allow write, and where cores are started,
    /// stopped or reset --allow launch, halt or reset. Each write is first appended to the audit
    /// log.
    Write {
        /// The place: <chip>:<x>-<y>:<addr> in NOC 0 coordinates, or <chip>:e<channel>:<addr>; the
        /// address decimal or 0x hexadecimal.
        place: String,
        /// Words of 32 bits, decimal or 0x hexadecimal.
        #[arg(required_unless_present = "bytes", value_name = "VALUE")]
        values: Vec<String>,
        /// Bytes instead of words, in the order of memory; neighbouring bytes in memory are
        /// unchanged.
        #[arg(long, value_name = "HEX", conflicts_with = "values")]
        bytes: Option<String>,
    },
    /// Pause the kernels that run, count their credits, and leave them paused.
    ///
    /// On a target outside this process it needs --allow write,launch.
    Pause,
    /// Let paused kernels begin their next stage, and print what has changed.
    Step(StepArguments),
    /// Let paused kernels run on.
    Resume,
    /// Pause a core, step it or wait for a breakpoint, and let it go on.
    Debug(DebugArguments),
    /// Serve cores to GDB.
    Gdb(GdbArguments),
    /// Look up types, values, code and stacks in ELFs; needs no target.
    Symbols {
        /// What to look up.
        #[command(subcommand)]
        question: Question,
    },
    /// Record snapshots of the target in a file, which --target FILE opens again.
    ///
    /// A recording as the target is copied, in the present format.
    Record(RecordArguments),
    /// Write a recording or a screen in a format that other programs read.
    Export(ExportArguments),
    /// Write an archive to send to a colleague: recording, verdict, pictures, versions, and what was
    /// left out.
    Bundle(BundleArguments),
    /// Run a collective on the mesh, size after size, and print the table that nccl-tests prints.
    ///
    /// The mesh must be free, and is restored at the end. On a target outside this process it needs
    /// --allow launch,write,reset. Without --target, and for an emulated mesh without run=, nothing
    /// else runs there.
    ///
    /// size is nccl-tests': the larger of a rank's input and output. time is the transfer by the
    /// clock of the chip that was launched last; algbw is size over time, busbw algbw times the
    /// collective's factor in nccl-tests' PERFORMANCE.md.
    Run(Box<RunArguments>),
    /// Launch a kernel of your own, watch it, and take it away.
    ///
    /// The ELF is launched by tt-metal's host protocol on free tiles, whose firmware is booted if it
    /// does not run; afterwards the kernel is an image like the others. On a target outside this
    /// process it needs --allow launch,write, and reset where a compute tile is booted or reset.
    /// Without --target, and for an emulated mesh without run=, nothing else runs there.
    Launch(Box<LaunchArguments>),
    /// Tear down what runs on the mesh, also if whoever launched it is dead.
    ///
    /// On a target outside this process it needs --allow launch,write, and reset with --escalate.
    Clean(CleanArguments),
    /// Hold a simulated mesh on a Unix socket, so that it outlives its clients (--target
    /// socket:PATH).
    ///
    /// Any number of clients read it; one at a time, with --allow, may change it. Only its owner
    /// can open the socket. An existing socket is replaced only if no server answers on it.
    Serve {
        /// The mesh, such as emulator:n300 or ttsim:<library>.
        mesh: Option<String>,
        /// The socket's path. Given once for each host of a mesh of several; each socket has the
        /// devices of one host.
        #[arg(long, value_name = "PATH", required = true)]
        socket: Vec<PathBuf>,
    },
    /// Print the page of a verb or a topic; without a name, list them.
    Help {
        /// A verb with its subcommand, such as symbols type, or a topic, such as targets.
        name: Vec<String>,
    },
    /// Print the JSON Schema of a verb's --json output; without a verb, list the verbs that have
    /// one.
    Schema {
        /// A verb with its subcommand, such as symbols type; dry-run; or kept-entry, a line of the
        /// file of fabric status --keep.
        verb: Vec<String>,
    },
}

impl Arguments {
    /// How screens are drawn; `auto` is whether colours are used if nothing is said.
    pub(crate) fn looks(&self, auto: bool) -> Looks {
        let color = match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => auto,
        };
        Looks { color, glyphs: Glyphs { ascii: self.ascii } }
    }

    /// The target to open, and what is permitted on it.
    pub(crate) fn opening(&self) -> Opening {
        Opening {
            words: target_words(self.target.as_deref()),
            allow: self.allow.unwrap_or_default(),
            budget: self.budget,
            elfs: elfs(&self.elfs, std::env::var_os("MESHSCOPE_ELFS").as_ref()),
            manifests: self.manifest.clone(),
            keeps: Keeps::Nothing,
        }
    }
}

/// The directories of the command line, else those of the environment.
fn elfs(given: &[PathBuf], usual: Option<&OsString>) -> Vec<PathBuf> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let usual = usual.into_iter().flat_map(std::env::split_paths);
    usual.filter(|path| !path.as_os_str().is_empty()).collect()
}

/// The target of the command line, or the default: silicon where device files exist, else the
/// emulated mesh.
fn target_words(given: Option<&str>) -> String {
    let or_default = || {
        let devices = std::fs::read_dir("/dev/tenstorrent").is_ok_and(|d| d.count() > 0);
        if devices { DEVICE_TARGET } else { DEFAULT_TARGET }.to_owned()
    };
    given.map_or_else(or_default, str::to_owned)
}
