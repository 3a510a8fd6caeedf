//! Paths in source code: in `use` trees, in code, and in the tokens of macros.

use proc_macro2::{TokenStream, TokenTree};
use syn::{ItemUse, UseTree};

/// A name that `use` imports into a module.
pub(super) struct Import {
    /// None for all names: `use path::*`.
    pub(super) name: Option<String>,
    pub(super) path: Vec<String>,
}

/// A path in the source.
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// Whether it is in a `use`, so that its last name may be a module.
    pub(super) imports: bool,
}

impl Mention {
    /// Returns a path in code; none if it starts with `::`, which names another crate.
    pub(super) fn of(path: &syn::Path) -> Option<Self> {
        let first = path.segments.first()?;
        let line = first.ident.span().start().line;
        let names = path.segments.iter().map(|segment| segment.ident.to_string());
        let own_crate = path.leading_colon.is_none();
        own_crate.then(|| Self { path: names.collect(), line, imports: false })
    }
}

/// Returns each leaf of a `use` tree: the imported name, and its path.
pub(super) fn leaves(item: &ItemUse) -> impl Iterator<Item = (Import, Mention)> {
    let mut found = Vec::new();
    if item.leading_colon.is_none() {
        collect(&item.tree, &mut Vec::new(), &mut found);
    }
    found.into_iter()
}

fn collect(tree: &UseTree, before: &mut Vec<String>, found: &mut Vec<(Import, Mention)>) {
    let mut leaf = |name: Option<String>, last: Option<String>, line| {
        let path: Vec<String> = before.iter().cloned().chain(last).collect();
        let mention = Mention { path: path.clone(), line, imports: true };
        found.push((Import { name, path }, mention));
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            collect(&path.tree, before, found);
            before.pop();
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| collect(tree, before, found));
        }
        UseTree::Glob(glob) => leaf(None, None, glob.star_token.spans[0].start().line),
        UseTree::Name(name) => {
            let line = name.ident.span().start().line;
            match name.ident.to_string() {
                own if own == "self" => leaf(before.last().cloned(), None, line),
                name => leaf(Some(name.clone()), Some(name), line),
            }
        }
        UseTree::Rename(rename) => {
            let line = rename.ident.span().start().line;
            let last = Some(rename.ident.to_string()).filter(|name| name != "self");
            leaf(Some(rename.rename.to_string()), last, line);
        }
    }
}

/// Returns the paths of two or more names in unparsed tokens.
pub(super) fn paths_in(tokens: TokenStream) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut path = Mention { path: Vec::new(), line: 0, imports: false };
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            TokenTree::Ident(ident) => {
                if colons != 2 {
                    keep(&mut path, &mut found);
                    path.line = ident.span().start().line;
                }
                // A name after generic arguments does not start a path.
                if colons != 2 || !path.path.is_empty() {
                    path.path.push(ident.to_string());
                }
                colons = 0;
            }
            other => {
                keep(&mut path, &mut found);
                colons = 0;
                if let TokenTree::Group(group) = other {
                    found.extend(paths_in(group.stream()));
                }
            }
        }
    }
    keep(&mut path, &mut found);
    found
}

fn keep(path: &mut Mention, found: &mut Vec<Mention>) {
    let names = std::mem::take(&mut path.path);
    if names.len() > 1 {
        found.push(Mention { path: names, ..*path });
    }
}
