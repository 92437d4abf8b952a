//! Files: read up to a size limit, and written as a whole or not at all.
//!
//! Only regular files up to a limit are read: reading a pipe would wait, and a device may
//! never end. A new file is written under another name first, so that a kill at any
//! moment leaves the old file or the new one. Nothing is written through a link, or over
//! anything that is not a file. No result of a command replaces a file that the command reads:
//! [`Outputs`] knows them.

// Here are the one reader and the one writer.
#![allow(clippy::disallowed_methods)]

use std::collections::HashSet;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::problem::{Position, Problem};

/// The largest text file that is read: no template, case file or configuration is larger.
pub const MOST_TEXT: u64 = 16 << 20;

/// The largest configuration of a suite.
pub const MOST_CONFIGURATION: u64 = 1 << 20;

/// The largest case file, and the largest template. Each is rendered and compared many times.
pub const MOST_CASES: u64 = 8 << 20;

/// The beginning and the end of the name of an unfinished file.
const DRAFT: (&str, &str) = (".rolecall-", ".draft");

/// Reads a file as UTF-8, or says what is wrong with it. Files above [`MOST_TEXT`], and
/// anything that is not a regular file, are refused unread. A byte order mark is kept.
pub fn read_text(path: &Path) -> Result<String, Problem> {
    text_of(path, read_bytes(path, MOST_TEXT)?)
}

/// How files of other formats begin that people have in the place of a text.
const BINARY: [(&[u8], &str); 6] = [
    (b"\x1F\x8B", "gzip"),
    (b"\x28\xB5\x2F\xFD", "Zstandard"),
    (b"\xFD7zXZ", "xz"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PAR1", "Parquet"),
    (b"GGUF", "GGUF"),
];

/// The bytes of a file as UTF-8, or what is wrong with them.
pub fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, Problem> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let help = "save the file as UTF-8";
        if matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
            return Problem::new(path, "UTF-16, by its byte order mark, not UTF-8").help(help);
        }
        // Whatever the file is called.
        let mut formats = BINARY.iter();
        if let Some((_, name)) = formats.find(|(first, _)| bytes.starts_with(first)) {
            let message = format!("{name}, by its first bytes, not UTF-8");
            return Problem::new(path, message).help("unpack it, or convert it into text");
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

/// Reads a file of at most `most` bytes as [`read_text`] does.
pub fn read_text_of(path: &Path, most: u64) -> Result<String, Problem> {
    text_of(path, read_bytes(path, most)?)
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
    let read = open(path, Links::Followed).and_then(|file| file.read(most));
    read.map_err(|refusal| {
        if matches!(&refusal, Refused::Error(error) if error.kind() == io::ErrorKind::NotFound)
            && path.is_symlink()
        {
            return Problem::new(path, "a link that leads nowhere");
        }
        Problem::new(path, refusal.to_string())
    })
}

/// Reads a file that only the harness and its tools write, if it is there. It must be a
/// regular file of at most `most` bytes, and not a link. The error says why it cannot be
/// read.
///
/// A run opens one for each template and family, so this function makes as few system calls
/// as possible.
pub fn read_own(path: &Path, most: u64) -> Result<Option<Vec<u8>>, String> {
    match open(path, Links::Refused).and_then(|file| file.read(most)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Refused::Error(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(_) if path.is_symlink() => Err("a link, where a file is expected".to_owned()),
        Err(refusal) => Err(refusal.to_string()),
    }
}

/// Opens a regular file for reading, also through a link. Opening it waits for nobody.
pub fn open_file(path: &Path) -> Result<File, Problem> {
    let opened = open(path, Links::Followed).map(RegularFile::into_file);
    opened.map_err(|refusal| Problem::new(path, refusal.to_string()))
}

/// Whether a path may be a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// The file that the link leads to is opened.
    Followed,
    /// A link is an error. On systems other than Unix, links are followed.
    Refused,
}

/// A regular file that is open for reading.
///
/// The file is opened first, and the open file says what it is. So a path that somebody
/// exchanges in between leads to no pipe, no device and no other folder.
#[derive(Debug)]
pub(crate) struct RegularFile {
    file: File,
    metadata: Metadata,
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("cannot be read: {0}")]
    Error(io::Error),
    #[error("a folder, where a file is expected")]
    Folder,
    #[error("not a regular file")]
    Special,
    #[error("too large: {size} bytes, where at most {most} are expected")]
    TooLarge { size: u64, most: u64 },
}

