//! Engines that were measured: the table, one in detail, and where they part.

mod parts;

mod table;

mod detail;

mod differ;

mod common;

mod updated;

mod json;

pub use common::write_common;
pub(super) use detail::by_construct;
pub use detail::write_detail;
pub use differ::write_differ;
pub(super) use json::Document;
pub use json::write_json;
pub use table::write_table;
pub use updated::{write_updated, write_verified};
