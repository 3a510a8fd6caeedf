//! Cabling descriptor: templates of hosts and cables, and the instance that is cabled.

use crate::boards::{Holds, board, host};
use crate::system::{Host, System};
use crate::text::{Message, Text, wrong};
use layouts::{ClusterDescriptor, TextError};
use std::collections::BTreeMap;

/// The hosts below an instance by their paths.
type Paths<'a> = BTreeMap<Vec<&'a str>, u32>;

struct Cabling<'a> {
    text: &'a Text<'a>,
    system: System,
}

pub(crate) fn cabling(name: &str, text: &str) -> Result<ClusterDescriptor, TextError> {
    let text = Text::read("systems.ClusterDescriptor", text)?;
    let mut cabling = Cabling { text: &text, system: System::default() };
    let root = text.message().one("root_instance");
    if root.words("template_name").is_empty() {
        return Err(wrong(
            text.line("root_instance", 0, 0),
            "`root_instance` names no `template_name`",
        ));
    }
    cabling.instance(text.message(), root)?;
    cabling.system.describe(name)
}

impl Cabling<'_> {
    /// Adds the hosts and cables of an instance of a template, and returns its hosts.
    fn instance<'b>(
        &mut self,
        file: Message<'b>,
        instance: Message<'b>,
    ) -> Result<Paths<'b>, TextError> {
        let name = instance.words("template_name");
        let line = self.text.line(name, 0, 0);
        let templates = file.map("graph_templates");
        let template = templates
            .get(name)
            .ok_or_else(|| wrong(line, format!("no `graph_templates` entry is called `{name}`")))?;
        let mut paths = Paths::new();
        let mapped = instance.map("child_mappings");
        for child in template.all("children") {
            let own = child.words("name");
            let line = self.text.line(own, line, 0);
            let mapping = mapped.get(own).ok_or_else(|| {
                wrong(line, format!("`child_mappings` of `{name}` lacks `{own}`"))
            })?;
            let inner = mapping.one("sub_instance");
            if child.has("node_ref") && mapping.has("host_id") {
                let id = mapping.number("host_id");
                self.host(file, id, child.one("node_ref").words("node_descriptor"))?;
                paths.insert(vec![own], id);
            } else if child.has("graph_ref") && mapping.has("sub_instance") {
                let wanted = child.one("graph_ref").words("graph_template");
                if inner.words("template_name") != wanted {
                    return Err(wrong(
                        line,
                        format!(
                            "`{own}` of `{name}` is to be of the template `{wanted}`, and its `sub_instance` is not"
                        ),
                    ));
                }
                for (path, id) in self.instance(file, inner)? {
                    paths.insert([own].into_iter().chain(path).collect(), id);
                }
            } else {
                return Err(wrong(
                    line,
                    format!(
                        "`{own}` of `{name}` needs a `host_id` for a `node_ref`, or a `sub_instance` for a `graph_ref`"
                    ),
                ));
            }
        }
        for (kind, cables) in template.map("internal_connections") {
            let from = self.text.line(kind, line, 0);
            for (index, cable) in cables.all("connections").enumerate() {
                let line = self.text.line("port_a", from, index);
                let end = |port: Message<'b>| {
                    let path = port.all_words("path");
                    let id = paths.get(&path).ok_or_else(|| {
                        wrong(line, format!("`{name}` has no host at the path {}", path.join("/")))
                    })?;
                    Ok((*id, port.number("tray_id"), port.number("port_id")))
                };
                let (a, b) = (end(cable.one("port_a"))?, end(cable.one("port_b"))?);
                self.system.cable(kind, a, b, line)?;
            }
        }
        Ok(paths)
    }

    fn host(&mut self, file: Message<'_>, id: u32, kind: &str) -> Result<(), TextError> {
        let line = self.text.line(kind, 0, 0);
        let inline = file.map("node_descriptors").get(kind).copied();
        let holds = inline.map_or_else(|| host(kind, line), |node| described(node, line))?;
        let of =
            Host { name: format!("host{id}"), stand: None, motherboard: holds.motherboard.clone() };
        if self.system.hosts.insert(id, of).is_some() {
            return Err(wrong(
                self.text.line("host_id", 0, 0),
                format!("`host_id` {id} is given twice"),
            ));
        }
        self.system.add_host(id, &holds, line)
    }
}

/// A host that the file describes itself.
fn described(node: Message<'_>, line: u64) -> Result<Holds, TextError> {
    let boards = node.one("boards").all("board");
    let boards = boards.map(|it| Ok((it.number("tray_id"), board(it.words("board_type"), line)?)));
    let end = |port: Message<'_>| [port.number("tray_id"), port.number("port_id")];
    let cables = node.map("port_type_connections").into_iter().flat_map(|(kind, cables)| {
        cables.all("connections").map(move |cable| {
            let ([a, a_port], [b, b_port]) = (end(cable.one("port_a")), end(cable.one("port_b")));
            (kind.to_owned(), [a, a_port, b, b_port])
        })
    });
    let motherboard = node.words("motherboard").to_owned();
    Ok(Holds {
        motherboard,
        boards: boards.collect::<Result<_, TextError>>()?,
        cables: cables.collect(),
    })
}
