//! Guards among each other.

#[cfg(test)]
mod generated;
#[cfg(test)]
mod together_and_alone;
