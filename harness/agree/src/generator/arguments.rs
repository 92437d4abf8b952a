//! How the arguments of functions are described: a letter each, as in a table.

/// The type of a value that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
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

/// A function, filter, test or method: its name, what it is for, its arguments, and what it
/// gives.
///
/// Each argument is a letter: `t` a text, `i` an integer, `s` a small one, `f` a float, `b` a boolean, `l` a
/// list, `d` a dictionary, `a` anything, `F` the name of a filter, `T` that of a test, `A`
/// that of an attribute, `P` a format of `printf`, `B` one of `str.format`, `C` one of a date.
/// What stands behind a `?` may be left out, and behind a `+` there may be more of the last.
/// Behind `/` stand the names that arguments may be given by.
pub(super) struct Callable {
    pub(super) name: &'static str,
    pub(super) of: Type,
    pub(super) arguments: &'static str,
    pub(super) gives: Type,
}

/// A row of a table.
pub(super) const fn callable(
    name: &'static str,
    of: Type,
    arguments: &'static str,
    gives: Type,
) -> Callable {
    Callable {
        name,
        of,
        arguments,
        gives,
    }
}

impl Callable {
    /// The letters of the arguments that it must have, those that it may have, whether there
    /// may be more, and the names.
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
