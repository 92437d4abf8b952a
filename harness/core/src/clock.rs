//! The frozen clock.
//!
//! Nothing in the harness reads the real clock: a template that prints the date
//! prints the case's date, today and in ten years.

use crate::cut::Cut;
use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::time::SystemTime;

use jiff::civil::DateTime;
use jiff::fmt::strtime::{BrokenDownTime, Config};

/// The moment at which a case happens, as the template's wall clock shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Moment(DateTime);

/// A text that is not an RFC 3339 date and time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a date and time such as 2026-01-02T03:04:05Z ({reason})")]
pub struct InvalidMoment {
    text: String,
    reason: String,
}

impl Default for Moment {
    /// The suite's default: 2026-01-02T03:04:05Z.
    fn default() -> Moment {
        Moment(DateTime::constant(2026, 1, 2, 3, 4, 5, 0))
    }
}

impl From<SystemTime> for Moment {
    /// The reading of a UTC clock at a time, for programs whose templates print the real date. The
    /// harness itself never uses it.
    fn from(time: SystemTime) -> Moment {
        let timestamp = jiff::Timestamp::try_from(time).unwrap_or_else(|_| {
            if time < SystemTime::UNIX_EPOCH {
                jiff::Timestamp::MIN
            } else {
                jiff::Timestamp::MAX
            }
        });
        Moment(jiff::tz::Offset::UTC.to_datetime(timestamp))
    }
}

impl FromStr for Moment {
    type Err = InvalidMoment;

    /// Reads RFC 3339. The clock shows the date and time as written. An offset names the clock's
    /// time zone and does not change the time.
    fn from_str(text: &str) -> Result<Moment, InvalidMoment> {
        let invalid = |reason: String| InvalidMoment {
            text: text.to_owned(),
            reason,
        };
        // The timestamp parser insists on an offset, as RFC 3339 does; the civil
        // parser then reads the digits without moving them.
        jiff::Timestamp::from_str(text).map_err(|error| invalid(error.to_string()))?;
        let civil = text.trim_end_matches(['Z', 'z']);
        let pieces = jiff::fmt::temporal::Pieces::parse(civil)
            .map_err(|error| invalid(error.to_string()))?;
        let time = pieces
            .time()
            .ok_or_else(|| invalid("no time of day".to_owned()))?;
        Ok(Moment(pieces.date().to_datetime(time)))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Z", self.0)
    }
}

impl Moment {
    /// The same time of the day before.
    #[must_use]
    pub fn yesterday(&self) -> Moment {
        Moment(self.0.yesterday().unwrap_or(self.0))
    }

    /// `datetime.now().strftime(format)` of `CPython` 3.11 on Linux (glibc, C locale).
    ///
    /// The time is naive, so `%z` and `%Z` give nothing. `%f` is the microsecond in six digits. A
    /// directive that glibc does not know stays as written.
    pub fn strftime(&self, format: &str) -> String {
        let mut out = String::new();
        let mut rest = format;
        // Python replaces some directives itself before it calls the C library. The C library
        // handles the others one by one.
        while let Some(at) = rest.find('%') {
            out.push_str(rest.cut(..at));
            let directive = Directive::read(rest.cut(at..));
            rest = rest.cut(at + directive.text.len()..);
            self.directive(&directive, &mut out);
        }
        out.push_str(rest);
        out
    }

    fn directive(&self, directive: &Directive<'_>, out: &mut String) {
        match directive.conversion {
            Some(conversion) if directive.pads_text(conversion) => {
                let (flags, width) = directive.width();
                let alone = self.strftime(&format!("%{flags}{conversion}"));
                let fill = if flags.contains('0') { '0' } else { ' ' };
                let len = alone.chars().count();
                out.extend(std::iter::repeat_n(fill, width.saturating_sub(len)));
                out.push_str(&alone);
            }
            Some('c' | 'x' | 'r') if directive.flags.contains('^') => {
                let alone = directive.text.replace('^', "");
                out.push_str(&self.strftime(&alone).to_uppercase());
            }
            // Python itself replaces only the plain `%f`. With a flag or a width it reaches glibc,
            // which does not know it.
            Some('f') if directive.text == "%f" => {
                // Writing to a string cannot fail.
                let _ = write!(out, "{:06}", self.0.subsec_nanosecond() / 1000);
            }
            Some('z' | 'Z') => {}
            Some('s') => {
                let seconds = jiff::tz::Offset::UTC
                    .to_timestamp(self.0)
                    .map_or(0, jiff::Timestamp::as_second);
                out.push_str(&seconds.to_string());
            }
            // For this one jiff has its own locale.
            Some('c') => out.push_str(&self.strftime("%a %b %e %H:%M:%S %Y")),
            Some('x') => out.push_str(&self.strftime("%m/%d/%y")),
            Some('r') => out.push_str(&self.strftime("%I:%M:%S %p")),
            Some(conversion) if KNOWN.contains(conversion) => {
                let format = directive.for_jiff(conversion);
                let config = Config::new().lenient(true);
                let written = out.len();
                let time = BrokenDownTime::from(self.0);
                if time
                    .format_with_config(&config, &format, &mut *out)
                    .is_err()
                {
                    out.truncate(written);
                    out.push_str(directive.text);
                }
            }
            // Unknown to glibc, or a lone percent sign at the end.
            Some(_) | None => out.push_str(directive.text),
        }
    }
}

