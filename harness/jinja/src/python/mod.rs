//! Python's values: their types, their comparisons, their methods and their text.

// Characters and numbers.
pub(crate) mod casing;
pub(crate) mod characters;
pub(crate) mod numbers;

// Arguments of calls.
pub(crate) mod arguments;

// Objects that Python has and minijinja has not.
pub(crate) mod generator;
pub(crate) mod groups;
pub(crate) mod loops;
pub(crate) mod namespaces;
pub(crate) mod ranges;

// Texts that are safe to print.
pub(crate) mod markup;

// How a list is sorted.
pub(crate) mod sorting;

// Iteration.
pub(crate) mod iteration;

// Texts, filled up and cut.
mod padding;
mod splitting;

// Which kind a value is.
pub(crate) mod kinds;

// What a missing value is called.
pub(crate) mod undefined;

// The contents of values.
pub(crate) mod attributes;
pub(crate) mod dictionaries;
pub(crate) mod items;
pub(crate) mod slices;

// How values compare, and how they are written.
pub(crate) mod comparisons;
pub(crate) mod json;
pub(crate) mod text;

pub(crate) mod pretty;

// Formats, and the methods of texts that use them.
mod specs;

mod formats;

pub(crate) mod printf;
pub(crate) mod strings;

// The methods of values.
mod numerals;

pub(crate) mod methods;
