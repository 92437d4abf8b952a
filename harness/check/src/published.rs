//! Published templates: facts about their prompts, so that a template can be compared with them without a
//! network.
//!
//! The facts are hashes of the *parts* of prompts: a part is the text between two words of a probe, such
//! as the one between a question and its answer. They say which parts two templates share, and give back
//! no text. The index of Rolecall is the file `published.index`; `check --write-index` writes such a file.
//!
//! An index is a text. Its first line has the version of the format, the mark of the probes and the number
//! of templates. Each further line is about one template: its name, how many other templates have the same
//! parts, its dialect, and the parts in base64, some fifteen bits for each.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rolecall_core::Dialect;
use rolecall_core::file::read_text;
use rolecall_core::problem::Problem;

/// The version of the format. A part is another number if the way to hash it changes.
const VERSION: u32 = 2;

/// How the first line begins.
const HEAD: &str = "rolecall-index";

/// What the error about an index that cannot be read says to do.
const HELP: &str = "write it again: rolecall check MODELS --write-index FILE";

/// How many bits a part has for its text.
const TEXT_BITS: u32 = 12;

/// Of the differences of a template's parts, so many bits are written as they are.
const PLAIN_BITS: u32 = 13;

/// A part of a prompt as a number of 20 bits: four for each kind of text around it, and twelve for its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part(u32);

/// The parts of all prompts of a template, in order, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parts(Vec<Part>);

/// What is known of a published template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its name. On the hub it is `ORG/NAME`; other names have a space.
    pub name: String,
    /// How many other published templates have the same parts.
    pub others: usize,
    pub dialect: Dialect,
    /// The parts of its prompts.
    pub parts: Parts,
}

/// Facts about published templates.
#[derive(Debug, PartialEq, Eq)]
pub struct Index {
    mark: u32,
    templates: Vec<Published>,
}

/// Why the text of an index cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Unreadable {
    #[error("this is no index of published templates")]
    Other,
    #[error("the index is of another version of Rolecall")]
    Version,
    #[error("the index is damaged: line {0}")]
    Line(usize),
    #[error("the index is damaged: it has {found} templates, and its first line says {said}")]
    Count { found: usize, said: usize },
}

/// A hash that is the same on every machine and in every version: FNV-1a.
pub(crate) fn hash(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}

impl Part {
    /// The part between texts of two kinds, which are numbers of four bits.
    pub(crate) fn between([before, after]: [u32; 2], text: &str) -> Part {
        let hash = hash(text);
        let folded = hash ^ hash >> TEXT_BITS ^ hash >> (2 * TEXT_BITS);
        let text = folded & ((1 << TEXT_BITS) - 1);
        Part((before << 4 | after) << TEXT_BITS | text)
    }

    /// The kinds of the texts before and after it.
    pub(crate) fn sides(self) -> [u32; 2] {
        [self.0 >> (TEXT_BITS + 4), self.0 >> TEXT_BITS & 15]
    }
}

impl FromIterator<Part> for Parts {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Parts {
        let mut all: Vec<Part> = parts.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        Parts(all)
    }
}

impl Parts {
    /// Each part once.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Part> {
        self.0.iter().copied()
    }

    /// Whether a part is among them.
    pub(crate) fn has(&self, part: Part) -> bool {
        self.0.binary_search(&part).is_ok()
    }

    /// How many parts both have.
    pub(crate) fn shared(&self, other: &Parts) -> usize {
        self.iter().filter(|part| other.has(*part)).count()
    }

    /// The share of the parts of either that both have, in thousandths.
    pub(crate) fn likeness(&self, other: &Parts) -> usize {
        let shared = self.shared(other);
        let all = self.0.len() + other.0.len() - shared;
        (1000 * shared).checked_div(all).unwrap_or_default()
    }
}

impl Parts {
    /// The differences of the parts as bits (a Rice code): as many ones as its upper bits say, a zero, and its
    /// lower bits. Ones fill the last byte.
    fn packed(&self) -> Vec<u8> {
        let mut bits = Vec::new();
        let mut last = 0;
        for Part(part) in self.iter() {
            let step = part - last;
            bits.extend((0..step >> PLAIN_BITS).map(|_| true));
            bits.push(false);
            bits.extend((0..PLAIN_BITS).rev().map(|bit| step >> bit & 1 == 1));
            last = part;
        }
        let byte = |bits: &[bool]| {
            (0..8).fold(0, |byte, at| {
                byte << 1 | u8::from(*bits.get(at).unwrap_or(&true))
            })
        };
        bits.chunks(8).map(byte).collect()
    }

