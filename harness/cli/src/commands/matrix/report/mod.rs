//! The reports on measurements: the table, and one engine in detail.

mod parts;

mod table;

mod detail;

mod updated;

mod json;

pub use detail::write_detail;
pub use json::MatrixDocument;
pub use json::write_json;
pub use table::write_table;
pub use updated::write_updated;
pub use updated::write_verified;
