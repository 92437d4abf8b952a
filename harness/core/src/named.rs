//! Kinds that have a word each, in files and in reports.

/// Declares an enum whose variants have a word each: with all of them in a list, their words, the
/// way back from a word, and the word as what is displayed.
#[macro_export]
macro_rules! named {
    (
        $(#[$of_kind:meta])*
        $visible:vis enum $kind:ident { $($(#[$of_one:meta])* $one:ident = $word:literal,)* }
    ) => {
        $(#[$of_kind])*
        $visible enum $kind {
            $($(#[$of_one])* $one,)*
        }

        impl $kind {
            /// All of them, in their order.
            pub const ALL: [$kind; [$($word),*].len()] = [$($kind::$one),*];

            /// The word for it in files and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $($kind::$one => $word,)*
                }
            }

            /// The one that a word represents.
            pub fn named(name: &str) -> Option<$kind> {
                $kind::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
