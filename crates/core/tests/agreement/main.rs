//! Guards among each other.

#[cfg(test)]
mod together_and_alone;
