//! The command line: verbs and global options. The pages behind them are in `manual`.

mod fabric;
mod question;
mod run;
mod study;

pub(crate) use fabric::{
    FabricQuestion, PathArguments, StatusArguments, TablesArguments, WaitsArguments,
};
pub(crate) use question::{Listing, Question};
pub(crate) use run::RunArguments;
use run::fabrics;
pub(crate) use study::{Race, RaceArguments, TimeoutArguments, TtlArguments};

use clap::{Parser, Subcommand, ValueEnum};
use machine::fabric::FabricTopology;
use machine::target::Allow;
use std::path::PathBuf;

/// Where `--target` leads if it is not given and no device file exists; tests name their mesh instead.
pub const DEFAULT_TARGET: &str = "emulator:n300";

/// Where `--target` leads if it is not given and there are device files.
pub(crate) const DEVICE_TARGET: &str = "silicon";

/// A terminal debugger and inspector for live Tenstorrent Wormhole meshes.
///
/// Without a verb it shows the live mesh where standard output is a terminal, and prints the mesh once where
/// it is not.
#[derive(Debug, Parser)]
#[command(name = "meshscope", version, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// The machine to look at: `meshscope help targets`.
    #[arg(long, global = true, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Print JSON on standard output; prose stays on standard error.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours; NO_COLOR is honoured.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(crate) color: When,
    /// Draw with ASCII only.
    #[arg(long, global = true)]
    pub(crate) ascii: bool,
    /// What may be changed on a machine that is not this program's own: write, halt, launch, reset (`meshscope help safety`).
    #[arg(long, global = true, value_name = "WHAT,...", value_parser = Allow::parse)]
    pub(crate) allow: Option<Allow>,
    /// Bus transactions per second that the live view may cost; each kind of target has its own otherwise.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: Option<u32>,
    /// A directory of ELFs that may run there: a cache, package or log directory of tt-metal, or files of one's own.
    ///
    /// May be given more than once; without it $MESHSCOPE_ELFS counts, a list with colons: `meshscope help firmware`.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) elfs: Vec<PathBuf>,
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

