//! Regular expressions of Python's `regex`, as far as response templates need them.

pub(crate) mod budget;

pub(crate) mod tree;

pub(crate) mod syntax;

pub(crate) mod escape;

pub(crate) mod simplify;

pub(crate) mod start;

pub(crate) mod program;

pub(crate) mod find;

pub(crate) mod matcher;

pub(crate) mod run;

pub(crate) mod repeat;

pub(crate) mod search;
