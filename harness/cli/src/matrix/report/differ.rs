//! Where two engines differ, or two versions of one.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rolecall_core::{CaseId, TemplateName};

use super::parts::write_groups;
use crate::matrix::measurement::{Changes, DifferenceGroup, Measurement, PairResult};
use crate::report::columns::{Cell, Columns};
use crate::report::numbers::{counted, thousands};
use crate::report::style::{BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use crate::report::wrapping::paragraph;

/// How many rows to show unless the user wants all.
const MOST: usize = 12;

type Pairs<'m> = [((TemplateName, CaseId), [PairResult<'m>; 2])];

/// Writes where two measurements differ: the pairs by template and family, and the differences.
pub fn write_differ(
    out: &mut dyn Write,
    first: &Measurement,
    second: &Measurement,
    all: bool,
) -> io::Result<()> {
    let changes = Changes::between(first, second);
    let [x, y] = [first, second].map(|one| format!("{} {}", one.engine.engine, one.engine.version));
    paragraph(out, &Styled(HEADING, format!("{x} and {y}")).to_string(), 2)?;
    let both = counted(changes.both, "pair", "pairs");
    if changes.is_none() {
        return paragraph(
            out,
            &format!("the same in all of {both} and in every construct"),
            2,
        );
    }
    let lists: [(&Pairs<'_>, _, _); 3] = [
        (&changes.worse, GOOD, format!("only {x} is right")),
        (&changes.better, GOOD, format!("only {y} is right")),
        (
            &changes.otherwise,
            BAD,
            "both are wrong, differently".to_owned(),
        ),
    ];
    for (list, style, words) in &lists {
        let count = Styled(*style, thousands(list.len()));
        paragraph(out, &format!("  in {count} of {both} {words}"), 4)?;
    }
    if changes.alike > 0 {
        let count = thousands(changes.alike);
        paragraph(out, &format!("  in {count} both are wrong and agree"), 4)?;
    }
    for (names, who) in changes.loads.iter().zip([&x, &y]) {
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            let text = format!(
                "  {} only with {who}: {}",
                Styled(NOTE, "load"),
                names.join(", ")
            );
            paragraph(out, &text, 4)?;
        }
    }
    for (names, who) in changes.constructs.iter().zip([&y, &x]) {
        if !names.is_empty() {
            let count = counted(names.len(), "construct", "constructs");
            paragraph(out, &format!("  {count}: only {who} is right"), 4)?;
        }
    }
    if !changes.constructs_otherwise.is_empty() {
        let count = counted(
            changes.constructs_otherwise.len(),
            "construct",
            "constructs",
        );
        paragraph(out, &format!("  {count}: both are wrong, differently"), 4)?;
    }
    let rows = |name: fn(&(TemplateName, CaseId)) -> String| {
        let mut rows: BTreeMap<String, [usize; 3]> = BTreeMap::new();
        for (at, (list, ..)) in lists.iter().enumerate() {
            for (pair, _) in *list {
                rows.entry(name(pair)).or_default()[at] += 1;
            }
        }
        rows
    };
    write_rows(
        out,
        "by template",
        rows(|(name, _)| name.to_string()),
        [&x, &y],
        all,
    )?;
    write_rows(
        out,
        "by family",
        rows(|(_, case)| case.family().to_owned()),
        [&x, &y],
        all,
    )?;
    for (list, who, side) in [(&changes.worse, &y, 1), (&changes.better, &x, 0)] {
        let groups = groups(list, side);
        if !groups.is_empty() {
            let text = format!("what {who} gets wrong there");
            writeln!(out, "\n{}", Styled(HEADING, text))?;
            write_groups(out, &groups, all)?;
        }
    }
    Ok(())
}

/// The groups that hold the pairs of a list on one side, those with the most pairs first.
fn groups<'m>(list: &Pairs<'m>, side: usize) -> Vec<(&'m DifferenceGroup, usize)> {
    let mut groups: Vec<(&DifferenceGroup, usize)> = Vec::new();
    for (_, standings) in list {
        if let PairResult::Differs { group, .. } = &standings[side] {
            match groups
                .iter_mut()
                .find(|(known, _)| std::ptr::eq(*known, *group))
            {
                Some((_, count)) => *count += 1,
                None => groups.push((group, 1)),
            }
        }
    }
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    groups
}

fn write_rows(
    out: &mut dyn Write,
    heading: &str,
    rows: BTreeMap<String, [usize; 3]>,
    [x, y]: [&str; 2],
    all: bool,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.iter().sum::<usize>()));
    writeln!(out)?;
    let mut columns = Columns::right_aligned(1..4);
    let headings = [
        heading.to_owned(),
        format!("only {x} right"),
        format!("only {y} right"),
        "neither".to_owned(),
    ];
    columns.row(headings.map(|text| Cell::new(HEADING, text)));
    let most = if all { usize::MAX } else { MOST };
    for (name, counts) in rows.iter().take(most) {
        let name = Cell::new(PLAIN, format!("  {name}"));
        let counts = counts.map(|count| match count {
            0 => Cell::new(QUIET, "·"),
            count => Cell::new(PLAIN, thousands(count)),
        });
        columns.row([vec![name], counts.to_vec()].concat());
    }
    columns.write(out)?;
    if rows.len() > most {
        let more = rows.len() - most;
        writeln!(
            out,
            "{}",
            Styled(QUIET, format!("  … and {more} more: --all shows them"))
        )?;
    }
    Ok(())
}
