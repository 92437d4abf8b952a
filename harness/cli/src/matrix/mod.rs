//! Engines of chat templates side by side: Rolecall measures their results over its whole suite,
//! and shows them as a table and as a site. `rolecall matrix` prints the table.

pub mod report;

pub mod site;
