//! The frozen clock prints what `CPython` prints: the table is recorded from it by
//! `scripts/record-strftime.py`.

use rolecall_model::Moment;

#[test]
fn every_format_code_is_as_in_python() {
    let table: Vec<[String; 3]> =
        serde_json::from_str(include_str!("data/strftime.json")).expect("the table is JSON");
    assert!(table.len() > 200);
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|[now, format, expected]| {
            let moment: Moment = now.parse().expect("the table's moments are RFC 3339");
            let found = moment.strftime(format);
            (found != *expected)
                .then(|| format!("{now} {format:?}: expected {expected:?}, found {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
