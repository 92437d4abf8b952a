//! `urlize`, which makes links of the addresses in a text (Jinja2 3.1.6, `filters.py` and
//! `utils.py`).

use std::collections::BTreeSet;

use minijinja::Error;
use minijinja::value::{Kwargs, Rest, Value};

use crate::library::vocabulary::Registry;
use crate::meter::{ITEM, LETTER, SLOT, produce, work};
use crate::python::arguments::{Arguments, wrong_type};
use crate::python::characters::{is_space, is_word};
use crate::python::iteration::each;
use crate::python::markup::{escaped, escapes};
use crate::python::numbers::{Number, clamped, number};
use crate::python::text;
use crate::refusal::invalid;

/// Adds the filter to a registry.
pub(super) fn add(registry: &mut Registry) {
    registry.filter("urlize", urlize);
}

/// `urlize(value, trim_url_limit=None, nofollow=False, target=None, rel=None,
/// extra_schemes=None)`
fn urlize(value: Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let names = [
        "trim_url_limit",
        "nofollow",
        "target",
        "rel",
        "extra_schemes",
    ];
    let args = Arguments::of(names, &args, &kwargs)?;
    let links = Links::of(&args)?;
    let text = text::str(&value);
    let text = if value.is_safe() {
        text.into_owned()
    } else {
        escaped(&text)?
    };
    work(text.len().saturating_mul(8 * LETTER))?;
    let mut out = String::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let word = rest.find(is_space).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word);
        let space = after.find(|c| !is_space(c)).unwrap_or(after.len());
        let (space, after) = after.split_at(space);
        rest = after;
        links.word(word, &mut out)?;
        produce(space.len())?;
        out.push_str(space);
    }
    Ok(if escapes() {
        Value::from_safe_string(out)
    } else {
        Value::from(out)
    })
}

/// How links are written.
struct Links {
    /// How many characters of an address are shown.
    limit: Option<Value>,
    /// The attributes of a link, but for its address.
    attributes: String,
    /// Further schemes of addresses, besides the ones that are always known.
    schemes: Vec<String>,
}

impl Links {
    fn of<const N: usize>(args: &Arguments<N>) -> Result<Links, Error> {
        let limit = args.some(0).cloned();
        let rel = match args.get(3) {
            Some(rel) if rel.is_true() => args.text(3, "")?,
            _ => "",
        };
        work(rel.len().saturating_mul(ITEM))?;
        produce(rel.len().saturating_mul(SLOT))?;
        let mut relations: BTreeSet<&str> = rel
            .split(is_space)
            .filter(|word| !word.is_empty())
            .collect();
        if args.truth(1, false) {
            relations.insert("nofollow");
        }
        relations.insert("noopener");
        let relations: Vec<&str> = relations.into_iter().collect();
        let mut attributes = format!(" rel=\"{}\"", escaped(&relations.join(" "))?);
        if let Some(target) = args.some(2)
            && target.is_true()
        {
            attributes.push_str(" target=\"");
            attributes.push_str(&escaped(&text::str(target))?);
            attributes.push('"');
        }
        let mut schemes = Vec::new();
        if let Some(extra) = args.some(4) {
            for scheme in each(extra)? {
                let scheme = scheme.as_str().ok_or_else(|| args.wrong_type(4))?;
                work(scheme.len().saturating_mul(LETTER))?;
                if !is_scheme(scheme) {
                    let name = text::repr(&Value::from(scheme));
                    return Err(invalid(format!("{name} is not a valid URI scheme prefix.")));
                }
                produce(SLOT + scheme.len())?;
                schemes.push(scheme.to_owned());
            }
        }
        Ok(Links {
            limit,
            attributes,
            schemes,
        })
    }

