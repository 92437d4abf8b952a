//! Files: read up to a size limit, and written as a whole or not at all.
//!
//! Only regular files up to a limit are read: reading a pipe would wait, and a device may
//! never end. A new file is written under another name first, so that a kill at any
//! moment leaves the old file or the new one. Nothing is written through a link, or over
//! anything that is not a file.

use std::fs::Permissions;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path};

use tempfile::NamedTempFile;

use crate::problem::{Position, Problem};

/// The largest text file that is read: no template, case file or configuration is larger.
pub const MOST_TEXT: u64 = 16 << 20;

/// The beginning and the end of the name of an unfinished file.
const DRAFT: (&str, &str) = (".rolecall-", ".draft");

/// Reads a file as UTF-8, or says what is wrong with it. Files above [`MOST_TEXT`], and
/// anything that is not a regular file, are refused unread. A byte order mark is kept.
pub fn read_text(path: &Path) -> Result<String, Problem> {
    let bytes = read_bytes(path, MOST_TEXT)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let help = "save the file as UTF-8";
        if matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
            return Problem::new(path, "UTF-16, by its byte order mark, not UTF-8").help(help);
        }
        let before = String::from_utf8_lossy(&bytes[..valid]);
        Problem::new(
            path,
            format!("not UTF-8: byte 0x{:02X} at offset {valid}", bytes[valid]),
        )
        .at(Position::of(&before, valid))
        .help(help)
    })
}

/// Reads a file as [`read_text`] does, if there is one. A link that leads nowhere is a
/// problem.
pub fn read_text_if_there(path: &Path) -> Result<Option<String>, Problem> {
    if is_there(path) {
        read_text(path).map(Some)
    } else {
        Ok(None)
    }
}

/// Whether there is anything at a path: a file, a folder, a link even if it leads
/// nowhere, or something unreadable.
pub fn is_there(path: &Path) -> bool {
    !path
        .symlink_metadata()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Reads a file of at most `most` bytes.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, Problem> {
    let unreadable = |error: io::Error| {
        if error.kind() == io::ErrorKind::NotFound && path.is_symlink() {
            return Problem::new(path, "a link that leads nowhere");
        }
        Problem::new(path, format!("cannot be read: {error}"))
    };
    // Opening a pipe would wait for someone to write to it.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        let message = if metadata.is_dir() {
            "a folder, where a file is expected"
        } else {
            "not a regular file"
        };
        return Err(Problem::new(path, message));
    }
    let too_large = |bytes: u64| {
        let message = format!("too large: {bytes} bytes, where at most {most} are expected");
        Problem::new(path, message)
    };
    if metadata.len() > most {
        return Err(too_large(metadata.len()));
    }
    // The file may grow while it is read, and special files may report a size of 0.
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// Reads a file that only the harness and its tools write, if it is there. It must be a
/// regular file of at most `most` bytes, and not a link. The error says why it cannot be
/// read.
///
/// A run opens one for each template and family, so this function makes as few system calls
/// as possible: a read that does not fill the buffer has reached the end.
pub fn read_own(path: &Path, most: u64) -> Result<Option<Vec<u8>>, String> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    // Opening a pipe would wait for someone to write to it.
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return Err("a link, where a file is expected".to_owned());
    }
    if kind.is_dir() {
        return Err("a folder, where a file is expected".to_owned());
    }
    if !kind.is_file() {
        return Err("not a regular file".to_owned());
    }
    let size = metadata.len();
    if size > most {
        return Err(format!("too large: {size} bytes"));
    }
    let read = || {
        let mut file = std::fs::File::open(path)?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX) + 1];
        let read = file.read(&mut bytes)?;
        let is_end = read < bytes.len();
        bytes.truncate(read);
        if !is_end {
            file.take(most).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    read()
        .map(Some)
        .map_err(|error: io::Error| format!("cannot be read: {error}"))
}

