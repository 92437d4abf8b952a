use rolecall_core::clock::Moment;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally, cause};
use crate::probe::Prober;
use crate::probe::catalogue::{SYSTEM_USER, TOOLS, USER};

pub(super) static CONTRACT: Contract = Contract {
    id: "date-independent",
    meaning: "the prompt does not depend on the date",
    guards_against: "caches and tests that go stale at midnight, servers with other clocks",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("date_independent.md"),
    judge: |tally, prober, _| {
        let mut is_dated = false;
        for probe in [USER, SYSTEM_USER, TOOLS] {
            let (today, later) = (prober.see(probe), prober.see_later(probe));
            let (Some(one), Some(other)) = (tally.text(&today), tally.text(&later)) else {
                continue;
            };
            is_dated |= one != other;
            tally.demand(one == other, || {
                let what = "the prompt changes with the date";
                let because = cause(prober, [&today, &later], None);
                Evidence::differ(what, &today, &later).because(because)
            });
            // Ollama has a function for the day before.
            let now = later.asked.now;
            let wrong = wrong_date(other, &[now, now.yesterday()]);
            tally.demand_with(Severity::Error, wrong.is_none(), || {
                let what = format!(
                    "the prompt shows a date that is not today's: {}",
                    wrong.unwrap_or_default()
                );
                Evidence::one(what, &later)
            });
        }
        let reads_clock = prober.code().contains("strftime_now");
        tally.demand_with(Severity::Warning, is_dated || !reads_clock, || {
            Evidence::of_source(
                "the template reads `strftime_now`, and no prompt changes with the date",
            )
        });
        stays_for_a_day(tally, prober);
    },
};

/// Demands that a prompt does not change from one hour to the next.
fn stays_for_a_day(tally: &mut Tally, prober: &Prober<'_>) {
    let seen = prober.see(USER);
    let mut case = USER.case(prober.input_style());
    let later = "2026-01-02T15:46:57Z".parse();
    case.now = later.unwrap_or(case.now);
    let later = prober.ask("later-that-day", "one question, later that day", case);
    if let (Some(one), Some(other)) = (tally.text(&seen), tally.text(&later)) {
        tally.demand_with(Severity::Warning, one == other, || {
            let what = "the prompt changes with the time of day: no cache of it lasts";
            Evidence::differ(what, &seen, &later)
        });
    }
}

/// Finds a date in a prompt that is not one of some days, and has their year: other years may be part of a
/// text. It knows the forms 2027-11-23, 23 November 2027, and November 23, 2027.
fn wrong_date(prompt: &str, days: &[Moment]) -> Option<String> {
    let is_one = |form: &str, text: &str| days.iter().any(|day| day.strftime(form) == text);
    let year = days.first()?.strftime("%Y");
    prompt.match_indices(&year).find_map(|(at, _)| {
        let (before, after) = (prompt.cut(..at), prompt.cut(at + year.len()..));
        if let Some(rest) = after.get(..6).filter(|rest| is_month_and_day(rest)) {
            return (!is_one("-%m-%d", rest)).then(|| format!("{year}{rest}"));
        }
        let mut words = before
            .rsplit(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let (last, first) = (words.next()?, words.next()?);
        let (number, name) = if first.parse::<u8>().is_ok() {
            (first, last)
        } else {
            (last, first)
        };
        let is_month =
            |month: &&&str| **month == name || name.len() == 3 && month.starts_with(name);
        let number = number
            .parse::<u8>()
            .ok()
            .filter(|number| (1..=31).contains(number))?;
        MONTHS.iter().find(is_month)?;
        let is_right = ["%d %B", "%d %b"]
            .iter()
            .any(|form| is_one(form, &format!("{number:02} {name}")));
        (!is_right).then(|| format!("{first} {last} {year}"))
    })
}

/// Whether a text has the form of the end of a date: `-11-23`.
fn is_month_and_day(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    text.starts_with('-') && text.as_bytes().get(3) == Some(&b'-') && digits == 4
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
