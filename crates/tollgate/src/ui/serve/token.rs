//! The secret in the page's address.

use std::fmt;
use std::io;

use crate::random;

/// 128 random bits, written in hexadecimal.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn new() -> io::Result<Self> {
        let bits = u128::from_ne_bytes(random::bytes()?);
        Ok(Self(format!("{bits:032x}")))
    }

    /// What comes after the token in a path, if it begins with it.
    pub(super) fn admits<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (said, rest) = path.strip_prefix('/')?.split_once('/')?;
        self.is(said).then_some(rest)
    }

    fn is(&self, said: &str) -> bool {
        same(&self.0, said)
    }
}

/// Compares without telling by the time it takes how much of it is right.
pub(super) fn same(own: &str, said: &str) -> bool {
    let (own, said) = (own.as_bytes(), said.as_bytes());
    let differs = own.iter().zip(said).fold(0, |sum, (a, b)| sum | (a ^ b));
    own.len() == said.len() && std::hint::black_box(differs) == 0
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn only_the_whole_token_admits() {
        let token = Token::new().unwrap();
        let other = Token::new().unwrap();
        assert_ne!(token.to_string(), other.to_string());
        assert_eq!(token.admits(&format!("/{token}/main")), Some("main"));
        assert_eq!(token.admits(&format!("/{token}/")), Some(""));
        for wrong in [
            String::new(),
            "/".to_owned(),
            "//".to_owned(),
            format!("/{token}"),
            format!("/{other}/"),
            format!("/{token}x/"),
            format!("/{}/", token.to_string().to_uppercase() + "0"),
            format!("/{}/", token.to_string().split_at(31).0),
        ] {
            assert_eq!(token.admits(&wrong), None, "{wrong}");
        }
    }
}
