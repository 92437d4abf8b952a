//! The beginning of a GGUF file, fetched in parts until its metadata is complete.
//!
//! The result is a GGUF file of its own: the same metadata, and no tensors.

use std::path::Path;

use crate::source::without_tensors;
use rolecall_core::problem::Problem;

use super::download::{Download, DownloadError, Downloader};

/// The size of the first request. The list of a model's tokens alone takes some MiB.
const FIRST: u64 = 1 << 20;
/// The most bytes that are requested.
const MOST: u64 = 64 << 20;

/// The result of fetching the metadata.
pub(super) enum Header {
    /// The metadata as a file, and how many bytes were fetched for it.
    Whole { file: Vec<u8>, fetched: u64 },
    /// No GGUF file, or a damaged one.
    Broken(Problem),
}

/// Fetches the metadata of the GGUF file at an address. Problems name the file `shown`.
pub(super) fn fetch(
    downloader: &Downloader,
    url: &str,
    shown: &Path,
) -> Result<Header, DownloadError> {
    let mut start: Vec<u8> = Vec::new();
    let mut fetched = 0;
    let mut wanted = FIRST;
    while wanted <= MOST {
        let from = start.len() as u64;
        let answer = downloader.get(&Download {
            url,
            accept: None,
            range: Some((from, wanted)),
            most: MOST,
            is_known: &|_| false,
        });
        let answer = match answer {
            // The file ends before what is asked for.
            Err(DownloadError::Status { status: 416, .. }) => break,
            answer => answer?,
        };
        let bytes = answer.bytes.unwrap_or_default();
        let is_all = (bytes.len() as u64) < wanted - from;
        fetched += bytes.len() as u64;
        // A server without support for ranges starts from 0 each time.
        start.truncate(usize::try_from(answer.from).unwrap_or_default());
        start.extend(bytes);
        match without_tensors(shown, &start) {
            Ok(Some(file)) => return Ok(Header::Whole { file, fetched }),
            // The server has sent all there is, and asking for more would give the same.
            Ok(None) if is_all => break,
            Ok(None) => wanted *= 2,
            Err(problem) => return Ok(Header::Broken(problem)),
        }
    }
    let message = format!(
        "the metadata is incomplete in the first {} bytes of the file",
        start.len()
    );
    Ok(Header::Broken(Problem::new(shown, message).help(
        "the file is damaged, or not a GGUF file: download it and name its path to check it",
    )))
}
