//! The project itself.

use std::path::Path;
use std::sync::LazyLock;

use rolecall::layout::Layout;
use rolecall::suite::Suite;

/// Where its files are.
pub(crate) static LAYOUT: LazyLock<Layout> =
    LazyLock::new(|| Layout::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")));

/// Its suite, read once for all tests.
pub(crate) static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::load_layout(&LAYOUT));