    /// Appends a word: as a link if it is an address, without the marks around it.
    fn word(&self, word: &str, out: &mut String) -> Result<(), Error> {
        work(ITEM)?;
        let (head, middle) = word.split_at(head_len(word));
        let middle_len = middle.len() - tail_len(middle);
        let middle_len = balanced(middle, middle_len);
        let (middle, tail) = middle.split_at(middle_len);
        produce(word.len())?;
        out.push_str(head);
        if is_web_address(middle) {
            let has_scheme = middle.starts_with("https://") || middle.starts_with("http://");
            let scheme = if has_scheme { "" } else { "https://" };
            let shown = self.shown(middle)?;
            self.link(&format!("{scheme}{middle}"), &shown, true, out)?;
        } else if let Some(address) = middle.strip_prefix("mailto:")
            && is_mail_address(address)
        {
            self.link(middle, address, false, out)?;
        } else if !middle.starts_with("www.")
            && !middle.starts_with('@')
            && !middle.contains(':')
            && is_mail_address(middle)
        {
            self.link(&format!("mailto:{middle}"), middle, false, out)?;
        } else {
            work(ITEM.saturating_mul(self.schemes.len()))?;
            let is_known =
                |scheme: &String| middle != scheme.as_str() && middle.starts_with(scheme.as_str());
            if self.schemes.iter().any(is_known) {
                self.link(middle, middle, true, out)?;
            } else {
                out.push_str(middle);
            }
        }
        out.push_str(tail);
        Ok(())
    }

    fn link(
        &self,
        address: &str,
        shown: &str,
        with_attributes: bool,
        out: &mut String,
    ) -> Result<(), Error> {
        let attributes = if with_attributes {
            self.attributes.as_str()
        } else {
            ""
        };
        produce(address.len() + attributes.len() + shown.len() + 32)?;
        let link = format!("<a href=\"{address}\"{attributes}>{shown}</a>");
        out.push_str(&link);
        Ok(())
    }

    /// The shown form of an address. A negative limit counts from its end.
    fn shown(&self, address: &str) -> Result<String, Error> {
        let Some(limit) = &self.limit else {
            return Ok(address.to_owned());
        };
        let Some(Number::Int(limit)) = number(limit) else {
            return Err(wrong_type("trim_url_limit"));
        };
        let limit = clamped(limit);
        let len = address.chars().count();
        let kept = usize::try_from(limit).unwrap_or_else(|_| {
            len.saturating_sub(usize::try_from(limit.unsigned_abs()).unwrap_or(len))
        });
        if i64::try_from(len).is_ok_and(|len| len <= limit) {
            return Ok(address.to_owned());
        }
        let mut shown: String = address.chars().take(kept).collect();
        shown.push_str("...");
        Ok(shown)
    }
}

/// The length of the opening marks at the beginning of a word.
fn head_len(word: &str) -> usize {
    let mut rest = word;
    while let Some(after) = ["(", "<", "&lt;"]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))
    {
        rest = after;
    }
    word.len() - rest.len()
}

/// The length of the closing marks at the end of a word.
fn tail_len(word: &str) -> usize {
    let mut rest = word;
    while let Some(before) = [")", ">", ".", ",", "&gt;"]
        .iter()
        .find_map(|mark| rest.strip_suffix(mark))
    {
        rest = before;
    }
    word.len() - rest.len()
}

/// The length of an address with those closing marks after it that close something in it.
fn balanced(word: &str, len: usize) -> usize {
    let mut len = len;
    for (open, close) in [("(", ")"), ("<", ">"), ("&lt;", "&gt;")] {
        let (middle, tail) = word.split_at(len);
        let opened = middle.matches(open).count();
        if opened <= middle.matches(close).count() {
            continue;
        }
        if let Some((at, _)) = tail.match_indices(close).take(opened).last() {
            len += at + close.len();
        }
    }
    len
}

/// `[\w.+-]{2,}:/{0,2}`
fn is_scheme(scheme: &str) -> bool {
    let Some((name, slashes)) = scheme.split_once(':') else {
        return false;
    };
    name.chars().count() >= 2
        && name.chars().all(|c| is_word(c) || ".+-".contains(c))
        && ["", "/", "//"].contains(&slashes)
}

