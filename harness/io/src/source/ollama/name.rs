//! Names of Ollama models: `[[host/]namespace/]model[:tag]`, in a store the path
//! `manifests/host/namespace/model/tag` (`types/model/name.go`, August 2026).

use std::fmt;
use std::path::{Component, Path, PathBuf};

const HOST: &str = "registry.ollama.ai";
const NAMESPACE: &str = "library";
const TAG: &str = "latest";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelName {
    host: String,
    namespace: String,
    model: String,
    tag: String,
}

impl ModelName {
    /// Parses a name as users write it. Missing parts get their defaults.
    pub fn parse(text: &str) -> Option<ModelName> {
        // A `:` before the last `/` belongs to a host's port.
        let (text, tag) = match text.rsplit_once(':') {
            Some((before, tag)) if !tag.contains('/') => (before, tag),
            _ => (text, TAG),
        };
        let parts: Vec<&str> = text.splitn(3, '/').collect();
        let (host, namespace, model) = match parts.as_slice() {
            [model] => (HOST, NAMESPACE, *model),
            [namespace, model] => (HOST, *namespace, *model),
            [host, namespace, model] => (*host, *namespace, *model),
            _ => return None,
        };
        ModelName::of_parts([host, namespace, model, tag])
    }

    /// The registry, such as `registry.ollama.ai`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether its registry is the default one.
    pub fn has_default_host(&self) -> bool {
        self.host.eq_ignore_ascii_case(HOST)
    }

    /// The owner; `library` for Ollama's own.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The tag; `latest` unless said.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The model's own name, without registry, owner and tag.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The name of a manifest, by its path below `manifests`.
    pub(crate) fn of_path(below: &Path) -> Option<ModelName> {
        let parts: Vec<&str> = below
            .components()
            .map(|component| match component {
                Component::Normal(part) => part.to_str(),
                _ => None,
            })
            .collect::<Option<_>>()?;
        ModelName::of_parts(parts.try_into().ok()?)
    }

    fn of_parts(parts: [&str; 4]) -> Option<ModelName> {
        let [host, namespace, model, tag] = parts;
        let is_valid = is_part(host, 350, "-_.:")
            && is_part(namespace, 80, "-_")
            && is_part(model, 80, "-_.")
            && is_part(tag, 80, "-_.");
        is_valid.then(|| ModelName {
            host: host.to_owned(),
            namespace: namespace.to_owned(),
            model: model.to_owned(),
            tag: tag.to_owned(),
        })
    }

    /// The path of its manifest below `manifests`.
    pub fn path(&self) -> PathBuf {
        [&self.host, &self.namespace, &self.model, &self.tag]
            .iter()
            .collect()
    }
}

/// Whether Ollama accepts a part of a name. Such a part cannot lead out of a folder.
fn is_part(part: &str, most: usize, others: &str) -> bool {
    part.len() <= most
        && part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && part
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

/// The shortest form: `gemma3`, `gemma3:12b`, `me/mine`.
impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_default_host = self.has_default_host();
        if !is_default_host {
            write!(f, "{}/", self.host)?;
        }
        if !is_default_host || !self.namespace.eq_ignore_ascii_case(NAMESPACE) {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.model)?;
        if self.tag != TAG {
            write!(f, ":{}", self.tag)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_defaults_and_a_short_form() {
        for (text, path, short) in [
            (
                "gemma3",
                "registry.ollama.ai/library/gemma3/latest",
                "gemma3",
            ),
            (
                "gemma3:12b",
                "registry.ollama.ai/library/gemma3/12b",
                "gemma3:12b",
            ),
            ("me/mine", "registry.ollama.ai/me/mine/latest", "me/mine"),
            (
                "hf.co/org/m:Q4_K_M",
                "hf.co/org/m/Q4_K_M",
                "hf.co/org/m:Q4_K_M",
            ),
            ("host:5000/a/b", "host:5000/a/b/latest", "host:5000/a/b"),
        ] {
            let name = ModelName::parse(text).unwrap();
            assert_eq!(name.path(), Path::new(path), "{text}");
            assert_eq!(name.to_string(), short, "{text}");
            assert_eq!(ModelName::of_path(Path::new(path)), Some(name), "{text}");
        }
        for text in [
            "", "..", "a/../b", "a:..", "a b", "/a", "a/", "a/b/c/d", "a:",
        ] {
            assert_eq!(ModelName::parse(text), None, "{text}");
        }
    }
}
