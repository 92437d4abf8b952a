//! The beginning of a GGUF file, fetched by parts until all of its metadata is there.
//!
//! What is kept is a GGUF file of its own: the metadata as it is, and no tensor.

use std::path::Path;

use rolecall::problem::Problem;
use rolecall::source::without_tensors;

use super::client::{Ask, Client, HttpError};

/// The bytes that are asked for first. The list of a model's tokens alone has some MiB.
const FIRST: u64 = 1 << 20;
/// The most that is asked for.
const MOST: u64 = 64 << 20;

/// What came of it.
pub(super) enum Header {
    /// The metadata as a file, and how many bytes were fetched for it.
    Whole { file: Vec<u8>, fetched: u64 },
    /// No GGUF file, or a damaged one.
    Broken(Problem),
}

/// Fetches the metadata of the GGUF file at an address. Problems are those of the file `shown`.
pub(super) fn fetch(client: &Client, url: &str, shown: &Path) -> Result<Header, HttpError> {
    let mut start: Vec<u8> = Vec::new();
    let mut fetched = 0;
    let mut wanted = FIRST;
    while wanted <= MOST {
        let from = start.len() as u64;
        let answer = client.get(&Ask {
            url,
            accept: None,
            range: Some((from, wanted)),
            most: MOST,
            is_known: &|_| false,
        });
        let answer = match answer {
            // The file ends before what is asked for.
            Err(HttpError::Status { status: 416, .. }) => break,
            answer => answer?,
        };
        let bytes = answer.bytes.unwrap_or_default();
        let is_all = (bytes.len() as u64) < wanted - from;
        fetched += bytes.len() as u64;
        // A server that does not know ranges begins anew each time.
        start.truncate(usize::try_from(answer.from).unwrap_or_default());
        start.extend(bytes);
        match without_tensors(shown, &start) {
            Ok(Some(file)) => return Ok(Header::Whole { file, fetched }),
            Ok(None) if is_all => break,
            Ok(None) => wanted *= 2,
            Err(problem) => return Ok(Header::Broken(problem)),
        }
    }
    let message = format!(
        "the metadata is not whole in the first {} bytes of the file",
        start.len()
    );
    Ok(Header::Broken(Problem::new(shown, message).help(
        "the file is damaged, or no GGUF file: download it and name its path to have it looked at",
    )))
}
