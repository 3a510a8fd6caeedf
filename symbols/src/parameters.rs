//! Template arguments by the parameter's name: `send_loop<3>::STREAM_ID`.

use crate::builder::arguments;
use crate::index::Class;
use crate::names::{Name, split_scopes};
use crate::storage::{Storage, storage};
use crate::symbols::Symbols;
use crate::units::DieId;
use crate::variables::Constant;

impl Symbols {
    /// Returns a template argument of a class or function. The name ends in the parameter, after
    /// the class or function with its arguments.
    pub fn template_argument(&self, name: &str) -> Option<Constant> {
        let mut scopes = split_scopes(name.trim().trim_start_matches("::"));
        let parameter = scopes.pop()?;
        let last = scopes.pop()?;
        let owner = Name { keyword: None, scopes, last };
        self.owners(&owner).into_iter().find_map(|owner| self.argument_of(owner, parameter))
    }

    /// Returns the classes and functions of this name.
    fn owners(&self, owner: &Name<'_>) -> Vec<DieId> {
        let (view, index) = (self.inner.view(), self.inner.index());
        let types = index.find(&view, owner, Class::Type);
        let mut found: Vec<DieId> = types.iter().map(|named| named.die).collect();
        found.extend(index.functions(&view, owner));
        found
    }

    fn argument_of(&self, owner: DieId, parameter: &str) -> Option<Constant> {
        self.inner.build(|builder| {
            let parameters = arguments::parameters(builder, owner);
            let mut named = parameters.iter().filter(|(_, own)| own.as_deref() == Some(parameter));
            let (die, _) = named.next()?;
            let ty = builder.target(die);
            match storage(builder.view, die, Some(&ty))? {
                Storage::Constant(bytes) => Some(Constant { ty, bytes }),
                _ => None,
            }
        })
    }
}
