//! Pages, made of templates and data. All data becomes text, never markup.

use rolecall_core::Cut;
use std::fmt::Write as _;
use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};

use crate::report::html::{STYLE, THEME};
use crate::report::numbers::{counted, thousands};

/// The templates of the pages, and the parts that they share.
const TEMPLATES: [(&str, &str); 8] = [
    ("page.html", include_str!("pages/page.html")),
    ("parts.html", include_str!("pages/parts.html")),
    ("overview.html", include_str!("pages/overview.html")),
    ("engine.html", include_str!("pages/engine.html")),
    ("template.html", include_str!("pages/template.html")),
    ("construct.html", include_str!("pages/construct.html")),
    ("roundtrip.html", include_str!("pages/roundtrip.html")),
    ("servers.html", include_str!("pages/servers.html")),
];

/// The styles that only the site needs.
const SITE_STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

pub(crate) struct Pages(Environment<'static>);

impl Pages {
    /// The renderer, with all templates loaded.
    ///
    /// `has_roundtrip`: whether there is a page of what comes back of answers; `has_servers`: of servers.
    pub(crate) fn new(has_roundtrip: bool, has_servers: bool) -> io::Result<Pages> {
        let mut pages = Environment::new();
        pages.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        let mut syntax = SyntaxConfig::builder();
        let syntax = syntax.trim_blocks(true).lstrip_blocks(true).build();
        pages.set_syntax(syntax.map_err(io::Error::other)?);
        pages.set_formatter(|out, _, value| {
            let text = value.to_string();
            let text = if value.is_safe() {
                text
            } else {
                escaped(&text)
            };
            Ok(out.write_str(&text)?)
        });
        pages.add_filter("thousands", thousands);
        pages.add_filter("counted", |count: usize, one: &str, many: &str| {
            counted(count, one, many)
        });
        pages.add_filter("transcript", |text: &str| {
            Value::from_safe_string(transcript(text))
        });
        pages.add_global(
            "style",
            Value::from_safe_string(format!("{STYLE}{SITE_STYLE}")),
        );
        pages.add_global(
            "script",
            Value::from_safe_string(format!("{THEME}{SCRIPT}")),
        );
        pages.add_global("has_roundtrip", has_roundtrip);
        pages.add_global("has_servers", has_servers);
        for (name, source) in TEMPLATES {
            pages.add_template(name, source).map_err(io::Error::other)?;
        }
        Ok(Pages(pages))
    }

    /// A page, made of a template and its data.
    pub(crate) fn page(&self, template: &str, data: Value) -> io::Result<String> {
        let page = self
            .0
            .get_template(template)
            .and_then(|template| template.render(data));
        page.map_err(io::Error::other)
    }
}

/// Text as HTML, within elements and attributes.
fn escaped(text: &str) -> String {
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

/// A transcript's text as HTML: the signs for invisible characters get a class.
fn transcript(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.cut(c.len_utf8()..);
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

/// The sign for a control picture. Not every font has the pictures, so the page shows other signs.
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
}
