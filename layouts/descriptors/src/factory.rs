//! Factory system descriptor and deployment descriptor: what hosts hold, and where they stand.

use crate::boards::board;
use crate::system::{End, Host, System};
use crate::text::{Message, Text, wrong};
use layouts::{ClusterDescriptor, Stand, TextError};

fn stand(host: Message<'_>) -> Stand {
    Stand {
        hall: host.words("hall").to_owned(),
        aisle: host.words("aisle").to_owned(),
        rack: host.number("rack"),
        shelf_u: host.number("shelf_u"),
    }
}

pub(crate) fn factory(name: &str, text: &str) -> Result<ClusterDescriptor, TextError> {
    let text = Text::read("systems.FactorySystemDescriptor", text)?;
    let mut system = System::default();
    for (id, host) in (0..).zip(text.message().all("hosts")) {
        let (name, motherboard) =
            (host.words("hostname").to_owned(), host.words("motherboard").to_owned());
        system.hosts.insert(id, Host { name, motherboard, stand: Some(stand(host)) });
    }
    for (index, at) in text.message().one("board_types").all("board_locations").enumerate() {
        let (host, line) = (at.number("host_id"), text.line("board_locations", 0, index));
        if !system.hosts.contains_key(&host) {
            return Err(wrong(
                line,
                format!("`host_id` {host}: there are {} `hosts`", system.hosts.len()),
            ));
        }
        system.add_board(host, at.number("tray_id"), board(at.words("board_type"), line)?, line)?;
    }
    let end = |end: Message<'_>| -> End {
        let [host, tray, asic, channel] =
            ["host_id", "tray_id", "asic_location", "chan_id"].map(|field| end.number(field));
        ((host, tray, asic), channel)
    };
    for (index, link) in text.message().one("eth_connections").all("connection").enumerate() {
        let line = text.line("connection", 0, index);
        system.link(end(link.one("endpoint_a")), end(link.one("endpoint_b")), line)?;
    }
    system.describe(name)
}

/// A host of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeployedHost {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub stand: Stand,
}

pub(crate) fn deployment(text: &str) -> Result<Vec<DeployedHost>, TextError> {
    let text = Text::read("systems.DeploymentDescriptor", text)?;
    let hosts = text.message().all("hosts");
    Ok(hosts
        .map(|host| DeployedHost { name: host.words("host").to_owned(), stand: stand(host) })
        .collect())
}
