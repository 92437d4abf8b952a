//! The user's secrets in the environment: an engine gets only those that the user gives it.

use std::ffi::{OsStr, OsString};

/// The variable that lists the variables with secrets that engines may have, with commas between
/// them.
pub const GIVEN: &str = "ROLECALL_ENGINE_ENV";

/// The words that a name of a variable has between its underscores if the variable holds a secret.
const WORDS: [&str; 12] = [
    "AUTH",
    "COOKIE",
    "KEY",
    "KEYS",
    "PASS",
    "PASSPHRASE",
    "PAT",
    "PRIVATE",
    "PWD",
    "SESSION",
    "TOKEN",
    "TOKENS",
];

/// The parts that a name has anywhere if the variable holds a secret.
const PARTS: [&str; 4] = ["APIKEY", "CREDENTIAL", "PASSW", "SECRET"];

/// The names that have such words and hold no secret: the current folder, the last one, and what a
/// desktop calls its session.
const HARMLESS: [&str; 6] = [
    "DESKTOP_SESSION",
    "OLDPWD",
    "PWD",
    "SESSION_MANAGER",
    "XDG_SESSION_ID",
    "XDG_SESSION_TYPE",
];

/// How values begin that services give out as keys.
const BEGINNINGS: [&str; 14] = [
    "-----BEGIN",
    "AIza",
    "AKIA",
    "ASIA",
    "Bearer ",
    "eyJ",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "hf_",
    "sk-",
    "xox",
];

/// The variables of this process's environment that a program must not inherit.
pub(super) fn withheld() -> impl Iterator<Item = OsString> {
    let given = std::env::var(GIVEN).unwrap_or_default();
    let given: Vec<OsString> = given.split(',').map(|name| name.trim().into()).collect();
    std::env::vars_os()
        .filter(|(name, value)| is_secret(name, value))
        .map(|(name, _)| name)
        .filter(move |name| !given.contains(name))
}

/// Whether a variable holds a secret, by its name or its value.
fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    if HARMLESS.contains(&name.as_str()) {
        return false;
    }
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    // Some names have no underscore before the last word, as in `NPMTOKEN`.
    let is_named = words.any(|word| WORDS.contains(&word) || word.ends_with("TOKEN"))
        || PARTS.iter().any(|part| name.contains(part));
    let value = value.to_string_lossy();
    is_named
        || BEGINNINGS
            .iter()
            .any(|beginning| value.trim_start().starts_with(beginning))
        || has_password(&value)
}

/// Whether a text is or contains an address with a password: `scheme://user:password@host`.
fn has_password(text: &str) -> bool {
    let mut addresses = text.split("://").skip(1);
    addresses.any(|rest| {
        let host = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        host.rsplit_once('@')
            .is_some_and(|(user, _)| user.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name_or_by_value() {
        for name in [
            "ROLECALL_API_KEY",
            "HF_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "GITHUB_PAT",
            "NPMTOKEN",
            "PGPASSWORD",
            "MYSQL_PWD",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SSH_AUTH_SOCK",
            "openai_apikey",
            "npm_config_//registry/:_authToken",
        ] {
            assert!(is_secret(OsStr::new(name), OsStr::new("x")), "{name}");
        }
        for value in [
            "postgres://me:word@host/db",
            "hf_abcdefgh",
            "sk-abc",
            "-----BEGIN PRIVATE KEY-----",
            "http://proxy:80,http://me:word@proxy:80",
        ] {
            assert!(is_secret(OsStr::new("X"), OsStr::new(value)), "{value}");
        }
    }

    #[test]
    fn what_programs_need_is_no_secret() {
        for (name, value) in [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/me"),
            ("PWD", "/home/me/x"),
            ("PYTHONPATH", "/home/me/lib"),
            ("TOKENIZERS_PARALLELISM", "false"),
            ("LANG", "en_US.UTF-8"),
            ("KEYBOARD", "us"),
            ("HTTPS_PROXY", "http://proxy:3128"),
            ("HF_ENDPOINT", "https://mirror.example/a@b:c"),
            ("XDG_SESSION_ID", "1"),
        ] {
            assert!(!is_secret(OsStr::new(name), OsStr::new(value)), "{name}");
        }
    }
}