    /// Reads the parts from the bits that `packed` has made of them. None if a part is cut off.
    fn unpacked(bytes: &[u8]) -> Option<Parts> {
        let mut bits = bytes
            .iter()
            .flat_map(|byte| (0..8).rev().map(move |bit| u32::from(byte >> bit & 1)));
        let (mut parts, mut last, mut upper) = (Vec::new(), 0_u32, 0);
        while let Some(bit) = bits.next() {
            if bit == 1 {
                upper += 1;
                continue;
            }
            let mut step = upper;
            for _ in 0..PLAIN_BITS {
                step = step << 1 | bits.next()?;
            }
            (last, upper) = (last.checked_add(step)?, 0);
            parts.push(Part(last));
        }
        // The ones that fill the last byte are at most seven. More are a part that was cut off.
        (upper < 8).then_some(Parts(parts))
    }
}

impl Index {
    /// The index that comes with Rolecall. `mark` is that of the probes: an index of other probes is
    /// empty to them.
    pub(crate) fn builtin(mark: u32) -> &'static Index {
        static BUILTIN: OnceLock<Index> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let read = Index::parse(include_str!("published.index"), mark);
            read.unwrap_or(Index {
                mark,
                templates: Vec::new(),
            })
        })
    }

    /// Reads the file of an index.
    pub(crate) fn read(path: &Path, mark: u32) -> Result<Index, Problem> {
        let text = read_text(path)?;
        Index::parse(&text, mark).map_err(|why| Problem::new(path, why.to_string()).help(HELP))
    }

    /// Whether a file is an index, by its first word.
    pub fn is_one(path: &Path) -> bool {
        read_text(path).is_ok_and(|text| text.starts_with(HEAD))
    }

    /// The index of these templates. Those with the same parts are one, with the first name.
    pub(crate) fn of(mark: u32, templates: impl Iterator<Item = Published>) -> Index {
        let mut all: Vec<Published> = Vec::new();
        let mut places: HashMap<(Dialect, Vec<Part>), usize> = HashMap::new();
        for one in templates.filter(|one| !one.parts.0.is_empty()) {
            let place = *places
                .entry((one.dialect, one.parts.0.clone()))
                .or_insert(all.len());
            match all.get_mut(place) {
                Some(known) => known.others += 1,
                None => all.push(one),
            }
        }
        Index {
            mark,
            templates: all,
        }
    }

    fn parse(text: &str, mark: u32) -> Result<Index, Unreadable> {
        let mut lines = text.lines();
        let first = lines.next().and_then(|line| line.strip_prefix(HEAD));
        let mut words = first.ok_or(Unreadable::Other)?.split_whitespace();
        if words.next() != Some(&VERSION.to_string())
            || words.next() != Some(&format!("{mark:08x}"))
        {
            return Err(Unreadable::Version);
        }
        let said = words.next().and_then(|word| word.parse().ok());
        let said = said.ok_or(Unreadable::Line(1))?;
        let read = lines.enumerate().map(|(at, line)| {
            let template = Published::parse(line);
            template.ok_or(Unreadable::Line(at + 2))
        });
        let templates: Vec<Published> = read.collect::<Result<_, _>>()?;
        match templates.len() {
            found if found == said => Ok(Index { mark, templates }),
            found => Err(Unreadable::Count { found, said }),
        }
    }

    /// How many templates it has.
    pub fn count(&self) -> usize {
        self.templates.len()
    }

    /// The template with this name.
    pub(crate) fn named(&self, name: &str, dialect: Dialect) -> Option<&Published> {
        let mut all = self.templates.iter();
        all.find(|one| one.dialect == dialect && one.name.eq_ignore_ascii_case(name))
    }

    /// The templates of a dialect whose likeness is at least `least` thousandths, the nearest first.
    pub(crate) fn near(
        &self,
        parts: &Parts,
        dialect: Dialect,
        least: usize,
    ) -> Vec<(usize, &Published)> {
        let all = self.templates.iter().filter(|one| one.dialect == dialect);
        let all = all.map(|one| (parts.likeness(&one.parts), one));
        let mut near: Vec<_> = all.filter(|(likeness, _)| *likeness >= least).collect();
        near.sort_by(|(one, first), (other, second)| match other.cmp(one) {
            Ordering::Equal => first.name.cmp(&second.name),
            order => order,
        });
        near
    }
}

