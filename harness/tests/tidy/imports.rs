//! The imports of a file from its own crate, in `use` lines and by paths in its code.

pub(crate) struct Import {
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// The path from the crate's root to a module or something in one.
    pub(crate) path: Vec<String>,
}

/// A text without comments, without quoted texts, and without the contents of `#[cfg(test)]`, which
/// is at the end of every file. Lines keep their numbers.
pub(crate) fn stripped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("#[cfg(test)]") {
            // A test in a file of its own is one line, any other the rest of the file.
            let line = rest.lines().nth(1).unwrap_or_default();
            if line.trim_end().ends_with(';') {
                rest.find(line).map_or(rest.len(), |at| at + line.len())
            } else {
                rest.len()
            }
        } else if let Some(length) = quoted(rest) {
            length
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        out.extend(rest[..length].chars().filter(|c| *c == '\n'));
        rest = &rest[length..];
    }
    out
}

/// The length of the string, raw string or character literal at the beginning of a text, if there
/// is one.
/// raw string or a character.
fn quoted(text: &str) -> Option<usize> {
    if let Some(raw) = text.strip_prefix('r')
        && let hashes = raw.len() - raw.trim_start_matches('#').len()
        && raw[hashes..].starts_with('"')
    {
        let end = format!("\"{}", "#".repeat(hashes));
        let inside = &raw[hashes + 1..];
        let length = inside.find(&end).unwrap_or(inside.len());
        return Some((2 + hashes + length + end.len()).min(text.len()));
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == '\\' && !escaped {
            escaped = true;
            continue;
        }
        if c == quote && !escaped {
            return Some(at + 1);
        }
        // Otherwise it is a lifetime.
        if quote == '\'' && !escaped && at > 1 {
            return None;
        }
        escaped = quote == '\'' && escaped && at < 12;
    }
    None
}

/// The imports of a stripped text in the module of a path, which has children.
pub(crate) fn imports(text: &str, module: &[String], children: &[String]) -> Vec<Import> {
    let mut found = Vec::new();
    for (at, word) in words(text) {
        let before = text[..at].trim_end();
        // In the middle of a path or of a list in a `use`, which is read from its beginning. Or it
        // is a visibility.
        if before.ends_with("::") || before.ends_with("pub(in") {
            continue;
        }
        let is_path = text[at + word.len()..].starts_with("::");
        let base: Vec<String> = match word {
            "crate" if is_path => Vec::new(),
            "self" if is_path => module.to_vec(),
            "super" if is_path => parent(module),
            // A child may be named without `self`.
            child if is_path && children.iter().any(|name| name == child) => {
                [module, &[child.to_owned()]].concat()
            }
            _ => continue,
        };
        let line = text[..at].matches('\n').count() + 1;
        let tree = &text[at + word.len() + 2..];
        follow(tree, &base, &mut |path| found.push(Import { line, path }));
    }
    found
}

fn parent(module: &[String]) -> Vec<String> {
    module[..module.len().saturating_sub(1)].to_vec()
}

/// The words of a text, with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !is_of_word(c))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr().addr() - text.as_ptr().addr(), word))
}

/// Follows a path or a list of paths in braces after `base::`. Returns the rest of the text.
fn follow<'t>(text: &'t str, base: &[String], take: &mut impl FnMut(Vec<String>)) -> &'t str {
    let text = text.trim_start();
    if let Some(mut list) = text.strip_prefix('{') {
        loop {
            list = list.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            if list.is_empty() {
                return list;
            }
            if let Some(rest) = list.strip_prefix('}') {
                return rest;
            }
            let before = list.len();
            list = follow(list, base, take);
            // The new name after `as`.
            list = list.trim_start_matches(|c: char| !matches!(c, ',' | '}'));
            if list.len() == before {
                return list;
            }
        }
    }
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let path = match word {
        "" | "self" => base.to_vec(),
        "super" => parent(base),
        word => [base, &[word.to_owned()]].concat(),
    };
    match rest.strip_prefix("::") {
        // The type of a generic call is no module.
        Some(more) if !more.starts_with('<') => follow(more, &path, take),
        _ => {
            take(path);
            rest
        }
    }
}
