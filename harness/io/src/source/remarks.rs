//! Notes about a template.

use rolecall_core::Template;

use crate::settings::unset_tokens;
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

/// What a note on special tokens that nothing sets has in it.
const UNSET: &str = ", but nothing here sets a value";

/// Brings notes on special tokens up to date, where somebody has set tokens since the templates were
/// read, or has said that nobody sets more.
pub fn renew_notes(notes: &mut Vec<Note>, templates: &[Template]) {
    let is_of = |note: &Note, template: &Template| {
        note.path == template.path && note.message.contains(UNSET)
    };
    let open = templates.iter().filter(|template| {
        template.has_all_tokens || notes.iter().any(|note| is_of(note, template))
    });
    let mut open: Vec<Note> = open.filter_map(missing_tokens).collect();
    open.dedup();
    notes.retain(|note| !templates.iter().any(|template| is_of(note, template)));
    notes.append(&mut open);
}

/// A note on the special tokens that the template names and nothing sets.
pub(super) fn missing_tokens(template: &Template) -> Option<Note> {
    let missing = unset_tokens(template).into_iter();
    let missing: Vec<_> = missing.map(|name| format!("`{name}`")).collect();
    (!missing.is_empty()).then(|| {
        let how = if template.has_all_tokens {
            ": `special_tokens` in rolecall.toml does, with \"\" if the model has none"
        } else {
            ""
        };
        let message = format!("the template names {}{UNSET}{how}", missing.join(" and "));
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
