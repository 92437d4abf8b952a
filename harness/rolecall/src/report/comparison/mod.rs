//! Two sides of a comparison beside each other: for a person, for a pull request's comment,
//! and for programs.

mod first_place;

mod words;

mod human;

mod markdown;

mod json;

pub use human::write;
pub use json::write as write_json;
pub use markdown::write as write_markdown;
