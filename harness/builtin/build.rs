//! Packs the suite of the checkout that this is built in. A published package has no checkout
//! around it, and brings the suite packed.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use walkdir::WalkDir;

/// What is packed, as it stands in a checkout.
const PACKED: [&str; 6] = [
    "cases",
    "snapshots",
    "scripts/engines/ollama",
    "scripts/engines/transformers",
    "scripts/installing.sh",
    "scripts/setup-references",
];

/// The suite as `scripts/package` packs it for a published package.
const BROUGHT: &str = "suite.tar.zst";

/// How hard the compressor tries. More makes the archive a fifth smaller, and takes as long as
/// everything else that is built.
const LEVEL: i32 = 9;

/// Matches are looked for this far back, as a power of two: the whole suite.
const WINDOW: u32 = 25;

fn main() -> Result<(), Box<dyn Error>> {
    let package = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let target = PathBuf::from(std::env::var("OUT_DIR")?).join(BROUGHT);
    let checkout = package.join("../..");
    println!("cargo:rerun-if-changed=build.rs");
    let tar = if checkout.join("cases/conversations").is_dir() {
        for part in PACKED {
            println!("cargo:rerun-if-changed={}", checkout.join(part).display());
        }
        let tar = pack(&checkout)?;
        fs::write(&target, compressed(&tar)?)?;
        tar
    } else {
        let brought = package.join(BROUGHT);
        println!("cargo:rerun-if-changed={}", brought.display());
        let packed = fs::read(&brought).map_err(|error| {
            format!(
                "there is neither a checkout around this package nor {}: {error}; \
                 scripts/package makes it",
                brought.display()
            )
        })?;
        fs::write(&target, &packed)?;
        zstd::decode_all(packed.as_slice())?
    };
    let mut fingerprint = String::new();
    for byte in &Sha256::digest(&tar)[..6] {
        write!(fingerprint, "{byte:02x}")?;
    }
    println!("cargo:rustc-env=ROLECALL_SUITE={fingerprint}");
    Ok(())
}

/// The files in an archive that is the same wherever and whenever it is made.
fn pack(checkout: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = tar::Builder::new(Vec::new());
    for part in PACKED {
        let files = WalkDir::new(checkout.join(part)).sort_by_file_name();
        let shown = |entry: &walkdir::DirEntry| is_kept(&entry.file_name().to_string_lossy());
        for entry in files.into_iter().filter_entry(shown) {
            let entry = entry?;
            if !entry.file_type().is_file() {
                continue;
            }
            let content = fs::read(entry.path())?;
            let path = entry.path().strip_prefix(checkout)?;
            // Paths in archives have slashes on every system.
            let path: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(if content.starts_with(b"#!") {
                0o755
            } else {
                0o644
            });
            header.set_mtime(0);
            archive.append_data(&mut header, path.join("/"), content.as_slice())?;
        }
    }
    Ok(archive.into_inner()?)
}

/// Whether a file or folder is of the suite: not what waits for review, or is hidden, or was
/// made by running something.
fn is_kept(name: &str) -> bool {
    !name.starts_with('.') && !name.ends_with(".snap.new") && name != "__pycache__"
}

fn compressed(tar: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(WINDOW)?;
    encoder.set_pledged_src_size(Some(tar.len() as u64))?;
    encoder.include_checksum(true)?;
    std::io::copy(&mut &*tar, &mut encoder)?;
    encoder.finish()
}
