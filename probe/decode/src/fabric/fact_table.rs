//! Facts of a fabric: a table per structure with their names, meanings, and locations in built-in
//! images.

/// Makes the table of a structure: a struct of the decoded facts, and one of their locations.
///
/// A row is `name: kind = location`, with its meaning as the doc comment. The name is also the JSON
/// key. The location is that in built-in images, resolved by `at`. Another source fills the struct
/// of locations itself, and leaves out unknown ones.
macro_rules! facts {
    (
        $(#[$about:meta])*
        struct $Facts:ident, located by $Locations:ident, in built-in images by $at:ident: $Names:ty
        {
            $($(#[$meaning:meta])* $name:ident: $Kind:ty = $location:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
        pub struct $Facts {
            $($(#[$meaning])* pub $name: $crate::reading::Reading<$Kind>,)*
        }

        /// The location of each fact; none if the source does not know it.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $Locations {
            $(pub(crate) $name: Option<$crate::fabric::location::Location>,)*
        }

        impl $Locations {
            /// Resolves the locations in a built-in image.
            fn builtin($at: &$Names) -> Self {
                Self { $($name: $location,)* }
            }
        }

        impl $crate::fabric::location::Locations for $Locations {
            type Facts = $Facts;

            fn known(&self) -> impl Iterator<Item = &$crate::fabric::location::Location> {
                [$(&self.$name),*].into_iter().flatten()
            }

            #[cfg(test)]
            fn unknown(&self) -> Vec<&'static str> {
                let all = [$((stringify!($name), self.$name.is_none())),*];
                all.into_iter().filter(|(_, unknown)| *unknown).map(|(name, _)| name).collect()
            }

            fn read(&self, memory: &impl $crate::fabric::location::Memory) -> $Facts {
                let read = $crate::fabric::location::Reader(memory);
                $Facts { $($name: read.fact(self.$name.as_ref()),)* }
            }
        }
    };
}
pub(super) use facts;
