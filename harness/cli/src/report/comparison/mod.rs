//! A comparison of two sides: for people on a terminal, for the comment on a pull request, as an
//! HTML page, and for programs.

mod first_place;

mod words;

mod human;

mod markdown;

mod json;

mod page;

pub use human::write;
pub use human::write_base;
pub use json::ComparisonDocument;
pub use json::write as write_json;
pub use markdown::write as write_markdown;
pub use page::write as write_page;
