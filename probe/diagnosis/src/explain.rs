//! What each finding means: its evidence, what would refute it, and what to look at next.

use crate::condition::Condition;

/// The explanation of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What it means.
    pub meaning: &'static str,
    /// What it rests on, at both sides.
    pub evidence: &'static str,
    /// What would refute it.
    pub refuted_by: &'static str,
    /// What to look at next.
    pub next: &'static str,
}

impl Condition {
    /// Returns its explanation.
    pub fn explanation(self) -> Explanation {
        let [meaning, evidence, refuted_by, next] = match self {
            Self::NocUnanswered => [
                "A core or router has sent a request over the NoC and got no answer, or a tile does not answer meshscope. It is often a consequence: the tile that should answer was reset, is fused off, or the address is wrong. The first read of such a tile can take the PCIe side of its chip along.",
                "the core stands at a waypoint of a NoC wait; its network interface counts requests outstanding, by transaction id, and its command buffers have the tile and address of the last one",
                "the counter of outstanding requests is 0, or moves; the tile answers after a reset of the chip",
                "read the silent tile: `meshscope read`, and its reset bits: `meshscope cores`",
            ],
            Self::TextOverwritten => [
                "The text in L1 is not that of the image that was loaded: a buffer grew into it, or another kernel was loaded over it.",
                "the first word that differs, with its address; the whole text of a core that stands is compared",
                "the ELF is of another build: then every core of the kernel differs",
                "compare the whole text: `meshscope images PLACE`",
            ],
            Self::RegionsOverlap => [
                "Two live regions of a core overlap, so that one overwrites the other.",
                "the address of a buffer in the kernel's arguments, and the range of an image's text",
                "the buffer is not used by this run",
                "print the arguments: `meshscope print CORE EXPRESSION`",
            ],
            Self::StalePointer => [
                "A word that counts is incremented outside of every region of the core that waits for it: the address is of an earlier allocation.",
                "the address in the arguments of the core that increments; the semaphores in the launch message of the core that waits",
                "the launch message is of a later program than the arguments",
                "print the arguments at both ends: `meshscope print CORE EXPRESSION`",
            ],
            Self::PacketMisrouted => [
                "A router has dropped packets for which its tables have no way.",
                "the router's count of routing errors",
                "the count is of an earlier run and does not grow",
                "follow the tables: `meshscope fabric path`, and the entries: `meshscope fabric status`",
            ],
            Self::IncrementNeverSent => [
                "Somebody waits for an increment, a message or pages of a core whose kernel has ended, was never launched, or itself waits for a semaphore.",
                "the wait of the core that lacks it; launch and go message of the core that should send; of a plain kernel the counters of its tile's circular buffers",
                "the sender is another core than the words of the waiting one say",
                "look at what that core ran last: `meshscope cores PLACE --words`",
            ],
            Self::BringUpStopped => [
                "Routers or kernels wait in a handshake for a core on which nothing runs.",
                "the stage of each router that waits; launch and go message of the missing one",
                "the missing core is still being launched: its words change",
                "launch it, or read why it does not run: `meshscope cores PLACE --words`",
            ],
            Self::Leftover => [
                "Kernels of an earlier job still run: their peers have ended, and nobody told them to.",
                "the router serves without a termination signal; its peer has ended or waits for it to leave",
                "the teardown is still under way: routers end one after the other",
                "end it by its termination word; `meshscope fabric` shows who is left",
            ],
            Self::LinkDown => [
                "A link that had a peer carries nothing.",
                "train and link status of both ends; parties that wait for the link",
                "the far end was not read, and the near one is up",
                "watch both ends: `meshscope links`, retrains and CRC errors",
            ],
            Self::LinkRetraining => [
                "A link was trained again while it was watched; packets on it were delayed.",
                "the retrain count of an end has grown by one",
                "the count did not change",
                "watch for longer: `meshscope why --for 1s`",
            ],
            Self::LinkFlapping => [
                "A link goes down and up again and again.",
                "the status or the retrain count of an end changed twice or more",
                "the changes are of different links",
                "change the cable or the port; `meshscope links` counts retrains",
            ],
            Self::LinkBrokenAfterRetrain => [
                "A link has trained again since its boot, and carries nothing since.",
                "its retrain count is not 0, and its status is not up",
                "it is still training: its status changes when watched for longer",
                "compare the registers of both ends with those of a good link; reset the board",
            ],
            Self::LinkUnanswered => [
                "Both ends of a link are up, and nothing that is sent over it is answered.",
                "packets or credits that have not moved; both ends' status",
                "the receiver holds the packets: then it is the cause",
                "read the credits of both ends: `meshscope fabric PLACE`",
            ],
            Self::CreditsWrong => [
                "Two ends count the same credits differently, and neither moves: a credit was lost or overwritten.",
                "the count of the giver, and the word of the taker with its address",
                "the counts were read while they moved",
                "read both words again: `meshscope fabric PLACE`, `meshscope print CORE EXPRESSION`",
            ],
            Self::ChipGone => [
                "Nothing of a chip can be read: its gateways, its links or its NoC do not answer.",
                "the reason of each gap; parties that wait for its cores",
                "another gateway reaches it",
                "look at the links on its route: `meshscope links`",
            ],
            Self::HostAwaited => [
                "Everything that waits, waits for the host: for READY_FOR_TRAFFIC, a go message, or room in a queue.",
                "the stage of routers and of dispatch; no core stands",
                "a core of the program stands: then dispatch waits for it",
                "look at the launching process: is it alive, and what does it wait for?",
            ],
            Self::EndsDiffer => [
                "The two ends of a link were built or launched with arguments that do not fit.",
                "the argument at both ends, with addresses; a router that refused names its reason",
                "one end is of an earlier launch",
                "launch both ends with arguments that fit",
            ],
            Self::CircularWait => [
                "Parties wait for each other in a circle: none of them can go on.",
                "each wait of the circle, unchanged in all snapshots",
                "one of the waits moves when watched for longer",
                "use the dateline virtual channel, or send less at once: `meshscope fabric waits`",
            ],
            Self::MuxStarvation => [
                "A mux waits with one packet and serves no other channel meanwhile.",
                "the channel that it serves and what that waits for; the channels that wait for their turn",
                "its pass count grows: then it serves all, slowly",
                "bound the wait of the mux's forwarding loop, as its policy bounded_256 does",
            ],
            Self::CoreStuck => [
                "A core executes nothing, or has all that it needs and does not go on.",
                "its words, its loop count and, on Ethernet, its heartbeat did not change; what it needs is there",
                "it is in a delay that was asked for, or waits for something that its words do not tell",
                "sample its program counter: `meshscope cores PLACE --sample 20`",
            ],
            Self::Paused => [
                "A kernel was paused by its pause word or by RouterCommand PAUSE, and not resumed.",
                "waypoint PASW, or RouterState PAUSED",
                "somebody steps it right now",
                "resume it: its pause word, or RouterCommand RUN",
            ],
            Self::CoreInReset => [
                "A core that was told to go is held in reset.",
                "its bit in SOFT_RESET_0, and its go message",
                "its kernel does not use this core",
                "release it, or launch the run again",
            ],
            Self::CoreHalted => [
                "A core was halted through its debug interface, or by `ebreak`, and nobody let it go on. The status is read with --allow halt; else it is known only where a tool asked for it last.",
                "the core stands; the interface of its tile shows its status last, and that says paused",
                "its debugger is still at work; its tile was reset since, which the interface outlives",
                "let it go on with the tool that halted it, or by `meshscope debug CORE continue`",
            ],
            Self::TeardownInFlight => [
                "A connection was closed while its credits were in flight; the next op takes them for its own.",
                "credits of the old run in words of the new one",
                "the counts are of one run",
                "let the sender wait for its credits before it closes",
            ],
            Self::CannotWork => [
                "The configuration cannot work: whatever happens, somebody waits for ever.",
                "the arguments of both ends, with addresses",
                "one end is of an earlier launch",
                "launch it with arguments that can work",
            ],
            Self::SlowLink => [
                "A link moves, and takes much longer than its speed explains.",
                "its window is full in every snapshot; messages completed between the first and the last",
                "its receiver holds the messages: then that worker is slow",
                "compare rates and errors of the links: `meshscope links`",
            ],
            Self::Slow => [
                "Something moves, and holds up its peers.",
                "it holds every buffer in every snapshot, and progresses",
                "its peers are as slow",
                "sample its program counter: `meshscope cores PLACE --sample 20`",
            ],
        };
        Explanation { meaning, evidence, refuted_by, next }
    }
}
