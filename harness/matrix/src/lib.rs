//! Engines side by side: their results over the whole suite, as a table and as a site.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod measurement;

pub mod matrix;

pub mod report;

pub mod site;
