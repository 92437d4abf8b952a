//! Two sides of a comparison beside each other: for a person, for a pull request's comment,
//! to look through in a browser, and for programs.

mod first_place;

mod words;

mod human;

mod markdown;

mod json;

mod page;

pub use human::write;
pub use json::write as write_json;
pub use markdown::write as write_markdown;
pub use page::write as write_page;
