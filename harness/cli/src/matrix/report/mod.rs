//! The reports on measurements: the table, one engine in detail, and where engines differ.

mod parts;

mod table;

mod detail;

mod differ;

mod common;

mod updated;

mod json;

mod read_back;

pub use common::write_common;
pub(crate) use detail::by_construct;
pub use detail::write_detail;
pub use differ::write_differ;
pub use json::MatrixDocument;
pub use json::write_json;
pub(crate) use read_back::templates;
pub use read_back::{
    read_back_markdown, write_read_back, write_read_back_updated, write_read_back_verified,
};
pub use table::write_table;
pub use updated::{write_updated, write_verified};
