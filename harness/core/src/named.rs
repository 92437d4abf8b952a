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

/// Types that are written into files as the text that shows them, and read by this text.
macro_rules! written_as_text {
    ($($kind:ty = $what:literal, $read:expr;)*) => {$(
        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                let read: fn(&str) -> Option<$kind> = $read;
                let unknown = || serde::de::Error::custom(format!("`{text}` is not {}", $what));
                read(&text).ok_or_else(unknown)
            }
        }
    )*};
}