/// Whether a word is the address of a web page (`_http_re`): after a scheme or `www.` any
/// name, after a scheme a number, and without them a name that ends as many do.
fn is_web_address(word: &str) -> bool {
    const ENDS: [&str; 8] = ["com", "net", "int", "edu", "gov", "org", "info", "mil"];
    let lower = |len: usize| word.get(..len).map(str::to_ascii_lowercase);
    let after = |mark: &str| (lower(mark.len())? == mark).then(|| &word[mark.len()..]);
    let by_scheme = after("https://").or_else(|| after("http://"));
    if let Some(address) = by_scheme.or_else(|| after("www.")) {
        let (host, rest) = host(address);
        let (before, end) = host
            .rsplit_once('.')
            .map_or((None, host), |(b, e)| (Some(b), e));
        let is_name = before.is_none_or(|before| before.split('.').all(|part| !part.is_empty()))
            && is_top_level(end);
        if is_name && is_rest(rest) {
            return true;
        }
    }
    if let Some(address) = by_scheme {
        let is_number = if let Some(address) = address.strip_prefix('[') {
            address
                .split_once(']')
                .is_some_and(|(number, rest)| is_ipv6(number) && is_rest(rest))
        } else {
            let (host, rest) = host(address);
            is_ipv4(host) && is_rest(rest)
        };
        if is_number {
            return true;
        }
    }
    let (host, rest) = host(word);
    let is_part = |part: &str| (2..=63).contains(&part.chars().count());
    host.rsplit_once('.').is_some_and(|(before, end)| {
        ENDS.contains(&end.to_ascii_lowercase().as_str()) && before.split('.').all(is_part)
    }) && is_rest(rest)
}

/// The host at the beginning of an address, and what follows it.
fn host(address: &str) -> (&str, &str) {
    let end = address.find(|c| !is_word(c) && !"%-.".contains(c));
    address.split_at(end.unwrap_or(address.len()))
}

/// Whether a name may end with a part: with letters, or with a name in Punycode.
fn is_top_level(part: &str) -> bool {
    if (2..=63).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return true;
    }
    let mark = part.get(..4).map(str::to_ascii_lowercase);
    mark.as_deref() == Some("xn--")
        && (2..=59).contains(&part[4..].chars().count())
        && part[4..].chars().all(|c| is_word(c) || c == '%')
}

/// Whether a port, a path, a query or nothing follows a host.
fn is_rest(rest: &str) -> bool {
    let rest = match rest.strip_prefix(':') {
        None => rest,
        Some(after) => {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            if !(1..=5).contains(&digits) {
                return false;
            }
            &after[digits..]
        }
    };
    rest.is_empty() || rest.starts_with(['/', '?', '#'])
}

fn is_ipv4(host: &str) -> bool {
    let is_part =
        |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    host.split('.').count() == 4 && host.split('.').all(is_part)
}

/// `([\da-f]{0,4}:){2}([\da-f]{0,4}:?){1,6}`
fn is_ipv6(number: &str) -> bool {
    let digits = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_hexdigit);
        digits.take(4).count()
    };
    let mut rest = number;
    for _ in 0..2 {
        let Some(after) = rest[digits(rest)..].strip_prefix(':') else {
            return false;
        };
        rest = after;
    }
    for _ in 0..6 {
        let after = &rest[digits(rest)..];
        rest = after.strip_prefix(':').unwrap_or(after);
    }
    rest.is_empty()
}

/// `\S+@\w[\w.-]*\.\w+`
fn is_mail_address(word: &str) -> bool {
    let Some((name, host)) = word.rsplit_once('@') else {
        return false;
    };
    let Some((before, end)) = host.rsplit_once('.') else {
        return false;
    };
    !name.is_empty()
        && !end.is_empty()
        && end.chars().all(is_word)
        && before.starts_with(is_word)
        && before.chars().all(|c| is_word(c) || ".-".contains(c))
}
