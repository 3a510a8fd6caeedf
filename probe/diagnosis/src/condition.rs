//! The conditions: the citable name of each finding, how much it explains, and what it means, all in
//! one entry of a table.

use schemars::JsonSchema;
use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(with = "String", inline)]
pub enum Severity {
    /// It moves, slower than its peers.
    Slow,
    /// It has not ended, and nothing shows that it moves.
    Unfinished,
    /// Something is wrong, and nothing stands still because of it.
    Fault,
    /// Something stands still because of it.
    Hang,
}

impl Severity {
    /// Returns the word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Unfinished => "unfinished",
            Self::Fault => "fault",
            Self::Hang => "hang",
        }
    }
}

/// The explanation of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// What it means.
    pub meaning: &'static str,
    /// What it rests on, at both sides.
    pub evidence: &'static str,
    /// What would refute it.
    pub refuted_by: &'static str,
    /// What to look at next; PLACE stands for its place.
    pub next: &'static str,
}

/// A condition in JSON.
#[derive(Serialize, JsonSchema)]
struct Named {
    /// Its citable name, such as `link-down`.
    condition: &'static str,
}

impl From<Condition> for Named {
    fn from(condition: Condition) -> Self {
        Self { condition: condition.name() }
    }
}

macro_rules! conditions {
    ($($variant:ident = $name:literal, explains $explains:literal: $meaning:literal,
        evidence: $evidence:literal, refuted by: $refuted_by:literal, next: $next:literal;)*) => {
        /// A finding's citable name, stable over versions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(into = "Named")]
        #[schemars(with = "Named", inline)]
        pub enum Condition {
            $(#[doc = $meaning] $variant,)*
        }

        impl Condition {
            /// All conditions.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name that is cited and printed.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the condition of this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|condition| condition.name() == name)
            }

            /// Returns how much a finding explains: of two, the one with the higher number is the
            /// cause.
            pub(crate) fn explains(self) -> u8 {
                match self {
                    $(Self::$variant => $explains,)*
                }
            }

            /// Returns its explanation.
            pub fn explanation(self) -> Explanation {
                let [meaning, evidence, refuted_by, next] = match self {
                    $(Self::$variant => [$meaning, $evidence, $refuted_by, $next],)*
                };
                Explanation { meaning, evidence, refuted_by, next }
            }
        }
    };
}

