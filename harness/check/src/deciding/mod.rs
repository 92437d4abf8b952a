//! What content decides: the comparisons in which a template looks for literals in what people,
//! models and tools wrote, and what comes of them.
//!
//! A render tells what it compared. So the search needs no reading of the source: a word that is
//! put together from pieces, kept in a namespace or looked up in a list is seen when it is
//! compared. For each comparison the search writes a conversation in which it holds, compared with
//! one with another word of the same shape, and compares the two prompts outside of that text.

mod literal;
mod subject;

mod comparison;
mod conversations;
mod variation;

mod effect;
mod glance;

mod search;

pub(crate) use search::decided;
