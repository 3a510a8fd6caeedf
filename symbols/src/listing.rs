//! Lists of all names, for search, completion and tests.

use crate::index::Class;
use crate::spelling::qualified;
use crate::symbols::Symbols;

impl Symbols {
    /// Returns the names of all complete types, sorted, each once.
    pub fn type_names(&self) -> Vec<String> {
        self.names(Class::Type)
    }

    /// Returns the names of all variables and constants with a place or a value, sorted, each once.
    pub fn variable_names(&self) -> Vec<String> {
        self.names(Class::Variable)
    }

    /// Returns the names of all enumerators, sorted, each once.
    pub fn enumerator_names(&self) -> Vec<String> {
        self.names(Class::Enumerator)
    }

    fn names(&self, class: Class) -> Vec<String> {
        let (view, index) = (self.inner.view(), self.inner.index());
        let mut names: Vec<String> = index
            .named
            .iter()
            .filter(|named| named.class == class && !named.declaration)
            .filter_map(|named| {
                Some(qualified(&view, index, named.scope, &view.full_name(named.die)?))
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
