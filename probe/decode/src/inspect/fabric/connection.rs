//! The facts that show the stage of a client's connection: its own, those of its channel and mux,
//! and what the other clients of the mux have done.

use super::clients::FoundClient;
use crate::state::{Activity, CONNECTION, FabricPort, FabricState, MuxState, Stage};
use images::Reading;
use images::fabric::FactValue;

/// `connection_t`.
const UNUSED: &str = "UNUSED_CONNECTION";

/// Returns the stage of a client's connection; none before it has opened its channel.
pub(super) fn stage(
    fabric: &FabricState,
    clients: &[FoundClient],
    client: &FoundClient,
) -> Option<&'static Stage> {
    let connection = Connection::of(fabric, clients, client)?;
    Stage::find(CONNECTION, |fact| connection.value(fact))
}

/// A client's connection, with what it connects to.
struct Connection<'a> {
    clients: &'a [FoundClient],
    client: &'a FoundClient,
    /// Whether the connection word is not 0: router and mux clear it before they answer a close.
    channel_used: bool,
    /// Whether the mux has answered a close.
    answered: bool,
    mux: Option<&'a MuxState>,
}

impl<'a> Connection<'a> {
    fn of(
        fabric: &'a FabricState,
        clients: &'a [FoundClient],
        client: &'a FoundClient,
    ) -> Option<Self> {
        let (channel_used, answered, mux) = match client.to {
            Some(FabricPort::Mux { mux: core, channel }) => {
                let mux = fabric.muxes.iter().find(|mux| mux.at == core)?;
                let facts = &mux.channels.get(usize::from(channel))?.facts;
                let answered = facts.closes.known().is_some_and(|closes| *closes > 0);
                (!facts.connection.is(UNUSED), answered, Some(mux))
            }
            Some(FabricPort::Router { router: at, channel }) => {
                let router = fabric.routers.iter().find(|router| router.at == at);
                let channel = router.and_then(|router| router.senders.get(usize::from(channel)));
                (channel.is_some_and(|it| !it.facts.connection.is(UNUSED)), false, None)
            }
            None => (true, false, None),
        };
        Some(Self { clients, client, channel_used, answered, mux })
    }

    /// Returns a fact of [`CONNECTION`].
    fn value(&self, fact: &str) -> Option<FactValue<'a>> {
        let flag = |flag: bool| Some(FactValue::number(flag));
        match fact {
            "waypoint" => self.client.waypoint.known().map(|code| FactValue::text(code)),
            "channel_used" => flag(self.channel_used),
            "answered" => flag(self.answered),
            "signalled" => flag(self.has_signalled()),
            "all_signalled" => self.all_have_signalled().and_then(flag),
            "mux_status" => self.mux?.facts.value("status"),
            "mux_termination" => self.mux?.facts.value("termination"),
            "mux_running" => flag(runs(&self.mux?.activity)),
            "mux_queued" => flag(self.mux?.holds_packets()),
            "mux_connection" => {
                let mux = self.mux?;
                let mut clients = self.clients.iter();
                clients.find(|client| client.at == mux.at)?.facts.value("stage")
            }
            own => self.client.facts.value(own),
        }
    }

    /// Whether the termination master counts all other clients of the mux as closed.
    fn all_have_signalled(&self) -> Option<bool> {
        let facts = &self.client.facts;
        let (closed, clients) = facts.closed.known().zip(facts.mux_clients.known())?;
        Some(closed + 1 >= *clients)
    }

    /// Whether a closed client has signalled its master. An ended kernel has; a running one has if the
    /// master has counted all closed clients.
    fn has_signalled(&self) -> bool {
        let client = self.client;
        let closed = self.clients.iter().filter(|other| {
            other.mux() == client.mux()
                && other.facts.termination.is("TELLS_MASTER")
                && other.facts.stage.is("CLIENT_CLOSED")
        });
        let counted = client.facts.closed.known().copied();
        !runs(&client.activity) || counted.is_some_and(|counted| counted >= closed.count() as u64)
    }
}

fn runs(activity: &Reading<Activity>) -> bool {
    *activity == Reading::Known(Activity::Running)
}
