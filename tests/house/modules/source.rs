//! The declarations, imports and paths of one module, read from its items.

use super::paths::{Import, Mention, leaves, paths_in};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};
use syn::{Attribute, ExprCall, ImplItem, Item, ItemMod, ItemUse, Macro, Meta};

/// One module.
#[derive(Default)]
pub(super) struct Module {
    /// The modules directly below it.
    pub(super) children: BTreeSet<String>,
    /// The items that its own file defines.
    pub(super) items: BTreeSet<String>,
    /// Its imports.
    pub(super) imports: Vec<Import>,
    /// The paths in it.
    pub(super) mentions: Vec<Mention>,
}

impl Module {
    /// Reads a module's items; also returns the modules that it declares, which the caller reads.
    pub(super) fn read(items: &[Item]) -> (Self, Vec<&ItemMod>) {
        let mut module = Self::default();
        let mut declared = Vec::new();
        for item in items.iter().filter(|item| !is_test_only(attributes(item))) {
            match item {
                Item::Mod(child) => {
                    module.children.insert(child.ident.to_string());
                    declared.push(child);
                }
                Item::Use(item) => {
                    module.imports.extend(leaves(item).map(|(import, _)| import));
                    module.visit_item_use(item);
                }
                item => {
                    module.items.extend(name(item));
                    module.visit_item(item);
                }
            }
        }
        (module, declared)
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test_only(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Fn(item) => &item.attrs[..],
            ImplItem::Const(item) => &item.attrs,
            _ => &[],
        };
        if !is_test_only(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.mentions.extend(leaves(item).map(|(_, mention)| mention));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // A single lower-case name is a local variable, except in a call.
        let first = path.segments.first().map(|segment| segment.ident.to_string());
        let capital = first.is_some_and(|name| name.starts_with(char::is_uppercase));
        if path.segments.len() > 1 || capital {
            self.mentions.extend(Mention::of(path));
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let syn::Expr::Path(function) = &*call.func {
            self.mentions.extend(Mention::of(&function.path));
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.mentions.extend(Mention::of(&call.path));
        self.mentions.extend(paths_in(call.tokens.clone()));
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.mentions.extend(paths_in(list.tokens.clone()));
        }
    }
}

/// Whether an item is compiled for tests only.
fn is_test_only(attributes: &[Attribute]) -> bool {
    let cfg_test = |attribute: &Attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    };
    attributes.iter().any(cfg_test)
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
