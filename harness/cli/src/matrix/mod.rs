//! Engines of chat templates side by side, as `suite::measurement` has measured them: a table, which
//! `rolecall matrix` prints, and a site.

pub mod report;

pub mod site;
