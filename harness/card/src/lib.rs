//! Report cards of templates: what a template can do, and which contracts it breaks.

pub mod tokenizer;

pub mod probe;

pub mod capability;

pub mod contract;

pub mod card;

pub mod known_defects;
