//! Badges in the format of shields.io's endpoint.

use serde_json::json;

use crate::report::numbers::thousands;
use rolecall_suite::measurement::{Measurement, Share};

/// The badge of an engine, with its share of prompts that agree.
pub(crate) fn json(engine: &Measurement) -> String {
    let share = engine.prompts();
    let badge = json!({
        "schemaVersion": 1,
        "label": format!("chat templates as {}", engine.reference.engine),
        "message": message(share),
        "color": colour(share),
    });
    format!("{badge:#}\n")
}

fn message(share: Share) -> String {
    // Rounded down, so that 100 % means all.
    let tenths = share.agree.saturating_mul(1000) / share.all.max(1);
    let percent = if share.is_whole() {
        "100 %".to_owned()
    } else {
        format!("{}.{} %", tenths / 10, tenths % 10)
    };
    format!("{percent} of {} prompts", thousands(share.all))
}

fn colour(share: Share) -> &'static str {
    match share.agree.saturating_mul(1000) / share.all.max(1) {
        1000 => "brightgreen",
        990.. => "green",
        950.. => "yellowgreen",
        800.. => "yellow",
        500.. => "orange",
        _ => "red",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_is_a_hundred_per_cent_and_bright_green() {
        let of = |agree, all| {
            let share = Share { agree, all };
            (message(share), colour(share))
        };
        assert_eq!(
            of(13_245, 13_245),
            ("100 % of 13,245 prompts".into(), "brightgreen")
        );
        assert_eq!(
            of(13_244, 13_245),
            ("99.9 % of 13,245 prompts".into(), "green")
        );
        assert_eq!(of(949, 1000), ("94.9 % of 1,000 prompts".into(), "yellow"));
        assert_eq!(of(1, 3), ("33.3 % of 3 prompts".into(), "red"));
    }
}
