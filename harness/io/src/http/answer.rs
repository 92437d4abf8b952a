//! The answer of a server.

use std::io::Read as _;

use ureq::Body;
use ureq::http::{HeaderMap, Response, header};

use crate::http::address::Address;
use crate::http::no_answer::NoAnswer;

/// An answer whose body has not been read yet.
pub struct Answer {
    address: Address,
    response: Response<Body>,
}

impl Answer {
    pub(crate) fn new(address: &Address, response: Response<Body>) -> Answer {
        Answer {
            address: address.clone(),
            response,
        }
    }

    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Whether the status is an error: 400 or more.
    pub fn is_refusal(&self) -> bool {
        self.status() >= 400
    }

    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().get(name)?.to_str().ok()
    }

    /// The target, if the answer is a redirect. The error says why it must not be
    /// followed.
    pub fn redirect(&self) -> Option<Result<Address, String>> {
        let is_redirect = self.response.status().is_redirection();
        is_redirect.then(|| match self.header(header::LOCATION.as_str()) {
            Some(location) => self.address.redirected(location),
            None => Err("it does not say where".to_owned()),
        })
    }

    /// The whole body, of at most `most` bytes.
    pub fn read(self, most: u64) -> Result<Vec<u8>, NoAnswer> {
        let length = self.response.body().content_length();
        if length.is_some_and(|length| length > most) {
            return Err(NoAnswer::TooLarge);
        }
        // One byte above the limit shows that a body without a length is too large.
        let bytes = self.read_beginning(most.saturating_add(1))?;
        if bytes.len() as u64 > most {
            return Err(NoAnswer::TooLarge);
        }
        Ok(bytes)
    }

    /// The first `wanted` bytes of the body, or fewer if it is shorter. The rest is not read.
    pub fn read_beginning(self, wanted: u64) -> Result<Vec<u8>, NoAnswer> {
        let body = self.response.into_body();
        let expected = body.content_length().map(|length| length.min(wanted));
        let mut bytes = Vec::new();
        let read = body.into_reader().take(wanted).read_to_end(&mut bytes);
        read.map_err(|error| match ureq::Error::from(error) {
            ureq::Error::Timeout(_) => NoAnswer::TimedOut,
            error => NoAnswer::CutOff(error.to_string()),
        })?;
        let count = bytes.len() as u64;
        match expected.filter(|expected| count < *expected) {
            Some(expected) => Err(NoAnswer::CutOff(format!(
                "{count} of {expected} bytes came"
            ))),
            None => Ok(bytes),
        }
    }
}