impl Published {
    fn parse(line: &str) -> Option<Published> {
        let mut fields = line.split('\t');
        let (name, others) = (fields.next()?, fields.next()?.parse().ok()?);
        let named = fields.next()?;
        let dialect = Dialect::ALL.into_iter().find(|one| one.name() == named)?;
        let bytes = STANDARD.decode(fields.next()?).ok()?;
        let parts = Parts::unpacked(&bytes)?;
        let is_whole = !parts.0.is_empty() && fields.next().is_none();
        (is_whole && !name.is_empty()).then(|| Published {
            name: name.to_owned(),
            others,
            dialect,
            parts,
        })
    }

    /// Its name on the hub, if it has one there.
    pub fn hub_name(&self) -> Option<&str> {
        hub_name(&self.name)
    }
}

/// A name of a published template, if it is one on the hub.
pub fn hub_name(name: &str) -> Option<&str> {
    (name.contains('/') && !name.contains(' ')).then_some(name)
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD} {VERSION} {:08x} {}", self.mark, self.count())?;
        for one in &self.templates {
            let [name, dialect] = [&one.name, one.dialect.name()];
            let parts = STANDARD.encode(one.parts.packed());
            let mut plain = String::new();
            // A name may have any character.
            for c in name.chars() {
                plain.write_char(if c.is_control() { ' ' } else { c })?;
            }
            writeln!(f, "{plain}\t{}\t{dialect}\t{parts}", one.others)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(name: &str, texts: &[&str]) -> Published {
        Published {
            name: name.to_owned(),
            others: 0,
            dialect: Dialect::Jinja,
            parts: texts
                .iter()
                .map(|text| Part::between([0, 0], text))
                .collect(),
        }
    }

    #[test]
    fn an_index_is_written_and_read() {
        let same = [("org/a", "x"), ("org/b", "x"), ("Mistral é", "y")];
        let all = same.map(|(name, text)| published(name, &[text, "z"]));
        let index = Index::of(7, all.into_iter().chain([published("nothing", &[])]));
        assert_eq!(index.count(), 2);
        assert_eq!(index.templates[0].others, 1);
        assert_eq!(Index::parse(&index.to_string(), 7), Ok(index));
    }

    #[test]
    fn what_is_wrong_with_an_index_is_said() {
        let text = Index::of(7, [published("a", &["x"])].into_iter()).to_string();
        let wrong = |text: &str| Index::parse(text, 7).unwrap_err();
        assert_eq!(wrong(""), Unreadable::Other);
        assert_eq!(wrong("{}"), Unreadable::Other);
        assert_eq!(wrong(&text.replacen(" 2 ", " 3 ", 1)), Unreadable::Version);
        assert_eq!(Index::parse(&text, 8), Err(Unreadable::Version));
        assert_eq!(wrong("rolecall-index 2 00000007"), Unreadable::Line(1));
        assert_eq!(wrong(&text[..text.len() - 2]), Unreadable::Line(2));
        assert_eq!(wrong(&text.replace("jinja", "ninja")), Unreadable::Line(2));
        let short = text.lines().next().unwrap();
        assert_eq!(wrong(short), Unreadable::Count { found: 0, said: 1 });
    }

    #[test]
    fn the_nearest_comes_first() {
        let all = [
            published("far", &["a", "x", "y", "z"]),
            published("near", &["a", "b", "c", "x"]),
            published("twin", &["a", "b", "c", "d"]),
        ];
        let index = Index::of(7, all.into_iter());
        let own = published("own", &["a", "b", "c", "d"]).parts;
        let near = index.near(&own, Dialect::Jinja, 500);
        let near: Vec<_> = near
            .iter()
            .map(|(how, one)| (*how, one.name.as_str()))
            .collect();
        assert_eq!(near, [(1000, "twin"), (600, "near")]);
        assert!(index.near(&own, Dialect::Go, 0).is_empty());
        assert!(index.near(&Parts::default(), Dialect::Jinja, 1).is_empty());
    }

    #[test]
    fn a_name_on_the_hub_is_known_by_its_form() {
        assert_eq!(hub_name("org/model"), Some("org/model"));
        assert_eq!(hub_name("ollama chatml"), None);
        assert_eq!(hub_name("mistral-common v1/x"), None);
    }
}
