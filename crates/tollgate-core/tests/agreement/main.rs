//! Guards among each other.

#[cfg(test)]
mod evidence;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod project;
#[cfg(test)]
mod together_and_alone;