/// Writes a file as a whole, or leaves the old one as it is: it writes under another name
/// first, then renames. Missing folders are created, and the old file's permissions are
/// kept.
///
/// Links, folders, devices and read-only files are refused. A kill may leave a file
/// `.rolecall-….draft` behind, which no command reads.
pub fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Problem> {
    let failed = |error: io::Error| Problem::new(path, format!("cannot be written: {error}"));
    let permissions = replaceable(path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .map_err(|error| Problem::new(folder, format!("the folder cannot be made: {error}")))?;
    // Each draft has its own name, so that two writers do not share one. It is deleted if
    // anything fails.
    let mut draft = draft_in(folder).map_err(failed)?;
    draft.write_all(text.as_ref()).map_err(failed)?;
    if let Some(permissions) = permissions {
        draft
            .as_file()
            .set_permissions(permissions)
            .map_err(failed)?;
    }
    // Without this, a machine that stops could keep the new name without the new content.
    draft.as_file().sync_all().map_err(failed)?;
    draft.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Writes a file below a folder as [`write_whole`] does. No link below the folder is
/// followed, and no name leads out of it.
pub fn write_below(root: &Path, path: &Path, text: impl AsRef<[u8]>) -> Result<(), Problem> {
    hold_below(root, path)?;
    write_whole(path, text)
}

/// Checks that a path lies below a folder: by its components, and because no folder on
/// the way is a link.
pub fn hold_below(root: &Path, path: &Path) -> Result<(), Problem> {
    let is_below = path.strip_prefix(root).is_ok_and(|below| {
        let mut names = below.components();
        below != Path::new("") && names.all(|name| matches!(name, Component::Normal(_)))
    });
    if !is_below {
        let message = format!("outside of {}: nothing is written", root.display());
        return Err(Problem::new(path, message));
    }
    let folders = path.ancestors().skip(1);
    for folder in folders.take_while(|folder| *folder != root) {
        if folder.is_symlink() {
            let message = format!("a link, which may lead outside of {}", root.display());
            return Err(Problem::new(folder, message).help("put a folder in its place"));
        }
    }
    Ok(())
}

/// The permissions of the file to be replaced, or why it may not be replaced.
fn replaceable(path: &Path) -> Result<Option<Permissions>, Problem> {
    let refused = |message: &str, help: &str| Err(Problem::new(path, message).help(help));
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Problem::new(path, format!("cannot be written: {error}"))),
    };
    if metadata.is_symlink() {
        let help = "remove the link, or name the file that it leads to";
        return refused("a link: nothing is written through links", help);
    }
    if metadata.is_dir() {
        let help = "remove the folder, or choose another name";
        return refused("a folder, where a file is to be written", help);
    }
    if !metadata.is_file() {
        return refused(
            "not a regular file: nothing is written",
            "choose another name",
        );
    }
    if metadata.permissions().readonly() {
        let help = "make it writable, or remove it";
        return refused("the file is read-only: nothing is written", help);
    }
    Ok(Some(metadata.permissions()))
}

fn draft_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(DRAFT.0).suffix(DRAFT.1).rand_bytes(8);
    // The permissions of any new file: temporary files are for their owner only.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Whether a file's name shows that it was never finished.
