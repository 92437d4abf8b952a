//! The site of the matrix: pages to look through, without a network and without anything that
//! has to run.
//!
//! Every page is one file with its style and its script in it. Without the script all of it can
//! be read; with it tables are sorted, and the overview is searched. What engines and templates
//! say reaches a page as text only: nothing of it can become markup.

mod html;

mod parts;

mod badge;
mod construct;
mod engine;
mod overview;
mod template;

use std::collections::BTreeMap;

use crate::matrix::Matrix;
use crate::suite::Suite;

/// The kind of the folder that a site is.
pub const MARK: &str = "rolecall matrix";

/// The files of the site, by their paths with slashes: `index.html`, a page for each engine,
/// each template and each kind of construct, and a badge for each engine.
pub fn files(matrix: &Matrix, suite: &Suite) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    files.insert("index.html".to_owned(), overview::page(matrix));
    for engine in matrix.measurements() {
        let slug = parts::slug(engine);
        files.insert(format!("engines/{slug}.html"), engine::page(matrix, engine));
        files.insert(format!("badges/{slug}.json"), badge::json(engine));
    }
    for dialect in matrix.dialects() {
        for name in parts::templates(matrix, dialect) {
            let page = template::page(matrix, suite, dialect, &name);
            files.insert(format!("templates/{name}.html"), page);
        }
        for group in construct::groups(matrix, dialect) {
            let path = format!("constructs/{}.html", group.slug);
            files.insert(path, construct::page(matrix, dialect, &group));
        }
    }
    files
}