/// Opens a regular file. Anything else is refused, and opening it has waited for nobody.
pub(crate) fn open(path: &Path, links: Links) -> Result<RegularFile, Refused> {
    let opened = options(links).open(path);
    let file = match opened {
        Ok(file) => file,
        // Some things cannot be opened: a socket, or a folder on some systems.
        Err(error) => {
            let metadata = std::fs::symlink_metadata(path);
            return Err(match metadata.map(|metadata| metadata.file_type()) {
                Ok(kind) if kind.is_dir() => Refused::Folder,
                Ok(kind) if !kind.is_file() && !kind.is_symlink() => Refused::Special,
                _ => Refused::Error(error),
            });
        }
    };
    let metadata = file.metadata().map_err(Refused::Error)?;
    if metadata.is_dir() {
        Err(Refused::Folder)
    } else if metadata.is_file() {
        note(path, || identity(&file));
        Ok(RegularFile { file, metadata })
    } else {
        Err(Refused::Special)
    }
}

fn options(links: Links) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        // Without NONBLOCK, opening a pipe waits for somebody to write to it.
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        if links == Links::Refused {
            flags |= OFlags::NOFOLLOW;
        }
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = links;
    options
}

impl RegularFile {
    pub(crate) fn into_file(self) -> File {
        self.file
    }

    /// The whole content, if it has at most `most` bytes.
    pub(crate) fn read(mut self, most: u64) -> Result<Vec<u8>, Refused> {
        let size = self.metadata.len();
        if size > most {
            return Err(Refused::TooLarge { size, most });
        }
        // One byte more than the file has: if the read leaves it empty, the end is known without a
        // second call.
        let mut bytes = vec![
            0;
            usize::try_from(size)
                .unwrap_or(usize::MAX)
                .saturating_add(1)
        ];
        let read = self.file.read(&mut bytes).map_err(Refused::Error)?;
        // A read that does not fill the buffer has reached the end. But the file may grow while
        // it is read, and special files may report a size of 0.
        let is_end = read < bytes.len();
        bytes.truncate(read);
        if !is_end {
            // One byte above the limit is enough to know that the file is too large.
            let rest = (most + 1).saturating_sub(read as u64);
            let rest = self.file.take(rest).read_to_end(&mut bytes);
            rest.map_err(Refused::Error)?;
        }
        if bytes.len() as u64 > most {
            let size = bytes.len() as u64;
            return Err(Refused::TooLarge { size, most });
        }
        Ok(bytes)
    }

    /// Whether a path leads to this very file.
    #[cfg(unix)]
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let other = std::fs::symlink_metadata(path);
        other.is_ok_and(|other| {
            (other.dev(), other.ino()) == (self.metadata.dev(), self.metadata.ino())
        })
    }

    /// Whether a path leads to this very file.
    #[cfg(not(unix))]
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let opened = self.file.try_clone().and_then(same_file::Handle::from_file);
        let other = same_file::Handle::from_path(path);
        matches!((opened, other), (Ok(opened), Ok(other)) if opened == other)
    }
}

