//! An example of each kind, and what is said of files that are wrong.

use descriptors::{Descriptor, deploy, hosts, read};
use layouts::{ClusterDescriptor, Seat};

fn mesh(name: &str, text: &str) -> ClusterDescriptor {
    match read(name, text).unwrap() {
        Descriptor::Mesh(mesh) => mesh,
        other => unreachable!("{other:?}"),
    }
}

fn seats(mesh: &ClusterDescriptor) -> Vec<&Seat> {
    mesh.chips.iter().filter_map(|chip| chip.seat.as_ref()).collect()
}

#[test]
fn a_factory_system_descriptor_has_hosts_trays_and_channels() {
    let mesh = mesh("fsd", include_str!("data/n300_fsd.textproto"));
    let links: Vec<_> = mesh.links.iter().map(|(a, b)| format!("{a} {b}")).collect();
    assert_eq!(links, ["0:e8 1:e0", "0:e9 1:e1"]);
    let at = "wh-07 (hall 120, aisle A, rack 3, shelf 8) tray 1 location";
    let seats = seats(&mesh);
    assert_eq!(seats[0].to_string(), format!("{at} 0"));
    assert_eq!(seats[1].to_string(), format!("{at} 1"));
    assert_eq!(
        (seats[0].port(6), seats[1].port(7)),
        ("tray 1 QSFP_DD 1".into(), "tray 1 WARP100 2".into())
    );
    assert_eq!((mesh.chips[0].pcie, mesh.chips[1].pcie), (Some(0), None));
}

#[test]
fn a_cabling_descriptor_is_two_hosts_and_a_cable_which_a_deployment_names() {
    let mut mesh = mesh("cabling", include_str!("data/dual_t3000_cabling.textproto"));
    assert_eq!((mesh.chips.len(), mesh.links.len()), (16, 2 * 20 + 2));
    let Descriptor::Hosts(hosts) =
        read("d", include_str!("data/dual_t3000_deployment.textproto")).unwrap()
    else {
        unreachable!("a deployment describes hosts")
    };
    assert_eq!(mesh.hosts, ["host0", "host1"]);
    let error = deploy(&mut mesh, &hosts[..1]).unwrap_err();
    assert_eq!(error, "the deployment of 1 hosts has no host1 of cabling");
    deploy(&mut mesh, &hosts).unwrap();
    assert_eq!(mesh.hosts, ["wh-07", "wh-08"]);
    let across = mesh
        .links
        .iter()
        .filter(|(a, b)| mesh.chip(a.chip).unwrap().host != mesh.chip(b.chip).unwrap().host);
    let ports = across.map(|(a, b)| {
        let seat = |end: &layouts::EthId| {
            let seat = mesh.chip(end.chip).unwrap().seat.clone().unwrap();
            format!("{} {}", seat.host_in_words(), seat.port(end.channel))
        };
        format!("{} - {}", seat(a), seat(b))
    });
    let at = |shelf: u32, name: &str| {
        format!("{name} (hall 120, aisle A, rack 3, shelf {shelf}) tray 1 QSFP_DD 2")
    };
    let cable = format!("{} - {}", at(8, "wh-07"), at(14, "wh-08"));
    assert_eq!(ports.collect::<Vec<_>>(), [cable.clone(), cable]);
}

