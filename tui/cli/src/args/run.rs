//! The options of `run`, spelled as users of nccl-tests and tt-metal expect; the `:` line takes
//! them too.

mod replay;
mod sweep;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args};
use collectives::{Bidirectional, DataType, FabricOptions, Op, TensorLayout, Transport};
use fabric::mux::Policy;
use launch::topology::TopologyKind;
use machine::fabric::FabricTopology;
use machine::fabric::MuxCore;
use std::path::PathBuf;

/// Run a collective on the mesh, size after size, and print the table that nccl-tests prints.
///
/// The mesh must be free, and is restored at the end. On a target outside this process it needs
/// --allow launch,write,reset. Without --target, and for an emulated mesh without run=, nothing
/// else runs there.
///
/// size is nccl-tests': the larger of a rank's input and output. time is from the start of the chip
/// that is launched last, the root if there is one, to the end of the slowest one; algbw is size
/// over time, busbw algbw times the collective's factor in nccl-tests' PERFORMANCE.md. A busbw
/// above the rate of the links is an error of the measurement, and the exit code is then 1.
///
/// With --from the packets of a trace are sent instead, and what arrives is checked.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
pub(crate) struct RunArguments {
    /// The collective.
    #[arg(value_parser = ops(), value_name = "OP", required_unless_present = "from")]
    pub(crate) op: Option<Op>,
    /// Send the packets of this trace over a fabric instead of a collective; `export --to trace`
    /// writes one.
    #[arg(long, value_name = "TRACE", conflicts_with_all = OF_COLLECTIVES)]
    pub(crate) from: Option<PathBuf>,
    /// Chips that take part, such as 0-7 or 0-3,5; by default all of the mesh.
    ///
    /// May be given more than once: the collective runs on each list at the same time.
    #[arg(long, value_name = "LIST")]
    pub(crate) chips: Vec<String>,
    /// How the chips are connected; by default what fits the collective and the mesh.
    #[arg(long, value_parser = topologies(), value_name = "TOPOLOGY")]
    pub(crate) topology: Option<TopologyKind>,
    /// Smallest size, in bytes: 4096, 4K, 1M or 1G (K is 1024).
    #[arg(short = 'b', long = "minbytes", default_value = "4K", value_name = "SIZE")]
    pub(crate) min_bytes: String,
    /// Largest size; by default the smallest.
    #[arg(short = 'e', long = "maxbytes", value_name = "SIZE")]
    pub(crate) max_bytes: Option<String>,
    /// Factor from one size to the next; by default 2, unless -i is given.
    #[arg(short = 'f', long = "stepfactor", value_name = "FACTOR", conflicts_with = "step_bytes")]
    pub(crate) step_factor: Option<String>,
    /// Bytes from one size to the next.
    #[arg(short = 'i', long = "stepbytes", value_name = "SIZE")]
    pub(crate) step_bytes: Option<String>,
    /// How often each size is measured; the time is the mean.
    #[arg(
        short = 'n',
        long = "iters",
        default_value = "1",
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub(crate) iterations: String,
    /// How often each size is carried out before it is measured.
    #[arg(
        short = 'w',
        long = "warmup-iters",
        default_value = "0",
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub(crate) warmups: String,
    /// Check the data on every chip against what the host computes, and count wrong elements.
    #[arg(short = 'c', long)]
    pub(crate) check: bool,
    /// Launch nothing: print what each rank hands to which one in each time step.
    #[arg(long)]
    pub(crate) schedule: bool,
    /// Record the run to this new file, a moment every millisecond of the target; what reading
    /// costs is part of the measured times.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Parallel links between two neighbours.
    #[arg(long, default_value = "1", value_name = "N", allow_negative_numbers = true)]
    pub(crate) links: String,
    /// The type of an element.
    #[arg(short = 'd', long = "type", value_parser = types(), default_value = "int32", value_name = "TYPE")]
    pub(crate) data_type: DataType,
    /// Where pages of a tensor are: interleaved over the DRAM banks, or in shards in L1 of compute
    /// tiles.
    #[arg(long, value_parser = layouts(), default_value = "interleaved", value_name = "LAYOUT")]
    pub(crate) layout: TensorLayout,
    /// Use of both directions of a ring: none, half of each tensor in each, or whole tensors
    /// half-way round in each.
    #[arg(long, value_parser = directions(), default_value = "no", value_name = "HOW")]
    pub(crate) bidirectional: Bidirectional,
    /// The rank that has the data first or receives it last (broadcast, scatter, reduce, gather).
    #[arg(
        short = 'r',
        long,
        default_value = "0",
        value_name = "RANK",
        allow_negative_numbers = true
    )]
    pub(crate) root: String,
    /// When EDM channels end: after a count of messages, or on a message of their workers.
    #[arg(
        long = "termination",
        action = ArgAction::Set,
        value_parser = terminations(),
        default_value = "count",
        value_name = "MODE"
    )]
    pub(crate) worker_initiated: bool,
    /// Seed of the data.
    #[arg(long, default_value = "1", value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: String,
    /// Bytes of one buffer of an EDM channel, a multiple of 32.
    #[arg(long, value_name = "SIZE")]
    pub(crate) buffer_bytes: Option<String>,
    /// Buffers of each EDM channel.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) buffers: Option<String>,
    /// Bytes of one page of a tensor, a multiple of 32.
    #[arg(long, value_name = "SIZE")]
    pub(crate) page_bytes: Option<String>,
    /// Disturb an emulated mesh, such as link:0.8:down@10us: the time counts from the start of the
    /// transfer.
    ///
    /// May be given more than once.
    #[arg(long, value_name = "FAULT")]
    pub(crate) fault: Vec<String>,
    /// The delay after a worker has read a message before it frees the buffer, such as 200us, so
    /// that the run can be followed.
    #[arg(long, alias = "dwell", value_name = "TIME")]
    pub(crate) delay: Option<String>,
    /// When a run fails and a chip does not answer, or a core of it stands still, run on the chips that are
    /// left.
    ///
    /// The runs on other lists of chips rest meanwhile. A fabric that runs is built anew without that
    /// chip.
    #[arg(long, conflicts_with_all = ["from", "schedule"])]
    pub(crate) relaunch: bool,
    /// Pause the run at a stage (fill, handshake, transfer, teardown, check) or a share of the transfer,
    /// such as 50%, and count its credits.
    ///
    /// A launch that was paused is not measured; if it was the only one, another is made.
    ///
    /// On a terminal `s` steps as the verb `step` does, and Enter lets it run on; without a terminal it
    /// runs on at once; in the live view at :resume.
    #[arg(long, value_name = "STAGE")]
    pub(crate) pause_at: Option<String>,
    /// How packets travel between ranks: over links with an EDM at each end, or over the fabric,
    /// which is brought up if none runs.
    #[arg(long, value_parser = transports(), default_value = "edm", value_name = "TRANSPORT")]
    pub(crate) transport: Transport,
    /// What the routers of the fabric are built for; by default what fits the ranks.
    #[arg(long, value_parser = fabrics(), value_name = "TOPOLOGY")]
    pub(crate) fabric: Option<FabricTopology>,
    /// Routing planes of the fabric that is brought up; by default one more than --links, if the
    /// mesh has as many.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) planes: Option<String>,
    /// What runs the muxes that several workers of a chip share: BRISC of a compute tile, the
    /// default, or an Ethernet tile without a link.
    #[arg(long, value_parser = cores(), value_name = "CORE")]
    pub(crate) mux: Option<MuxCore>,
    /// How a mux waits for a slot of its router; by default unbounded.
    #[arg(long, value_parser = policies(), value_name = "POLICY")]
    pub(crate) mux_policy: Option<Policy>,
    /// Workers of each link and direction; each has its own part of the data.
    #[arg(long, default_value = "1", value_name = "N", allow_negative_numbers = true)]
    pub(crate) workers: String,
    /// End a kernel after this much of the target's time without progress, such as 20ms; at least
    /// 100us, by default 5ms.
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,
}

