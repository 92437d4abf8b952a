//! Base64, for the images of a message: Go's `base64.StdEncoding`.

use super::values::Value;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes of an image as text.
pub(super) fn encode(items: &[Value]) -> String {
    let bytes: Vec<u8> = items
        .iter()
        .map(|item| {
            if let Value::Byte(byte) = item {
                *byte
            } else {
                0
            }
        })
        .collect();
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let padded = [
            chunk[0],
            chunk.get(1).copied().unwrap_or(0),
            chunk.get(2).copied().unwrap_or(0),
        ];
        let word = u32::from_be_bytes([0, padded[0], padded[1], padded[2]]);
        for i in 0..4 {
            if i <= chunk.len() {
                let index = (word >> (18 - 6 * i)) & 63;
                out.push(char::from(ALPHABET[index as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// The bytes behind a text. Line ends are skipped, padding is needed, and the bits that
/// are left over may be anything.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text
        .bytes()
        .filter(|b| !matches!(b, b'\r' | b'\n'))
        .collect();
    if !symbols.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::with_capacity(symbols.len() / 4 * 3);
    let quads = symbols.len() / 4;
    for (i, quad) in symbols.chunks(4).enumerate() {
        let padding = quad.iter().rev().take_while(|b| **b == b'=').count();
        if padding > 2 || (padding > 0 && i + 1 < quads) {
            return None;
        }
        let mut word = 0;
        for symbol in &quad[..4 - padding] {
            let index = ALPHABET.iter().position(|known| known == symbol)?;
            word = word << 6 | u32::try_from(index).ok()?;
        }
        word <<= 6 * padding;
        out.extend_from_slice(&word.to_be_bytes()[1..4 - padding]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for text in ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="] {
            let bytes: Vec<Value> = decode(text).unwrap().into_iter().map(Value::Byte).collect();
            assert_eq!(encode(&bytes), text);
        }
        assert_eq!(decode("Zg"), None);
        assert_eq!(decode("Zg==Zg=="), None);
        assert_eq!(decode("Z-8="), None);
    }
}
