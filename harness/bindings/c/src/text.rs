//! Texts that come from C.

use std::ffi::c_char;
use std::slice;

/// Borrows a text of the caller. The error says what is wrong with it.
///
/// # Safety
///
/// `bytes` is NULL, or `length` bytes from there can be read and do not change as long as the
/// result is in use.
pub(crate) unsafe fn borrowed<'t>(
    bytes: *const c_char,
    length: usize,
    what: &str,
) -> Result<&'t str, String> {
    if bytes.is_null() {
        return if length == 0 {
            Ok("")
        } else {
            Err(format!("{what} is NULL, but its length is {length}"))
        };
    }
    if isize::try_from(length).is_err() {
        return Err(format!("{what} has an impossible length"));
    }
    // SAFETY: the pointer is not NULL and the length fits into an isize. The caller promises that
    // the bytes can be read and stay as they are; bytes need no alignment.
    let bytes = unsafe { slice::from_raw_parts(bytes.cast::<u8>(), length) };
    std::str::from_utf8(bytes).map_err(|error| format!("{what} is not UTF-8: {error}"))
}
