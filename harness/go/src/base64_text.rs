//! Base64, for the images of a message: Go's `base64.StdEncoding`.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use crate::meter::{Sink, WriteResult};

/// Padding is required, and the left-over bits may be anything.
const STANDARD: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Writes the bytes of an image as text.
pub(crate) fn encode(out: &mut Sink<'_>, bytes: &[u8]) -> WriteResult {
    // Groups of three bytes need no padding, so the parts can be written one by one.
    for part in bytes.chunks(3 << 10) {
        out.push_str(&STANDARD.encode(part))?;
    }
    Ok(())
}

/// The bytes of an image as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes after a text. Line ends are skipped.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut symbols = text.as_bytes().to_vec();
    symbols.retain(|b| !matches!(b, b'\r' | b'\n'));
    STANDARD.decode(symbols).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::tests::written;

    #[test]
    fn there_and_back() {
        for text in ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="] {
            let bytes = decode(text).unwrap();
            assert_eq!(written(|out| encode(out, &bytes)), text.as_bytes());
        }
        let long: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        let text = String::from_utf8(written(|out| encode(out, &long))).unwrap();
        assert_eq!(decode(&text).as_ref(), Some(&long));
        assert_eq!(decode("Zm\r\n8=\n").as_deref(), Some(&b"fo"[..]));
        assert_eq!(decode("Zh==").as_deref(), Some(&b"f"[..]));
        assert_eq!(decode("Zg"), None);
        assert_eq!(decode("Zg==Zg=="), None);
        assert_eq!(decode("Z-8="), None);
    }
}
