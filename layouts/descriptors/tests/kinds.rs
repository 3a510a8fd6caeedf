//! An example of each kind, and what is said of files that are wrong.

use descriptors::{Descriptor, deploy, hosts, mesh_graph_of, place, read};
use layouts::{ClusterDescriptor, Seat, SystemSpec};
use std::collections::BTreeSet;

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
fn a_mesh_graph_pins_chips_to_trays_and_locations() {
    let graph = include_str!("data/t3000_mgd.textproto");
    let pin = |node: &str, place: &str| {
        format!(
            "{graph}\npinnings {{ logical_fabric_node_id {{ {node} }} physical_asic_position {{ {place} }} }}\n"
        )
    };
    let (node, place) = ("mesh_id: 1 chip_id: 4", "tray_id: 2 asic_location: 1");
    let pinned = mesh("mgd", &pin(node, place));
    let places: Vec<_> = pinned.chips.iter().filter(|it| !it.pinned.is_empty()).collect();
    let [chip] = places.as_slice() else { unreachable!("{places:?}") };
    // The third row and second column of the second mesh.
    let at = chip.coord.unwrap();
    assert_eq!((at.x, at.y, at.shelf, &*chip.pinned), (1, 1, 1, &[[2, 1]][..]));
    let written = mesh_graph_of(&pinned).unwrap().text;
    assert_eq!(mesh("again", &written).chips, pinned.chips, "{written}");
    let of_others = pin(&format!("{node} }} board_revision: BH_REV_C x {{"), place);
    let of_others = of_others.replace(" x {", "").replacen("BH_REV_C }", "BH_REV_C", 1);
    assert!(mesh("mgd", &of_others).chips.iter().all(|it| it.pinned.is_empty()));
    let twice = format!("{}{}", pin(node, place), pin(node, place).replace(graph, ""));
    for (text, why) in [
        (pin("mesh_id: 7 chip_id: 0", place), "chip 0 of mesh 7, and there are 0"),
        (pin("mesh_id: 1 chip_id: 6", place), "chip 6 of mesh 1, and there are 0"),
        (pin("mesh_id_regex: \"1\" chip_id: 0", place), "needs `mesh_id` as a number"),
        (pin(node, "tray_id: 2"), "needs `asic_location` as a number"),
        (twice, "names chip 4 of mesh 1 twice"),
    ] {
        let error = read("mgd", &text).unwrap_err();
        assert!(error.problems[0].line > 10 && error.to_string().contains(why), "{error}");
    }
}

#[test]
fn every_shipped_mesh_is_written_as_a_mesh_graph_that_reads_back_as_itself() {
    let mut written = 0;
    for name in SystemSpec::shipped_names() {
        let system = SystemSpec::shipped(name).unwrap().unwrap();
        for cabling in system.cablings() {
            let shipped = system.describe(cabling).unwrap();
            let graph = mesh_graph_of(&shipped).unwrap();
            assert_eq!(graph.beyond, 0, "{name} {cabling}");
            let again = mesh("mgd", &graph.text);
            let counts = |mesh: &ClusterDescriptor| (mesh.chips.len(), mesh.links.len());
            assert_eq!(counts(&again), counts(&shipped), "{name} {cabling}: {}", graph.text);
            assert_eq!(mesh_graph_of(&again).unwrap().text, graph.text, "{name} {cabling}");
            written += 1;
        }
    }
    assert!(written >= 9, "{written}");
    let rings = include_str!("data/rings_mgd.textproto");
    let own = mesh_graph_of(&mesh("rings", rings)).unwrap().text;
    assert_eq!(own, rings.split_once('\n').unwrap().1);
    let two = mesh("mgd", include_str!("data/t3000_mgd.textproto"));
    let again = mesh("again", &mesh_graph_of(&two).unwrap().text);
    assert_eq!((again.chips, again.links), (two.chips, two.links));
}