/// Writes a file as a whole, or leaves the old one as it is: it writes under another name
/// first, then renames. Missing folders are created, and the old file's permissions are
/// kept.
///
/// Links, folders, devices and read-only files are refused, and so are [`Outputs`] that were read.
/// A kill may leave a file
/// `.rolecall-….draft` behind, which no command reads. The next program that writes into the folder
/// removes it.
pub fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Problem> {
    let failed = |error: io::Error| Problem::new(path, format!("cannot be written: {error}"));
    let permissions = replaceable(path)?;
    let mut is_unread = Ok(());
    each_output(|| identity_at(path), |one| is_unread = one.hold());
    is_unread?;
    hold_size(text.as_ref().len()).map_err(failed)?;
    let folder = folder_of(path);
    std::fs::create_dir_all(folder)
        .map_err(|error| Problem::new(folder, format!("the folder cannot be made: {error}")))?;
    collect_drafts(folder);
    // Each draft has its own name, so that two writers do not share one. It is deleted if
    // anything fails. The lock shows that its writer is at work.
    let draft = draft_in(folder).map_err(|error| failed(without_draft(error)))?;
    // Some file systems have no locks. Then other programs know a draft at work only by its age.
    let _ = draft.as_file().try_lock();
    draft.as_file().write_all(text.as_ref()).map_err(failed)?;
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

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    let folder = path.parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Fails if a file of so many bytes is above the limit of the process, `ulimit -f`: writing it would
/// end the process by a signal, and leave a draft.
#[cfg_attr(not(unix), allow(unused_variables))]
pub(crate) fn hold_size(bytes: usize) -> io::Result<()> {
    #[cfg(unix)]
    {
        let most = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
        if most.is_some_and(|most| bytes as u64 > most) {
            return Err(rustix::io::Errno::FBIG.into());
        }
    }
    Ok(())
}

/// What tells a file from all others, however its path is spelt and whatever links lead to it.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = same_file::Handle;

#[cfg(unix)]
fn identity_of(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

fn identity(file: &File) -> Option<Identity> {
    #[cfg(unix)]
    return file.metadata().ok().as_ref().map(identity_of);
    #[cfg(not(unix))]
    return same_file::Handle::from_file(file.try_clone().ok()?).ok();
}

fn identity_at(path: &Path) -> Option<Identity> {
    #[cfg(unix)]
    return path.metadata().ok().as_ref().map(identity_of);
    #[cfg(not(unix))]
    return same_file::Handle::from_path(path).ok();
}

/// The files that a command writes because the user named them, as far as they are there already.
/// As long as this value exists, each of them that is read becomes an input, and [`write_whole`]
/// refuses to replace an input.
///
/// Several commands may run in one process, one after the other or at the same time. Each has a value
/// of its own, which knows nothing of what was read before it was made, nor of files that are no
/// results of this command. It cannot tell which command reads, because commands share threads. So a
/// command also refuses if another one reads the same file at the same time; the other one might
/// otherwise read the result in the place of its input.
#[derive(Debug)]
pub struct Outputs(Vec<Output>);

#[derive(Debug)]
struct Output {
    path: PathBuf,
    identity: Identity,
    /// The path by which it was read, if it was.
    input: OnceLock<PathBuf>,
}

/// The files of all commands that are at work.
static OUTPUTS: Mutex<Vec<Weak<Outputs>>> = Mutex::new(Vec::new());

/// Looks at all outputs that are a file.
fn each_output(identity: impl FnOnce() -> Option<Identity>, mut look: impl FnMut(&Output)) {
    let all = OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    // Most commands write no file that a user named: then a read asks the system for no identity.
    if let false = all.is_empty()
        && let Some(identity) = identity()
    {
        for outputs in all.iter().filter_map(Weak::upgrade) {
            let same = outputs.0.iter().filter(|one| one.identity == identity);
            same.for_each(&mut look);
        }
    }
}

/// Notes that a file is read.
fn note(path: &Path, identity: impl FnOnce() -> Option<Identity>) {
    each_output(identity, |one| _ = one.input.set(path.to_path_buf()));
}

impl Output {
    /// Fails if the file was read.
    fn hold(&self) -> Result<(), Problem> {
        let Some(input) = self.input.get() else {
            return Ok(());
        };
        let input = input.display();
        let message = format!("the command reads {input}, so it does not write over this file");
        Err(Problem::new(&self.path, message).help("name another file for the result"))
    }
}

impl Outputs {
    /// The files at these paths, of a command that begins.
    pub fn of(paths: &[PathBuf]) -> Arc<Outputs> {
        let there = paths.iter().filter_map(|path| {
            Some(Output {
                path: path.clone(),
                identity: identity_at(path)?,
                input: OnceLock::new(),
            })
        });
        let outputs = Arc::new(Outputs(there.collect()));
        let mut all = OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        if !outputs.0.is_empty() {
            all.push(Arc::downgrade(&outputs));
        }
        outputs
    }

    /// Fails if one of the files is an input: one of these paths leads to it, standard input is
    /// redirected from it, or it was read already.
    ///
    /// # Errors
    ///
    /// The first such file.
    pub fn hold<'p>(&self, inputs: impl Iterator<Item = &'p Path>) -> Result<(), Problem> {
        inputs.for_each(|input| note(input, || identity_at(input)));
        #[cfg(unix)]
        note(Path::new("standard input"), || {
            use std::os::fd::AsFd as _;
            let file = io::stdin().as_fd().try_clone_to_owned().ok()?;
            identity(&File::from(file))
        });
        self.0.iter().try_for_each(Output::hold)
    }
}

/// Writes a file below a folder as [`write_whole`] does. No link below the folder is
/// followed, and no name leads out of it.
pub fn write_below(root: &Path, path: &Path, text: impl AsRef<[u8]>) -> Result<(), Problem> {
    hold_below(root, path)?;
    write_whole(path, text)
}

/// Removes a file below a folder, through no link on the way.
///
/// # Errors
///
/// The file cannot be removed.
pub fn remove_below(root: &Path, path: &Path) -> Result<(), Problem> {
    hold_below(root, path)?;
    std::fs::remove_file(path)
        .map_err(|error| Problem::new(path, format!("cannot be removed: {error}")))
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

/// The permissions of the file to be replaced, if there is one.
///
/// # Errors
///
/// Why [`write_whole`] may not replace it.
pub fn replaceable(path: &Path) -> Result<Option<Permissions>, Problem> {
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

/// An error without the name of the draft, which says nothing to a user.
fn without_draft(error: io::Error) -> io::Error {
    let of_system = error
        .get_ref()
        .and_then(std::error::Error::source)
        .and_then(|inner| inner.downcast_ref::<io::Error>())
        .and_then(io::Error::raw_os_error);
    of_system.map_or(error, io::Error::from_raw_os_error)
}

/// Removes the drafts in a folder whose writers were killed. Each process looks once into each
/// folder.
fn collect_drafts(folder: &Path) {
    static SEEN: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    // An update writes thousands of files into one folder, and would list it each time.
    let is_new = SEEN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(folder.to_path_buf());
    if !is_new {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !is_draft(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let Ok(draft) = open(&entry.path(), Links::Refused) else {
            continue;
        };
        // A writer that is at work has the lock.
        if is_old(&entry.path()) && draft.file.try_lock().is_ok() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether a draft is so old that its writer, if it were still at work, would have locked it.
pub(crate) fn is_old(draft: &Path) -> bool {
    // Between its creation and its lock a draft looks like one that was left behind.
    const YOUNGEST: Duration = Duration::from_secs(2);
    let changed = draft.symlink_metadata().and_then(|draft| draft.modified());
    changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > YOUNGEST))
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
        fs::write(&path, b"\x1F\x8B\x08\0").unwrap();
        let problem = read_text(&path).unwrap_err().to_string();
        assert!(problem.contains("x: gzip, by its first bytes"), "{problem}");
        fs::write(&path, "\u{FEFF}a").unwrap();
        assert_eq!(read_text(&path).unwrap(), "\u{FEFF}a");
    }

    #[test]
    fn a_file_that_cannot_be_written_stays_and_leaves_nothing() {
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

    #[test]
    fn drafts_of_killed_writers_go_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(10);
        let drafts = [".rolecall-dead.draft", ".rolecall-live.draft", "mine.draft"];
        for name in drafts {
            let file = File::create(path(name)).unwrap();
            file.set_modified(long_ago).unwrap();
        }
        File::create(path(".rolecall-young.draft")).unwrap();
        let live = File::open(path(".rolecall-live.draft")).unwrap();
        live.try_lock().unwrap();
        write_whole(&path("x"), "text").unwrap();
        let mut left = vec![
            ".rolecall-live.draft",
            ".rolecall-young.draft",
            "mine.draft",
            "x",
        ];
        left.sort_unstable();
        assert_eq!(names(folder.path()), left);
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

    #[test]
    fn an_output_that_was_read_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["read", "page", "linked"] {
            fs::write(path(name), "old").unwrap();
        }
        fs::hard_link(path("linked"), path("other")).unwrap();
        fs::create_dir(path("below")).unwrap();
        // What another command read before does not count.
        read_text(&path("page")).unwrap();
        let outputs = Outputs::of(&["read", "page", "linked", "new"].map(path));
        assert_eq!(outputs.hold([path("none").as_path()].into_iter()), Ok(()));
        // Other threads read for the command, too.
        let spelt = path("below/../read");
        std::thread::scope(|scope| {
            scope.spawn(|| read_text(&spelt).unwrap());
        });
        read_bytes(&path("other"), 10).unwrap();
        for name in ["read", "linked"] {
            let problem = write_whole(&path(name), "new").unwrap_err();
            assert!(
                problem.message.contains("does not write over this file"),
                "{problem}"
            );
            assert_eq!(fs::read_to_string(path(name)).unwrap(), "old");
        }
        let problem = outputs.hold(std::iter::empty()).unwrap_err().to_string();
        assert!(problem.contains("below/../read, so "), "{problem}");
        write_whole(&path("page"), "new").unwrap();
        write_whole(&path("new"), "new").unwrap();
        // The next command reads and writes what it likes.
        drop(outputs);
        write_whole(&path("read"), "new").unwrap();
    }

    /// Each command has outputs of its own, also if both are at work at the same time.
    #[test]
    fn commands_at_the_same_time_have_outputs_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let folder = folder.path();
                scope.spawn(move || {
                    let path = |name: &str| folder.join(format!("{name}{number}"));
                    for _ in 0..20 {
                        fs::write(path("in"), "old").unwrap();
                        fs::write(path("out"), "old").unwrap();
                        let (input, output) = (path("in"), path("out"));
                        let outputs = Outputs::of(std::slice::from_ref(&output));
                        read_text(&input).unwrap();
                        write_whole(&output, "new").unwrap();
                        drop(outputs);
                        let outputs = Outputs::of(std::slice::from_ref(&input));
                        write_whole(&input, "new").unwrap();
                        read_text(&input).unwrap();
                        drop(outputs);
                    }
                });
            }
        });
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
