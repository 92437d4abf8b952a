//! Descriptions of functions' arguments, with a letter for each argument.

/// The type of a wanted value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueType {
    Text,
    Integer,
    Float,
    Boolean,
    List,
    Dictionary,
    /// One of a message's, where a language has such things.
    Message,
    Any,
}

/// A function, filter, test or method: its name, the type that it applies to, its arguments, and
/// its result.
///
/// Each argument is a letter: `t` a text, `i` an integer, `s` a small one, `f` a float, `b` a
/// boolean, `l` a list, `d` a dictionary, `a` anything, `F` the name of a filter, `T` that of a
/// test, `A` that of an attribute, `P` a format of `printf`, `B` one of `str.format`, `C` one of a
/// date. Arguments after a `?` are optional. After a `+` the last argument may repeat. After a `/`
/// come the names of the arguments.
pub(super) struct CallableSignature {
    pub(super) name: &'static str,
    pub(super) of: ValueType,
    pub(super) arguments: &'static str,
    pub(super) gives: ValueType,
}

/// A row of a table.
pub(super) const fn callable(
    name: &'static str,
    of: ValueType,
    arguments: &'static str,
    gives: ValueType,
) -> CallableSignature {
    CallableSignature {
        name,
        of,
        arguments,
        gives,
    }
}

impl CallableSignature {
    /// The letters of the required arguments, the letters of the optional ones, whether the last
    /// may repeat, and the names.
    pub(super) fn parts(&self) -> (&'static str, &'static str, bool, Vec<&'static str>) {
        let (letters, names) = self
            .arguments
            .split_once('/')
            .unwrap_or((self.arguments, ""));
        let has_more = letters.ends_with('+');
        let letters = letters.trim_end_matches('+');
        let (needed, optional) = letters.split_once('?').unwrap_or((letters, ""));
        let names = names.split(',').filter(|name| !name.is_empty()).collect();
        (needed, optional, has_more, names)
    }
}
