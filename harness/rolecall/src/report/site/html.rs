//! HTML, as text.

use std::fmt::Write as _;

use crate::report::html::STYLE;

/// What the site has beside the style of the other pages.
const SITE_STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Text as HTML, within elements and attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A transcript's text as HTML: the signs for what cannot be seen are set apart.
pub(super) fn transcript(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        if c == '⟦'
            && let Some((code, more)) = after.split_once('⟧')
        {
            // Writing to a string cannot fail.
            let _ = write!(out, "<span class=\"hidden\">{}</span>", escaped(code));
            rest = more;
            continue;
        }
        if ('\u{2400}'..='\u{2421}').contains(&c) {
            let sign = sign(c);
            let _ = write!(out, "<span class=\"mark\" data-sign=\"{sign}\">{c}</span>");
        } else {
            out.push_str(&escaped(c.encode_utf8(&mut [0; 4])));
        }
        rest = after;
    }
    out
}

/// Not every font has the control pictures: they are shown by signs that all have.
fn sign(picture: char) -> String {
    match picture {
        '␊' => "↵".to_owned(),
        '␃' => "■".to_owned(),
        '␉' => "⇥".to_owned(),
        '␍' => "←".to_owned(),
        '␡' => "DEL".to_owned(),
        other => {
            let letter = char::from_u32(u32::from(other) - 0x2400 + 64);
            format!("^{}", escaped(&letter.unwrap_or('?').to_string()))
        }
    }
}

/// A link, with its text.
pub(super) fn link(to: &str, text: &str) -> String {
    format!("<a href=\"{}\">{}</a>", escaped(to), escaped(text))
}

/// A page: where it stands below the root of the site, what it is called, and what is in it.
pub(super) struct Page<'p> {
    /// The way to the root: empty, or `../`.
    pub(super) root: &'p str,
    /// The title.
    pub(super) title: &'p str,
    /// The content.
    pub(super) main: String,
    /// The index of the search, where it is searched.
    pub(super) index: Option<String>,
}

impl Page<'_> {
    /// The whole file.
    pub(super) fn text(&self) -> String {
        let Page { root, title, .. } = self;
        let index = self.index.as_ref().map_or_else(String::new, |index| {
            // It ends no script element.
            let index = index.replace('<', "\\u003c");
            format!("<script id=\"index\" type=\"application/json\">{index}</script>\n")
        });
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n\
             <header>\n  <a class=\"brand\" href=\"{root}index.html\">Rolecall matrix</a>\n  \
             <nav aria-label=\"Parts\"><a href=\"{root}index.html#engines\">engines</a> \
             <a href=\"{root}index.html#templates\">templates</a> \
             <a href=\"{root}index.html#families\">families</a> \
             <a href=\"{root}index.html#constructs\">constructs</a></nav>\n  \
             <form class=\"tools\" role=\"search\" action=\"{root}index.html\">\
             <input id=\"search\" name=\"q\" type=\"search\" placeholder=\"search ( / )\" \
             aria-label=\"Search engines, templates, constructs and differences\" \
             autocomplete=\"off\" spellcheck=\"false\">\
             <button id=\"theme\" type=\"button\" hidden aria-label=\"Switch between light and \
             dark\">◐</button></form>\n</header>\n<main>\n{main}</main>\n{index}\
             <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            title = escaped(title),
            style = style(),
            main = self.main,
        )
    }
}

/// The style of the other pages, dark without a script, too, and what is of this site alone.
fn style() -> String {
    let start = ":root[data-theme=\"dark\"] {";
    let dark = STYLE
        .split_once(start)
        .and_then(|(_, rest)| rest.split_once('}'));
    let dark = dark.map_or("", |(dark, _)| dark);
    format!(
        "{STYLE}@media (prefers-color-scheme: dark) {{ :root:not([data-theme]) {{{dark}}} \
         }}\n{SITE_STYLE}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_said_becomes_markup() {
        assert_eq!(escaped("<a b='\"&'>"), "&lt;a b=&#39;&quot;&amp;&#39;&gt;");
        assert_eq!(
            transcript("⟦<b>⟧<␊"),
            "<span class=\"hidden\">&lt;b&gt;</span>&lt;<span class=\"mark\" data-sign=\"↵\">␊</span>"
        );
    }

    #[test]
    fn it_is_dark_without_a_script() {
        let style = style();
        let (_, dark) = style.split_once(":root:not([data-theme])").unwrap();
        assert!(dark.trim_start().starts_with('{') && dark.contains("--paper: #161617"));
    }
}