conditions! {
    NocUnanswered = "noc-unanswered", explains 3:
        "A core or router has sent a request over the NoC and got no answer, or a tile does not answer meshscope. It is often a consequence: the tile that should answer was reset, is fused off, or the address is wrong. The first read of such a tile can take the PCIe side of its chip along.",
        evidence: "the core stands at a waypoint of a NoC wait; its network interface counts requests outstanding, by transaction id, and its command buffers have the tile and address of the last one",
        refuted by: "the counter of outstanding requests is 0, or moves; the tile answers after a reset of the chip",
        next: "see whether its tile answers: `meshscope cores PLACE`";

    TextOverwritten = "text-overwritten", explains 6:
        "The text in L1 is not that of the image that was loaded, or a launch message holds what no host writes: a buffer grew into it, or another kernel was loaded over it.",
        evidence: "the first word that differs, with its address; the whole text of a core that stands is compared; most cores of its kind have a firmware that it lacks",
        refuted by: "the ELF is of another build: then every core of the kernel differs",
        next: "compare the whole text: `meshscope images PLACE`";

    PcOutsideText = "pc-outside-text", explains 6:
        "A core executes where no code is: its kernel jumped through a wrong pointer, returned with an overwritten stack, or ran past its end.",
        evidence: "the program counter, and the word there: zeros, or no memory that the core executes from",
        refuted by: "code is there, and was cleared since",
        next: "find who jumped, by its registers: `meshscope --allow halt debug PLACE registers`";

    RegionsOverlap = "regions-overlap", explains 6:
        "Two live regions of a core overlap, so that one overwrites the other.",
        evidence: "the address of a buffer in the kernel's arguments, and the range of an image's text",
        refuted by: "the buffer is not used by this run",
        next: "look at its arguments: `meshscope cores PLACE --words`";

    StalePointer = "stale-pointer", explains 6:
        "A word that counts is incremented outside of every region of the core that waits for it: the address is of an earlier allocation.",
        evidence: "the address in the arguments of the core that increments; the semaphores in the launch message of the core that waits",
        refuted by: "the launch message is of a later program than the arguments",
        next: "look at the arguments at both ends: `meshscope cores PLACE --words`";

    PacketMisrouted = "packet-misrouted", explains 0:
        "A router has dropped packets for which its tables have no way.",
        evidence: "the router's count of routing errors",
        refuted by: "the count is of an earlier run and does not grow",
        next: "follow the tables: `meshscope fabric path`, and the entries: `meshscope fabric status`";

    PacketsDropped = "packets-dropped", explains 3:
        "Routers have dropped packets: their time ran out, they had lived for too many hops, or no way was left for them. Kernels that wait for them do not end.",
        evidence: "the entries in the status queues of the routers, which name source and destination of each packet, and their counts",
        refuted by: "the entries are of an earlier run: drain the queues, and see whether new ones come",
        next: "read all entries: `meshscope fabric status`, and drain them: `meshscope fabric drain`";

    IncrementNeverSent = "increment-never-sent", explains 2:
        "Somebody waits for an increment, a message or pages of a core whose kernel has ended, was never launched, or itself waits for a semaphore.",
        evidence: "the wait of the core that lacks it; launch and go message of the core that should send; of a plain kernel the counters of its tile's circular buffers",
        refuted by: "the sender is another core than the words of the waiting one say",
        next: "look at what that core ran last: `meshscope cores PLACE --words`";

    BringUpStopped = "bring-up-stopped", explains 2:
        "Routers or kernels wait in a handshake for a core on which nothing runs.",
        evidence: "the stage of each router that waits; launch and go message of the missing one",
        refuted by: "the missing core is still being launched: its words change",
        next: "launch it, or read why it does not run: `meshscope cores PLACE --words`";

    Leftover = "leftover", explains 2:
        "What an earlier job left: kernels that still run although their peers have ended, or firmware that was loaded and never started.",
        evidence: "the router serves without a termination signal; its peer has ended or waits for it to leave; the go message stays INIT, and no process holds the mesh that could go on",
        refuted by: "the teardown is still under way: routers end one after the other",
        next: "end it by its termination word; `meshscope fabric` shows who is left";

    LinkDown = "link-down", explains 4:
        "A link that had a peer carries nothing.",
        evidence: "train and link status of both ends; parties that wait for the link",
        refuted by: "the far end was not read, and the near one is up",
        next: "watch both ends: `meshscope links`, retrains and CRC errors";

    LinkRetraining = "link-retraining", explains 0:
        "A link was trained again while it was watched; packets on it were delayed.",
        evidence: "the retrain count of an end has grown by one",
        refuted by: "the count did not change",
        next: "watch for longer: `meshscope why --for 1s`";

    LinkFlapping = "link-flapping", explains 4:
        "A link goes down and up again and again.",
        evidence: "the status or the retrain count of an end changed twice or more",
        refuted by: "the changes are of different links",
        next: "change the cable or the port; `meshscope links` counts retrains";

    LinkBrokenAfterRetrain = "link-broken-after-retrain", explains 4:
        "A link has trained again since its boot, and carries nothing since.",
        evidence: "its retrain count is not 0, and its status is not up",
        refuted by: "it is still training: its status changes when watched for longer",
        next: "compare the registers of both ends with those of a good link; reset the board";

    LinkUnanswered = "link-unanswered", explains 1:
        "Both ends of a link are up, and nothing that is sent over it is answered.",
        evidence: "packets or credits that have not moved; both ends' status",
        refuted by: "the receiver holds the packets: then it is the cause",
        next: "read the credits of both ends: `meshscope fabric PLACE`";

    CreditsWrong = "credits-wrong", explains 5:
        "Two ends count the same credits differently, and neither moves: a credit was lost or overwritten.",
        evidence: "the count of the giver, and the word of the taker with its address",
        refuted by: "the counts were read while they moved",
        next: "read both words again: `meshscope fabric PLACE`";

    ChipGone = "chip-gone", explains 5:
        "Nothing of a chip can be read: its gateways, its links or its NoC do not answer.",
        evidence: "the reason of each gap; parties that wait for its cores",
        refuted by: "another gateway reaches it",
        next: "look at the links on its route: `meshscope links`";

    HostAwaited = "host-awaited", explains 1:
        "Everything that waits, waits for the host: for READY_FOR_TRAFFIC, a go message, or room in a queue.",
        evidence: "the stage of routers and of dispatch; no core stands",
        refuted by: "a core of the program stands: then dispatch waits for it",
        next: "look at the launching process: is it alive, and what does it wait for?";

    EndsDiffer = "ends-differ", explains 6:
        "The two ends of a link were built or launched with arguments that do not fit.",
        evidence: "the argument at both ends, with addresses; a router that refused names its reason",
        refuted by: "one end is of an earlier launch",
        next: "launch both ends with arguments that fit";

    CircularWait = "circular-wait", explains 3:
        "Parties wait for each other in a circle: none of them can go on.",
        evidence: "each wait of the circle, unchanged in all snapshots",
        refuted by: "one of the waits moves when watched for longer",
        next: "change the order in which one of them sends and waits; its words: `meshscope cores PLACE --words`";

    MuxStarvation = "mux-starvation", explains 3:
        "A mux waits with one packet and serves no other channel meanwhile.",
        evidence: "the channel that it serves and what that waits for; the channels that wait for their turn",
        refuted by: "its pass count grows: then it serves all, slowly",
        next: "bound the wait of the mux's forwarding loop, as its policy bounded_256 does";

    CoreStuck = "core-stuck", explains 3:
        "A core executes nothing, or has all that it needs and does not go on.",
        evidence: "its words, its loop count and, on Ethernet, its heartbeat did not change; what it needs is there",
        refuted by: "it is in a delay that was asked for, or waits for something that its words do not tell",
        next: "sample its program counter: `meshscope --allow sample cores PLACE --sample 20`";

    Paused = "paused", explains 5:
        "A kernel was paused by its pause word or by RouterCommand PAUSE, and not resumed.",
        evidence: "waypoint PASW, or RouterState PAUSED",
        refuted by: "somebody steps it right now",
        next: "resume it: `meshscope resume`";

    CoreInReset = "core-in-reset", explains 5:
        "A core that was told to go is held in reset.",
        evidence: "its bit in SOFT_RESET_0, and its go message",
        refuted by: "its kernel does not use this core",
        next: "release it, or launch the run again";

    CoreHalted = "core-halted", explains 5:
        "A core was halted through its debug interface, or by `ebreak`, and nobody let it go on. The status is read with --allow halt; else it is known only where a tool asked for it last.",
        evidence: "the core stands; the interface of its tile shows its status last, and that says paused",
        refuted by: "its debugger is still at work; its tile was reset since, which the interface outlives",
        next: "let it go on with the tool that halted it, or by `meshscope --allow halt debug PLACE continue`";

    NotModelled = "not-modelled", explains 4:
        "The emulated mesh stopped a core, since it does not model what the core did, such as a Tensix compute instruction. It stands until its tile is reset. What waits for it tells nothing about the program on silicon.",
        evidence: "the emulated mesh says which instruction or address it does not model, the program counter, and when",
        refuted by: "the target is not emulated",
        next: "find its line: `meshscope cores PLACE --sample 4`; a program that ran into other memory fails on silicon too";

    NotFinished = "not-finished", explains 0:
        "Kernels of an operation were told to go and have not ended. Nothing that was read shows that they move, and no finding says why they wait: they hang, or compute for long.",
        evidence: "their go messages; no word, circular buffer or NoC counter of theirs moved in any snapshot; where program counters may be sampled, the lines at which they are",
        refuted by: "they end when watched for longer",
        next: "sample their program counters: `meshscope --allow sample cores PLACE --sample 20`";

    TeardownInFlight = "teardown-in-flight", explains 6:
        "A connection was closed while its credits were in flight; the next op takes them for its own.",
        evidence: "credits of the old run in words of the new one",
        refuted by: "the counts are of one run",
        next: "let the sender wait for its credits before it closes";

    CannotWork = "cannot-work", explains 6:
        "The configuration cannot work: whatever happens, somebody waits for ever.",
        evidence: "the arguments of both ends, with addresses",
        refuted by: "one end is of an earlier launch",
        next: "launch it with arguments that can work";

    SlowLink = "slow-link", explains 0:
        "A link moves, and takes much longer than its speed explains.",
        evidence: "its window is full in every snapshot; messages completed between the first and the last",
        refuted by: "its receiver holds the messages: then that worker is slow",
        next: "compare rates and errors of the links: `meshscope links`";

    Slow = "slow", explains 0:
        "Something moves, and holds up its peers.",
        evidence: "it holds every buffer in every snapshot, and progresses",
        refuted by: "its peers are as slow",
        next: "sample its program counter: `meshscope --allow sample cores PLACE --sample 20`";

    MissingChip = "missing-chip", explains 0:
        "A chip that the descriptor describes was not found.",
        evidence: "its number in the descriptor, with its position and unique id; no chip that was found fits",
        refuted by: "the descriptor is of another machine, or the chip is found after a reset of its board",
        next: "look at the links that should lead to it: `meshscope links`";

    ExtraChip = "extra-chip", explains 0:
        "A chip was found that the descriptor does not describe.",
        evidence: "the chip; its unique id, position and links fit no described chip",
        refuted by: "the descriptor is older than the machine",
        next: "describe what is there: `meshscope mesh --descriptor`";

    OtherChip = "other-chip", explains 0:
        "A chip has another unique id than the descriptor says: its board was exchanged.",
        evidence: "the chip, which has the place or the links of the described one, and the described unique id",
        refuted by: "the descriptor is of another machine of the same kind",
        next: "compare the boards: `meshscope mesh`";

    MovedChip = "moved-chip", explains 0:
        "A chip is at another position than the descriptor says.",
        evidence: "the chip, matched by its unique id or its links, and the described position",
        refuted by: "the descriptor is older than a move that was intended",
        next: "compare racks and shelves: `meshscope mesh`";

    MissingLink = "missing-link", explains 0:
        "A described link was not found, and its ends have no other link.",
        evidence: "both ends, as the descriptor names them",
        refuted by: "an end was not read, or is still training",
        next: "look at both ports: `meshscope links`";

    ExtraLink = "extra-link", explains 0:
        "A link was found that the descriptor does not describe.",
        evidence: "both ends; the descriptor has no link at either",
        refuted by: "the descriptor leaves links out on purpose",
        next: "compare the cables with their plan: `meshscope links`";

    SwappedLink = "swapped-link", explains 0:
        "A link leads elsewhere than the descriptor says: a cable is in a wrong port.",
        evidence: "the link that was found and the described one, which share an end",
        refuted by: "the descriptor is older than the cabling",
        next: "put the cable into the described port: `meshscope links` shows both ends of each";

    CrcErrors = "crc-errors", explains 0:
        "An end of a link counts CRC errors while it is watched, or has counted more since its boot than `check --max-crc` allows.",
        evidence: "the count of the end",
        refuted by: "the count is of the first training and does not grow",
        next: "see whether it grows: `meshscope links`; if so, change the cable";
}
