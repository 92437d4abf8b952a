//! Whether the model should think: `.Think`, `.ThinkLevel` and `.IsThinkSet`.
//!
//! Source: api/types.go (`ThinkValue`), openai/openai.go (`thinkFromReasoningEffort`) and
//! server/prompt.go (`renderPrompt`) of 0.33. Three variables can set it, and the first one that is
//! not null decides. `think` is the field of Ollama's own endpoint, and `reasoning_effort` the
//! field of the OpenAI endpoint. Ollama does not know `enable_thinking`; as a boolean it counts
//! as a boolean `think`.

use serde_json::Value as Json;

use crate::error::Error;

/// The source of the three fields of the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Think {
    pub(crate) on: bool,
    pub(crate) level: &'static str,
    pub(crate) is_set: bool,
}

impl Think {
    pub(crate) fn switched(on: bool) -> Think {
        Think {
            on,
            level: if on { "medium" } else { "" },
            is_set: true,
        }
    }

    pub(crate) fn level(level: &'static str) -> Think {
        Think {
            on: true,
            level,
            is_set: true,
        }
    }

    /// The value of the variable `think`; none if it is not set.
    pub(crate) fn to_json(self) -> Option<Json> {
        match (self.is_set, self.on, self.level) {
            (false, ..) => None,
            (true, true, "medium") => Some(true.into()),
            (true, true, level) => Some(level.into()),
            (true, false, _) => Some(false.into()),
        }
    }

    /// The name of the variable that decides, if one does. `variable` finds one by name.
    pub(crate) fn variable<'j>(
        variable: impl Fn(&str) -> Option<&'j Json>,
    ) -> Option<&'static str> {
        let is_given = |name: &&str| variable(name).is_some_and(|value| !value.is_null());
        ["think", "reasoning_effort", "enable_thinking"]
            .into_iter()
            .find(is_given)
    }

    /// Reads the variables. `variable` finds one by name.
    pub(crate) fn read<'j>(variable: impl Fn(&str) -> Option<&'j Json>) -> Result<Think, Error> {
        let given = |name: &str| variable(name).filter(|value| !value.is_null());
        match given("think") {
            Some(Json::Bool(on)) => return Ok(Think::switched(*on)),
            Some(Json::String(level)) => {
                return LEVELS
                    .iter()
                    .find(|known| *known == level)
                    .map(|level| Think::level(level))
                    .ok_or_else(|| {
                        Error::new(format!(
                            "invalid think value: {level:?} (must be \"high\", \"medium\", \
                             \"low\", \"max\", true, or false)"
                        ))
                    });
            }
            Some(_) => {
                return Err(Error::new(
                    "think must be a boolean or string (\"high\", \"medium\", \"low\", \"max\", \
                     true, or false)",
                ));
            }
            None => {}
        }
        match given("reasoning_effort") {
            Some(Json::String(effort)) => {
                return match effort.as_str() {
                    "" => Ok(Think::default()),
                    "none" => Ok(Think::switched(false)),
                    "minimal" => Ok(Think::level("low")),
                    "xhigh" | "ultra" => Ok(Think::level("max")),
                    other => LEVELS
                        .iter()
                        .find(|known| **known == other)
                        .map(|level| Think::level(level))
                        .ok_or_else(|| {
                            Error::new(format!(
                                "invalid reasoning value: {effort:?} (must be \"minimal\", \
                                 \"low\", \"medium\", \"high\", \"xhigh\", \"ultra\", \"max\", or \
                                 \"none\")"
                            ))
                        }),
                };
            }
            Some(other) => {
                return Err(crate::unmarshal::mismatch(
                    other,
                    "ChatCompletionRequest.reasoning_effort",
                    "string",
                ));
            }
            None => {}
        }
        match given("enable_thinking") {
            Some(Json::Bool(on)) => Ok(Think::switched(*on)),
            _ => Ok(Think::default()),
        }
    }
}

const LEVELS: [&str; 4] = ["high", "medium", "low", "max"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_that_is_given_decides() {
        let read = |variables: Json| Think::read(|name| variables.get(name)).ok();
        assert_eq!(read(json!({})), Some(Think::default()));
        assert_eq!(
            read(json!({"think": null, "enable_thinking": true})),
            Some(Think::switched(true))
        );
        assert_eq!(
            read(json!({"think": false, "reasoning_effort": "high"})),
            Some(Think::switched(false))
        );
        assert_eq!(read(json!({"think": "heroic"})), None);
        assert_eq!(
            read(json!({"reasoning_effort": "ultra"})),
            Some(Think::level("max"))
        );
    }
}
