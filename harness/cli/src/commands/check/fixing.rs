//! Looking for fixes of templates, and applying them to their files.

use std::path::Path;
use std::sync::OnceLock;

use crate::report::fixes::{ByHand, Fate, TemplateFixes};
use rolecall_check::card::Card;
use rolecall_check::contract::Contract;
use rolecall_check::fix::{Fixer, Fixes, Work};
use rolecall_check::tokenizer::Tokenizers;
use rolecall_core::file::{read_text, write_whole};
use rolecall_core::guard;
use rolecall_core::invocation;
use rolecall_core::problem::Problem;
use rolecall_core::{Template, TemplatePart};
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Suite;
use rolecall_suite::workspace::stdin;

use crate::cache::cache_folder;
use crate::failure::Failure;
use crate::home;

/// What fixes are looked for with.
pub(crate) struct Search<'s> {
    runner: &'s Runner<'s>,
    tokenizers: &'s Tokenizers,
    /// The conversations whose prompts a fix must not change: those of the built-in suite. Most
    /// searches end before they need them.
    conversations: OnceLock<Result<Suite, Failure>>,
    unsafe_too: bool,
    step: &'s (dyn Fn() + Sync),
}

impl<'s> Search<'s> {
    /// A search with the engines of a runner.
    pub(crate) fn new(
        runner: &'s Runner<'s>,
        tokenizers: &'s Tokenizers,
        unsafe_too: bool,
        step: &'s (dyn Fn() + Sync),
    ) -> Search<'s> {
        Search {
            runner,
            tokenizers,
            conversations: OnceLock::new(),
            unsafe_too,
            step,
        }
    }

    /// Ends the search. It is an error if the built-in suite could not be loaded.
    pub(crate) fn end(self) -> Result<(), Failure> {
        self.conversations.into_inner().transpose().map(drop)
    }

    /// The fixes of a template's broken contracts, of those that are chosen. The card is its whole
    /// one. The search ends after the most work, if there is a limit.
    pub(crate) fn fixes(
        &self,
        template: &Template,
        card: &Card,
        most_work: Option<Work>,
        is_chosen: impl Fn(&Contract) -> bool + Send,
    ) -> Fixes {
        let engine = self.runner.engine(template.dialect);
        let fixer = Fixer {
            engine,
            cases: &|| {
                let loaded = self.conversations.get_or_init(|| {
                    let builtin = home::builtin()?;
                    let (cases, tools) = (builtin.conversations(), builtin.tools());
                    Ok(Suite::load_conversations(&[cases], &[tools]))
                });
                loaded.as_ref().map_or(&[], |suite| &suite.cases)
            },
            tokenizer: self.tokenizers.of(template),
            unsafe_too: self.unsafe_too,
            most_work,
            step: self.step,
        };
        let part = format!("the search for fixes of {}", template.name);
        let search = || guard::contained(&part, || fixer.fixes(template, card, is_chosen));
        self.runner.on_its_threads(search).unwrap_or_default()
    }
}

/// Why a template's file is left alone, if it is.
pub(crate) fn by_hand(template: &Template) -> Option<ByHand> {
    if stdin::is_shown(&template.path) {
        return Some(ByHand::StandardInput);
    }
    if let Some(owner) = owner(&template.path) {
        let is_whole = template.part == TemplatePart::Whole;
        return Some(ByHand::Kept {
            owner,
            copy: is_whole.then(|| copy(&template.path)),
        });
    }
    let key = template.part.key()?;
    Some(ByHand::InOtherFile(key.to_owned()))
}

/// The command that copies a file into the current folder and fixes the copy.
fn copy(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A file of Ollama's has no ending.
    let name = if name.ends_with(".jinja") {
        name.into_owned()
    } else {
        "chat_template.jinja".to_owned()
    };
    let check = invocation::command(&format!("check {} --fix", invocation::word(&name)));
    let program = if cfg!(windows) { "copy" } else { "cp" };
    let path = invocation::word(&path.to_string_lossy());
    format!("{program} {path} {} && {check}", invocation::word(&name))
}

/// Whose a file is that other programs keep: they expect it as it was fetched.
fn owner(path: &Path) -> Option<&'static str> {
    // A link from elsewhere may lead into such a folder.
    let real = path.canonicalize().ok();
    let paths = [Some(path), real.as_deref()];
    let mut folders = paths.into_iter().flatten().flat_map(Path::ancestors);
    folders.find_map(|folder| {
        let name = folder.file_name()?.to_string_lossy();
        // `models--org--name/{blobs,refs,snapshots}`
        let is_of_hub = ["models--", "datasets--", "spaces--"]
            .iter()
            .any(|kind| name.starts_with(kind));
        if is_of_hub && (folder.join("snapshots").is_dir() || folder.join("blobs").is_dir()) {
            return Some("the cache of Hugging Face");
        }
        if folder.join("manifests").is_dir() && folder.join("blobs").is_dir() {
            return Some("a store of Ollama");
        }
        let cache = cache_folder()?.canonicalize().ok()?;
        (folder == cache).then_some("Rolecall's own cache")
    })
}

/// Why the file of a template is not changed, as an error.
pub(crate) fn refusal(template: &Template, typed: &str) -> Option<Problem> {
    let Some(ByHand::Kept { owner, copy }) = by_hand(template) else {
        return None;
    };
    let message = format!(
        "it belongs to {owner}, where other programs expect it as it was fetched: nothing is written there"
    );
    let help = if let Some(copy) = copy {
        format!("fix a copy: {copy}")
    } else {
        let check = invocation::command(&format!("check {typed}"));
        format!("`{check}` shows the patches: apply them to a copy, by hand")
    };
    Some(Problem::new(&template.path, message).help(help))
}

/// Refuses to fix what came on standard input.
pub(crate) fn hold_files(paths: &[std::path::PathBuf]) -> Result<(), Failure> {
    if paths.iter().any(|path| path == Path::new(stdin::NAME)) {
        return Err(Failure::Request(
            "standard input has no file that --fix could change\n  save the template into a file, \
             and name that; or add --dry-run to see the patches"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Writes the fixed source into the template's file, whole or not at all.
pub(crate) fn apply(template: &Template, fixes: &TemplateFixes) -> Result<(), Problem> {
    let by_hand = "nothing was written: the patch is shown, to be applied by hand";
    let text = read_text(&template.path)?;
    // The search may take seconds, and an editor may have saved the file meanwhile.
    if text != *template.source {
        let message = "the file has changed since it was read";
        return Err(Problem::new(&template.path, message).help("run the command again"));
    }
    write_whole(&template.path, fixes.fixes.source.as_bytes()).map_err(|mut problem| {
        let help = if template.path.is_symlink() {
            "name the file that the link leads to"
        } else if problem.message.contains("read-only") {
            "make it writable, and run the command again"
        } else {
            by_hand
        };
        problem.help = Some(help.to_owned());
        problem
    })
}

/// What becomes of the fixes of a template where nothing is written.
pub(crate) fn fate_of_shown(template: &Template, is_dry: bool) -> Fate {
    match by_hand(template) {
        Some(by_hand) => Fate::ByHand(by_hand),
        None if is_dry => Fate::Shown,
        None => Fate::Offered,
    }
}
