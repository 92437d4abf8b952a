//! Packs the suite of the checkout around this crate, if the program shall contain it. A published
//! package has no checkout around it and contains the packed suite.

// It reads the checkout that it builds.
#![allow(clippy::disallowed_methods)]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

#[path = "src/builtin/files.rs"]
mod files;

/// The suite that `scripts/package` packed for a published package.
const BROUGHT: &str = "suite.tar.gz";

fn main() -> Result<(), Box<dyn Error>> {
    let package = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let target = PathBuf::from(std::env::var("OUT_DIR")?).join(BROUGHT);
    let checkout = package.join("../..");
    let has_checkout = checkout.join("cases/conversations").is_dir();
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/builtin/files.rs");
    println!("cargo:rustc-check-cfg=cfg(packed)");
    if has_checkout && std::env::var_os("CARGO_FEATURE_PACKED").is_none() {
        return Ok(());
    }
    println!("cargo:rustc-cfg=packed");
    let tar = if has_checkout {
        for part in files::PACKED {
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
        let mut tar = Vec::new();
        GzDecoder::new(packed.as_slice()).read_to_end(&mut tar)?;
        tar
    };
    let mut fingerprint = String::new();
    for byte in &Sha256::digest(&tar)[..6] {
        write!(fingerprint, "{byte:02x}")?;
    }
    println!("cargo:rustc-env=ROLECALL_SUITE={fingerprint}");
    Ok(())
}

/// The files in an archive whose bytes do not depend on the machine or the time.
fn pack(checkout: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = tar::Builder::new(Vec::new());
    for file in files::files(checkout)? {
        let content = fs::read(&file)?;
        // Paths in archives have slashes on every system.
        let path = file.strip_prefix(checkout)?;
        let path: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        let is_program = content.starts_with(b"#!");
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(if is_program { 0o755 } else { 0o644 });
        header.set_mtime(0);
        archive.append_data(&mut header, path.join("/"), content.as_slice())?;
    }
    Ok(archive.into_inner()?)
}

/// The archive in the program's form: compressed as well as possible in a program that people
/// install, and not at all in one that a developer builds, which is ready sooner.
fn compressed(tar: &[u8]) -> std::io::Result<Vec<u8>> {
    let level = match std::env::var("PROFILE").as_deref() {
        Ok("release") => Compression::best(),
        _ => Compression::none(),
    };
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(tar)?;
    encoder.finish()
}
