//! The suite of the checkout that the program was built in.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use flate2::Crc;

use crate::builtin::add_file;
use crate::builtin::files::files;

/// The bytes that the suite adds to the program. None if the program contains no suite.
pub const SIZE: Option<usize> = None;

const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The state of the checkout's files when the program first asked: which there are, how large, and
/// when each was written. While nobody changes them, programs of the checkout have the same one.
pub fn fingerprint() -> &'static str {
    static FINGERPRINT: OnceLock<String> = OnceLock::new();
    FINGERPRINT.get_or_init(|| {
        let mut sum = Crc::new();
        // A file that cannot be read is an error when it is copied.
        for file in files(Path::new(CHECKOUT)).unwrap_or_default() {
            sum.update(file.as_os_str().as_encoded_bytes());
            let metadata = fs::metadata(&file);
            let _ = metadata.and_then(|metadata| add_file(&mut sum, &metadata));
        }
        format!("checkout-{:08x}", sum.sum())
    })
}

/// Writes the files of the suite whose paths are wanted into a folder.
pub(crate) fn write(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    let checkout = Path::new(CHECKOUT);
    for file in files(checkout)? {
        let path = file.strip_prefix(checkout).map_err(io::Error::other)?;
        if is_wanted(path) {
            let target = folder.join(path);
            fs::create_dir_all(target.parent().unwrap_or(folder))?;
            fs::copy(&file, target)?;
        }
    }
    Ok(())
}
