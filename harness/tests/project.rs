//! The project itself.

use std::sync::LazyLock;

use rolecall_suite::layout::Layout;
use rolecall_suite::suite::Suite;

/// The folder of its files.
pub(crate) static LAYOUT: LazyLock<Layout> =
    LazyLock::new(|| Layout::new(env!("CARGO_MANIFEST_DIR")));

/// Its suite, read once for all tests.
pub(crate) static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::load_layout(&LAYOUT));