/// The conversions that jiff writes as glibc does.
const KNOWN: &str = "aAbBCdDeFgGhHIjklmMnpPRStTuUVwWXyY%";

/// One conversion of a strftime format: `%d`, `%-d`, `%10Y`, `%Ey`.
struct Directive<'a> {
    text: &'a str,
    flags: &'a str,
    conversion: Option<char>,
}

impl<'a> Directive<'a> {
    /// Reads the directive at the beginning of a text that begins with `%`.
    fn read(text: &'a str) -> Directive<'a> {
        let is_flag = |c: char| matches!(c, '-' | '_' | '^' | '#' | '0'..='9');
        let end_of_flags = text
            .cut(1..)
            .find(|c: char| !is_flag(c))
            .map_or(text.len(), |at| at + 1);
        // The modifiers E and O ask for another calendar or other digits. The C locale has neither.
        let conversion_at = match text.cut(end_of_flags..).chars().next() {
            Some('E' | 'O') => end_of_flags + 1,
            _ => end_of_flags,
        };
        let conversion = text.cut(conversion_at..).chars().next();
        Directive {
            text: text.cut(..conversion_at + conversion.map_or(0, char::len_utf8)),
            flags: text.cut(1..end_of_flags),
            conversion,
        }
    }

    /// The flags, and the width after them, which is zero if there is none. A zero at its beginning
    /// is a flag.
    fn width(&self) -> (&'a str, usize) {
        /// No text that anybody needs is wider.
        const WIDEST: usize = 1024;
        let flags = self.flags.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = self.flags.cut(flags.len()..);
        let width = digits.trim_start_matches('0');
        let flags = self.flags.cut(..self.flags.len() - width.len());
        (flags, width.parse().unwrap_or(0).min(WIDEST))
    }

    /// Whether the result is filled up to a width as a text is: jiff fills up numbers alone, and those
    /// without a `-`.
    fn pads_text(&self, conversion: char) -> bool {
        let (flags, width) = self.width();
        let is_text = "aAbBhpPcxrDFTR".contains(conversion);
        width > 0 && (is_text || flags.contains('-') && KNOWN.contains(conversion))
    }

    /// The directive as jiff takes it: without a modifier, and with `^` where glibc's
    /// `#` has the same effect.
    fn for_jiff(&self, conversion: char) -> String {
        let flags = if "aAbBh".contains(conversion) {
            self.flags.replace('#', "^")
        } else {
            self.flags.to_owned()
        };
        format!("%{flags}{conversion}")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_offset_does_not_move_the_hands() {
        let moment: Moment = "2026-07-09T23:04:05+02:00".parse().unwrap();
        assert_eq!(moment.strftime("%d %H:%M"), "09 23:04");
        assert!("2026-07-09".parse::<Moment>().is_err());
        assert!("yesterday".parse::<Moment>().is_err());
        assert_eq!(Moment::default().to_string(), "2026-01-02T03:04:05Z");
    }

    #[test]
    fn a_system_time_is_shown_as_utc() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045);
        assert_eq!(Moment::from(time), Moment::default());
        let long_ago = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(Moment::from(long_ago).to_string(), "1969-12-31T23:59:59Z");
    }

    /// The table is recorded from `CPython` by `scripts/record-strftime.py`.
    #[test]
    fn every_format_code_is_as_in_python() {
        let table: Vec<[String; 3]> =
            serde_json::from_str(include_str!("../../tests/data/strftime.json")).unwrap();
        // The codes that jiff writes, and the codes that this module writes.
        for code in KNOWN.chars().chain("fzZscxr".chars()) {
            let is_used =
                |[_, format, _]: &[String; 3]| format.starts_with('%') && format.ends_with(code);
            assert!(table.iter().any(is_used), "no row has %{code}");
        }
        let wrong: Vec<String> = table
            .iter()
            .filter_map(|[now, format, expected]| {
                let moment: Moment = now.parse().unwrap();
                let found = moment.strftime(format);
                (found != *expected)
                    .then(|| format!("{now} {format:?}: expected {expected:?}, found {found:?}"))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
