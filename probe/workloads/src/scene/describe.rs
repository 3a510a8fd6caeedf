//! Resolves the mesh words of a scene: a shipped system, or the file of a descriptor or
//! specification.

use super::SceneError;
use descriptors::Descriptor;
use layouts::{ClusterDescriptor, PLAIN_CABLING, SystemSpec};
use std::path::Path;

/// Returns the descriptor for words such as `t3000`, `galaxy,cabling=torus`, `tgg,host=0` or the
/// path of a file, such as `cabling.textproto,deployment=hosts.textproto,host=wh-07`. Messages use
/// the name `called`.
///
/// # Errors
/// `NoMesh`, `BadOption`, `File` or `Descriptor`.
pub fn described(words: &str, called: &str) -> Result<ClusterDescriptor, SceneError> {
    let (mut mesh, mut cabling, mut host, mut deployment) = (words, None, None, None);
    while let Some((before, (key, value))) =
        mesh.rsplit_once(',').and_then(|(before, last)| Some((before, last.split_once('=')?)))
    {
        let setting = match key {
            "cabling" => &mut cabling,
            "host" => &mut host,
            "deployment" => &mut deployment,
            _ => break,
        };
        if setting.replace(value).is_some() {
            return Err(SceneError::BadOption(format!("{called}: {key} is given twice")));
        }
        mesh = before;
    }
    let mut descriptor = cabled(mesh, cabling, called)?;
    if let Some(path) = deployment {
        let Descriptor::Hosts(hosts) = read(path, path)? else {
            return Err(SceneError::BadOption(format!("{path} is no deployment descriptor")));
        };
        descriptors::deploy(&mut descriptor, &hosts).map_err(SceneError::BadOption)?;
    }
    let Some(host) = host else { return Ok(descriptor) };
    let named = descriptor.hosts.iter().position(|name| name == host).map(|host| host as u16);
    let number = named.or_else(|| host.parse().ok());
    let number = number.ok_or_else(|| no_host(called, host, &descriptor))?;
    checked(number, called, &descriptor)?;
    Ok(descriptor.of_host(number))
}

/// Returns the descriptor of a mesh with its cabling and all its hosts.
pub(super) fn cabled(
    mesh: &str,
    cabling: Option<&str>,
    called: &str,
) -> Result<ClusterDescriptor, SceneError> {
    if let Some(shipped) = SystemSpec::shipped(mesh) {
        return with_cabling(&shipped?, cabling, called);
    }
    if !mesh.contains(['/', '.']) {
        let names: Vec<&str> = ClusterDescriptor::shipped_names().collect();
        return Err(SceneError::NoMesh(mesh.to_owned(), names.join(", ")));
    }
    let text = text_of(mesh, called)?;
    if SystemSpec::is_spec(&text) {
        return with_cabling(&SystemSpec::parse(called, &text)?, cabling, called);
    }
    match cabling {
        Some(_) => Err(SceneError::BadOption(format!(
            "{called}: a descriptor defines its cabling; only a system specification has a choice of cablings"
        ))),
        None => mesh_of(descriptors::read(called, &text)?, mesh, called),
    }
}

fn text_of(path: &str, called: &str) -> Result<String, SceneError> {
    let text = files::read_text(Path::new(path), files::Kind::DESCRIPTOR);
    text.map_err(|e| SceneError::File(format!("{called}: {}", e.reason())))
}

fn read(path: &str, called: &str) -> Result<Descriptor, SceneError> {
    Ok(descriptors::read(called, &text_of(path, called)?)?)
}

/// Returns the hosts of a file: OpenMPI's hostfile or rankfile, a deployment descriptor, or rank bindings
/// of tt-run, which puts the rankfile beside them.
///
/// # Errors
/// `File` or `Descriptor`.
pub fn hosts(path: &str) -> Result<Vec<String>, SceneError> {
    let text = text_of(path, path)?;
    if !descriptors::has_kind(&text) {
        return Ok(descriptors::hosts(path, &text, None)?);
    }
    match descriptors::read(path, &text)? {
        Descriptor::Ranks(bindings) => {
            let beside = Path::new(path).with_file_name("rankfile").display().to_string();
            Ok(descriptors::hosts(&beside, &text_of(&beside, &beside)?, Some(&bindings))?)
        }
        Descriptor::Hosts(hosts) => Ok(hosts.into_iter().map(|host| host.name).collect()),
        Descriptor::Mesh(_) => Err(SceneError::File(format!("{path} names no hosts to ask"))),
    }
}

/// Returns the mesh of a file: of rank bindings, that of the mesh graph descriptor that they name.
fn mesh_of(
    read_there: Descriptor,
    path: &str,
    called: &str,
) -> Result<ClusterDescriptor, SceneError> {
    let graph = match read_there {
        Descriptor::Mesh(mesh) => return Ok(mesh),
        Descriptor::Hosts(_) => {
            return Err(SceneError::BadOption(format!(
                "{called}: a deployment descriptor says where hosts stand, not what they hold; it is named beside their cabling descriptor: CABLING,deployment={called}"
            )));
        }
        Descriptor::Ranks(ranks) => ranks.mesh_graph_desc_path,
    };
    let lacks = |what| SceneError::File(format!("{called}: {what}"));
    let graph = graph.ok_or_else(|| lacks("`mesh_graph_desc_path` is missing".to_owned()))?;
    // tt-run resolves it below tt-metal's folder; the file is in that folder, too, or beside it.
    let above = Path::new(path).ancestors().skip(1).map(|folder| folder.join(&graph));
    let found = above.into_iter().find(|path| path.is_file());
    let found = found.ok_or_else(|| {
        lacks(format!("`mesh_graph_desc_path` {graph} is in none of the folders above it"))
    })?;
    let found = found.display().to_string();
    match read(&found, &found)? {
        Descriptor::Mesh(mesh) => Ok(mesh),
        _ => Err(lacks(format!("{graph} is no mesh graph descriptor"))),
    }
}

fn with_cabling(
    system: &SystemSpec,
    cabling: Option<&str>,
    called: &str,
) -> Result<ClusterDescriptor, SceneError> {
    let word = cabling.unwrap_or(PLAIN_CABLING);
    system.describe(word).ok_or_else(|| {
        let words: Vec<_> = system.cablings().collect();
        SceneError::BadOption(format!(
            "{called} has no cabling `{word}`; there is {}",
            words.join(", ")
        ))
    })
}

/// Returns an error if the mesh has no host of this number.
pub(super) fn checked(
    host: u16,
    called: &str,
    descriptor: &ClusterDescriptor,
) -> Result<(), SceneError> {
    let exists = host < descriptor.host_count();
    exists.then_some(()).ok_or_else(|| no_host(called, &host.to_string(), descriptor))
}

fn no_host(called: &str, host: &str, descriptor: &ClusterDescriptor) -> SceneError {
    let last = descriptor.host_count() - 1;
    SceneError::BadOption(format!(
        "{called} has no host `{host}`: they are numbered from 0 to {last}"
    ))
}
