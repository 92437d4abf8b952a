//! Regular expressions of Python's `regex`, as far as response templates need them.

pub(crate) mod tree;

pub(crate) mod syntax;

pub(crate) mod simplify;

pub(crate) mod program;

pub(crate) mod matcher;

pub(crate) mod search;
