//! The choice among the GGUF files of a model.

use rolecall_core::Cut;
use std::path::Path;

use rolecall_core::problem::{Note, Problem};

use super::name::HubName;

/// Chooses one of several GGUF files: the one that was asked for, or the first by name,
/// with a note.
pub(super) fn choose<'f>(
    shown: &Path,
    name: &HubName,
    files: &'f [String],
) -> Result<(&'f str, Option<Note>), Problem> {
    let problem = |message: String| Problem::new(shown, message);
    let weights: Vec<&str> = files
        .iter()
        .map(String::as_str)
        .filter(|file| is_gguf(file))
        .collect();
    let listed = || {
        let shown: Vec<_> = weights.iter().take(12).copied().collect();
        let more = if weights.len() > shown.len() {
            ", …"
        } else {
            ""
        };
        format!("there are {}{more}", shown.join(", "))
    };
    if let Some(wanted) = &name.file {
        let chosen = weights.iter().find(|file| **file == wanted);
        let chosen = chosen.or_else(|| weights.iter().find(|file| is_meant(wanted, file)));
        return chosen.map(|file| (*file, None)).ok_or_else(|| {
            let problem = problem(format!("the model has no GGUF file {wanted}"));
            if weights.is_empty() {
                problem.help("the repository has no GGUF file")
            } else {
                problem.help(listed())
            }
        });
    }
    let first = weights.iter().find(|file| !is_projector(file));
    let first = first.ok_or_else(|| {
            problem("not a model with a chat template: the repository has none of the files that hold one".to_owned())
                .help("transformers looks for chat_template.jinja, additional_chat_templates/ and `chat_template` in tokenizer_config.json; GGUF files hold one, too")
        })?;
    let note = (weights.len() > 1).then(|| {
        let message = format!(
            "{first} is taken of {} GGUF files; hf:{}:FILE takes another one",
            weights.len(),
            name.repository
        );
        Note::new(shown, message)
    });
    Ok((first, note))
}

fn is_gguf(file: &str) -> bool {
    file.to_lowercase().ends_with(".gguf")
}

/// Whether a GGUF file is not a model but a projector for images.
fn is_projector(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file).to_lowercase();
    name.starts_with("mmproj") || name.contains("-mmproj")
}

/// Whether a file's name holds a quantisation, such as `Q4_K_M` in `model-Q4_K_M.gguf`.
fn is_meant(wanted: &str, file: &str) -> bool {
    let (wanted, file) = (wanted.to_lowercase(), file.to_lowercase());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    file.match_indices(&wanted).any(|(at, found)| {
        !file.cut(..at).ends_with(is_word) && !file.cut(at + found.len()..).starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantisation_names_a_file() {
        for (wanted, file, expected) in [
            ("Q4_K_M", "model-Q4_K_M.gguf", true),
            ("q4_k_m", "model.Q4_K_M.gguf", true),
            ("Q4_K", "model-Q4_K_M.gguf", false),
            ("Q8_0", "Q8_0/model-00001-of-00002.gguf", true),
            ("4_K_M", "model-Q4_K_M.gguf", false),
            ("model", "model-Q8_0.gguf", true),
        ] {
            assert_eq!(is_meant(wanted, file), expected, "{wanted} {file}");
        }
    }

    #[test]
    fn the_first_by_name_that_is_a_model_is_taken() {
        let name = |file: Option<&str>| HubName {
            repository: "a/b".to_owned(),
            revision: "main".to_owned(),
            file: file.map(str::to_owned),
        };
        let shown = Path::new("hf:a/b");
        let files = ["README.md", "m-Q4_0.gguf", "m-Q8_0.gguf", "mmproj-f16.gguf"];
        let files = files.map(str::to_owned);
        let chosen = |file: Option<&str>, files: &[String]| {
            let chosen = choose(shown, &name(file), files);
            chosen.map(|(file, note)| (file.to_owned(), note.is_some()))
        };
        assert_eq!(
            chosen(None, &files).unwrap(),
            ("m-Q4_0.gguf".to_owned(), true)
        );
        assert_eq!(chosen(Some("Q8_0"), &files).unwrap().0, "m-Q8_0.gguf");
        assert_eq!(
            chosen(None, &files[..2]).unwrap(),
            ("m-Q4_0.gguf".to_owned(), false)
        );
        let refused = chosen(Some("Q2_K"), &files).unwrap_err();
        assert_eq!(refused.message, "the model has no GGUF file Q2_K");
        assert!(refused.help.unwrap().contains("m-Q8_0.gguf"));
        assert!(chosen(None, &files[3..]).is_err());
        assert!(chosen(None, &[]).is_err());
    }
}