/// The arguments that have no effect on a trace.
const OF_COLLECTIVES: [&str; 26] = [
    "op",
    "topology",
    "min_bytes",
    "max_bytes",
    "step_factor",
    "step_bytes",
    "iterations",
    "warmups",
    "check",
    "schedule",
    "links",
    "data_type",
    "layout",
    "bidirectional",
    "root",
    "worker_initiated",
    "seed",
    "buffer_bytes",
    "buffers",
    "page_bytes",
    "delay",
    "pause_at",
    "transport",
    "mux",
    "mux_policy",
    "workers",
];

/// The names of each value: the one that help shows, and aliases.
type ValueNames<T> = Vec<(&'static str, &'static [&'static str], T)>;

fn one_of<T: Clone + Send + Sync + 'static>(
    words: ValueNames<T>,
) -> impl TypedValueParser<Value = T> {
    let shown = words.iter().map(|(name, others, _)| PossibleValue::new(*name).aliases(*others));
    let shown: Vec<_> = shown.collect();
    PossibleValuesParser::new(shown).try_map(move |word| {
        let is = |name: &str, others: &[&str]| name == word || others.contains(&&*word);
        let value = words.iter().find(|(name, others, _)| is(name, others));
        value.map(|(.., value)| value.clone()).ok_or("is not a known word")
    })
}

fn ops() -> impl TypedValueParser<Value = Op> {
    one_of(Op::ALL.map(|op| (op.name(), &[][..], op)).into())
}

fn topologies() -> impl TypedValueParser<Value = TopologyKind> {
    one_of([TopologyKind::Ring, TopologyKind::Line].map(|kind| (kind.name(), &[][..], kind)).into())
}

fn types() -> impl TypedValueParser<Value = DataType> {
    let others = |data_type| match data_type {
        DataType::Int32 => &["int"][..],
        DataType::Float32 => &["float", "float32"],
        DataType::Bfloat16 => &["bf16"],
    };
    let all = [DataType::Int32, DataType::Float32, DataType::Bfloat16];
    one_of(all.map(|kind| (kind.name(), others(kind), kind)).into())
}

fn layouts() -> impl TypedValueParser<Value = TensorLayout> {
    one_of(
        [TensorLayout::Interleaved, TensorLayout::Sharded]
            .map(|at| (at.name(), &[][..], at))
            .into(),
    )
}

fn directions() -> impl TypedValueParser<Value = Bidirectional> {
    one_of(vec![
        ("no", &[], Bidirectional::No),
        ("half", &["half-tensors"], Bidirectional::HalfTensors),
        ("full", &["full-tensors"], Bidirectional::FullTensors),
    ])
}

fn transports() -> impl TypedValueParser<Value = Transport> {
    let all = [Transport::Edm, Transport::Fabric(FabricOptions::default())];
    one_of(all.map(|transport| (transport.name(), &[][..], transport)).into())
}

fn fabrics() -> impl TypedValueParser<Value = FabricTopology> {
    one_of(FabricTopology::ALL.map(|kind| (kind.name(), &[][..], kind)).into())
}

fn cores() -> impl TypedValueParser<Value = MuxCore> {
    one_of(vec![("brisc", &["tensix"], MuxCore::Tensix), ("erisc", &["eth"], MuxCore::Ethernet)])
}

fn policies() -> impl TypedValueParser<Value = Policy> {
    one_of(Policy::ALL.map(|policy| (policy.name(), &[][..], policy)).into())
}

fn terminations() -> impl TypedValueParser<Value = bool> {
    one_of(vec![("count", &[], false), ("worker", &[], true)])
}