pub fn is_draft(name: &str) -> bool {
    name.starts_with(DRAFT.0) && name.ends_with(DRAFT.1)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_too_large_or_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.jinja");
        let file = fs::File::create(&path).unwrap();
        file.set_len(10 << 30).unwrap();
        let problem = read_text(&path).unwrap_err();
        assert_eq!(
            problem.message,
            "too large: 10737418240 bytes, where at most 16777216 are expected"
        );
        let problem = read_text(folder.path()).unwrap_err();
        assert_eq!(problem.message, "a folder, where a file is expected");
    }

    #[test]
    fn a_file_at_the_limit_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_bytes(&path, 5).unwrap(), b"12345");
        assert!(read_bytes(&path, 4).is_err());
    }

    #[test]
    fn other_encodings_are_named_with_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for (bytes, expected) in [
            (
                &b"\xFF\xFEa\0"[..],
                "x: UTF-16, by its byte order mark, not UTF-8\n",
            ),
            (
                b"\xFE\xFF\0a",
                "x: UTF-16, by its byte order mark, not UTF-8\n",
            ),
            (b"a\nb\xE9", "x:2:2: not UTF-8: byte 0xE9 at offset 3\n"),
            (b"\xC3", "x:1:1: not UTF-8: byte 0xC3 at offset 0\n"),
        ] {
            fs::write(&path, bytes).unwrap();
            let problem = read_text(&path).unwrap_err().to_string();
            assert!(problem.contains(expected), "{problem}");
            assert!(problem.ends_with("  save the file as UTF-8"), "{problem}");
        }
        fs::write(&path, "\u{FEFF}a").unwrap();
        assert_eq!(read_text(&path).unwrap(), "\u{FEFF}a");
    }

    #[test]
    fn a_file_that_cannot_be_written_stays_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        let read_only = folder.path().join("read-only");
        fs::write(&read_only, "old").unwrap();
        let mut permissions = fs::metadata(&read_only).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&read_only, permissions).unwrap();
        let before = names(folder.path());
        for (name, expected) in [
            ("folder", "a folder, where a file is to be written"),
            ("read-only", "the file is read-only: nothing is written"),
            (&"x".repeat(300), "cannot be written: "),
            ("read-only/below", "cannot be written: "),
        ] {
            let problem = write_whole(&folder.path().join(name), "new").unwrap_err();
            assert!(problem.message.starts_with(expected), "{problem}");
            assert_eq!(names(folder.path()), before);
        }
        assert_eq!(fs::read_to_string(&read_only).unwrap(), "old");
    }

    /// The draft's name is no longer than a file's name may be.
    #[test]
    fn the_longest_name_there_is_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/folders").join("x".repeat(255));
        write_whole(&path, "one").unwrap();
        write_whole(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(names(path.parent().unwrap()).len(), 1);
    }

    /// Someone who reads while others write sees one of the texts, never a part of one.
    #[test]
    fn those_who_write_at_once_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let texts: Vec<String> = (0..4).map(|n| n.to_string().repeat(50_000 + n)).collect();
        write_whole(&path, &texts[0]).unwrap();
        std::thread::scope(|scope| {
            let writers: Vec<_> = texts
                .iter()
                .map(|text| {
                    let path = &path;
                    scope.spawn(move || {
                        for _ in 0..25 {
                            write_whole(path, text).unwrap();
                        }
                    })
                })
                .collect();
            while writers.iter().any(|writer| !writer.is_finished()) {
                let read = fs::read_to_string(&path).unwrap();
                assert!(texts.contains(&read), "{} bytes", read.len());
            }
        });
        assert_eq!(names(folder.path()), ["x"]);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("outside"), "old").unwrap();
        fs::create_dir_all(path("root/a")).unwrap();
        fs::create_dir(path("elsewhere")).unwrap();
        symlink("../outside", path("root/link")).unwrap();
        symlink("nowhere", path("root/dangling")).unwrap();
        symlink("../elsewhere", path("root/folder")).unwrap();
        let below = |name: &str| write_below(&path("root"), &path(name), "new");
        for (name, expected) in [
            ("root/link", "a link: nothing is written through links"),
            ("root/dangling", "a link: nothing is written through links"),
            ("root/folder/x", "a link, which may lead outside of "),
            ("root/folder/new/x", "a link, which may lead outside of "),
            ("root/../outside", "outside of "),
            ("root", "outside of "),
            ("outside", "outside of "),
        ] {
            let problem = below(name).unwrap_err();
            assert!(problem.message.starts_with(expected), "{name}: {problem}");
        }
        assert_eq!(fs::read_to_string(path("outside")).unwrap(), "old");
        assert!(names(&path("elsewhere")).is_empty());
        assert!(read_text_if_there(&path("root/dangling")).is_err());
        assert_eq!(read_text_if_there(&path("root/none")).unwrap(), None);

        // Permissions are kept, or are those of any new file.
        below("root/a/x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::write(path("any"), "").unwrap();
        assert_eq!(mode(&path("root/a/x")), mode(&path("any")));
        fs::set_permissions(path("root/a/x"), Permissions::from_mode(0o640)).unwrap();
        below("root/a/x").unwrap();
        assert_eq!(mode(&path("root/a/x")), 0o640);
    }
}
