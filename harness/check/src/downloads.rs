//! How often templates are downloaded: a list that weighs them.

use std::collections::BTreeMap;
use std::path::Path;

use rolecall_core::Template;
use rolecall_core::file::read_text;
use rolecall_core::json;
use rolecall_core::problem::{Note, Position, Problem};
use serde::{Deserialize, Serialize};

/// How many names a message has at most.
const MOST_NAMES: usize = 5;

/// How to write a list.
const HELP: &str = "write a line for each template: its name, a comma or a tab, and the number of its \
    downloads, as in `org/name,1200`; or write JSON, {\"org/name\": 1200}";

/// The number of downloads of each template, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Downloads(BTreeMap<String, usize>);

/// An entry of a list in JSON. The answers of the Hugging Face hub have such entries.
#[derive(Deserialize)]
struct Entry {
    #[serde(alias = "id", alias = "model", alias = "name")]
    template: String,
    downloads: usize,
}

impl FromIterator<(String, usize)> for Downloads {
    fn from_iter<I: IntoIterator<Item = (String, usize)>>(all: I) -> Downloads {
        let named = all.into_iter();
        let named = named.map(|(name, count)| (name.trim_start_matches("hf:").to_owned(), count));
        Downloads(named.collect())
    }
}

impl Downloads {
    /// Reads a list: comma-separated or tab-separated values, or JSON.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or one of its lines is no name with a number. The problem names the
    /// first such line, and how many there are.
    pub fn read(path: &Path) -> Result<Downloads, Problem> {
        let text = read_text(path)?;
        let read = match text.trim_start().chars().next() {
            Some('[') => {
                json::read(path, &text, "a list of downloads").map(|entries: Vec<Entry>| {
                    let entries = entries.into_iter();
                    entries.map(|one| (one.template, one.downloads)).collect()
                })
            }
            Some('{') => json::read(path, &text, "a list of downloads")
                .map(|all: BTreeMap<String, usize>| all.into_iter().collect()),
            _ => return Downloads::of_lines(path, &text),
        };
        read.map_err(|problem| problem.help(HELP))
    }

    fn of_lines(path: &Path, text: &str) -> Result<Downloads, Problem> {
        let mut all = BTreeMap::new();
        let mut wrong: Vec<(usize, String)> = Vec::new();
        let lines = text.lines().enumerate();
        let mut lines = lines.filter(|(_, line)| !line.trim().is_empty()).peekable();
        // The first line may name the columns.
        lines.next_if(|(_, line)| !line.contains(|c: char| c.is_ascii_digit()));
        for (number, line) in lines {
            match entry(line) {
                Ok((name, downloads)) => {
                    if all.insert(name.to_owned(), downloads).is_some() {
                        wrong.push((number, format!("`{name}` is in the list twice")));
                    }
                }
                Err(why) => wrong.push((number, why)),
            }
        }
        let Some((number, why)) = wrong.first() else {
            return Ok(all.into_iter().collect());
        };
        let message = match wrong.len() - 1 {
            0 => why.clone(),
            1 => format!("{why}; one more line is wrong"),
            more => format!("{why}; {more} more lines are wrong"),
        };
        let position = Position {
            line: number + 1,
            column: 1,
        };
        Err(Problem::new(path, message).at(position).help(HELP))
    }

    /// The downloads of a template; 0 if the list does not have it.
    pub fn of(&self, template: &str) -> usize {
        self.0.get(template).copied().unwrap_or(0)
    }

    /// What there is to say about a list for these templates.
    ///
    /// # Errors
    ///
    /// The list has none of them.
    pub fn fit(&self, path: &Path, templates: &[Template]) -> Result<Option<Note>, Problem> {
        let names = templates.iter().map(|template| template.name.as_str());
        let missing: Vec<&str> = names.filter(|name| !self.0.contains_key(*name)).collect();
        if missing.is_empty() {
            return Ok(None);
        }
        let shown = missing.iter().take(MOST_NAMES).copied();
        let mut shown = shown.collect::<Vec<_>>().join(", ");
        if missing.len() > MOST_NAMES {
            shown += ", …";
        }
        if missing.len() == templates.len() {
            let message = format!("has none of the checked templates, which are {shown}");
            return Err(Problem::new(path, message).help(HELP));
        }
        let (count, all) = (missing.len(), templates.len());
        let message = format!(
            "{count} of {all} templates are not in the list, and count as not downloaded: {shown}"
        );
        Ok(Some(Note::new(path, message)))
    }
}

/// The name and the number of a line.
fn entry(line: &str) -> Result<(&str, usize), String> {
    let Some((name, number)) = line.rsplit_once(['\t', ',']) else {
        return Err("there is no comma and no tab between a name and a number".to_owned());
    };
    let [name, number] = [name, number].map(|text| text.trim().trim_matches('"'));
    if name.is_empty() {
        return Err("the name of the template is missing".to_owned());
    }
    let downloads = number.parse();
    downloads
        .map(|downloads| (name, downloads))
        .map_err(|_| format!("`{number}` is not a whole number"))
}

#[cfg(test)]
mod tests {
    use rolecall_core::Dialect;

    use super::*;

    fn read(text: &str) -> Result<Downloads, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        std::fs::write(&path, text).unwrap();
        let read = Downloads::read(&path).map_err(|problem| problem.to_string());
        read.map_err(|problem| problem.replace(&path.display().to_string(), "list"))
    }

    #[test]
    fn a_list_is_lines_or_json() {
        let expected: Downloads = [("a/b".to_owned(), 12), ("c".to_owned(), 0)]
            .into_iter()
            .collect();
        for text in [
            "a/b,12\nc,0\n",
            "model\tdownloads\n\nhf:a/b\t12\nc\t0",
            "\"a/b\", \"12\"\r\nc , 0\r\n",
            r#"{"a/b": 12, "c": 0}"#,
            r#"[{"id": "a/b", "downloads": 12, "likes": 3}, {"template": "c", "downloads": 0}]"#,
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
        }
        assert_eq!((expected.of("a/b"), expected.of("x")), (12, 0));
    }

    #[test]
    fn wrong_lines_are_one_problem_with_the_first_of_them() {
        let help = "\n  write a line for each template: ";
        for (text, place) in [
            (
                "a 1\nb,1",
                "list:1:1: there is no comma and no tab between a name and a number",
            ),
            ("a,1\nb,many\n", "list:2:1: `many` is not a whole number"),
            (
                "a,1\n\nb,-1\n,5\nc,x",
                "list:3:1: `-1` is not a whole number; 2 more lines are wrong",
            ),
            ("a,1\na,2", "list:2:1: `a` is in the list twice"),
            ("[{\"id\": \"a\"}]", "list:1:12: "),
        ] {
            let problem = read(text).unwrap_err();
            assert!(
                problem.starts_with(place) && problem.contains(help),
                "{problem}"
            );
        }
    }

    #[test]
    fn a_list_has_to_fit_the_templates() {
        let named = |name| Template::from_source(name, Dialect::Jinja, "");
        let list = read("a,1").unwrap();
        let fit = |templates: &[Template]| list.fit(Path::new("list"), templates);
        assert_eq!(fit(&[named("a")]), Ok(None));
        let note = fit(&[named("a"), named("b")]).unwrap().unwrap();
        assert!(
            note.to_string()
                .starts_with("list: 1 of 2 templates are not in the list"),
            "{note}"
        );
        let problem = fit(&[named("b")]).unwrap_err().to_string();
        assert!(
            problem.contains("has none of the checked templates, which are b"),
            "{problem}"
        );
    }
}
