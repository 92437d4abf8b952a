//! How the reader runs this program: messages name commands that can be copied and run as
//! they are.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

use crate::file::is_there;

/// Where the program runs. The program sets it once, at its start.
static SITE: OnceLock<Site> = OnceLock::new();

/// Where a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// In a checkout of Rolecall's own repository, where Cargo builds and runs it.
    Checkout,
    /// Anywhere else: the program is installed.
    Elsewhere,
}

impl Site {
    /// The site of a folder: whether a folder above it, or itself, is Rolecall's repository.
    pub fn of(folder: &Path) -> Site {
        let is_repository = |folder: &Path| {
            is_there(&folder.join("Cargo.lock")) && is_there(&folder.join("harness/cli/Cargo.toml"))
        };
        if folder.ancestors().any(is_repository) {
            Site::Checkout
        } else {
            Site::Elsewhere
        }
    }

    /// A command with its arguments: `rolecall show …`.
    fn command(self, arguments: &str) -> String {
        match self {
            Site::Checkout => format!("cargo run -- {arguments}"),
            Site::Elsewhere => format!("rolecall {arguments}"),
        }
    }

    fn review(self) -> &'static str {
        match self {
            Site::Checkout => "run `cargo run -- review`",
            Site::Elsewhere => "run `rolecall review`",
        }
    }

    fn set_up_references(self) -> &'static str {
        match self {
            Site::Checkout => "scripts/setup-references",
            Site::Elsewhere => "rolecall reference setup",
        }
    }
}

/// Sets where the program runs. If this is never called, the program counts as installed.
pub fn set(site: Site) {
    // The first call wins.
    let _ = SITE.set(site);
}

fn site() -> Site {
    SITE.get().copied().unwrap_or(Site::Elsewhere)
}

/// Whether the reader asked for the built-in suite, wherever they are.
static ASKS_FOR_BUILTIN: OnceLock<bool> = OnceLock::new();

/// Sets that the reader asked for the built-in suite: commands about its pairs ask for it, too.
pub fn set_builtin(is_asked_for: bool) {
    // The first call wins.
    let _ = ASKS_FOR_BUILTIN.set(is_asked_for);
}

/// A command of this program, as its reader types it: `rolecall show …`, or
/// `cargo run -- show …` in the repository.
pub fn command(arguments: &str) -> String {
    /// The commands about a suite that only read.
    const READING: [&str; 5] = ["show", "check", "run", "list", "diff"];
    let asks_for_builtin = ASKS_FOR_BUILTIN.get().copied().unwrap_or(false);
    let name = arguments.split(' ').next().unwrap_or_default();
    let end = if asks_for_builtin && READING.contains(&name) {
        " --builtin"
    } else {
        ""
    };
    site().command(&format!("{arguments}{end}"))
}

/// A word of a command, in quotes if a shell would read it in another way. Every word that comes
/// from a user or a file goes through this before it is in a command. No such word is an option: a
/// file with the name of one gets its folder.
pub fn word(text: &str) -> String {
    if text.len() > 1 && text.starts_with('-') {
        return word(&format!("./{text}"));
    }
    // A text with a NUL cannot be a word at all.
    let quoted = shlex::try_quote(text);
    quoted.map_or_else(|_| text.to_owned(), Cow::into_owned)
}

/// Words of a command, each as [`word`] writes it.
pub fn words<'w>(texts: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = texts.into_iter().map(word).collect();
    words.join(" ")
}

/// How to review and accept snapshots, as a sentence or the end of one: "run `rolecall
/// review`".
pub fn review() -> &'static str {
    site().review()
}

/// Whether the references are installed, as the program finds it out.
static HAS_REFERENCES: OnceLock<fn() -> bool> = OnceLock::new();

/// Sets how to find out whether the references are installed.
pub fn set_reference_check(check: fn() -> bool) {
    // The first call wins.
    let _ = HAS_REFERENCES.set(check);
}

/// A command that needs the references, after the one that installs them if they are not there.
pub fn with_references(arguments: &str) -> String {
    let command = command(arguments);
    if HAS_REFERENCES.get().is_some_and(|check| check()) {
        command
    } else {
        format!("{} && {command}", set_up_references())
    }
}

/// The command that installs the references.
pub fn set_up_references() -> &'static str {
    site().set_up_references()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_known_from_any_folder_in_it() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(Site::of(here), Site::Checkout);
        let other = tempfile::tempdir().unwrap();
        assert_eq!(Site::of(other.path()), Site::Elsewhere);
        // Someone else's workspace is not ours.
        std::fs::write(other.path().join("Cargo.lock"), "").unwrap();
        assert_eq!(Site::of(other.path()), Site::Elsewhere);
    }

    #[test]
    fn words_can_be_typed() {
        assert_eq!(word("qwen2.5:plain/one"), "qwen2.5:plain/one");
        for text in [
            "node adapter.mjs",
            "qwen*",
            "it's",
            "",
            "$HOME",
            "a=b;c",
            "~",
            "#x",
        ] {
            assert_eq!(shlex::split(&word(text)), Some(vec![text.to_owned()]));
            assert_ne!(word(text), text);
        }
        assert_eq!(word("--engine=sh x"), "'./--engine=sh x'");
        assert_eq!(word("-"), "-");
        assert_eq!(words(["update", "node a.mjs"]), "update 'node a.mjs'");
    }

    #[test]
    fn commands_can_be_run_where_the_reader_is() {
        assert_eq!(Site::Checkout.command("run"), "cargo run -- run");
        assert_eq!(Site::Elsewhere.command("run"), "rolecall run");
        assert!(!Site::Elsewhere.review().contains("cargo"));
        assert_eq!(Site::Checkout.review(), "run `cargo run -- review`");
        assert!(!Site::Elsewhere.set_up_references().contains("scripts"));
    }
}
