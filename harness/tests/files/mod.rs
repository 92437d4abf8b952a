//! Files that are broken, in the way, or named so that they lead elsewhere. The commands report
//! them, lose nothing, never hang, and write nothing outside.

mod names;
mod outputs;
mod reading;
mod sizes;
mod writing;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::folder::{Folder, Ran, has};
use rolecall_suite::layout::Layout;
use rolecall_suite::suite::Suite;

fn layout(folder: &Folder) -> Layout {
    Layout::new(folder.path(""))
}

fn suite(folder: &Folder) -> Suite {
    Suite::load_layout(&layout(folder))
}

/// Removes a file, a folder or a link.
fn clear(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path).unwrap();
    } else if path.is_symlink() || path.exists() {
        fs::remove_file(path).unwrap();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
}

fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success(), "every Unix has mkfifo");
}

fn link(target: impl AsRef<Path>, path: &Path) {
    symlink(target, path).unwrap();
}

/// Every file below a folder with its bytes; links and pipes have their kind instead.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut contents = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap().file_type();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let bytes = fs::read(&path).unwrap();
                contents.push((path, bytes));
            } else {
                contents.push((path, format!("{kind:?}").into_bytes()));
            }
        }
    }
    contents.sort();
    contents
}

/// Checks that a command ended with one of its own exit codes and without a panic.
#[track_caller]
fn ended(ran: &Ran) -> i32 {
    let said = format!("{}\n{}", ran.stdout(), ran.stderr());
    assert!(!said.contains("panicked"), "{said}");
    let code = ran.0.status.code();
    assert!(matches!(code, Some(0..=2)), "{:?}\n{said}", ran.0.status);
    code.unwrap()
}

/// Replaces transformers and answers every question with one word.
const REFERENCE: &str = r#"#!/bin/sh
read -r word < "${0%/*}/word"
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%,*}
  case $line in
    *'"request":"start"'*) echo '{"rolecall": 1, "engine": "transformers", "version": "5.24.0", "dialect": "jinja", "components": {"jinja2": "3.1.6"}}' ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *'"request":"stop"'*) exit 0 ;;
    *) echo "{\"id\": $id, \"outcome\": \"rendered\", \"text\": \"$word\"}" ;;
  esac
done
"#;

/// Installs a reference that answers with a word.
fn install_reference(folder: &Folder, word: &str) {
    folder.write(".references/word", &format!("{word}\n"));
    let path = folder.write(".references/transformers", REFERENCE);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
