//! The functions, filters and tests that a template may use, as Jinja2 and transformers have
//! them.

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

// The names and their costs, and helpers that several of them need.
mod callables;
mod cycler;
mod joiner;
mod path;
pub(crate) mod vocabulary;
mod wrapping;

pub(crate) mod functions;
mod links;
mod numbers;
mod ordering;
mod sequences;
mod truncation;
mod web;

mod tests;
mod texts;

mod selection;

/// Makes the filters and tests of Jinja2 known.
pub(crate) fn add() {
    vocabulary::register(|registry| {
        links::add(registry);
        numbers::add(registry);
        ordering::add(registry);
        selection::add(registry);
        sequences::add(registry);
        tests::add(registry);
        texts::add(registry);
        web::add(registry);
    });
}
