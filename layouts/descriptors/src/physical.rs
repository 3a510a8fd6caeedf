//! Physical and global system descriptors: what tt-metal found, in text format or in YAML.

use crate::boards::board;
use crate::system::{At, End, Host, System};
use crate::text::{Message, Text, wrong};
use layouts::{ClusterDescriptor, Node, Spanned, TextError};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A chip that was found.
struct Found<'a> {
    host: &'a str,
    tray: u32,
    asic: u32,
    id: u64,
    line: u64,
}

/// Adds hosts, boards and chips. A board is known by the locations of its chips.
fn add(system: &mut System, found: &[Found<'_>]) -> Result<BTreeMap<u64, At>, TextError> {
    let hosts: BTreeSet<&str> = found.iter().map(|chip| chip.host).collect();
    let numbers: BTreeMap<&str, u32> = hosts.into_iter().zip(0..).collect();
    let mut trays: BTreeMap<(u32, u32), (BTreeSet<u32>, u64)> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for chip in found {
        let host = numbers.get(chip.host).copied().unwrap_or_default();
        let at = (host, chip.tray, chip.asic);
        trays.entry((host, chip.tray)).or_insert((BTreeSet::new(), chip.line)).0.insert(chip.asic);
        if system.ids.insert(at, chip.id).is_some() {
            return Err(wrong(
                chip.line,
                format!("two chips are at {} tray {} location {}", chip.host, chip.tray, chip.asic),
            ));
        }
        if places.insert(chip.id, at).is_some() {
            return Err(wrong(chip.line, format!("two chips have the id {}", chip.id)));
        }
    }
    for ((host, tray), (asics, line)) in trays {
        let name = match asics.last() {
            Some(0) => "N150",
            Some(1) if asics.contains(&0) => "N300",
            _ => "UBB",
        };
        system.add_board(host, tray, board(name, line)?, line)?;
    }
    for (name, number) in numbers {
        name.clone_into(&mut system.hosts.entry(number).or_default().name);
    }
    Ok(places)
}

pub(crate) fn physical(name: &str, text: &str) -> Result<ClusterDescriptor, TextError> {
    let text = Text::read("physical_system.PhysicalSystemDescriptor", text)?;
    let mut system = System::default();
    let found = text.message().all("asic_descriptors").enumerate().map(|(index, entry)| {
        let chip = entry.one("asic_descriptor");
        let (tray, asic, id) =
            (chip.number("tray_id"), chip.number("asic_location"), entry.wide("asic_id"));
        Found {
            host: chip.words("host_name"),
            tray,
            asic,
            id,
            line: text.line("asic_descriptors", 0, index),
        }
    });
    let places = add(&mut system, &found.collect::<Vec<_>>())?;
    let mut lines = text.lines("asic_connections").iter().copied();
    let place = |id: u64, line| {
        places
            .get(&id)
            .copied()
            .ok_or_else(|| wrong(line, format!("no `asic_descriptors` entry has the id {id}")))
    };
    let graph = text.message().one("system_graph");
    for chip in graph.all("asic_connectivity_graph").flat_map(|host| host.all("asic_topologies")) {
        for edge in chip.one("topology").all("asic_connections") {
            let line = lines.next().unwrap_or_default();
            let (near, far) =
                (place(chip.wide("asic_id"), line)?, place(edge.wide("dst_asic_id"), line)?);
            for link in edge.all("eth_connections") {
                system.link(
                    (near, link.number("src_chan")),
                    (far, link.number("dst_chan")),
                    line,
                )?;
            }
        }
    }
    name_hosts(&mut system, text.message());
    system.describe(name)
}

fn name_hosts(system: &mut System, file: Message<'_>) {
    for entry in file.all("host_to_mobo_name") {
        let host = system.hosts.values_mut().find(|host| host.name == entry.words("host_name"));
        if let Some(Host { motherboard, .. }) = host {
            entry.words("mobo_name").clone_into(motherboard);
        }
    }
}

/// A global system descriptor: `run_cluster_validation` writes it.
#[derive(Deserialize)]
struct Global {
    compute_node_specs: BTreeMap<String, GlobalHost>,
    #[serde(default)]
    local_eth_connections: Vec<Spanned<[GlobalEnd; 2]>>,
    /// Between hosts.
    #[serde(default, rename = "global_eth_connections")]
    between_hosts: Vec<Spanned<[GlobalEnd; 2]>>,
}

#[derive(Deserialize)]
struct GlobalHost {
    #[serde(default)]
    motherboard: String,
    asic_info: Vec<Spanned<GlobalTray>>,
}

#[derive(Deserialize)]
struct GlobalTray {
    tray_id: u32,
    asics: Vec<GlobalChip>,
}

#[derive(Deserialize)]
struct GlobalChip {
    asic_location: u32,
    asic_id: u64,
}

#[derive(Deserialize)]
struct GlobalEnd {
    host_name: String,
    tray_id: u32,
    asic_location: u32,
    chan_id: u32,
}

pub(crate) fn global(name: &str, text: &str) -> Result<ClusterDescriptor, TextError> {
    let read: Global = Node::from_yaml(text)?.read()?;
    let mut system = System::default();
    let mut found = Vec::new();
    for (host, spec) in &read.compute_node_specs {
        for tray in &spec.asic_info {
            found.extend(tray.value.asics.iter().map(|chip| Found {
                host,
                tray: tray.value.tray_id,
                asic: chip.asic_location,
                id: chip.asic_id,
                line: tray.line,
            }));
        }
    }
    add(&mut system, &found)?;
    let numbers: BTreeMap<String, u32> =
        system.hosts.iter().map(|(id, host)| (host.name.clone(), *id)).collect();
    for host in system.hosts.values_mut() {
        if let Some(spec) = read.compute_node_specs.get(&host.name) {
            host.motherboard.clone_from(&spec.motherboard);
        }
    }
    for link in read.local_eth_connections.iter().chain(&read.between_hosts) {
        let end = |end: &GlobalEnd| -> Result<End, TextError> {
            let host = numbers.get(&end.host_name);
            let host = host.ok_or_else(|| {
                wrong(link.line, format!("`compute_node_specs` has no host {}", end.host_name))
            })?;
            Ok(((*host, end.tray_id, end.asic_location), end.chan_id))
        };
        let [a, b] = &link.value;
        system.link(end(a)?, end(b)?, link.line)?;
    }
    system.describe(name)
}
