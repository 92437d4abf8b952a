//! Notes about a template.

use rolecall_core::Template;

use rolecall_core::problem::Note;

/// A note if a template begins with a byte order mark. transformers and Ollama both treat it as
/// text.
pub(super) fn byte_order_mark(template: &Template) -> Option<Note> {
    template.source.starts_with('\u{FEFF}').then(|| {
        Note::new(
            &template.path,
            "begins with a byte order mark, which is part of every prompt",
        )
    })
}

/// The special tokens that a template names and nothing sets.
pub fn unset_tokens(template: &Template) -> Vec<&'static str> {
    const NAMES: [&str; 7] = [
        "bos_token",
        "eos_token",
        "unk_token",
        "sep_token",
        "pad_token",
        "cls_token",
        "mask_token",
    ];
    NAMES
        .into_iter()
        .filter(|name| template.source.contains(name))
        .filter(|name| !template.special_tokens.contains_key(*name))
        .collect()
}

/// The end of a note on special tokens that nothing sets.
const UNSET: &str = ", but nothing here sets a value";

/// Brings notes on special tokens up to date, where somebody has set the tokens since the templates
/// were read.
pub fn renew_notes(notes: &mut Vec<Note>, templates: &[Template]) {
    let notes_before = std::mem::take(notes);
    notes.extend(notes_before.into_iter().filter_map(|note| {
        let mut templates = templates.iter();
        let is_it = |template: &&Template| template.path == note.path;
        let template = templates
            .find(is_it)
            .filter(|_| note.message.ends_with(UNSET));
        template.map_or(Some(note.clone()), missing_tokens)
    }));
}

/// A note on the special tokens that the template names and nothing sets.
pub(super) fn missing_tokens(template: &Template) -> Option<Note> {
    let missing = unset_tokens(template).into_iter();
    let missing: Vec<_> = missing.map(|name| format!("`{name}`")).collect();
    (!missing.is_empty()).then(|| {
        let message = format!("the template names {}{UNSET}", missing.join(" and "));
        Note::new(&template.path, message)
    })
}

/// Whether two Jinja sources are one template: line endings are normalised before it is
/// compiled, and one line break at the end is dropped (Jinja2 3.1.6).
pub(super) fn is_same_template(a: &str, b: &str) -> bool {
    let normalised = |text: &str| {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        text.strip_suffix('\n').map(str::to_owned).unwrap_or(text)
    };
    normalised(a) == normalised(b)
}
