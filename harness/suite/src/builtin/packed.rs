//! The suite that the program contains.

use std::io;
use std::path::Path;

use flate2::read::GzDecoder;

const ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/suite.tar.gz"));

/// The bytes that the suite adds to the program. None if the program contains no suite.
pub const SIZE: Option<usize> = Some(ARCHIVE.len());

/// The first 12 hexadecimal digits of the SHA-256 of the uncompressed archive. Two programs with
/// the same fingerprint have the same suite.
pub fn fingerprint() -> &'static str {
    env!("ROLECALL_SUITE")
}

/// Writes the files of the suite whose paths are wanted into a folder.
pub(crate) fn write(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut archive = tar::Archive::new(GzDecoder::new(ARCHIVE));
    for entry in archive.entries()? {
        let mut entry = entry?;
        if is_wanted(&entry.path()?) {
            entry.unpack_in(folder)?;
        }
    }
    Ok(())
}
