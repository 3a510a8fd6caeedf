//! Descriptions of meshes that are no cluster descriptors, known by their fields.

/// Kinds of tt-metal's text-format files, with top-level fields of which no other kind has one.
const KINDS: [(&str, &[&str]); 5] = [
    (
        "a mesh graph descriptor (MGD)",
        &["mesh_descriptors", "switch_descriptors", "graph_descriptors", "top_level_instance"],
    ),
    ("a factory system descriptor (FSD)", &["eth_connections", "board_types"]),
    ("a cabling descriptor", &["node_descriptors", "graph_templates", "root_instance"]),
    ("a physical system descriptor (PSD)", &["system_graph"]),
    ("a deployment descriptor", &["hosts"]),
];

/// Returns why a file of another kind is not read; none if its kind is not known.
pub(super) fn refusal(text: &str) -> Option<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let has = |field: &str| {
        let mut rest = text.lines().filter_map(|line| line.trim_start().strip_prefix(field));
        rest.any(|rest| !rest.starts_with(word) && rest.trim_start().starts_with([':', '{']))
    };
    let (kind, _) = KINDS.iter().find(|(_, fields)| fields.iter().any(|field| has(field)))?;
    Some(format!(
        "this is {kind} of tt-metal, which is not read; a mesh is UMD's cluster descriptor"
    ))
}