/// The one-shot verbs, each of which is also a screen or a part of one.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Print chips and links, once.
    Mesh {
        /// Compare with this cluster descriptor, as UMD writes it, or with a shipped mesh such as t3000; exit
        /// code 1 if chips or links differ.
        #[arg(long, value_name = "DESCRIPTOR")]
        expect: Option<String>,
        /// Print the mesh as a cluster descriptor, as UMD writes it, instead of tables; emulator:FILE opens it.
        #[arg(long, conflicts_with = "expect")]
        descriptor: bool,
    },
    /// Print every core with its waypoint, once.
    Cores {
        /// Only this chip, tile or Ethernet channel: 0, 0:9-6 or 0:e8.
        place: Option<String>,
        /// Also print the decoded words of each core.
        #[arg(long)]
        words: bool,
    },
    /// Print which image runs on which core, and compare the whole text of each with L1.
    Images {
        /// Only this chip, tile or Ethernet channel: 0, 0:9-6 or 0:e8.
        place: Option<String>,
    },
    /// Print the links with both ends, once.
    Links,
    /// Print the routers, muxes and clients of the fabric with their channels and credits, once; or what its subcommands tell.
    #[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
    Fabric {
        /// Only this chip, tile or Ethernet channel, with its channels: 0, 0:9-6 or 0:e8.
        place: Option<String>,
        /// Another question.
        #[command(subcommand)]
        question: Option<FabricQuestion>,
    },
    /// Read memory of a tile.
    Read {
        /// Where: <chip>:<x>-<y>:<addr> in NOC 0 coordinates, or <chip>:e<channel>:<addr>; the address decimal or 0x hexadecimal.
        place: String,
        /// How many bytes, decimal or 0x hexadecimal.
        #[arg(default_value = "4", value_name = "LEN")]
        len: String,
    },
    /// Print the value of an expression on a core, by the names of the firmware that runs there.
    ///
    /// Names are looked up in the images of the core: kernels first, then the application, then base firmware.
    /// Memory is read as the core sees it; a pointer is followed only where the expression says so.
    Print {
        /// Which core: 0:e8, 0:9-6 or 0:1-2:trisc0; without a core's name the first of the tile.
        core: String,
        /// C++, such as 'mailboxes->go_messages[0]', '*p', '&x' or 'go_msg_t@0x3e1e0'; IMAGE::name names the image.
        expression: String,
        /// Only this image.
        #[arg(long, value_name = "IMAGE")]
        image: Option<String>,
    },
    /// Write memory or a register of a tile, once, and say what stood there before.
    ///
    /// On a machine that is not this program's own it needs --allow write, and where cores are started, stopped
    /// or reset --allow launch, halt or reset. Each write is first appended to the audit log.
    Write {
        /// Where: <chip>:<x>-<y>:<addr> in NOC 0 coordinates, or <chip>:e<channel>:<addr>; the address decimal or 0x hexadecimal.
        place: String,
        /// Words of 32 bits, decimal or 0x hexadecimal.
        #[arg(required_unless_present = "bytes", value_name = "VALUE")]
        values: Vec<String>,
        /// Bytes instead of words, in the order of memory; in memory they leave their neighbours as they are.
        #[arg(long, value_name = "HEX", conflicts_with = "values")]
        bytes: Option<String>,
    },
    /// Ask a firmware ELF for types and addresses; needs no target.
    Symbols {
        /// What to ask.
        #[command(subcommand)]
        question: Question,
    },
    /// Keep moments of the target in a file, which is a target itself afterwards (--target FILE).
    Record {
        /// The file; one that exists is not overwritten.
        file: PathBuf,
        /// How many moments.
        #[arg(long, default_value = "10", value_name = "N")]
        moments: String,
        /// Time of the target between two moments, in cycles of a nanosecond; ten seconds at most.
        #[arg(long, default_value = "1_000_000", value_name = "CYCLES")]
        every: String,
    },
    /// Run a collective on the mesh, size after size, and print the table that nccl-tests prints.
    ///
    /// The mesh must be free, and is given back as it was. On a machine that is not this program's own it needs
    /// --allow launch,write,reset. Without --target, and for an emulated mesh without run=, nothing else runs there.
    ///
    /// size is nccl-tests': the larger of a rank's input and output. time is the transfer by the clock of the chip that was
    /// launched last; algbw is size over time, busbw that times the collective's factor in nccl-tests' PERFORMANCE.md.
    Run(Box<RunArguments>),
    /// Measure something on emulated meshes of this program's own.
    Study {
        /// What to measure.
        #[command(subcommand)]
        study: Study,
    },
    /// Hold an emulated mesh on a Unix socket, so that it outlives its clients (--target socket:PATH).
    ///
    /// Any number of clients read it; one at a time, with --allow, may change it. The socket is its owner's alone. Only
    /// a socket that nobody answers on is replaced.
    Serve {
        /// The mesh, such as emulator:n300.
        mesh: Option<String>,
        /// Where to listen. Given once for each host of a mesh of several, each socket has the devices of one host.
        #[arg(long, value_name = "PATH", required = true)]
        socket: Vec<PathBuf>,
    },
    /// Print the page of a verb or a topic; without a name, list them.
    Help {
        /// A verb with its subcommand, such as symbols type, or a topic, such as targets.
        name: Vec<String>,
    },
    /// Print the JSON Schema of what a verb prints with --json; without a verb, list those that have one.
    Schema {
        /// A verb with its subcommand, such as symbols type; dry-run; or kept-entry, a line of the file of fabric status --keep.
        verb: Vec<String>,
    },
}