#[test]
fn physical_and_global_system_descriptors_have_the_ids_of_chips() {
    let found = mesh("psd", include_str!("data/t3000_psd.textproto"));
    let shipped = ClusterDescriptor::shipped("t3000").unwrap().unwrap();
    let ids = |mesh: &ClusterDescriptor| {
        let mut ids: Vec<_> = mesh.chips.iter().map(|chip| chip.unique_id).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!((ids(&found), found.links.len()), (ids(&shipped), shipped.links.len()));
    let found = mesh("gsd", include_str!("data/n300_gsd.yaml"));
    assert_eq!((found.chips[1].unique_id, found.links.len()), (Some(13983817736), 2));
}

#[test]
fn a_mesh_graph_is_grids_and_the_links_between_them() {
    let graph = include_str!("data/t3000_mgd.textproto");
    let two = mesh("mgd", graph);
    // 1 x 2 has one edge, 2 x 3 has 7; two links each, and two between the meshes.
    assert_eq!((two.chips.len(), two.links.len(), two.counted), (8, 2 * (1 + 7) + 2, true));
    assert!((0..).zip(&two.chips).all(|(id, chip)| chip.id == layouts::ChipId(id)));
    // A grid that ships has the boards and channels of machines.
    let one = graph.replace("dims: [ 2, 3 ]", "dims: [ 4, 2 ]").replace(
        "graph { graph_descriptor: \"G0\" graph_id: 0 }",
        "mesh { mesh_descriptor: \"M1\" }",
    );
    let shipped = ClusterDescriptor::shipped("t3000").unwrap().unwrap();
    assert_eq!(mesh("mgd", &one).links, shipped.links);
    let ring = one
        .replace(
            "dims: [ 4, 2 ] dim_types: [ LINE, LINE ]",
            "dims: [ 4, 8 ] dim_types: [ RING, RING ]",
        )
        .replace("count: 2", "count: 4");
    assert_eq!(mesh("mgd", &ring).links.len(), 2 * 32 * 4);
}

#[test]
fn rank_bindings_name_their_mesh_graph() {
    let Descriptor::Ranks(ranks) =
        read("r", include_str!("data/t3000_rank_bindings.yaml")).unwrap()
    else {
        unreachable!("rank bindings are ranks")
    };
    assert_eq!(ranks.mesh_graph_desc_path.as_deref(), Some("t3000_mgd.textproto"));
    let devices = &ranks.rank_bindings[1].env_overrides["TT_VISIBLE_DEVICES"];
    assert_eq!((ranks.rank_bindings[1].mesh_id, devices.as_str()), (1, "1,2,3"));
}

#[test]
fn files_of_openmpi_name_hosts() {
    let of = |text: &str| hosts("f", text, None).map_err(|error| error.to_string());
    let named = |text: &str| of(text).unwrap().join(" ");
    assert_eq!(
        named("# two\nberta slots=4\n\nme@anna slots = 2 max-slots=8 # far\nberta\n"),
        "berta me@anna"
    );
    assert_eq!(
        named("rank 1=berta slot=0\nrank 0=anna slots=0:0-3\nrank 2=anna slot=1\n"),
        "anna berta"
    );
    let Ok(Descriptor::Ranks(ranks)) = read("r", include_str!("data/t3000_rank_bindings.yaml"))
    else {
        unreachable!("rank bindings are ranks")
    };
    let one = hosts("rankfile", "rank 0=anna slot=0", Some(&ranks)).unwrap_err().to_string();
    assert_eq!(one, "rankfile: rank 1 has no host");
    for (text, says) in [
        ("", "f: it names no host"),
        ("# none\n", "f: it names no host"),
        ("anna\nberta fast", "f:2: `berta fast` is no line of a hostfile or rankfile"),
        ("anna slots=x", "f:1: `anna slots=x` is no line"),
        ("rank x=anna slot=0", "f:1: `rank x=anna slot=0` is no line"),
        ("rank 0=+n1 slot=0", "f:1: `+n1` names no host"),
        ("^anna", "f:1: `^anna` names no host"),
    ] {
        let why = of(text).unwrap_err();
        assert!(why.starts_with(says), "{text}: {why}");
    }
}

/// What is said of a text with one change.
fn refused(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    read("x", &text.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn wrong_fields_are_refused_by_line_and_name() {
    let fsd = include_str!("data/n300_fsd.textproto");
    let cabling = include_str!("data/dual_t3000_cabling.textproto");
    let graph = include_str!("data/t3000_mgd.textproto");
    let psd = include_str!("data/t3000_psd.textproto");
    for (error, sentence) in [
        (
            refused(fsd, "aisle", "isle"),
            "x:5: field 'isle' not found for message 'systems.FactorySystemDescriptor.Host'",
        ),
        (
            refused(fsd, "N300", "N301"),
            "x:11: `N301` is no Wormhole board: `board_type` is one of N150, N300, UBB, UBB_WORMHOLE",
        ),
        (
            refused(fsd, "{ tray_id: 1 b", "{ host_id: 3 tray_id: 1 b"),
            "x:11: `host_id` 3: there are 1 `hosts`",
        ),
        (
            refused(fsd, "chan_id: 9", "chan_id: 8"),
            "x:18: channel 8 of host 0 tray 1 location 0 is already linked in line 14",
        ),
        (
            refused(fsd, "chan_id: 9", "chan_id: 99"),
            "x:18: channel 99 of host 0 tray 1 location 0 is out of range: a chip has 16, from 0",
        ),
        (
            refused(fsd, "{ tray_id: 1 chan_id: 8 }", "{ tray_id: 2 chan_id: 8 }"),
            "x:14: no chip is at host 0 tray 2 location 0",
        ),
        (
            refused(fsd, "rack: 3", "rack: -3"),
            "x:6: expected value to be an unsigned 32-bit integer, but the value -3 is out of range",
        ),
        (
            refused(cabling, "N300_LB_DEFAULT", "P150_LB"),
            "x:7: `P150_LB` is no Wormhole host: a node is one of N300_LB, N300_LB_DEFAULT, N300_QB, N300_QB_DEFAULT, WH_GALAXY, WH_GALAXY_XY_TORUS, WH_GALAXY_X_TORUS, WH_GALAXY_Y_TORUS, or described in `node_descriptors`",
        ),
        (
            refused(cabling, "port_id: 2", "port_id: 3"),
            "x:17: the board in tray 1 of host 0 has no port QSFP_DD 3",
        ),
        (
            refused(cabling, "[\"left\"]", "[\"top\", \"left\"]"),
            "x:17: `pair` has no host at the path top/left",
        ),
        (
            refused(cabling, "key: \"right\"", "key: \"wrong\""),
            "x:10: `child_mappings` of `pair` lacks `right`",
        ),
        (
            refused(graph, "WORMHOLE_B0", "BLACKHOLE"),
            "x:4: `arch` of mesh M0 is BLACKHOLE, and only WORMHOLE_B0 is supported",
        ),
        (
            refused(graph, "[ 2, 3 ]", "[ 2, 3, 4 ]"),
            "x:10: `device_topology` of mesh M1 must have 2 `dims` from 1 to 1024, and has [2, 3, 4]",
        ),
        (refused(graph, "[ 2, 3 ]", "[ 512, 512 ]"), "x: it describes more than 1024 chips"),
        (
            refused(graph, "count: 2", "count: 5"),
            "x:3: `channels` of mesh M0 must count 1 to 4 links: a chip has 16 channels, for 4 neighbours",
        ),
        (
            refused(psd, "dst_asic_id: 14520885505", "dst_asic_id: 7"),
            "x:18: no `asic_descriptors` entry has the id 7",
        ),
        (
            refused(psd, "system_graph {", "system_graph: 3 {"),
            "x:2: expected '{' or '<', but found '3'",
        ),
    ] {
        assert_eq!(error, sentence);
    }
}

#[test]
fn deep_and_unknown_kinds_are_refused() {
    let deep =
        format!("root_instance {{ {} }}", "child_mappings { value { sub_instance {".repeat(90_000));
    let error = read("x", &deep).unwrap_err().to_string();
    assert_eq!(error, "x:1: it nests deeper than 64 messages");
    let own = "graph_descriptors { name: \"G\" instances { graph { graph_descriptor: \"G\" } } }\ntop_level_instance { graph { graph_descriptor: \"G\" } }";
    let error = read("x", own).unwrap_err().to_string();
    assert_eq!(error, "x: its graphs nest deeper than 8");
    let error = read("x", "fabric_node_maps { }\n").unwrap_err().to_string();
    assert_eq!(error, "x: this is a map of router port directions of tt-metal, which is not read");
    assert_eq!(
        read("x", "what { }\n").unwrap_err().to_string(),
        "x:1: this is no cluster descriptor: it is no mapping of keys"
    );
}
