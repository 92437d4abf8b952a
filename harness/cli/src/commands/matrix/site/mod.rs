//! The site of the matrix: pages that need neither a network nor a server.
//!
//! Every page is one file, with its style and its script inside. Readers without scripts see
//! everything; the script sorts tables and searches the overview. A text of an engine or a template
//! reaches a page only as text and cannot become markup.

mod pages;

mod parts;

mod badge;
mod construct;
mod engine;
mod overview;
mod roundtrip;
mod servers;
mod template;

pub use servers::ServedTemplate;
pub use servers::ServersDocument;

use std::collections::BTreeMap;
use std::io;

use pages::Pages;
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::suite::Suite;

/// The mark of a folder that holds a site.
pub const MARK: &str = "rolecall matrix";

/// The files of the site, by their paths with slashes: `index.html`, a page for each engine, each
/// template and each kind of construct, a badge for each engine, `roundtrip.html` if what comes back of
/// answers was measured, and `servers.html` and `servers.json` if there are served templates.
pub fn files(
    matrix: &Matrix,
    suite: &Suite,
    served: &[ServedTemplate],
) -> io::Result<BTreeMap<String, String>> {
    let pages = Pages::new(!matrix.roundtrip().is_empty(), !served.is_empty())?;
    let mut files = BTreeMap::new();
    files.insert("index.html".to_owned(), overview::page(&pages, matrix)?);
    for engine in matrix.measurements() {
        let slug = parts::slug(engine);
        let page = engine::page(&pages, matrix, engine)?;
        files.insert(format!("engines/{slug}.html"), page);
        files.insert(format!("badges/{slug}.json"), badge::json(engine));
    }
    if !matrix.roundtrip().is_empty() {
        let page = roundtrip::page(&pages, matrix, suite)?;
        files.insert("roundtrip.html".to_owned(), page);
    }
    if !served.is_empty() {
        let (page, json) = servers::page(&pages, matrix, served)?;
        files.insert("servers.html".to_owned(), page);
        files.insert("servers.json".to_owned(), json);
    }
    for dialect in matrix.dialects() {
        for name in parts::templates(matrix, dialect) {
            let page = template::page(&pages, matrix, suite, dialect, &name)?;
            files.insert(format!("templates/{name}.html"), page);
        }
        for group in construct::groups(matrix, dialect) {
            let path = format!("constructs/{}.html", group.slug);
            files.insert(path, construct::page(&pages, matrix, dialect, &group)?);
        }
    }
    Ok(files)
}