/// A measurement.
#[derive(Debug, Subcommand)]
pub(crate) enum Study {
    /// Print what being watched costs a running ring ping, at some rates, through windows and through queues.
    Watching {
        /// The mesh.
        #[arg(long, default_value = "n300", value_name = "MESH")]
        mesh: String,
        /// How long after the ring's begin the first look comes.
        #[arg(long, default_value = "0", value_name = "N")]
        seed: u64,
        /// Length of each run, in cycles of a nanosecond.
        #[arg(long, default_value = "5_000_000", value_name = "CYCLES")]
        cycles: String,
    },
    /// Print how long rings and a link take on an emulated T3000, beside the published figures and their sources.
    ///
    /// What is off by more than a tenth is explained from where the time goes.
    Latency {
        /// Which of the mesh's rings and links are measured.
        #[arg(long, default_value = "0", value_name = "N")]
        seed: u64,
    },
    /// Print what one link carries in both directions, by packet size and channels, beside a computed bound and published figures.
    Bandwidth {
        /// The mesh.
        #[arg(long, default_value = "n300", value_name = "MESH")]
        mesh: String,
        /// Which of the mesh's free links is measured.
        #[arg(long, default_value = "0", value_name = "N")]
        seed: u64,
    },
    /// Play the two races of the vendor's Ethernet guide, asynchronous start and completion, and print what they do.
    Race(RaceArguments),
    /// Send packets into a loop of the routing tables, and print where each one's time to live ends.
    Ttl(TtlArguments),
    /// Stop a receiver of a fabric for a while, and print what routers with and without a packet time-out do with its packets.
    Timeout(TimeoutArguments),
    /// Launch small all-gathers again and again, and print what they leave behind.
    Relaunch {
        /// The mesh.
        #[arg(long, default_value = "n300", value_name = "MESH")]
        mesh: String,
        /// Seed of sizes, links and directions.
        #[arg(long, default_value = "0", value_name = "N")]
        seed: u64,
        /// How often.
        #[arg(long, default_value = "100", value_name = "N")]
        count: String,
    },
    /// Send random packets between all pairs of chips of a fabric, and print whether each arrives exactly once, whole and in order.
    Traffic {
        /// The mesh, and words of its scene: t3000,topology=ring,dateline=off or galaxy,cabling=torus,meshes=2.
        #[arg(long, default_value = "t3000", value_name = "MESH")]
        mesh: String,
        /// What the routers are built for: line, ring, mesh or torus; mesh if the scene's words do not say.
        #[arg(long, value_name = "TOPOLOGY")]
        topology: Option<String>,
        /// So many of a hundred workers stand behind fabric muxes, one for each direction, of all policies.
        #[arg(long = "mux", default_value = "0", value_name = "PERCENT")]
        mux_percent: String,
        /// Packets of each seed.
        #[arg(long, default_value = "1000", value_name = "N")]
        packets: String,
        /// The first seed: who sends what to whom.
        #[arg(long, default_value = "0", value_name = "N")]
        seed: u64,
        /// How many seeds.
        #[arg(long, default_value = "5", value_name = "N")]
        seeds: String,
    },
    /// Run collectives over EDMs and over the fabric, and print their times beside each other.
    Transport {
        /// The mesh.
        #[arg(long, default_value = "n300", value_name = "MESH")]
        mesh: String,
        /// What the routers are built for; what fits the ranks without it.
        #[arg(long, value_parser = fabrics(), value_name = "TOPOLOGY")]
        fabric: Option<FabricTopology>,
        /// Workers of each link and direction; with EDMs two at most.
        #[arg(long, default_value = "2", value_name = "N")]
        workers: String,
        /// Seed of the data.
        #[arg(long, default_value = "1", value_name = "N")]
        seed: u32,
    },
    /// Lose links of a fabric in the midst of an all-gather or of random packets, bring them back, and print
    /// whether all data are right.
    ///
    /// Links are lost that have another one beside them; when, for how long and which the seed says.
    Reroute {
        /// The mesh, and words of its scene.
        #[arg(long, default_value = "t3000", value_name = "MESH")]
        mesh: String,
        /// What the routers are built for: line, ring, mesh or torus; mesh if the scene's words do not say.
        #[arg(long, value_name = "TOPOLOGY")]
        topology: Option<String>,
        /// Bytes of the all-gather.
        #[arg(long, default_value = "262144", value_name = "N")]
        bytes: String,
        /// Send so many random packets instead.
        #[arg(long, value_name = "N", conflicts_with = "bytes")]
        packets: Option<String>,
        /// The first seed.
        #[arg(long, default_value = "0", value_name = "N")]
        seed: u64,
        /// How many seeds.
        #[arg(long, default_value = "5", value_name = "N")]
        seeds: String,
    },
    /// Run the policies of a fabric mux under the same congestion, and print what comes of it beside what the public write-up says.
    Mux {
        /// The mesh; the chip with the most links takes part, and its neighbours.
        #[arg(long, default_value = "t3000", value_name = "MESH")]
        mesh: String,
        /// The first seed: what the workers send, and what ails the link when.
        #[arg(long, default_value = "0", value_name = "N")]
        seed: u64,
        /// How many seeds.
        #[arg(long, default_value = "20", value_name = "N")]
        seeds: String,
        /// What the mux runs on: brisc (of a compute tile) or erisc (an Ethernet tile without a link).
        #[arg(long, default_value = "brisc", value_name = "CORE")]
        on: String,
        /// Workers of each mux, to 8.
        #[arg(long, default_value = "8", value_name = "N")]
        workers: String,
        /// Links, each with a mux of its own; two, or as many as there are, without it.
        #[arg(long, value_name = "N")]
        links: Option<String>,
        /// Let a host wait for the first run of this policy (or of all) that never ends, until it gives up as a user sees it: 5 s of
        /// emulated time take minutes.
        #[arg(long, value_name = "POLICY")]
        hang: Option<String>,
        /// How often that host looks at the dispatcher.
        #[arg(long, default_value = "100ms", value_name = "TIME")]
        poll: String,
        /// How long nothing may move until it gives up.
        #[arg(long, default_value = "5s", value_name = "TIME")]
        patience: String,
    },
}

/// What clap says in paragraphs, in one line: the fault and its tips, without usage and hints.
pub(crate) fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let told =
        lines.take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more information"));
    // The verbs take no words behind `--`.
    let helps = |l: &&str| !l.is_empty() && !l.starts_with("tip: to pass '");
    let told: Vec<&str> = told.filter(helps).collect();
    let line = told.join("; ").replace(":;", ":");
    format!("{} (see --help)", line.trim_start_matches("error: "))
}