#[test]
fn a_mesh_that_is_no_grid_is_not_written_as_a_mesh_graph() {
    let shipped = ClusterDescriptor::shipped("t3000").unwrap().unwrap();
    let wrong = |change: &dyn Fn(&mut ClusterDescriptor)| {
        let mut mesh = shipped.clone();
        change(&mut mesh);
        mesh_graph_of(&mesh)
    };
    let says = |change: &dyn Fn(&mut ClusterDescriptor)| wrong(change).unwrap_err();
    assert_eq!(
        says(&|mesh| drop(mesh.chips.remove(0))),
        "the chips of rack 0 shelf 0 are no grid: none is at x 1 y 0"
    );
    assert_eq!(says(&|mesh| mesh.chips[3].coord = None), "chip 3 has no coordinates");
    let twice = says(&|mesh| mesh.chips[3].coord = mesh.chips[2].coord);
    assert_eq!(twice, "chips 2 and 3 have the same coordinates");
    let first = shipped.links[0];
    let apart = says(&|mesh| {
        mesh.links.retain(|link| (link.0.chip, link.1.chip) != (first.0.chip, first.1.chip));
    });
    assert!(apart.ends_with("are neighbours, and no link joins them"), "{apart}");
    // One link less between two neighbours: the others have one beyond what all have.
    let less = wrong(&|mesh| mesh.links.truncate(mesh.links.len() - 1)).unwrap();
    assert!(less.text.contains("count: 1") && less.beyond == 9, "{less:?}");
}

#[test]
fn hosts_stand_as_the_shipped_mesh_that_is_wired_alike() {
    let placed = |kind: &str| {
        let text = format!(
            "graph_templates {{ key: \"one\" value {{ children {{ name: \"it\" node_ref {{ node_descriptor: \"{kind}\" }} }} }} }}
             root_instance {{ template_name: \"one\" child_mappings {{ key: \"it\" value {{ host_id: 0 }} }} }}"
        );
        let mut placed = mesh("hosts", text.trim());
        place(&mut placed);
        placed
    };
    for (kind, name, word) in [
        ("N300_LB_DEFAULT", "t3000", "mesh"),
        ("WH_GALAXY", "galaxy", "mesh"),
        ("WH_GALAXY_Y_TORUS", "galaxy", "ring"),
        ("WH_GALAXY_XY_TORUS", "galaxy", "torus"),
    ] {
        let placed = placed(kind);
        let shipped = SystemSpec::shipped(name).unwrap().unwrap().describe(word).unwrap();
        let graph = mesh_graph_of(&placed).unwrap().text;
        // Where its hosts stand is known, so that its first chip is pinned.
        let (mesh, pin) = graph.split_once("pinnings {").unwrap();
        assert_eq!(mesh, mesh_graph_of(&shipped).unwrap().text, "{kind}");
        assert!(pin.contains("{ mesh_id: 0 chip_id: 0 }"), "{pin}");
        let ids: BTreeSet<_> = placed.chips.iter().map(|it| it.unique_id).collect();
        assert_eq!(ids.len(), placed.chips.len(), "{kind}");
    }
    // Devices are counted in the order of PCI buses on the motherboard.
    for (kind, of_each, order) in
        [("N300_LB_DEFAULT", 1, [3, 4, 1, 2]), ("WH_GALAXY", 8, [3, 4, 2, 1])]
    {
        let placed = placed(kind);
        let firsts = placed.chips.iter().step_by(of_each).take(4);
        let trays: Vec<_> = firsts.map(|it| it.seat.as_ref().unwrap().tray).collect();
        assert_eq!(trays, order, "{kind}");
    }
    // Rings along the other axis ship in no mesh.
    let graph = mesh_graph_of(&placed("WH_GALAXY_X_TORUS")).unwrap();
    assert!(graph.text.contains("[ 4, 8 ] dim_types: [ RING, LINE ]") && graph.beyond == 0);
    let mut two = mesh("two", include_str!("data/dual_t3000_cabling.textproto"));
    place(&mut two);
    let graph = mesh_graph_of(&two).unwrap().text;
    assert!(graph.contains("mesh_id: 1 }") && graph.contains("[ 2, 4 ]"), "{graph}");
    // A host that no shipped mesh is like, and a descriptor that has coordinates.
    let mut row =
        mesh("fsd", &include_str!("data/n300_fsd.textproto").replace("chan_id: 9", "chan_id: 3"));
    place(&mut row);
    let at: Vec<_> =
        row.chips.iter().filter_map(|chip| chip.coord).map(|at| (at.x, at.y)).collect();
    assert_eq!(at, [(0, 0), (1, 0)]);
    let shipped = ClusterDescriptor::shipped("tg").unwrap().unwrap();
    let mut same = shipped.clone();
    place(&mut same);
    assert_eq!(same, shipped);
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
