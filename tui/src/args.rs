//! The command line: verbs, global options, and what `--help` promises about JSON.

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

const TARGETS: &str = "\
Targets: emulator:<mesh>[,cabling=<word>][,host=<n>][,run=<workload>][,firmware=<folder>][,at=<time>]
[,pace=<cycles per second>|max][,seed=<n>][,fault=<fault>]..., ttsim:<library>[,firmware=<folder>][,at=<time>],
silicon, /dev/tenstorrent/N, socket:<path>, or a recording.
Without --target: silicon where device files exist, else emulator:n300 with ring ping running on it, for run without.
Faults: link:0.8:down|up|flap=5us|slow=4x|bit-error=1e-6|slow-ack=2us, core:0.e8:stuck|released, each with @10us or
@10us..30us. The time of fault= is emulated time since power on, as that of at=; without one it begins at the hand-over.

Exit codes: 0 healthy, 1 findings, 2 usage or unusable input, 3 target unreachable, 4 partial,
5 refused by safety, 70 internal, 130 interrupted. A closed pipe ends quietly with 0.";

/// A terminal debugger and inspector for live Tenstorrent Wormhole meshes.
///
/// Without a verb it shows the live mesh where standard output is a terminal, and prints the mesh once where
/// it is not.
#[derive(Debug, Parser)]
#[command(name = "meshscope", version, after_help = TARGETS)]
pub(crate) struct Arguments {
    /// The machine to look at.
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
    /// What may be changed on a machine that is not this program's own: write, halt, launch, reset.
    #[arg(long, global = true, value_name = "WHAT,...", value_parser = Allow::parse)]
    pub(crate) allow: Option<Allow>,
    /// Bus transactions per second that the live view may cost; each kind of target has its own otherwise.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: Option<u32>,
    /// A directory of ELFs that may run there: a cache, package or log directory of tt-metal, or files of one's own.
    ///
    /// May be given more than once; without it $MESHSCOPE_ELFS counts, a list with colons. Firmware is found by its
    /// text in L1; kernels by the launch messages and the logs kernels.yaml, kernel_names.txt and
    /// kernel_elf_paths.txt, else by their text. What is proved (by build id or whole text) beats what is sampled
    /// (some of its text was compared), which beats what is on record, which beats what this process loaded; what is neither there nor explained is a finding.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) elfs: Vec<PathBuf>,
    /// Find the mesh, then only print what the verb would touch (mesh, cores, images, links, read, write, print, run).
    ///
    /// JSON: {"target","discovery_transactions","transactions","accesses":[{"chip","tile":[x,y],"addr","len",
    /// "way","write","transactions"}],"gaps":[...]}.
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
    ///
    /// JSON: {"target","cycles","transactions","chips":[{"id","coord":[x,y,rack,shelf],"pcie","board",
    /// "unique_id","gateway":[{"chip","channel"}],"harvested_rows","holders":[{"pid","name"}]}],
    /// "links":[{"a":{"chip","channel"},"b":{"chip","channel"},"state","a_to_b","b_to_a","apart_cycles"}],
    /// "gaps":[{"chip","tile":[x,y],"addr","len","reason","detail"}],"problems":[...],
    /// "last_client":{"name","pid","until_micros","broke_off"},
    /// "last_writer":{"name","pid","at_micros","at_cycles","what"},"writer":{"name","pid"}}; null where unknown. The last
    /// three are told of a mesh that is served on a socket: writer is another client that may change it now; host times are microseconds since the Unix epoch.
    /// With --expect also "differences":[{"kind",...}]: missing-chip ("expected_chip","coord","unique_id"),
    /// extra-chip ("chip"), other-chip ("chip","unique_id"), moved-chip ("chip","coord"), missing-link
    /// ("a","b"), extra-link ("a","b"), swapped-link ("a","b","found":{"a","b"}); an end on a missing chip
    /// has "expected_chip" instead of "chip".
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
    ///
    /// JSON: {"target","cycles","cores":[{"chip","tile":[x,y],"core","waypoint","activity","go","heartbeat",
    /// "launch","location":[{"function","file","line"}],"images":[{"role","name","load_addr","evidence",
    /// "path","bias","compared_bytes","text_bytes","check","also":[...]}],"findings":[...],
    /// "channels":[{"index","bytes_sent","receiver_ack","src_id","meaning"}],"missing":{...}}],"gaps":[...]};
    /// what is null is named in "missing" with its reason. The words of an image are explained at `images`: here no more
    /// of it is compared than its build id or samples of its text.
    Cores {
        /// Only this chip, tile or Ethernet channel: 0, 0:9-6 or 0:e8.
        place: Option<String>,
        /// Also print the decoded words of each core: "words":[{"name","addr","size","value"}].
        #[arg(long)]
        words: bool,
    },
    /// Print which image runs on which core, and compare the whole text of each with L1.
    ///
    /// JSON: {"target","cycles","cores":[{"chip","tile":[x,y],"core","images":[{"role","name","load_addr",
    /// "evidence","path","bias","compared_bytes","text_bytes","check","also":[...]}],"findings":[...]}],
    /// "gaps":[...]}. "evidence" is told, recorded, sampled, proved or mismatch; "check" is equal, build-id (only that
    /// was compared, and found), differs, iram (it runs from instruction RAM, which nobody else can read) or why L1 was not
    /// read, null where nothing was compared; "also" names images with the same text; findings are sentences. Exit code 1
    /// if there is any.
    Images {
        /// Only this chip, tile or Ethernet channel: 0, 0:9-6 or 0:e8.
        place: Option<String>,
    },
    /// Print the links with both ends, once.
    ///
    /// JSON: {"target","cycles","links":[{"a","b","state","a_to_b","b_to_a","apart_cycles","ends":[{"chip","channel","tile",
    /// "waypoint","train_status","link_status","retrain_count","crc_errors","packets_sent",
    /// "packets_received","missing":{...}},...]}],"gaps":[...]}; what is null is named in "missing" with its reason.
    Links,
    /// Print the routers, muxes and clients of the fabric with their channels and credits, once; or what its subcommands tell.
    ///
    /// JSON: {"target","cycles","routers":[{"chip","channel","tile":[x,y],"image","topology","node":{"mesh","device"},
    /// "direction","running","waypoint","master","dateline","status","postcode","termination","refusal",
    /// "refusal_name","local_sync","local_routers","link","epoch","fallback","passes","senders":[{"index","virtual_channel","slots","queued","in_flight","completions",
    /// "remote_free_slots","sent","completed","dropped","connection","client","last_client","head":{"addr","packet":{
    /// "send_type","payload_bytes","ttl","source","destination","number","to":{"tile","addr"},"route"}}}],"receivers":[{
    /// "index","virtual_channel","slots","arrived","held","received","completed","dropped","waits_for","pending":[...],
    /// "head"}],"downstream":[{"direction","virtual_channel","tile","credits"}],"counts":{...}}],"muxes":[{"core":{"chip",
    /// "tile","core"},"image","policy","running","waypoint","status","termination","passes","holder","drain_iters",
    /// "abandoned","channels":[{"index","slots","queued","connection","connected","client","forwarded","polls","skips",
    /// "longest_wait_cycles","closes","head"}]}],"clients":[{"core","image","name","running","waypoint","stage","waits",
    /// "to_tile","to":{"router":{"chip","channel"}|"mux":core,"channel"},"slots","sent","used","teardown","termination",
    /// "mux_clients","told","ending_step","ending"}],"links":[{"from","to","virtual_channel","slots","queued",
    /// "remote_free_slots","in_flight","arrived","held","rerouted_by":{"chip","channel"},"verdict"}],"waits":[as of fabric
    /// waits],"gaps":[...]}; exit code 1 if a router refused to run or a credit is lost.
    #[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
    Fabric {
        /// Only this chip, tile or Ethernet channel, with its channels: 0, 0:9-6 or 0:e8.
        place: Option<String>,
        /// Another question.
        #[command(subcommand)]
        question: Option<FabricQuestion>,
    },
    /// Read memory of a tile.
    ///
    /// JSON: {"chip","tile":[x,y],"addr","bytes":"hex"}.
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
    ///
    /// JSON: {"chip","tile":[x,y],"core","image","expression","type","addr","size","value","missing":{...}}: a
    /// structure is an object (a base with members that others hide is also one, under its type's name), an array a
    /// list, an enumerator {"name","value"}; what is null is named in "missing"
    /// with its reason, which for "addr" may be constant, private where only the core itself can look, and unmapped
    /// where nothing stands.
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
    /// or reset --allow launch, halt or reset. Each write is first appended to $MESHSCOPE_AUDIT_LOG, or else to
    /// meshscope/audit.jsonl in $XDG_STATE_HOME or ~/.local/state.
    ///
    /// JSON: {"chip","tile":[x,y],"addr","old":"hex","new":"hex"}; what is null is named in "missing" with its
    /// reason.
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
    /// Each size is compiled for the mesh first, so that what cannot be is refused before anything is written. The
    /// kernels are those of the firmware of this house; the mesh must be free, and is given back as it was. On a
    /// machine that is not this program's own it needs --allow launch,write,reset. Without --target, and for an
    /// emulated mesh without run=, nothing else runs there. Exit code 1 if data is wrong or a kernel does not end.
    /// Ctrl-C tears the run down; a second one leaves at once.
    ///
    /// size is nccl-tests': the larger of a rank's input and output. time is the transfer by the clock of the chip that was
    /// launched last; algbw is size over time, busbw that times the collective's factor in nccl-tests' PERFORMANCE.md.
    ///
    /// JSON: {"op","target","chips","topology","rows":[{"size","count","type","redop","time_us","algbw_gbps",
    /// "busbw_gbps","wrong","root","start_skew_us","last_chip","chips":[{"chip","kernel_us","transfer_us"}],
    /// "wrong_places":[...]}],"links","layout","bidirectional","iterations","warmups","seed","faults":[...],
    /// "out_of_bounds","avg_busbw_gbps","transport","workers","fabric","muxes"}; chips are in the order of their ranks, wrong
    /// and out_of_bounds are null where nothing was checked, root where there is none, fabric without --transport fabric. A run
    /// that fails has the same keys, rows for the sizes that were finished, null for what is unknown, and "error":{"message",
    /// "exit_code","kind"}. Of a run that was judged or begun the error also has "cause","core":{"chip","tile":[x,y]},
    /// "waypoint","waiting_for","since_cycles","notes":[sentence], null where nothing is known, and where one word of one tile
    /// is to blame "chip","tile":[x,y],"addr","value"; "waited_cycles" is how long nothing moved.
    Run(Box<RunArguments>),
    /// Measure something on emulated meshes of this program's own.
    Study {
        /// What to measure.
        #[command(subcommand)]
        study: Study,
    },
    /// Hold an emulated mesh on a Unix socket, so that it outlives its clients (--target socket:PATH).
    ///
    /// Any number of clients look at it; one at a time, with --allow, has the right to change it. The socket is made for
    /// its owner alone. Only a socket that nobody answers on is replaced.
    Serve {
        /// The mesh, such as emulator:n300.
        mesh: Option<String>,
        /// Where to listen. Given once for each host of a mesh of several, each socket has the devices of one host.
        #[arg(long, value_name = "PATH", required = true)]
        socket: Vec<PathBuf>,
    },
}

