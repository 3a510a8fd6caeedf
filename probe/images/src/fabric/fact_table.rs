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
            $($(#[$meaning])* pub $name: $crate::Reading<$Kind>,)*
            /// Facts that the source does not give, with the reason of each: what would give it.
            #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
            pub unknown: $crate::fabric::location::Unknown,
        }

        impl $Facts {
            /// Returns the value of a fact by its name; none if it is not known, or cannot be
            /// compared.
            pub fn value(&self, fact: &str) -> Option<$crate::fabric::FactValue<'_>> {
                match fact {
                    $(stringify!($name) => $crate::fabric::Fact::value(self.$name.known()?),)*
                    _ => None,
                }
            }
        }

        /// The location of each fact, or the reason why the source does not know it.
        #[derive(Clone, Debug, Default)]
        pub struct $Locations {
            $(
                /// The location of the fact of this name.
                pub $name: $crate::fabric::location::Located,
            )*
        }

        impl $Locations {
            /// Resolves the locations in a built-in image.
            fn builtin($at: &$Names) -> Self {
                Self { $($name: $location.into(),)* }
            }
        }

        impl $crate::fabric::location::Locations for $Locations {
            type Facts = $Facts;

            fn each(
                &self,
            ) -> impl Iterator<Item = (&'static str, &$crate::fabric::location::Located)> {
                [$((stringify!($name), &self.$name)),*].into_iter()
            }

            fn read(&self, memory: &impl $crate::fabric::location::Memory) -> $Facts {
                let read = $crate::fabric::location::Reader(memory);
                $Facts {
                    $($name: read.fact(self.$name.location()),)*
                    unknown: $crate::fabric::location::Locations::unknown(self),
                }
            }
        }
    };
}
pub(super) use facts;