/// A measurement.
#[derive(Debug, Subcommand)]
pub(crate) enum Study {
    /// Print what being watched costs a running ring ping, at some rates, through windows and through queues.
    ///
    /// JSON: {"mesh","seed","rows":[{"sight","period_cycles","looks","cycles","laps","laps_unwatched",
    /// "cost_per_thousand"}]}; sight is near or far, a period of 0 is without a pause, and the cost is in cycles
    /// that watching adds to a thousand of the workload's.
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
    ///
    /// JSON: {"mesh","seed","rows":[{"what","hops","packet_bytes","count","measured_ns","per_hop_ns","published_ns",
    /// "deviation_percent","published_source","reason","published":[{"ns","source","words","deviation_percent","reason"}],
    /// "chips","parts":{"link_ns","wire_ns","copy_ns","kernels_ns"}}]}; published_ns, its deviation, source and reason are
    /// the first of published, null where nothing is; parts are of one hop.
    Latency {
        /// Which of the mesh's rings and links are measured.
        #[arg(long, default_value = "0", value_name = "N")]
        seed: u64,
    },
    /// Print what one link carries in both directions, by packet size and channels, beside a computed bound and published figures.
    ///
    /// JSON: {"mesh","seed","rows":[{"mover","packet_bytes","channels","buffers","messages","cycles","measured_gbps",
    /// "published_gbps","utilisation_percent","deviation_percent","basis","bound_gbps","vendor_gbps","vendor_source",
    /// "vendor_words","vendor_deviation_percent","reason","link"}]}; mover is stream (nothing but sends and completions) or
    /// edm; published_gbps and deviation_percent are of the bound, which is computed as basis says from published
    /// overheads; what the vendor measured itself is vendor_gbps, null where nothing is published.
    Bandwidth {
        /// The mesh.
        #[arg(long, default_value = "n300", value_name = "MESH")]
        mesh: String,
        /// Which of the mesh's free links is measured.
        #[arg(long, default_value = "0", value_name = "N")]
        seed: u64,
    },
    /// Play the two races of the vendor's Ethernet guide, asynchronous start and completion, and print what they do.
    ///
    /// Two ops follow each other on a link, each chip in its own time; once with kernels that leave out what the guide
    /// asks for (a handshake, a teardown that waits for every credit), once with kernels that do it.
    ///
    /// JSON: {"mesh","explanations":[{"race","left_out","text","careless_rounds","careless_harmed","proper_rounds",
    /// "proper_harmed"}],"rows":[{"seed","race","proper","left_out","sender":{"chip","channel"},"receiver","channels",
    /// "rounds","payload_bytes","dwell_cycles","late_cycles","misreads":[{"end","op","addr","bytes_sent","of_op",
    /// "of_message","taken_for","wanted_message"}],"mismatched_words","mismatches":[{"end","op","addr","expected","found",
    /// "written_by_op"}],"stuck":[{"end","op","waits_for","channel","addr","bytes_sent"}],"cycles","told":[...]}]};
    /// exit code 1 if kernels that do what the guide asks for came to harm.
    Race(RaceArguments),
    /// Send packets into a loop of the routing tables, and print where each one's time to live ends.
    ///
    /// JSON: {"mesh","from_device","to_device","loop":[{"device","chip","direction"}],"sent","told",
    /// "control_dropped":[{"chip","channel","count"}],"rows":[{"ttl","way":[device],"expected":{"device","chip","direction"},
    /// "seen":{"chip","channel","device","direction","cycles"}}]}; devices count from 0; direction is where the link of the
    /// router leads that dropped the packet; exit code 1 if a packet ended elsewhere than the tables say, or its sender was
    /// not told and no router's control channel has dropped as many messages.
    Ttl(TtlArguments),
    /// Stop a receiver of a fabric for a while, and print what routers with and without a packet time-out do with its packets.
    ///
    /// JSON: {"mesh","topology","stuck_cycles","rows":[{"time_out_cycles","router","stuck","packets","sent_meanwhile","sent",
    /// "received","dropped","told","entries","entries_lost","first_drop_cycles","drops_last_cycles"}]}; a time-out of 0 is
    /// none, told counts negative acknowledges, entries those of the status queue, first_drop_cycles is how long the first dropped
    /// packet had stood at the head; exit code 1 if a packet is neither
    /// received nor dropped, was dropped without need, or has no entry.
    Timeout(TimeoutArguments),
    /// Launch small all-gathers again and again, and print what they leave behind.
    ///
    /// JSON: {"mesh","seed","rows":[{"runs","bytes","wrong","left","told":[...],"cycles","transactions"}]}; exit code
    /// 1 if data was wrong, or a credit, packet or semaphore was left behind.
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
    ///
    /// JSON: {"mesh","topology","mux_percent","rows":[{"seed","packets","sent","arrived","wrong_words","doubled","missing","refused",
    /// "nacks","unfinished","cycles"}]}; arrived counts stretches of memory, unfinished the workers that did not end, and cycles
    /// are those of the chip that took longest; exit code 1 if anything is not as it should be.
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
    ///
    /// JSON: {"mesh","workers","rows":[{"op","size","edm_us","fabric_us","factor","fabric","muxes","wrong"}]};
    /// factor is the time over the fabric by that over EDMs; exit code 1 if data is wrong.
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
    ///
    /// JSON: {"mesh","topology","rows":[{"seed","lost":[{"link","from_cycles","cycles"}],"chip","healthy_cycles",
    /// "cycles","rerouted","resent","wrong","doubled","missing","effect","cost_cycles"}]}; chip is that of an all-gather
    /// which got its data latest, and the times are its own; healthy_cycles is what the same takes when nothing is lost,
    /// cost_cycles how much more it was for each rerouted packet; rerouted counts packets that went over another link,
    /// resent those that were sent again when the link was back; exit code 1 if anything is not right.
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
    ///
    /// The experiment is that of the write-up of the reduce-scatter hang: workers share muxes with one slot a channel, in front of
    /// routers that take 5 to 10 us for a packet, and that become slow or stay without slots for a while, for long, or for ever. A
    /// dispatcher lets them go and waits for them. The policies captures_130us and captures_5us are its third and fourth fix as it reads
    /// them: the channel that waits takes every slot of the router for so long.
    ///
    /// JSON: {"mesh","workers","links","slow_factor","starve_factor","never_factor","policies":[{"policy","finishes","slows","loses",
    /// "starves","never_ends","median_percent","waits","longest_wait_cycles","longest_unserved_cycles","longest_unattended_cycles",
    /// "longest_hold_cycles","longest_close_cycles","claim"}],"claims":[{"policy","says","here","agrees","why"}],"hosts":[{"policy",
    /// "seed","looks","poll_cycles","patience_cycles","progress","commands","done","waits_for","gave_up_cycles","chain":[...]}],
    /// "rows":[{"seed","policy","fate","healthy_cycles","cycles","packet_cycles","stall_cycles","longest_..._cycles" as above,
    /// "undone","abandoned","missing","channels":[{"mux","channel","unserved_cycles","unattended_cycles","close_cycles"}],"congestion",
    /// "chain":[...]}]}; a claim is the public write-up's, a chain says who waits for whom, stall_cycles is null for ever.
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
